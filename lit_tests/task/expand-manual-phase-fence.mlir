// One barrier instead of N * M edges between the phases of a MANUAL scope.
// RUN: neuron-ctrldep-opt --split-input-file --expand-manual-phase-fence %s | FileCheck %s

// 8 producers in one id tensor, 4 consumers that wait for it: 32 edges become 8 + 4.
// CHECK-LABEL: func.func @pays
// CHECK: %[[IDS:.*]] = scf.for
// CHECK: %[[FENCE:.*]] = "task.barrier"(%[[IDS]]) : (tensor<8x!task.id>) -> !task.id
// CHECK-NEXT: scf.for
// CHECK-NEXT: "task.submit"(%{{.*}}, %[[FENCE]]) {{.*}} : (tensor<64xf32>, !task.id)
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> tensor<64xf32> attributes {task.kind = "kernel"}
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @pays(%s: tensor<64xf32>) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    scf.execute_region no_inline {
      %e = tensor.empty() : tensor<8x!task.id>
      %ids = scf.for %i = %c0 to %c8 step %c1 iter_args(%k = %e) -> (tensor<8x!task.id>) {
        %a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
        %k2 = tensor.insert %p into %k[%i] : tensor<8x!task.id>
        scf.yield %k2 : tensor<8x!task.id>
      }
      scf.for %j = %c0 to %c4 step %c1 {
        %q = "task.submit"(%s, %ids) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, tensor<8x!task.id>) -> !task.id
      }
      scf.yield
    } {task.scope = "manual"}
    return
  }
}

// -----

// 2 producers and 2 consumers: 4 edges are not more than 2 + 2.
// CHECK-LABEL: func.func @no_gain
// CHECK-NOT: task.barrier
// CHECK: return
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @no_gain(%s: tensor<64xf32>, %ids: tensor<2x!task.id>) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.execute_region no_inline {
      scf.for %j = %c0 to %c2 step %c1 {
        %q = "task.submit"(%s, %ids) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, tensor<2x!task.id>) -> !task.id
      }
      scf.yield
    } {task.scope = "manual"}
    return
  }
}

// -----

// Not in AUTO scopes.
// CHECK-LABEL: func.func @auto_scope
// CHECK-NOT: task.barrier
// CHECK: return
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @auto_scope(%s: tensor<64xf32>, %ids: tensor<8x!task.id>) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.execute_region no_inline {
      scf.for %j = %c0 to %c8 step %c1 {
        %q = "task.submit"(%s, %ids) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, tensor<8x!task.id>) -> !task.id
      }
      scf.yield
    } {task.scope = "auto"}
    return
  }
}

// -----

// N and M must be constant: not with a trip count known at run time only, not with a tensor of such a size.
// CHECK-LABEL: func.func @not_constant
// CHECK-NOT: task.barrier
// CHECK: return
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @not_constant(%s: tensor<64xf32>, %ids: tensor<8x!task.id>, %some: tensor<?x!task.id>, %n: index) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.execute_region no_inline {
      scf.for %j = %c0 to %n step %c1 {
        %q = "task.submit"(%s, %ids) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, tensor<8x!task.id>) -> !task.id
      }
      scf.for %j = %c0 to %c8 step %c1 {
        %q = "task.submit"(%s, %some) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, tensor<?x!task.id>) -> !task.id
      }
      scf.yield
    } {task.scope = "manual"}
    return
  }
}

// -----

// Not when the tensor is updated in the loop, is mixed with other dependencies, or the loop runs zero times.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: task.barrier
// CHECK: return
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @left_alone(%s: tensor<64xf32>, %ids: tensor<8x!task.id>, %id: !task.id) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.execute_region no_inline {
      %f = scf.for %j = %c0 to %c8 step %c1 iter_args(%k = %ids) -> (tensor<8x!task.id>) {
        %q = "task.submit"(%s, %k) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, tensor<8x!task.id>) -> !task.id
        %k2 = tensor.insert %q into %k[%j] : tensor<8x!task.id>
        scf.yield %k2 : tensor<8x!task.id>
      }
      scf.for %j = %c0 to %c8 step %c1 {
        %q = "task.submit"(%s, %f, %id) {callee = @R, operandSegmentSizes = array<i32: 1, 2, 0>} : (tensor<64xf32>, tensor<8x!task.id>, !task.id) -> !task.id
      }
      scf.for %j = %c8 to %c0 step %c1 {
        %q = "task.submit"(%s, %f) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, tensor<8x!task.id>) -> !task.id
      }
      scf.yield
    } {task.scope = "manual"}
    return
  }
}
