// RUN: rm -rf %t && mkdir %t
// RUN: neuron-ctrldep-translate --mlir-to-penguin %s -o %t/out.py
// RUN: FileCheck %s < %t/out.py
// RUN: %python -c "import numpy, sys; print(*(numpy.load(f'{sys.argv[1]}/out.{n}.npy').tolist() for n in ('big', 'bits', 'empty')))" %t | FileCheck %s --check-prefix=FILES
// A scalar or a splat stands in its statement; anything bigger goes to a file beside the output.

// CHECK: import numpy as np
// The helper is there once, because a constant needs it.
// CHECK: def weight_load(p):
// CHECK-NEXT:     return np.load(p)
// CHECK-NEXT: v0 =
func.func @main() {
  // CHECK: one = m3.NeuronTensorOp("stablehlo.constant", 'xla_op', srcs=[m5.SingleValueTensor(value=1.0)], dsts=[m5.Tensor(name="one", shape=(), dtype="float32")], dl=
  %0 = stablehlo.constant dense<1.0> : tensor<f32> loc("one")
  // CHECK: splat = {{.*}} srcs=[m5.SingleValueTensor(value=-7)], dsts=[m5.Tensor(name="splat", shape=(2, 3), dtype="int64")]
  %1 = stablehlo.constant dense<-7> : tensor<2x3xi64> loc("splat")
  // Exact: the nearest float32 of 0.1, to the last bit.
  // CHECK: tenth = {{.*}}m5.SingleValueTensor(value=0.10000000149011612)
  %2 = stablehlo.constant dense<0.1> : tensor<f32> loc("tenth")
  // CHECK: truth = {{.*}}m5.SingleValueTensor(value=True)
  %3 = stablehlo.constant dense<true> : tensor<i1> loc("truth")
  // CHECK: nothing = {{.*}}m5.SingleValueTensor(value=float('nan'))
  %4 = stablehlo.constant dense<0x7FC00000> : tensor<f32> loc("nothing")
  // CHECK: up = {{.*}}m5.SingleValueTensor(value=float('inf'))
  %5 = stablehlo.constant dense<0x7F800000> : tensor<f32> loc("up")
  // CHECK: down = {{.*}}m5.SingleValueTensor(value=-float('inf'))
  %6 = stablehlo.constant dense<0xFF80> : tensor<bf16> loc("down")
  // CHECK: negative_zero = {{.*}}m5.SingleValueTensor(value=-0.0)
  %7 = mhlo.constant dense<-0.0> : tensor<f64> loc("negative_zero")
  // CHECK: most = {{.*}}m5.SingleValueTensor(value=18446744073709551615)
  %8 = stablehlo.constant dense<18446744073709551615> : tensor<ui64> loc("most")
  // CHECK: z = {{.*}}m5.SingleValueTensor(value=complex(1.0, -2.0))], dsts=[m5.Tensor(name="z", shape=(4,), dtype="complex64")]
  %9 = stablehlo.constant dense<(1.0, -2.0)> : tensor<4xcomplex<f32>> loc("z")
  // CHECK: eighth = {{.*}}m5.SingleValueTensor(value=1.5)], dsts=[m5.Tensor(name="eighth", shape=(), dtype=neuronxcc.starfish.support.dtype.float8_e5m2)]
  %10 = stablehlo.constant dense<1.5> : tensor<f8E5M2> loc("eighth")

  // CHECK: big = m3.NeuronTensorOp("stablehlo.constant", 'xla_op', srcs=[weight_load("out.big.npy")], dsts=[m5.Tensor(name="big", shape=(2, 2), dtype="float32")]
  %11 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> loc("big")
  // A type that .npy cannot hold is stored as its bits; the statement says the type.
  // CHECK: bits = {{.*}}srcs=[weight_load("out.bits.npy")], dsts=[m5.Tensor(name="bits", shape=(2,), dtype=neuronxcc.starfish.support.dtype.bfloat16)]
  %12 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xbf16> loc("bits")
  // CHECK: empty = {{.*}}srcs=[weight_load("out.empty.npy")], dsts=[m5.Tensor(name="empty", shape=(0,), dtype="int32")]
  %13 = stablehlo.constant dense<> : tensor<0xi32> loc("empty")
  return
}
// 0x3F80 and 0xC000.
// FILES: {{\[\[}}1.0, 2.0], [3.0, 4.0{{\]\]}} [16256, 49152] []
