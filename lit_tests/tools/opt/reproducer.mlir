// A reproducer is the module as it was before the pipeline, with the pipeline behind it. Where all passes are in C++ its
// ops are in the generic form, which every version of mlir-opt reads alike.
// RUN: neuron-ctrldep-opt %s --mlir-generate-reproducer=%t.mlir --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' -o /dev/null
// RUN: FileCheck %s --check-prefix=FILE < %t.mlir
// FILE: "func.func"()
// FILE-COUNT-2: "arith.addi"
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

// One of a failing Python pass, which only this tool can run, is for reading; it runs to the same failure.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --mlir-generate-reproducer=%t.fail.mlir --cse --extra-fail 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %t.fail.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: FileCheck %s --check-prefix=READ < %t.fail.mlir
// READ: func.func @
// FAIL: error: functions are not welcome here

// Passes on the command line run behind those of the reproducer; --pass-pipeline runs instead.
// RUN: neuron-ctrldep-opt %t.mlir --run-reproducer --canonicalize -o /dev/null --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: %if mlir-opt %{ %mlir-opt %t.mlir --run-reproducer --canonicalize -o /dev/null --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=BOTH %}
// BOTH: func.func(
// BOTH-NEXT: cse
// BOTH: symbol-dce,
// BOTH-NEXT: canonicalize
// RUN: neuron-ctrldep-opt %t.mlir --run-reproducer --pass-pipeline='builtin.module(symbol-privatize)' -o /dev/null --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=INSTEAD
// RUN: %if mlir-opt %{ %mlir-opt %t.mlir --run-reproducer --pass-pipeline='builtin.module(symbol-privatize)' -o /dev/null --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=INSTEAD %}
// INSTEAD-NOT: cse
// INSTEAD: symbol-privatize

// Without one, the rest of the command line runs. We warn; mlir-opt says nothing.
// RUN: neuron-ctrldep-opt %s --run-reproducer --cse 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %if mlir-opt %{ %mlir-opt %s --run-reproducer --cse | FileCheck %s %}
// NONE: warning: the input holds no reproducer
// NONE-COUNT-1: arith.addi
// NONE-NEXT: arith.muli
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
