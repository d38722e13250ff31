// control-deps-to-optimization-barrier{mark}: the barriers say what they stand for, and whoever reads the program for
// Neuron makes wire ops of them again. Attributes of the wire op are kept on the way there and back.
//
// RUN: neuron-ctrldep-opt --control-deps-to-optimization-barrier=mark %s | FileCheck %s
// RUN: neuron-ctrldep-opt --control-deps-to-optimization-barrier=mark %s -o %t.mlir
// RUN: neuron-ctrldep lower %t.mlir --emit=flat | FileCheck %s --check-prefix=BACK

// CHECK-LABEL: func.func @main(
// CHECK:         stablehlo.optimization_barrier
// CHECK-SAME:    mhlo.frontend_attributes = {a = "1", ctrldep.barrier = "1"}
// BACK-LABEL:  func.func @main(
// BACK:          stablehlo.custom_call @AwsNeuronControlDep(%arg0, %arg1)
// BACK-SAME:     has_side_effect = true
// BACK-SAME:     mhlo.frontend_attributes = {a = "1"}
func.func @main(%p: tensor<f32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {has_side_effect = true, mhlo.frontend_attributes = {a = "1"}} : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %n = stablehlo.negate %w : tensor<3xf32>
  return %n : tensor<3xf32>
}

// The barrier of a tuple has its leaves, and cannot say which of them were the data.
// CHECK-LABEL: func.func @tuple(
// CHECK:         stablehlo.optimization_barrier
// CHECK-NOT:     ctrldep.barrier
// CHECK:         return
func.func @tuple(%a: tensor<f32>, %x: tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>> {
  %w = stablehlo.custom_call @AwsNeuronControlDep(%a, %x) {has_side_effect = true} : (tensor<f32>, tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  return %w : tuple<tensor<2xf32>, tensor<3xf32>>
}
