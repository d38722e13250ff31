// --mlir-print-ir-before: the IR before passes, to stderr. Nested passes print the op they ran on.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-before=cse --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-before=cse --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME %}
// SOME: // -----// IR Dump Before CSE (cse) //----- //
// SOME-NEXT: {{^}}func.func @f
// SOME-COUNT-2: arith.addi
// SOME-NOT: IR Dump

// The names stand behind "=".
// RUN: not neuron-ctrldep-opt %s --mlir-print-ir-before cse --cse 2>&1 | FileCheck %s --check-prefix=SPACE
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-print-ir-before cse --cse 2>&1 | FileCheck %s --check-prefix=SPACE %}
// SPACE: {{[Uu]nrecognized arguments: cse|for the --mlir-print-ir-before option: Cannot find option named ''!}}

// A pass that is not there.
// RUN: not neuron-ctrldep-opt %s --mlir-print-ir-before=no-such-pass --cse 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-print-ir-before=no-such-pass --cse 2>&1 | FileCheck %s --check-prefix=NAME %}
// NAME: for the --mlir-print-ir-before option: {{.*}}'no-such-pass'

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
