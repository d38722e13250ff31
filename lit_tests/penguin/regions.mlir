// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// Each region is a function of its own, printed before its op: its block arguments are its inputs; the op names it.

func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: input_1 = {{.*}}.markInput(v0)
  // CHECK-NEXT: v1 = m0.Function(id_=1, batch_ids=[], attrs=("region-of=loop", "index=0",))
  // CHECK-NEXT: input_2 = m5.Tensor(name="input_2", shape=(), dtype="int32", layout="", attrs={}).markInput(v1)
  // CHECK-NEXT: input_3 = {{.*}}.markInput(v1)
  // CHECK-NEXT: go_on = m3.NeuronTensorOp(np.less, 'mhlo.binary', srcs=[input_2, input_0],
  // CHECK-NEXT: stablehlo_return = m3.NeuronTensorOp("stablehlo.return", 'xla_op', srcs=[go_on], dsts=[],
  // CHECK-NEXT: v1.id=1
  // The second region, with an edge inside it.
  // CHECK-NEXT: v2 = m0.Function(id_=2, batch_ids=[], attrs=("region-of=loop", "index=1",))
  // CHECK-NEXT: input_4 = {{.*}}.markInput(v2)
  // CHECK-NEXT: input_5 = {{.*}}.markInput(v2)
  // CHECK-NEXT: p = m3.NeuronTensorOp(np.exp, 'mhlo.unary', srcs=[input_5],
  // CHECK-NEXT: s = m3.NeuronTensorOp(np.tanh, 'mhlo.unary', srcs=[input_5],
  // CHECK-NEXT: s.add_dep_edge(m6.DependencyEdge(src=p, dst=s,
  // CHECK-NEXT: stablehlo_return_1 = {{.*}} srcs=[input_4, s], dsts=[],
  // CHECK-NEXT: v2.id=2
  // CHECK-NEXT: loop, loop_1 = m3.NeuronTensorOp("stablehlo.while", 'xla_op', srcs=[input_0, input_1], dsts=[m5.Tensor(name="loop", shape=(), dtype="int32"), m5.Tensor(name="loop_1", shape=(4,), dtype="float32")], regions=[v1, v2], dl=
  // An edge from an op with several results starts at the first.
  // CHECK-NEXT: after = {{.*}} srcs=[input_1],
  // CHECK-NEXT: after.add_dep_edge(m6.DependencyEdge(src=loop, dst=after,
  // CHECK-NEXT: func_return = {{.*}} srcs=[after],
  // CHECK-NEXT: v0.id=0
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("go_on")
      stablehlo.return %c : tensor<i1>
    } do {
      %p = stablehlo.exponential %v : tensor<4xf32> loc("p")
      %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %v) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %s = stablehlo.tanh %w : tensor<4xf32> loc("s")
      stablehlo.return %i, %s : tensor<i32>, tensor<4xf32>
    } loc("loop")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%0#1, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.abs %w : tensor<4xf32> loc("after")
  return %1 : tensor<4xf32>
}
