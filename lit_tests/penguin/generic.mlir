// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// RUN: not neuron-ctrldep-translate --mlir-to-penguin=strict %s 2>&1 | FileCheck %s --check-prefix=STRICT
// Ops outside the table keep everything: operands, results, attributes as text. Strict makes the first of them an error.

// STRICT: generic.mlir:8:{{[0-9]+}}: error: 'stablehlo.dot_general' (stablehlo.dot_general) has no form in Penguin
func.func @main(%x: tensor<2x3xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  // CHECK: stablehlo_dot_general = m3.NeuronTensorOp("stablehlo.dot_general", 'xla_op', srcs=[input_0, input_0], dsts=[m5.Tensor(name="stablehlo_dot_general", shape=(2, 2), dtype="float32")], attrs={"dot_dimension_numbers": "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>"}, dl=
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  // Types that are no tensors are kept as text.
  // CHECK-NEXT: stablehlo_after_all = m3.NeuronTensorOp("stablehlo.after_all", 'xla_op', srcs=[input_1], dsts=[m5.Tensor(name="stablehlo_after_all", shape=(), dtype="!stablehlo.token")]
  %1 = stablehlo.after_all %t : !stablehlo.token
  // So are bounds; the data type alone would lose them.
  // CHECK: stablehlo_set_dimension_size = {{.*}} dsts=[m5.Tensor(name="stablehlo_set_dimension_size", shape=("?", 3), dtype="tensor<?x3xf32, #stablehlo.bounds<2, ?>>")]
  %n = stablehlo.constant dense<1> : tensor<i32>
  %2 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<2x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<2, ?>>
  // Ops of compiled HLO.
  // CHECK: mhlo_copy = m3.NeuronTensorOp("mhlo.copy", 'xla_op', srcs=[input_0],
  %3 = mhlo.copy %x : tensor<2x3xf32>
  // CHECK: v1 = m0.Function(id_=1, batch_ids=[], attrs=("region-of=mhlo_fusion", "index=0",))
  // CHECK: mhlo_fusion = m3.NeuronTensorOp("mhlo.fusion", 'xla_op', srcs=[mhlo_copy], dsts=[{{.*}}], regions=[v1], attrs={"fusion_kind": "#mhlo<fusion_kind kLoop>"}, dl=
  %4 = "mhlo.fusion"(%3) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%a: tensor<2x3xf32>):
    %b = mhlo.negate %a : tensor<2x3xf32>
    mhlo.return %b : tensor<2x3xf32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: mhlo_add_dependency = m3.NeuronTensorOp("mhlo.add_dependency", 'xla_op', srcs=[mhlo_fusion, stablehlo_after_all],
  %5 = mhlo.add_dependency %4, %1 : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  return %1 : !stablehlo.token
}
