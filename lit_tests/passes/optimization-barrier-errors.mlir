// Values that no barrier takes are reported at the wire op, and nothing is changed.
//
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --control-deps-to-optimization-barrier %s

func.func @buffers(%a: tensor<f32>, %m: memref<4xf32>, %t: tuple<tensor<f32>, memref<4xf32>>) -> tensor<f32> {
  %fine = stablehlo.custom_call @AwsNeuronControlDep(%a, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @+2 {{operand 0 holds memref<4xf32>, and an optimization barrier takes tensors and tokens}}
  // expected-error @+1 {{operand 1 holds memref<4xf32>}}
  %w = stablehlo.custom_call @AwsNeuronControlDep(%m, %t, %fine) {has_side_effect = true} : (memref<4xf32>, tuple<tensor<f32>, memref<4xf32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
