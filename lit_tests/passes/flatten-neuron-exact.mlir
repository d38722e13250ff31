// neuron-exact=true does what the original pass does, literally.
//
// RUN: neuron-ctrldep-opt --stablehlo-flatten-control-dep-tuple-operands=neuron-exact=true %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --flatten-control-dep-tuple-operands=neuron-exact=true %t | FileCheck %t

// Main function only.
// CHECK-LABEL: func.func @other(
// CHECK-NEXT:    stablehlo.tuple
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {has_side_effect = true}
func.func @other(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2xf32>)
func.func @main(%a: tensor<f32>, %b: tensor<2xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<2xf32>) {
  %t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xf32>>
  %n = stablehlo.tuple %t, %a : tuple<tuple<tensor<f32>, tensor<2xf32>>, tensor<f32>>
  %x = stablehlo.custom_call @foo() : () -> tuple<tensor<f32>>
  %e = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<f32>
  %f = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f32>
  %g = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<2xf32>
  // Nothing is erased.
  // CHECK-NEXT:  %[[T:.*]] = stablehlo.tuple %[[A]], %[[B]]
  // CHECK-NEXT:  stablehlo.tuple %[[T]], %[[A]]
  // CHECK-NEXT:  %[[X:.*]] = stablehlo.custom_call @foo
  // CHECK-NEXT:  stablehlo.get_tuple_element
  // CHECK-NEXT:  stablehlo.get_tuple_element
  // CHECK-NEXT:  stablehlo.get_tuple_element

  // A tuple is inlined one level; all attributes but the target are lost.
  // CHECK-NEXT:  stablehlo.custom_call @AwsNeuronControlDep(%[[T]], %[[A]], %[[A]]) : (
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%n, %a) {has_side_effect = true, mhlo.frontend_attributes = {k = "v"}} : (tuple<tuple<tensor<f32>, tensor<2xf32>>, tensor<f32>>, tensor<f32>) -> tensor<f32>
  // An element of a tuple becomes all elements of that tuple. Nothing is kept once.
  // CHECK-NEXT:  stablehlo.custom_call @AwsNeuronControlDep(%[[A]], %[[B]], %[[A]], %[[A]]) : (
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%e, %a, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  // An element of what another op makes becomes all results of that op.
  // CHECK-NEXT:  stablehlo.custom_call @AwsNeuronControlDep(%[[X]], %[[A]]) : (
  %w2 = stablehlo.custom_call @AwsNeuronControlDep(%f, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // A flat op is rebuilt, too.
  // CHECK-NEXT:  stablehlo.custom_call @AwsNeuronControlDep(%[[B]], %[[A]]) : (
  %w3 = stablehlo.custom_call @AwsNeuronControlDep(%b, %a) {has_side_effect = true} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  // In data position it happens to be right for the last element.
  // CHECK-NEXT:  stablehlo.custom_call @AwsNeuronControlDep(%[[A]], %[[A]], %[[B]]) : (
  %w4 = stablehlo.custom_call @AwsNeuronControlDep(%a, %g) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT:  return
  return %w0, %w1, %w2, %w3, %w4 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<2xf32>
}
