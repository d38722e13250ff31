// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// The rest of the table: select, convert, iota, and the two ops that are several in Penguin.

func.func @main(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo_select = m3.NeuronTensorOp(np.select, 'mhlo.ternary', srcs=[input_0, input_1, input_2],
  %0 = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>

  // A conversion says its data type; types that numpy does not have come from the support module.
  // CHECK: stablehlo_convert = m3.NeuronTensorOp("stablehlo.convert", 'xla_op', srcs=[input_1], dsts=[{{.*}}], dtype="int8", dl=
  %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>
  // CHECK: stablehlo_convert_1 = m3.NeuronTensorOp("stablehlo.convert", 'xla_op', srcs=[input_1], dsts=[m5.Tensor(name="stablehlo_convert_1", shape=(4,), dtype=neuronxcc.starfish.support.dtype.bfloat16)], dtype=neuronxcc.starfish.support.dtype.bfloat16, dl=
  %2 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>

  // CHECK: stablehlo_iota = m3.NeuronTensorOp(m0.iota, 'xla_op', srcs=[], dsts=[{{.*}}], iota_dim=1, shape=(2, 4), dtype="int32", dl=
  %3 = stablehlo.iota dim = 1 : tensor<2x4xi32>

  // clamp(low, x, high) is two ops; the second has the name, and both come from one op (hlo_id).
  // CHECK: stablehlo_clamp_1 = m3.NeuronTensorOp(np.minimum, 'mhlo.binary', srcs=[input_1, input_3], {{.*}} hlo_id=[[CLAMP:[0-9]+]]))
  // CHECK-NEXT: stablehlo_clamp = m3.NeuronTensorOp(np.maximum, 'mhlo.binary', srcs=[stablehlo_clamp_1, input_3], {{.*}} hlo_id=[[CLAMP]]))
  %4 = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

  // cbrt(x) is five: x / |x| * |x| ** (1/3).
  // CHECK: stablehlo_cbrt_1 = m3.NeuronTensorOp("stablehlo.constant", 'xla_op', srcs=[m5.SingleValueTensor(value=0.3333333333333333)], dsts=[m5.Tensor(name="stablehlo_cbrt_1", shape=(), dtype="float32")]
  // CHECK-NEXT: stablehlo_cbrt_2 = m3.NeuronTensorOp(np.abs, 'mhlo.unary', srcs=[input_1],
  // CHECK-NEXT: stablehlo_cbrt_3 = m3.NeuronTensorOp(np.power, 'mhlo.binary', srcs=[stablehlo_cbrt_2, stablehlo_cbrt_1],
  // CHECK-NEXT: stablehlo_cbrt_4 = m3.NeuronTensorOp(np.divide, 'mhlo.binary', srcs=[input_1, stablehlo_cbrt_2],
  // CHECK-NEXT: stablehlo_cbrt = m3.NeuronTensorOp(np.multiply, 'mhlo.binary', srcs=[stablehlo_cbrt_3, stablehlo_cbrt_4],
  %5 = stablehlo.cbrt %x : tensor<4xf32>

  // What follows reads the last of them.
  // CHECK: stablehlo_add = m3.NeuronTensorOp(np.add, 'mhlo.binary', srcs=[stablehlo_clamp, stablehlo_cbrt],
  %6 = stablehlo.add %4, %5 : tensor<4xf32>

  // CHECK: mhlo_clamp = m3.NeuronTensorOp(np.maximum,
  %7 = mhlo.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
