// A reproducer is the module as it was before the pipeline, with the pipeline behind it.
// RUN: neuron-ctrldep-opt %s --mlir-generate-reproducer=%t.mlir --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' -o /dev/null
// RUN: FileCheck %s --check-prefix=FILE < %t.mlir
// FILE: func.func @f
// FILE-COUNT-2: arith.addi
// FILE: {-#
// FILE-NEXT: external_resources: {
// FILE-NEXT: mlir_reproducer: {
// FILE-NEXT: pipeline: "builtin.module(func.func(cse),symbol-dce)",
// FILE-NEXT: disable_threading: false,
// FILE-NEXT: verify_each: true
// FILE-NEXT: }
// FILE-NEXT: }
// FILE-NEXT: #-}

// It runs, here and under LLVM's mlir-opt; and mlir-opt's run here.
// RUN: neuron-ctrldep-opt %t.mlir --run-reproducer | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %t.mlir --run-reproducer | FileCheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-generate-reproducer=%t.llvm.mlir --mlir-disable-threading --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' -o /dev/null %}
// RUN: %if mlir-opt %{ neuron-ctrldep-opt %t.llvm.mlir --run-reproducer --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=THEIRS %}
// CHECK-COUNT-1: arith.addi
// CHECK-NEXT: arith.muli
// THEIRS: builtin.module(
// THEIRS-NEXT: func.func(
// THEIRS-NEXT: cse

// One of a failing Python pass runs to the same failure.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --mlir-generate-reproducer=%t.fail.mlir --cse --extra-fail 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %t.fail.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: error: functions are not welcome here

// One that is written only when a pass fails.
// RUN: rm -f %t.crash.mlir
// RUN: neuron-ctrldep-opt %s --mlir-pass-pipeline-crash-reproducer=%t.crash.mlir --cse -o /dev/null
// RUN: not ls %t.crash.mlir
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --mlir-pass-pipeline-crash-reproducer=%t.crash.mlir --verify-each=false --cse --extra-fail 2>&1 | FileCheck %s --check-prefix=CRASH
// CRASH: note: reproducer generated at `{{.*}}crash.mlir`
// RUN: FileCheck %s --check-prefix=CRASH-FILE < %t.crash.mlir
// CRASH-FILE: pipeline: "builtin.module(cse,func.func(extra-fail))"
// CRASH-FILE: verify_each: false

// What is none, or is malformed, is a fault of the input.
// RUN: not neuron-ctrldep-opt %s --run-reproducer 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the input holds no reproducer
// RUN: not neuron-ctrldep-opt %t.mlir --run-reproducer --cse 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: '--run-reproducer' option can't be used with individual pass options: '--cse'
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
