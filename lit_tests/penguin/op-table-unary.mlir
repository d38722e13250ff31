// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// Elementwise ops with one operand: each names a function of Penguin's and the class tag 'mhlo.unary'.

// CHECK: import scipy.special
// CHECK: input_0 = m5.Tensor(name="input_0", shape=(4,), dtype="float32", layout="N", attrs={}).markInput(v0)
func.func @main(%x: tensor<4xf32>, %b: tensor<4xi1>, %i: tensor<4xi32>) {
  // CHECK: stablehlo_exponential = m3.NeuronTensorOp(np.exp, 'mhlo.unary', srcs=[input_0], dsts=[m5.Tensor(name="stablehlo_exponential", shape=(4,), dtype="float32")], dl=m1.DebugLocation(
  %0 = stablehlo.exponential %x : tensor<4xf32>
  // CHECK: stablehlo_log = m3.NeuronTensorOp(np.log, 'mhlo.unary', srcs=[input_0],
  %1 = stablehlo.log %x : tensor<4xf32>
  // CHECK: stablehlo_sqrt = m3.NeuronTensorOp(np.sqrt, 'mhlo.unary', srcs=[input_0],
  %2 = stablehlo.sqrt %x : tensor<4xf32>
  // CHECK: stablehlo_rsqrt = m3.NeuronTensorOp(np.rsqrt, 'mhlo.unary', srcs=[input_0],
  %3 = stablehlo.rsqrt %x : tensor<4xf32>
  // CHECK: stablehlo_tanh = m3.NeuronTensorOp(np.tanh, 'mhlo.unary', srcs=[input_0],
  %4 = stablehlo.tanh %x : tensor<4xf32>
  // CHECK: stablehlo_abs = m3.NeuronTensorOp(np.abs, 'mhlo.unary', srcs=[input_0],
  %5 = stablehlo.abs %x : tensor<4xf32>
  // CHECK: stablehlo_sign = m3.NeuronTensorOp(np.sign, 'mhlo.unary', srcs=[input_0],
  %6 = stablehlo.sign %x : tensor<4xf32>
  // CHECK: stablehlo_ceil = m3.NeuronTensorOp(np.ceil, 'mhlo.unary', srcs=[input_0],
  %7 = stablehlo.ceil %x : tensor<4xf32>
  // CHECK: stablehlo_floor = m3.NeuronTensorOp(np.floor, 'mhlo.unary', srcs=[input_0],
  %8 = stablehlo.floor %x : tensor<4xf32>
  // CHECK: stablehlo_sine = m3.NeuronTensorOp(np.sin, 'mhlo.unary', srcs=[input_0],
  %9 = stablehlo.sine %x : tensor<4xf32>
  // CHECK: stablehlo_cosine = m3.NeuronTensorOp(np.cos, 'mhlo.unary', srcs=[input_0],
  %10 = stablehlo.cosine %x : tensor<4xf32>
  // CHECK: stablehlo_tan = m3.NeuronTensorOp(np.tan, 'mhlo.unary', srcs=[input_0],
  %11 = stablehlo.tan %x : tensor<4xf32>
  // The result is boolean.
  // CHECK: stablehlo_is_finite = m3.NeuronTensorOp(np.is_finite, 'mhlo.unary', srcs=[input_0], dsts=[m5.Tensor(name="stablehlo_is_finite", shape=(4,), dtype="bool")]
  %12 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo_negate = m3.NeuronTensorOp(np.negative, 'mhlo.unary', srcs=[input_0],
  %13 = stablehlo.negate %x : tensor<4xf32>
  // CHECK: stablehlo_round_nearest_even = m3.NeuronTensorOp(np.rint, 'mhlo.unary', srcs=[input_0],
  %14 = stablehlo.round_nearest_even %x : tensor<4xf32>
  // CHECK: stablehlo_logistic = m3.NeuronTensorOp(scipy.special.expit, 'mhlo.unary', srcs=[input_0],
  %15 = stablehlo.logistic %x : tensor<4xf32>

  // `not` is logical on booleans and bitwise on integers.
  // CHECK: stablehlo_not = m3.NeuronTensorOp(np.logical_not, 'mhlo.unary', srcs=[input_1],
  %16 = stablehlo.not %b : tensor<4xi1>
  // CHECK: stablehlo_not_1 = m3.NeuronTensorOp(np.bitwise_not, 'mhlo.unary', srcs=[input_2],
  %17 = stablehlo.not %i : tensor<4xi32>

  // Other dialects, same functions; the tag says mhlo for all of them.
  // CHECK: mhlo_exponential = m3.NeuronTensorOp(np.exp, 'mhlo.unary', srcs=[input_0],
  %18 = mhlo.exponential %x : tensor<4xf32>
  // CHECK: mhlo_erf = m3.NeuronTensorOp(scipy.special.erf, 'mhlo.unary', srcs=[input_0],
  %19 = mhlo.erf %x : tensor<4xf32>
  // CHECK: chlo_erf = m3.NeuronTensorOp(scipy.special.erf, 'mhlo.unary', srcs=[input_0],
  %20 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: mhlo_logistic = m3.NeuronTensorOp(scipy.special.expit, 'mhlo.unary', srcs=[input_0],
  %21 = mhlo.logistic %x : tensor<4xf32>
  return
}
