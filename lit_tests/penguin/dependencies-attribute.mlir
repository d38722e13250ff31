// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// Edges that frontend attributes carry, where no operand can: ctrldep.id on the predecessor, ctrldep.after on the successor.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // The attributes that carry are said as lines; others of the same dictionary stay.
  // CHECK: q = m3.NeuronTensorOp(np.tanh, {{.*}} attrs={"mhlo.frontend_attributes": "{kept = \"yes\"}"}, dl=
  %q = stablehlo.tanh %x {mhlo.frontend_attributes = {ctrldep.id = "7", kept = "yes"}} : tensor<4xf32> loc("q")
  // A successor without results has a name, too.
  // CHECK-NEXT: effect = m3.NeuronTensorOp("stablehlo.custom_call", 'xla_op', srcs=[], dsts=[], attrs={"call_target_name": "\"effect\"", "has_side_effect": "true"}, dl=
  // CHECK-NEXT: effect.add_dep_edge(m6.DependencyEdge(src=q, dst=effect, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
  "stablehlo.custom_call"() {call_target_name = "effect", has_side_effect = true, mhlo.frontend_attributes = {ctrldep.after = "7"}} : () -> () loc("effect")
  // CHECK-NEXT: func_return = {{.*}} srcs=[q],
  return %q : tensor<4xf32>
}
