// Which tuple and get_tuple_element ops go: those that the rewrite left without uses, and what only those used.
//
// RUN: neuron-ctrldep-opt --stablehlo-flatten-control-dep-tuple-operands %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --flatten-control-dep-tuple-operands %t | FileCheck %t

// Unrelated dead code, also dead tuples, is left as it was.
// CHECK-LABEL: func.func @dead_before(
// CHECK-NEXT:    stablehlo.tuple %{{.*}} : tuple<tensor<f32>>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<f32>, tensor<f32>>
// CHECK-NEXT:    stablehlo.get_tuple_element %[[T]][0]
// CHECK-NEXT:    stablehlo.abs
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep
// CHECK-NEXT:    return
func.func @dead_before(%a: tensor<f32>) -> tensor<f32> {
  %dead = stablehlo.tuple %a : tuple<tensor<f32>>
  %t = stablehlo.tuple %a, %a : tuple<tensor<f32>, tensor<f32>>
  %dead_reader = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %dead_abs = stablehlo.abs %a : tensor<f32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>, tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// A tuple that something else reads stays.
// CHECK-LABEL: func.func @used_elsewhere(
// CHECK-NEXT:    %[[T:.*]] = stablehlo.tuple
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}})
// CHECK-NEXT:    return %{{.*}}, %[[T]]
func.func @used_elsewhere(%a: tensor<f32>) -> (tensor<f32>, tuple<tensor<f32>>) {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w, %t : tensor<f32>, tuple<tensor<f32>>
}

// Those that only served each other go together; the op at the bottom is no tuple and stays.
// CHECK-LABEL: func.func @transitively(
// CHECK-NEXT:    %[[X:.*]] = stablehlo.abs
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[X]], %{{.*}})
// CHECK-NEXT:    return
func.func @transitively(%a: tensor<f32>) -> tensor<f32> {
  %x = stablehlo.abs %a : tensor<f32>
  %t0 = stablehlo.tuple %x : tuple<tensor<f32>>
  %t1 = stablehlo.tuple %t0, %t0 : tuple<tuple<tensor<f32>>, tuple<tensor<f32>>>
  %e0 = stablehlo.get_tuple_element %t1[1] : (tuple<tuple<tensor<f32>>, tuple<tensor<f32>>>) -> tuple<tensor<f32>>
  %e1 = stablehlo.get_tuple_element %e0[0] : (tuple<tensor<f32>>) -> tensor<f32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e1, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// Two wire ops share a bundle: it goes with the second.
// CHECK-LABEL: func.func @shared(
// CHECK-NEXT:    %[[W:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[A:.*]], %[[A]])
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[A]], %[[W]])
// CHECK-NEXT:    return
func.func @shared(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%t, %w0) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w1 : tensor<f32>
}
