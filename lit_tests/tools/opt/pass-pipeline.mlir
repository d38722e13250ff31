// A pipeline nests: cse runs on the function here, symbol-dce on the module around it.
// RUN: neuron-ctrldep-opt %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' | FileCheck %s %}

// Spaces and line breaks between the elements do not matter.
// RUN: neuron-ctrldep-opt %s --pass-pipeline=' builtin.module( func.func( cse ) , symbol-dce ) ' | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --pass-pipeline=' builtin.module( func.func( cse ) , symbol-dce ) ' | FileCheck %s %}

// One dash is as good as two, and Python and C++ passes stand side by side.
// RUN: neuron-ctrldep-opt %s -pass-pipeline='builtin.module(verify-control-deps,func.func(cse,any(cse)),flatten-control-dep-tuple-operands,symbol-dce)' | FileCheck %s

// An empty pipeline changes nothing.
// RUN: neuron-ctrldep-opt %s --pass-pipeline='builtin.module()' | FileCheck %s --check-prefix=EMPTY
// RUN: %if mlir-opt %{ %mlir-opt %s --pass-pipeline='builtin.module()' | FileCheck %s --check-prefix=EMPTY %}

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[SUM:.*]] = arith.addi
// CHECK-NEXT: %[[RESULT:.*]] = arith.muli %[[SUM]], %[[SUM]]
// CHECK-NEXT: return %[[RESULT]]
// CHECK-NOT: @unused

// Nor does a nested one. LLVM's refuses it.
// RUN: neuron-ctrldep-opt %s --pass-pipeline='builtin.module(func.func(any()))' | FileCheck %s --check-prefix=EMPTY

// EMPTY-LABEL: func.func @main
// EMPTY-COUNT-2: arith.addi
// EMPTY: func.func private @unused
func.func @main(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
func.func private @unused() {
  return
}
