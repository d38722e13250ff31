// Every fault of a pipeline is shown in the whole text, with a caret below it. mlir-opt says the same where it has the
// message, but counts columns from the innermost list.

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(func.func(cse,no-such-pass))' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='builtin.module(func.func(cse,no-such-pass))' 2>&1 | FileCheck %s --check-prefix=LLVM-NAME %}
// NAME: pass-pipeline:1:30: error: 'no-such-pass' does not refer to a registered pass or pass pipeline
// NAME-NEXT: {{^}}builtin.module(func.func(cse,no-such-pass)){{$}}
// NAME-NEXT: {{^}}                             ^{{$}}
// LLVM-NAME: error: 'no-such-pass' does not refer to a registered pass or pass pipeline

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='cse' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='cse' 2>&1 | FileCheck %s --check-prefix=LLVM-ANCHOR %}
// ANCHOR: :1:1: error: expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'
// LLVM-ANCHOR: error: expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='' 2>&1 | FileCheck %s --check-prefix=ANCHOR

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(cse))' 2>&1 | FileCheck %s --check-prefix=EXTRA
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='builtin.module(cse))' 2>&1 | FileCheck %s --check-prefix=LLVM-EXTRA %}
// EXTRA: :1:20: error: encountered extra closing ')' creating unbalanced parentheses while parsing pipeline
// LLVM-EXTRA: error: encountered extra closing ')' creating unbalanced parentheses while parsing pipeline

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(func.func(cse)' 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: :1:15: error: encountered unbalanced parentheses while parsing pipeline

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(canonicalize{top-down)' 2>&1 | FileCheck %s --check-prefix=BRACE
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='builtin.module(canonicalize{top-down)' 2>&1 | FileCheck %s --check-prefix=LLVM-BRACE %}
// BRACE: :1:28: error: missing closing '}' while processing pass options
// LLVM-BRACE: error: missing closing '}' while processing pass options

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(func.func(cse){a=1})' 2>&1 | FileCheck %s --check-prefix=COMMA
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='builtin.module(func.func(cse){a=1})' 2>&1 | FileCheck %s --check-prefix=LLVM-COMMA %}
// COMMA: :1:30: error: expected ',' after parsing pipeline
// LLVM-COMMA: error: expected ',' after parsing pipeline

// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(cse,)' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='builtin.module(cse,)' 2>&1 | FileCheck %s --check-prefix=LLVM-EMPTY %}
// EMPTY: :1:20: error: {{.*}}'' does not refer to a registered pass
// LLVM-EMPTY: error: '' does not refer to a registered pass

// Options: of C++ passes and of ours; the column is that of the option or of its value.
// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(cse{a=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='builtin.module(cse{a=1})' 2>&1 | FileCheck %s --check-prefix=LLVM-OPTION %}
// OPTION: :1:20: error: no such option a of pass 'cse'; its options: none
// LLVM-OPTION: no such option a
// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(canonicalize{max-iterations=2 top-down=no})' 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='builtin.module(canonicalize{max-iterations=2 top-down=no})' 2>&1 | FileCheck %s --check-prefix=LLVM-VALUE %}
// VALUE: :1:55: error: option 'top-down' of pass 'canonicalize': 'no' is invalid value for boolean argument! Try 0 or 1
// LLVM-VALUE: 'no' is invalid value for boolean argument! Try 0 or 1
// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(verify-control-deps{require-flat=maybe})' 2>&1 | FileCheck %s --check-prefix=OURS
// OURS: :1:49: error: option 'require-flat' of pass 'verify-control-deps': expected true or false; found 'maybe'

// A pipeline on another op than the input's; and one that would run silently on nothing is told about.
// RUN: not neuron-ctrldep-opt %s --pass-pipeline='gpu.module(cse)' 2>&1 | FileCheck %s --check-prefix=TOP
// RUN: %if mlir-opt %{ not %mlir-opt %s --pass-pipeline='gpu.module(cse)' 2>&1 | FileCheck %s --check-prefix=TOP %}
// TOP: error: can't run 'gpu.module' pass manager on 'builtin.module' op
// RUN: neuron-ctrldep-opt %s --pass-pipeline='builtin.module(gpu.module(cse))' 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: :1:16: warning: 'gpu.module(cse)' ran on nothing: no 'gpu.module' is directly inside the op it is nested in
// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(no.op(cse))' 2>&1 | FileCheck %s --check-prefix=NO-OP
// NO-OP: :1:16: error: a pipeline is nested in 'no.op', and there is no such operation
// RUN: not neuron-ctrldep-opt %s --pass-pipeline='builtin.module(mhlo-flatten-tuple)' 2>&1 | FileCheck %s --check-prefix=NEST
// NEST: :1:16: error: Can't add pass 'mhlo-flatten-tuple' restricted to 'func.func' on a PassManager intended to run on 'builtin.module', did you intend to nest? 'func.func(mhlo-flatten-tuple)'

func.func @f() {
  return
}
