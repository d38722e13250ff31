// --mlir-print-ir-after-change: the IR after a pass that changed it.
// Only where something changed: the second cse and symbol-dce change nothing.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after-all --mlir-print-ir-after-change --cse --cse --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-after-all --mlir-print-ir-after-change --cse --cse --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE %}
// CHANGE: IR Dump After CSE (cse)
// CHANGE-NOT: IR Dump

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
