// The bridge to control dependencies: tasks become calls on tensors, edges become predecessors of wire ops.
// RUN: neuron-ctrldep-opt --split-input-file --convert-tasks-to-control-deps %s | FileCheck %s
// What is made is legal, and flat after the flatten pass.
// RUN: neuron-ctrldep-opt --split-input-file --pass-pipeline='builtin.module(convert-tasks-to-control-deps,stablehlo-flatten-control-dep-tuple-operands,verify-control-deps{require-flat=true})' %s > %t

// Each explicit edge, the user's and then the compiler's, becomes a predecessor of one wire op on the first storage operand.
// CHECK-LABEL: func.func @edges
// CHECK: %[[A:.*]] = stablehlo.custom_call @W(%arg0) {{.*}}ctrldep.name = "A"
// CHECK-NEXT: %[[B:.*]] = stablehlo.custom_call @W(%arg1) {{.*}}ctrldep.name = "B"
// CHECK-NEXT: %[[WIRE:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[A]], %[[B]], %arg0)
// CHECK-NEXT: stablehlo.custom_call @R(%[[WIRE]], %arg1) {{.*}}ctrldep.name = "C"
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<64xf32> {task.direction = "in"}, tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @edges(%s: tensor<64xf32>, %t: tensor<64xf32>) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "A"} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    %b, %q = "task.submit"(%t) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "B"} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    %r = "task.submit"(%s, %t, %p, %q) {callee = @R, operandSegmentSizes = array<i32: 2, 1, 1>, task.name = "C"} : (tensor<64xf32>, tensor<64xf32>, !task.id, !task.id) -> !task.id
    return
  }
}

// -----

// Ids that control flow carries are tokens, a barrier joins them, and scopes dissolve.
// CHECK-LABEL: func.func @control_flow
// CHECK-NOT: execute_region
// CHECK: %[[NONE:.*]] = stablehlo.after_all
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[K:.*]] = %[[NONE]]) -> (!stablehlo.token)
// CHECK-NEXT: %[[WIRE:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[K]], %arg0)
// CHECK-NEXT: %[[CALL:.*]]:2 = stablehlo.custom_call @W(%[[WIRE]])
// CHECK-NEXT: scf.yield %[[CALL]]#1 : !stablehlo.token
// CHECK: %[[ALL:.*]] = stablehlo.after_all %[[LAST]], %[[NONE]]
// CHECK-NEXT: stablehlo.custom_call @AwsNeuronControlDep(%[[ALL]], %arg0)
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
  func.func @control_flow(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %none = "task.invalid"() : () -> !task.id
    scf.execute_region no_inline {
      %f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {
        %a, %p = "task.submit"(%s, %k) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
        scf.yield %p : !task.id
      }
      %j = "task.barrier"(%f, %none) : (!task.id, !task.id) -> !task.id
      %b, %q = "task.submit"(%s, %j) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
      scf.yield
    } {task.scope = "manual"}
    return
  }
}

// -----

// Buffers become tensors of their shape, and their views slices and reshapes.
// CHECK-LABEL: func.func @buffers
// CHECK-SAME: (%[[S:.*]]: tensor<64xf32>
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[S]][16] [16] [1] : tensor<64xf32> to tensor<16xf32>
// CHECK: %[[P:.*]] = stablehlo.custom_call @W(%[[TILE]]) {{.*}} -> !stablehlo.token
// CHECK: %[[WIRE:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[TILE]])
// CHECK: stablehlo.custom_call @W(%[[WIRE]])
// CHECK-NOT: memref
// CHECK: return
module {
  func.func private @W(memref<16xf32, strided<[1], offset: ?>> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @buffers(%s: memref<64xf32>) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %v = memref.subview %s[16] [16] [1] : memref<64xf32> to memref<16xf32, strided<[1], offset: 16>>
    %w = memref.cast %v : memref<16xf32, strided<[1], offset: 16>> to memref<16xf32, strided<[1], offset: ?>>
    %p = "task.submit"(%v) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (memref<16xf32, strided<[1], offset: 16>>) -> !task.id
    %q = "task.submit"(%w, %p) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>} : (memref<16xf32, strided<[1], offset: ?>>, !task.id) -> !task.id
    return
  }
}
