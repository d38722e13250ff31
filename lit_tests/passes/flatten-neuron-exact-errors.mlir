// Where the original would make invalid IR or forward another value, neuron-exact=true is an error at the op.
//
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --stablehlo-flatten-control-dep-tuple-operands=neuron-exact=true %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --flatten-control-dep-tuple-operands=neuron-exact=true %t

// The data is the first element, and the last would be forwarded: of another type, or of the same.
func.func @main(%a: tensor<f32>, %b: tensor<2xf32>) -> (tensor<f32>, tensor<f32>) {
  %t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xf32>>
  %e = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<f32>
  // expected-error @+1 {{would no longer be the data that the op forwards (tensor<f32>, not tensor<2xf32>)}}
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%b, %e) {has_side_effect = true} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.abs %a : tensor<f32>
  %u = stablehlo.tuple %a, %c : tuple<tensor<f32>, tensor<f32>>
  %f = stablehlo.get_tuple_element %u[0] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  // expected-error @+1 {{would forward another value than before}}
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%b, %f) {has_side_effect = true} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %w0, %w1 : tensor<f32>, tensor<f32>
}

// -----

// The data is a tuple, or an element of what another op makes.
func.func @main(%a: tensor<f32>) -> (tuple<tensor<f32>>, tensor<f32>) {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  // expected-error @+1 {{would no longer be the data that the op forwards (tuple<tensor<f32>>, not tensor<f32>)}}
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%a, %t) {has_side_effect = true} : (tensor<f32>, tuple<tensor<f32>>) -> tuple<tensor<f32>>
  %x = stablehlo.custom_call @foo() : () -> tuple<tensor<f32>>
  %e = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f32>
  // expected-error @+1 {{would no longer be the data that the op forwards (tensor<f32>, not tuple<tensor<f32>>)}}
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%a, %e) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w0, %w1 : tuple<tensor<f32>>, tensor<f32>
}

// -----

// An empty tuple as data leaves a predecessor in its place, or nothing at all.
func.func @main(%a: tensor<f32>) {
  %t = stablehlo.tuple : tuple<>
  // expected-error @+1 {{would no longer be the data that the op forwards (tuple<>, not tensor<f32>)}}
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%a, %t) {has_side_effect = true} : (tensor<f32>, tuple<>) -> tuple<>
  // expected-error @+1 {{no operand would be left}}
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%t) {has_side_effect = true} : (tuple<>) -> tuple<>
  return
}

// -----

// The original asks for the op that makes the tuple; a block argument has none.
func.func @main(%x: tuple<tensor<f32>>, %d: tensor<f32>) -> tensor<f32> {
  %e = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f32>
  // expected-error @+1 {{operand 0 is an element of a block argument}}
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e, %d) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
