// Each of the twins touches only the ops of its own dialect; the other's, tuples too, are opaque to it.
//
// RUN: neuron-ctrldep-opt --stablehlo-flatten-control-dep-tuple-operands %s | FileCheck %s --check-prefixes=STABLE
// RUN: neuron-ctrldep-opt --flatten-control-dep-tuple-operands %s | FileCheck %s --check-prefixes=MHLO

// STABLE-LABEL: func.func @both(
// STABLE-NEXT:    %[[T:.*]] = mhlo.tuple
// STABLE-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {{.*}} : (tensor<f32>, tensor<f32>)
// STABLE-NEXT:    mhlo.custom_call @AwsNeuronControlDep(%[[T]], %{{.*}})
// STABLE-NEXT:    return
// MHLO-LABEL:   func.func @both(
// MHLO-NEXT:      %[[T:.*]] = stablehlo.tuple
// MHLO-NEXT:      stablehlo.custom_call @AwsNeuronControlDep(%[[T]], %{{.*}})
// MHLO-NEXT:      mhlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {{.*}} : (tensor<f32>, tensor<f32>)
// MHLO-NEXT:      return
func.func @both(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %u = mhlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %x = mhlo.custom_call @AwsNeuronControlDep(%u, %w) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %x : tensor<f32>
}

// As a predecessor the other dialect's tuple stays; as data it is taken apart like any opaque tuple.
// STABLE-LABEL: func.func @foreign_tuple(
// STABLE-NEXT:    %[[U:.*]] = mhlo.tuple
// STABLE-NEXT:    %[[E:.*]] = stablehlo.get_tuple_element %[[U]][0]
// STABLE-NEXT:    %[[W:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[U]], %[[E]])
// STABLE-NEXT:    %[[T:.*]] = stablehlo.tuple %[[W]]
// STABLE-NEXT:    return %[[T]]
func.func @foreign_tuple(%a: tensor<f32>) -> tuple<tensor<f32>> {
  %u = mhlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%u, %u) {has_side_effect = true} : (tuple<tensor<f32>>, tuple<tensor<f32>>) -> tuple<tensor<f32>>
  return %w : tuple<tensor<f32>>
}
