// A comment without its diagnostic and a diagnostic without its comment are faults, and the exit status says so.
// RUN: not neuron-ctrldep-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s
// RUN: %if mlir-opt %{ not %mlir-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s %}

// CHECK-DAG: mismatch.mlir:6:4: error: expected error "not there" was not produced
// expected-error @+1 {{not there}}
func.func private @a()

// -----
// CHECK-DAG: mismatch.mlir:11:1: error: unexpected error: custom op 'bad' is unknown
bad

// -----
// The right text with the wrong severity.
// CHECK-DAG: mismatch.mlir:16:4: error: 'error' diagnostic emitted when expecting a 'remark'
// expected-remark @+1 {{custom op 'bad'}}
bad

// -----
// CHECK-DAG: mismatch.mlir:21:4: error: invalid regex: parentheses not balanced
// expected-error-re @+1 {{a{{(}}}}
func.func private @d()

// With only-expected, diagnostics without a comment pass.
// RUN: neuron-ctrldep-opt %S/Inputs/unexpected.mlir --verify-diagnostics=only-expected
// RUN: %if mlir-opt %{ %mlir-opt %S/Inputs/unexpected.mlir --verify-diagnostics=only-expected %}
// RUN: not neuron-ctrldep-opt %S/Inputs/unexpected.mlir --verify-diagnostics
