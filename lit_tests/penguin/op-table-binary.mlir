// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// Elementwise ops with two operands, in operand order; the class tag is 'mhlo.binary'.

// CHECK-NOT: import scipy
// CHECK: v0 = m0.Function(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %u: tensor<4xui8>) {
  // CHECK: = m3.NeuronTensorOp(np.add, 'mhlo.binary', srcs=[input_0, input_1], dsts=[m5.Tensor(name="stablehlo_add", shape=(4,), dtype="float32")], dl=
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  // CHECK: stablehlo_subtract = m3.NeuronTensorOp(np.subtract, 'mhlo.binary', srcs=[input_1, input_0],
  %1 = stablehlo.subtract %y, %x : tensor<4xf32>
  // CHECK: stablehlo_multiply = m3.NeuronTensorOp(np.multiply, 'mhlo.binary', srcs=[input_0, input_1],
  %2 = stablehlo.multiply %x, %y : tensor<4xf32>
  // CHECK: stablehlo_maximum = m3.NeuronTensorOp(np.maximum, 'mhlo.binary', srcs=[input_0, input_1],
  %3 = stablehlo.maximum %x, %y : tensor<4xf32>
  // CHECK: stablehlo_minimum = m3.NeuronTensorOp(np.minimum, 'mhlo.binary', srcs=[input_0, input_1],
  %4 = stablehlo.minimum %x, %y : tensor<4xf32>
  // CHECK: stablehlo_power = m3.NeuronTensorOp(np.power, 'mhlo.binary', srcs=[input_0, input_1],
  %5 = stablehlo.power %x, %y : tensor<4xf32>
  // CHECK: stablehlo_remainder = m3.NeuronTensorOp(np.fmod, 'mhlo.binary', srcs=[input_0, input_1],
  %6 = stablehlo.remainder %x, %y : tensor<4xf32>

  // Floats divide, integers divide towards zero; unsigned ones too.
  // CHECK: stablehlo_divide = m3.NeuronTensorOp(np.divide, 'mhlo.binary', srcs=[input_0, input_1],
  %7 = stablehlo.divide %x, %y : tensor<4xf32>
  // CHECK: stablehlo_divide_1 = m3.NeuronTensorOp(np.int_div, 'mhlo.binary', srcs=[input_2, input_3], dsts=[m5.Tensor(name="stablehlo_divide_1", shape=(4,), dtype="int32")]
  %8 = stablehlo.divide %i, %j : tensor<4xi32>
  // CHECK: stablehlo_divide_2 = m3.NeuronTensorOp(np.int_div, 'mhlo.binary', srcs=[input_4, input_4], dsts=[m5.Tensor(name="stablehlo_divide_2", shape=(4,), dtype="uint8")]
  %9 = stablehlo.divide %u, %u : tensor<4xui8>

  // CHECK: stablehlo_and = m3.NeuronTensorOp(np.bitwise_and, 'mhlo.binary', srcs=[input_2, input_3],
  %10 = stablehlo.and %i, %j : tensor<4xi32>
  // CHECK: stablehlo_or = m3.NeuronTensorOp(np.bitwise_or, 'mhlo.binary', srcs=[input_2, input_3],
  %11 = stablehlo.or %i, %j : tensor<4xi32>
  // CHECK: stablehlo_xor = m3.NeuronTensorOp(np.bitwise_xor, 'mhlo.binary', srcs=[input_2, input_3],
  %12 = stablehlo.xor %i, %j : tensor<4xi32>
  // CHECK: stablehlo_shift_left = m3.NeuronTensorOp(np.logical_left_shift, 'mhlo.binary', srcs=[input_2, input_3],
  %13 = stablehlo.shift_left %i, %j : tensor<4xi32>
  // CHECK: stablehlo_shift_right_logical = m3.NeuronTensorOp(np.logical_right_shift, 'mhlo.binary', srcs=[input_2, input_3],
  %14 = stablehlo.shift_right_logical %i, %j : tensor<4xi32>
  // CHECK: stablehlo_shift_right_arithmetic = m3.NeuronTensorOp(np.arith_right_shift, 'mhlo.binary', srcs=[input_2, input_3],
  %15 = stablehlo.shift_right_arithmetic %i, %j : tensor<4xi32>

  // CHECK: stablehlo_compare = m3.NeuronTensorOp(np.equal, 'mhlo.binary', srcs=[input_0, input_1], dsts=[m5.Tensor(name="stablehlo_compare", shape=(4,), dtype="bool")], dl=
  %16 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: = m3.NeuronTensorOp(np.not_equal, 'mhlo.binary', srcs=[input_0, input_1],
  %17 = stablehlo.compare NE, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: = m3.NeuronTensorOp(np.greater_equal, 'mhlo.binary',
  %18 = stablehlo.compare GE, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: = m3.NeuronTensorOp(np.greater, 'mhlo.binary',
  %19 = stablehlo.compare GT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: = m3.NeuronTensorOp(np.less_equal, 'mhlo.binary',
  %20 = stablehlo.compare LE, %i, %j, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK: = m3.NeuronTensorOp(np.less, 'mhlo.binary',
  %21 = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // A total order is more than the function says, so it stays as an attribute.
  // CHECK: = m3.NeuronTensorOp(np.less, 'mhlo.binary', {{.*}} attrs={"compare_type": "#stablehlo<comparison_type TOTALORDER>"}, dl=
  %22 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

  // CHECK: mhlo_add = m3.NeuronTensorOp(np.add, 'mhlo.binary', srcs=[input_0, input_1],
  %23 = mhlo.add %x, %y : tensor<4xf32>
  // CHECK: mhlo_compare = m3.NeuronTensorOp(np.greater, 'mhlo.binary', srcs=[input_0, input_1],
  %24 = mhlo.compare GT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}
