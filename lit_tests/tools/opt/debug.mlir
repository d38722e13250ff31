// A fault of the input never shows a traceback, unless it is asked for.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --extra-crash 2>&1 | FileCheck %s
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --extra-crash --debug 2>&1 | FileCheck %s --check-prefix=DEBUG
// CHECK-NOT: Traceback
// CHECK: error: pass 'extra-crash' raised KeyError
// DEBUG: Traceback
// DEBUG: extra_passes.py
// DEBUG: KeyError
func.func private @f()
