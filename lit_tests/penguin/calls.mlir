// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// A called function is printed once, before its first call; what main does not reach is not printed.

// CHECK: v0 = m0.Function(id_=0,
// CHECK-NEXT: input_0 = {{.*}}.markInput(v0)
// CHECK-NEXT: v1 = m0.Function(id_=1, batch_ids=[], attrs=("callee=twice",))
// CHECK-NEXT: input_1 = {{.*}}.markInput(v1)
// CHECK-NEXT: total = m3.NeuronTensorOp(np.add, 'mhlo.binary', srcs=[input_1, input_1],
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32> loc("total")
  return %0 : tensor<f32>
}
// CHECK-NOT: callee=unreached
func.func private @unreached(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// CHECK: v1.id=1
// CHECK-NEXT: first = m3.NeuronTensorOp("func.call", 'xla_op', srcs=[input_0], dsts=[{{.*}}], regions=[v1], attrs={"callee": "@twice"}, dl=
// CHECK-NEXT: second = m3.NeuronTensorOp("func.call", 'xla_op', srcs=[first], dsts=[{{.*}}], regions=[v1],
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @twice(%x) : (tensor<f32>) -> tensor<f32> loc("first")
  %1 = func.call @twice(%0) : (tensor<f32>) -> tensor<f32> loc("second")
  return %1 : tensor<f32>
}
