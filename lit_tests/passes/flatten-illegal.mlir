// Illegal wire ops are reported at the op, all of them, and nothing is changed.
//
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --stablehlo-flatten-control-dep-tuple-operands %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --flatten-control-dep-tuple-operands %t

func.func @all_of_them(%a: tensor<f32>, %b: tensor<2xf32>) {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %legal = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{needs at least one operand}}
  %0 = stablehlo.custom_call @AwsNeuronControlDep() : () -> tensor<f32>
  // expected-error @+1 {{exactly one result, the data it forwards; found 2}}
  %1:2 = stablehlo.custom_call @AwsNeuronControlDep(%a, %a) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error @+1 {{expected tensor<2xf32>, found tensor<f32>}}
  %2 = stablehlo.custom_call @AwsNeuronControlDep(%a, %b) : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @no_result(%a: tensor<f32>) {
  // expected-error @+1 {{exactly one result, the data it forwards; found 0}}
  stablehlo.custom_call @AwsNeuronControlDep(%a) : (tensor<f32>) -> ()
  return
}

// -----

// The type must be the same, not one that is compatible.
func.func @dynamic(%a: tensor<?xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected tensor<?xf32>, found tensor<4xf32>}}
  %w = stablehlo.custom_call @AwsNeuronControlDep(%a) : (tensor<?xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}
