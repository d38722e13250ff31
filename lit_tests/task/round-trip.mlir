// Every op and attribute of the dialect prints as it was read; the pass verify-task changes nothing.
// RUN: neuron-ctrldep-opt --verify-task %s | FileCheck %s
// RUN: neuron-ctrldep-opt --emit-bytecode %s | neuron-ctrldep-opt --verify-task | FileCheck %s

module {
  func.func private @K(tensor<64xf32> {task.direction = "inout"}, index) -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
  // CHECK-LABEL: func.func @main(
  func.func @main(%s: tensor<64xf32> {task.direction = "inout"}, %n: index) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    // A slot that was never written is no task.
    // CHECK: tensor.empty(%{{.*}}) : tensor<?x!task.id>
    %ids = tensor.empty(%n) : tensor<?x!task.id>
    // CHECK: "task.invalid"() : () -> !task.id
    %none = "task.invalid"() : () -> !task.id
    // CHECK: tensor.insert %{{.*}} into %{{.*}}[%{{.*}}] : tensor<?x!task.id>
    %more = tensor.insert %none into %ids[%c0] : tensor<?x!task.id>
    // The user's edges and the compiler's are operand groups of their own.
    // CHECK: "task.submit"(%{{.*}}) {allow_early_resolve, arg_direction_overrides = array<i64: 0>,
    // CHECK-SAME: arg_directions = ["NoDep", "Scalar"], callee = @K, compiler_dep_hazards = ["raw+waw"],
    // CHECK-SAME: operandSegmentSizes = array<i32: 2, 2, 1>, task.name = "a task"}
    // CHECK-SAME: (tensor<64xf32>, index, !task.id, tensor<?x!task.id>, !task.id) -> (tensor<64xf32>, !task.id)
    %a, %p = "task.submit"(%s, %n, %none, %more, %none) {callee = @K, operandSegmentSizes = array<i32: 2, 2, 1>, task.name = "a task", allow_early_resolve, arg_directions = ["NoDep", "Scalar"], arg_direction_overrides = array<i64: 0>, compiler_dep_hazards = ["raw+waw"]}
        : (tensor<64xf32>, index, !task.id, tensor<?x!task.id>, !task.id) -> (tensor<64xf32>, !task.id)
    // CHECK: "task.barrier"(%{{.*}}, %{{.*}}) : (!task.id, tensor<?x!task.id>) -> !task.id
    %j = "task.barrier"(%p, %more) : (!task.id, tensor<?x!task.id>) -> !task.id
    // CHECK: scf.execute_region no_inline
    scf.execute_region no_inline {
      // A plain task has no id.
      // CHECK: call @K(%{{.*}}) {task.name = "plain"} : (tensor<64xf32>, index) -> tensor<64xf32>
      %b = func.call @K(%a, %n) {task.name = "plain"} : (tensor<64xf32>, index) -> tensor<64xf32>
      scf.yield
    // CHECK: {task.owner = "compiler", task.scope = "manual"}
    } {task.scope = "manual", task.owner = "compiler"}
    return
  }
}
