// Another package brings passes by entry points (Inputs/extra_passes): they are listed, and run by name.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt --list-passes | FileCheck %s --check-prefix=LIST
// LIST: --extra-count-ops - Count the ops directly inside each function (on func.func)
// LIST-NEXT: --only=<string,...> - count these ops, or all (default: none)

// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s --extra-count-ops=only=arith.addi --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s
// CHECK: CountOps
// CHECK-NEXT: (S) 2 ops - ops seen

// It fails with a diagnostic at the op, and so does one that raises what it should not.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --extra-fail 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: third-party-pass.mlir:{{[0-9]+}}:1: error: functions are not welcome here
// FAIL-NEXT: func.func @f
// FAIL-NEXT: {{^\^}}
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --extra-crash 2>&1 | FileCheck %s --check-prefix=CRASH
// CRASH-NOT: Traceback
// CRASH: error: pass 'extra-crash' raised KeyError: 'no such thing'
// CRASH-NOT: Traceback

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %0 : i32
  return %1 : i32
}
