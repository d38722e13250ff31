// --mlir-print-ir-module-scope: the module around what a pass ran on.
// The whole module each time.
// RUN: neuron-ctrldep-opt %s --mlir-disable-threading --mlir-print-ir-before=cse --mlir-print-ir-module-scope --pass-pipeline='builtin.module(func.func(cse))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCOPE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-disable-threading --mlir-print-ir-before=cse --mlir-print-ir-module-scope --pass-pipeline='builtin.module(func.func(cse))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCOPE %}
// SCOPE: // -----// IR Dump Before CSE (cse) ('func.func' operation: @f) //----- //
// SCOPE-NEXT: {{^}}module {

// RUN: not neuron-ctrldep-opt %s --mlir-print-ir-before=cse --mlir-print-ir-module-scope --cse -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-print-ir-before=cse --mlir-print-ir-module-scope --cse -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREADS %}
// THREADS: error: IR print for module scope can't be setup on a pass-manager without disabling multi-threading first.

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
