// The IR before and after passes, to stderr. Nested passes print the op they ran on.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-before=cse --mlir-print-ir-after=canonicalize --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-before=cse --mlir-print-ir-after=canonicalize --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME %}
// SOME: // -----// IR Dump Before CSE (cse) //----- //
// SOME-NEXT: {{^}}func.func @f
// SOME-COUNT-2: arith.addi
// SOME: // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// SOME-NEXT: {{^}}func.func @f
// SOME-NEXT: arith.addi
// SOME-NEXT: arith.muli
// SOME-NOT: IR Dump

// RUN: neuron-ctrldep-opt %s --mlir-print-ir-before-all --mlir-print-ir-after-all --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-before-all --mlir-print-ir-after-all --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL %}
// ALL: IR Dump Before CSE (cse)
// ALL: IR Dump After CSE (cse)
// ALL: IR Dump Before SymbolDCE (symbol-dce)
// ALL-NEXT: {{^}}module {
// ALL: IR Dump After SymbolDCE (symbol-dce)

// Several passes behind one flag, or in several flags.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after=cse,symbol-dce --cse --canonicalize --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after=cse --mlir-print-ir-after=symbol-dce --cse --canonicalize --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-after=cse,symbol-dce --cse --canonicalize --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO %}
// TWO: IR Dump After CSE (cse)
// TWO-NOT: IR Dump After Canonicalizer
// TWO: IR Dump After SymbolDCE (symbol-dce)

// Only where something changed: the second cse and symbol-dce change nothing.
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after-all --mlir-print-ir-after-change --cse --cse --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-after-all --mlir-print-ir-after-change --cse --cse --symbol-dce -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE %}
// CHANGE: IR Dump After CSE (cse)
// CHANGE-NOT: IR Dump

// The whole module each time.
// RUN: neuron-ctrldep-opt %s --mlir-disable-threading --mlir-print-ir-before=cse --mlir-print-ir-module-scope --pass-pipeline='builtin.module(func.func(cse))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCOPE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-disable-threading --mlir-print-ir-before=cse --mlir-print-ir-module-scope --pass-pipeline='builtin.module(func.func(cse))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCOPE %}
// SCOPE: // -----// IR Dump Before CSE (cse) ('func.func' operation: @f) //----- //
// SCOPE-NEXT: {{^}}module {

// RUN: not neuron-ctrldep-opt %s --mlir-print-ir-before=cse --mlir-print-ir-module-scope --cse -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-print-ir-before=cse --mlir-print-ir-module-scope --cse -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREADS %}
// THREADS: error: IR print for module scope can't be setup on a pass-manager without disabling multi-threading first.

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
