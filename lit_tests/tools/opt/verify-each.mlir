// After each pass the verifier runs. Without it, what a pass broke comes out (in the generic form).
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --extra-break 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --extra-break --verify-each=true 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s --extra-break --verify-each=false 2>/dev/null | FileCheck %s
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s --extra-break --verify-each=0 2>/dev/null | FileCheck %s
// In the custom form where that is asked for.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s --extra-break --verify-each=false --mlir-print-assume-verified 2>/dev/null | FileCheck %s --check-prefix=CUSTOM
// CUSTOM: {{^}}  func.func @f() {
// CUSTOM-NEXT: }

// ERR: verify-each.mlir:15:1: error: empty block: expect at least a terminator
// ERR: note: found by the verifier after pass 'extra-break'
// CHECK: "func.func"()
// CHECK-NOT: "func.return"
func.func @f() {
  return
}
