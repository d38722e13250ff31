// --mlir-print-ir-after: the IR after passes, to stderr.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after=canonicalize --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-after=canonicalize --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME %}
// SOME: // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// SOME-NEXT: {{^}}func.func @f
// SOME-NEXT: arith.addi
// SOME-NEXT: arith.muli
// SOME-NOT: IR Dump

// Several passes behind one flag, or in several flags.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after=cse,symbol-dce --cse --canonicalize --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after=cse --mlir-print-ir-after=symbol-dce --cse --canonicalize --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-after=cse,symbol-dce --cse --canonicalize --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO %}
// TWO: IR Dump After CSE (cse)
// TWO-NOT: IR Dump After Canonicalizer
// TWO: IR Dump After SymbolDCE (symbol-dce)

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
