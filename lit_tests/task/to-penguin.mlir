// Task programs as Penguin operations and edges with kinds: RAW is FLOW, WAR is ANTI, WAW is OUTPUT, the user's are ORDERED.
// RUN: neuron-ctrldep-translate --task-to-penguin %s | FileCheck %s
// What is printed can be read back.
// RUN: neuron-ctrldep-translate --task-to-penguin %s | neuron-ctrldep-translate --penguin-to-edges | FileCheck %s --check-prefix=EDGES

// CHECK: import neuronxcc.starfish.penguin.ir.Dependency as m6
// CHECK: v0 = m0.Function(id_=0, batch_ids=[], attrs=("orchestration=main",))
// CHECK-NEXT: input_0 = m5.Tensor(name="input_0", shape=(64,), dtype="float32", layout="N"
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: P = m3.NeuronTensorOp("W", 'xla_op', srcs=[input_0], dsts=[m5.Tensor(name="P", shape=(64,), dtype="float32")]
    %a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "P"} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    // CHECK: Q = m3.NeuronTensorOp("R", 'xla_op', srcs=[input_0], dsts=[]
    // CHECK-NEXT: Q.add_dep_edge(m6.DependencyEdge(src=P, dst=Q, idx_map=[], kind=m6.EdgeKind.FLOW, predicates=[]))
    %q = "task.submit"(%a, %p) {callee = @R, operandSegmentSizes = array<i32: 1, 0, 1>, task.name = "Q", compiler_dep_hazards = ["raw"]} : (tensor<64xf32>, !task.id) -> !task.id
    // CHECK: S = m3.NeuronTensorOp("W"
    // CHECK-NEXT: S.add_dep_edge(m6.DependencyEdge(src=Q, dst=S, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
    // CHECK-NEXT: S.add_dep_edge(m6.DependencyEdge(src=Q, dst=S, idx_map=[], kind=m6.EdgeKind.ANTI, predicates=[]))
    // CHECK-NEXT: S.add_dep_edge(m6.DependencyEdge(src=P, dst=S, idx_map=[], kind=m6.EdgeKind.OUTPUT, predicates=[]))
    %b, %r = "task.submit"(%s, %q, %q, %p) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 2>, task.name = "S", compiler_dep_hazards = ["war", "waw"]} : (tensor<64xf32>, !task.id, !task.id, !task.id) -> (tensor<64xf32>, !task.id)
    // An edge to a later iteration of the same task would be a cycle: the task says it in an attribute.
    // CHECK: L = m3.NeuronTensorOp("W", {{.*}}attrs={"carried": "L:ORDERED"}
    // CHECK-NEXT: L.add_dep_edge(m6.DependencyEdge(src=S, dst=L, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
    %f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %r) -> (!task.id) {
      %x, %l = "task.submit"(%s, %k) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "L"} : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
      scf.yield %l : !task.id
    }
    // CHECK: v0.id=0
    // CHECK-NEXT: ir=v0
    return
  }
}

// EDGES: "kind": "FLOW"
// EDGES: "kind": "ANTI"
