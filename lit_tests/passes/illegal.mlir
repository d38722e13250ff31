// The passes that remove or lower wire ops report illegal ones and change nothing.
//
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --strip-control-deps %s
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --prune-control-deps %s
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --control-deps-to-optimization-barrier %s

func.func @stablehlo(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %legal = stablehlo.custom_call @AwsNeuronControlDep(%b, %a) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{expected tensor<2xf32>, found tensor<f32>}}
  %w = stablehlo.custom_call @AwsNeuronControlDep(%legal, %b) : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return %w : tensor<f32>
}

// -----

func.func @mhlo(%a: tensor<f32>) {
  // expected-error @+1 {{needs at least one operand}}
  %w = mhlo.custom_call @AwsNeuronControlDep() : () -> tensor<f32>
  return
}
