// verify-control-deps with require-flat=true: what the flatten passes would change is refused, and nothing else.
//
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --verify-control-deps=require-flat=true %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --verify-control-deps=require-flat=true %t

func.func @predecessors(%a: tensor<f32>, %x: tuple<tensor<f32>>) {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %e = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f32>
  // expected-error @+2 {{not flat: predecessor 0 is a tuple; run}}
  // expected-error @+1 {{not flat: predecessor 1 is an element of a tuple; run}}
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %e, %a) : (tuple<tensor<f32>>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @data(%a: tensor<f32>, %x: tuple<tensor<f32>>) {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %e = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>>) -> tensor<f32>
  // expected-error @+1 {{not flat: the data, operand 1, is an element of a known tuple; run}}
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%a, %e) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{not flat: it forwards a tuple, tuple<tensor<f32>>; run}}
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%a, %x) : (tensor<f32>, tuple<tensor<f32>>) -> tuple<tensor<f32>>
  return
}

// -----

// Flat: plain values, opaque tuples as predecessors, an element of an opaque tuple as data; with layouts also as predecessor.
func.func @flat(%a: tensor<f32>, %x: tuple<tensor<f32>>) {
  %e = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f32>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%a, %x, %e) : (tensor<f32>, tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%e, %w0) {operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}
