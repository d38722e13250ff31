// --mlir-print-ir-before-all, --mlir-print-ir-after-all: the IR before and after every pass, to stderr.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-before-all --mlir-print-ir-after-all --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-before-all --mlir-print-ir-after-all --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL %}
// ALL: IR Dump Before CSE (cse)
// ALL: IR Dump After CSE (cse)
// ALL: IR Dump Before SymbolDCE (symbol-dce)
// ALL-NEXT: {{^}}module {
// ALL: IR Dump After SymbolDCE (symbol-dce)

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
