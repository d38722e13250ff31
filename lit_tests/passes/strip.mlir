// strip-control-deps: every wire op is replaced by its data.
//
// RUN: neuron-ctrldep-opt --strip-control-deps %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --strip-control-deps %t | FileCheck %t

// Chains, loops and tokens included.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[I:.*]]: tensor<i1>, %[[K:.*]]: !stablehlo.token)
// CHECK-NEXT:    stablehlo.while(%{{.*}} = %[[I]])
// CHECK-NOT:     AwsNeuronControlDep
// CHECK:         return %{{.*}}, %[[K]]
func.func @plain(%p: tensor<f32>, %i: tensor<i1>, %k: !stablehlo.token) -> (tensor<i1>, !stablehlo.token) {
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %i) {has_side_effect = true} : (tensor<f32>, tensor<i1>) -> tensor<i1>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%p, %w0) {has_side_effect = true} : (tensor<f32>, tensor<i1>) -> tensor<i1>
  %r = stablehlo.while(%x = %w1) : tensor<i1>
  cond {
    stablehlo.return %x : tensor<i1>
  } do {
    %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {has_side_effect = true} : (tensor<f32>, tensor<i1>) -> tensor<i1>
    stablehlo.return %w : tensor<i1>
  }
  %wk = stablehlo.custom_call @AwsNeuronControlDep(%r, %k) {has_side_effect = true} : (tensor<i1>, !stablehlo.token) -> !stablehlo.token
  return %r, %wk : tensor<i1>, !stablehlo.token
}

// A tuple and its elements that a wire op kept apart come together, and what is left without uses goes: bundles of
// predecessors, too.
// CHECK-LABEL: func.func @tuple(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[B]], %[[A]]
func.func @tuple(%a: tensor<f32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %inner = stablehlo.tuple %b : tuple<tensor<2xf32>>
  %t = stablehlo.tuple %a, %inner : tuple<tensor<f32>, tuple<tensor<2xf32>>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%inner, %t) {has_side_effect = true} : (tuple<tensor<2xf32>>, tuple<tensor<f32>, tuple<tensor<2xf32>>>) -> tuple<tensor<f32>, tuple<tensor<2xf32>>>
  %e0 = stablehlo.get_tuple_element %w[0] : (tuple<tensor<f32>, tuple<tensor<2xf32>>>) -> tensor<f32>
  %e1 = stablehlo.get_tuple_element %w[1] : (tuple<tensor<f32>, tuple<tensor<2xf32>>>) -> tuple<tensor<2xf32>>
  %e10 = stablehlo.get_tuple_element %e1[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return %e10, %e0 : tensor<2xf32>, tensor<f32>
}

// What flatten made of an opaque tuple is that tuple again.
// CHECK-LABEL: func.func @packed_again(
// CHECK-SAME:    %{{.*}}: tensor<f32>, %[[X:.*]]: tuple<tensor<f32>, tensor<2xf32>>)
// CHECK-NEXT:    return %[[X]]
func.func @packed_again(%p: tensor<f32>, %x: tuple<tensor<f32>, tensor<2xf32>>) -> tuple<tensor<f32>, tensor<2xf32>> {
  %e0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<f32>
  %e1 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<2xf32>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %e0) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%p, %e1) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %t = stablehlo.tuple %w0, %w1 : tuple<tensor<f32>, tensor<2xf32>>
  return %t : tuple<tensor<f32>, tensor<2xf32>>
}

// Nothing to do: pairs of tuple and element that no wire op was between are the program's own, and so is dead code.
// CHECK-LABEL: func.func @own(
// CHECK-NEXT:    stablehlo.tuple
// CHECK-NEXT:    %[[T:.*]] = stablehlo.tuple
// CHECK-NEXT:    %[[E:.*]] = stablehlo.get_tuple_element %[[T]][0]
// CHECK-NEXT:    stablehlo.custom_call @foo
// CHECK-NEXT:    return %[[E]]
func.func @own(%a: tensor<f32>) -> tensor<f32> {
  %dead = stablehlo.tuple %a : tuple<tensor<f32>>
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %e = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>>) -> tensor<f32>
  %0 = stablehlo.custom_call @foo(%e) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  return %e : tensor<f32>
}
