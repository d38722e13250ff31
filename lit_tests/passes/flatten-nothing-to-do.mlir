// What the pass leaves alone: the output is the input.
//
// RUN: neuron-ctrldep-opt %s > %t.before
// RUN: neuron-ctrldep-opt --stablehlo-flatten-control-dep-tuple-operands %s > %t.after
// RUN: diff %t.before %t.after
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt %t > %t.before
// RUN: neuron-ctrldep-opt --flatten-control-dep-tuple-operands %t > %t.after
// RUN: diff %t.before %t.after

// Wire ops that are flat: no predecessors; a tuple-typed argument as predecessor; a predecessor named twice; the data as
// predecessor; no side effect.
func.func @flat(%a: tensor<f32>, %x: tuple<tensor<f32>>) -> tensor<f32> {
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%a) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%x, %w0) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %w2 = stablehlo.custom_call @AwsNeuronControlDep(%a, %a, %w1) {has_side_effect = true} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %w3 = stablehlo.custom_call @AwsNeuronControlDep(%w2, %w2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w3 : tensor<f32>
}

// With layouts the element of an opaque tuple is as flat as it gets.
func.func @layouts(%a: tensor<f32>, %x: tuple<tensor<f32>>) -> tensor<f32> {
  %e = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e, %a) {has_side_effect = true, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// Other custom calls, also those whose target only resembles the wire op's.
func.func @others(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %0 = stablehlo.custom_call @foo(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @AwsNeuronControlDeps(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @awsneuroncontroldep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.custom_call @AwsNeuronControl(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
