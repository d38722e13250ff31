// verify-control-deps: every illegal wire op is reported, of both dialects; a wire op that is not flat is legal.
//
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --verify-control-deps %s

func.func @stablehlo(%a: tensor<f32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op a control dependency needs at least one operand: (predecessors…, data)}}
  %0 = stablehlo.custom_call @AwsNeuronControlDep() : () -> tensor<f32>
  // expected-error @+1 {{exactly one result, the data it forwards; found 2}}
  %1:2 = stablehlo.custom_call @AwsNeuronControlDep(%a, %a) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error @+1 {{must be the type of its last operand: expected tensor<2xf32>, found tensor<f32>}}
  %2 = stablehlo.custom_call @AwsNeuronControlDep(%a, %b) : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @mhlo(%a: tensor<f32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'mhlo.custom_call' op a control dependency needs at least one operand}}
  %0 = mhlo.custom_call @AwsNeuronControlDep() : () -> tensor<f32>
  // expected-error @+1 {{exactly one result, the data it forwards; found 2}}
  %1:2 = mhlo.custom_call @AwsNeuronControlDep(%a, %a) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error @+1 {{must be the type of its last operand: expected tensor<2xf32>, found tensor<f32>}}
  %2 = mhlo.custom_call @AwsNeuronControlDep(%a, %b) : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

// Nested regions are looked into.
func.func @nested(%a: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %r = "stablehlo.if"(%c) ({
    // expected-error @+1 {{expected tensor<i1>, found tensor<f32>}}
    %w = stablehlo.custom_call @AwsNeuronControlDep(%a, %c) : (tensor<f32>, tensor<i1>) -> tensor<f32>
    stablehlo.return %w : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// Legal: no predecessors, any version, no side effect, tuples; and other custom calls may look as they like.
func.func @legal(%a: tensor<f32>, %k: !stablehlo.token) {
  %0 = stablehlo.custom_call @AwsNeuronControlDep(%a) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @AwsNeuronControlDep(%0, %k) {api_version = 2 : i32, has_side_effect = true} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  %t = stablehlo.tuple %a, %1 : tuple<tensor<f32>, !stablehlo.token>
  %2 = stablehlo.custom_call @AwsNeuronControlDep(%t, %t) : (tuple<tensor<f32>, !stablehlo.token>, tuple<tensor<f32>, !stablehlo.token>) -> tuple<tensor<f32>, !stablehlo.token>
  %3:2 = stablehlo.custom_call @AwsNeuronControlDependency() : () -> (tensor<f32>, tensor<f32>)
  return
}
