// What the data, the last operand, becomes. No value changes, and afterwards no wire op forwards a tuple.
//
// RUN: neuron-ctrldep-opt --stablehlo-flatten-control-dep-tuple-operands %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --flatten-control-dep-tuple-operands %t | FileCheck %t

// An element of a known tuple is that element.
// CHECK-LABEL: func.func @element_of_tuple(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[A:.*]]: tensor<2xf32>)
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[A]])
// CHECK-NEXT:    return
func.func @element_of_tuple(%p: tensor<f32>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %t = stablehlo.tuple %p, %a : tuple<tensor<f32>, tensor<2xf32>>
  %e = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<2xf32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %e) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %w : tensor<2xf32>
}

// An element of an opaque tuple stays: as data its value is what counts. The predecessor, the same element, does not.
// CHECK-LABEL: func.func @element_of_op(
// CHECK-NEXT:    %[[X:.*]] = stablehlo.custom_call @foo()
// CHECK-NEXT:    %[[E:.*]] = stablehlo.get_tuple_element %[[X]][0]
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[X]], %[[E]])
// CHECK-NEXT:    return
func.func @element_of_op() -> tensor<f32> {
  %x = stablehlo.custom_call @foo() : () -> tuple<tensor<f32>>
  %e = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>>) -> tensor<f32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e, %e) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// A tuple is split: one wire op for each leaf, and readers of an element take the matching one.
// CHECK-LABEL: func.func @tuple(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK-NEXT:    %[[WA:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[A]]) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %[[WB:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[B]]) {has_side_effect = true} : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    return %[[WB]], %[[WA]]
func.func @tuple(%p: tensor<f32>, %a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %t = stablehlo.tuple %a, %b : tuple<tensor<2xf32>, tensor<3xf32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %t) {has_side_effect = true} : (tensor<f32>, tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  %e1 = stablehlo.get_tuple_element %w[1] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<3xf32>
  %e0 = stablehlo.get_tuple_element %w[0] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  return %e1, %e0 : tensor<3xf32>, tensor<2xf32>
}

// A tuple of the wire ops serves what use of the whole, or of a part that is a tuple, is left.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK-NEXT:    %[[WA:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[A]])
// CHECK-NEXT:    %[[WB:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[B]])
// CHECK-NEXT:    %[[IN:.*]] = stablehlo.tuple %[[WB]] : tuple<tensor<3xf32>>
// CHECK-NEXT:    %[[OUT:.*]] = stablehlo.tuple %[[WA]], %[[IN]] : tuple<tensor<2xf32>, tuple<tensor<3xf32>>>
// CHECK-NEXT:    return %[[OUT]], %[[IN]], %[[WB]]
func.func @whole(%p: tensor<f32>, %a: tensor<2xf32>, %b: tensor<3xf32>) -> (tuple<tensor<2xf32>, tuple<tensor<3xf32>>>, tuple<tensor<3xf32>>, tensor<3xf32>) {
  %inner = stablehlo.tuple %b : tuple<tensor<3xf32>>
  %t = stablehlo.tuple %a, %inner : tuple<tensor<2xf32>, tuple<tensor<3xf32>>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %t) {has_side_effect = true} : (tensor<f32>, tuple<tensor<2xf32>, tuple<tensor<3xf32>>>) -> tuple<tensor<2xf32>, tuple<tensor<3xf32>>>
  %e1 = stablehlo.get_tuple_element %w[1] : (tuple<tensor<2xf32>, tuple<tensor<3xf32>>>) -> tuple<tensor<3xf32>>
  %e10 = stablehlo.get_tuple_element %e1[0] : (tuple<tensor<3xf32>>) -> tensor<3xf32>
  return %w, %e1, %e10 : tuple<tensor<2xf32>, tuple<tensor<3xf32>>>, tuple<tensor<3xf32>>, tensor<3xf32>
}

// An opaque tuple is taken apart first.
// CHECK-LABEL: func.func @opaque(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[X:.*]]: tuple<tensor<2xf32>, !stablehlo.token>)
// CHECK-NEXT:    %[[E0:.*]] = stablehlo.get_tuple_element %[[X]][0]
// CHECK-NEXT:    %[[E1:.*]] = stablehlo.get_tuple_element %[[X]][1]
// CHECK-NEXT:    %[[W0:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[E0]])
// CHECK-NEXT:    %[[W1:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[E1]])
// CHECK-NEXT:    return %[[W0]], %[[W1]]
func.func @opaque(%p: tensor<f32>, %x: tuple<tensor<2xf32>, !stablehlo.token>) -> (tensor<2xf32>, !stablehlo.token) {
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {has_side_effect = true} : (tensor<f32>, tuple<tensor<2xf32>, !stablehlo.token>) -> tuple<tensor<2xf32>, !stablehlo.token>
  %e0 = stablehlo.get_tuple_element %w[0] : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
  %e1 = stablehlo.get_tuple_element %w[1] : (tuple<tensor<2xf32>, !stablehlo.token>) -> !stablehlo.token
  return %e0, %e1 : tensor<2xf32>, !stablehlo.token
}

// Wire ops that forward what a wire op forwards: each leaf gets its own chain.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[Q:.*]]: tensor<2xf32>, %[[X:.*]]: tuple<tensor<3xf32>>)
// CHECK-NEXT:    %[[E:.*]] = stablehlo.get_tuple_element %[[X]][0]
// CHECK-NEXT:    %[[W0:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[E]])
// CHECK-NEXT:    %[[W1:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[Q]], %[[W0]])
// CHECK-NEXT:    return %[[W1]]
func.func @chain(%p: tensor<f32>, %q: tensor<2xf32>, %x: tuple<tensor<3xf32>>) -> tensor<3xf32> {
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {has_side_effect = true} : (tensor<f32>, tuple<tensor<3xf32>>) -> tuple<tensor<3xf32>>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%q, %w0) {has_side_effect = true} : (tensor<2xf32>, tuple<tensor<3xf32>>) -> tuple<tensor<3xf32>>
  %e = stablehlo.get_tuple_element %w1[0] : (tuple<tensor<3xf32>>) -> tensor<3xf32>
  return %e : tensor<3xf32>
}

// An empty tuple has no leaf, so nothing is left to hold the order; wire ops that were ordered after it are ordered after
// its predecessors, and what makes the empty tuple, instead.
// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[N:.*]]: tuple<>, %[[D:.*]]: tensor<2xf32>)
// CHECK-NEXT:    %[[W:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[N]], %[[D]])
// CHECK-NEXT:    return %[[N]], %[[W]]
func.func @empty(%p: tensor<f32>, %n: tuple<>, %d: tensor<2xf32>) -> (tuple<>, tensor<2xf32>) {
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %n) {has_side_effect = true} : (tensor<f32>, tuple<>) -> tuple<>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%w0, %d) {has_side_effect = true} : (tuple<>, tensor<2xf32>) -> tensor<2xf32>
  return %w0, %w1 : tuple<>, tensor<2xf32>
}

// A known tuple that holds part of an opaque one: the part is taken further apart, not the tuple it came from.
// CHECK-LABEL: func.func @known_of_opaque(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[X:.*]]: tuple<tensor<2xf32>, tuple<tensor<3xf32>>>)
// CHECK-NEXT:    %[[E1:.*]] = stablehlo.get_tuple_element %[[X]][1]
// CHECK-NEXT:    %[[E10:.*]] = stablehlo.get_tuple_element %[[E1]][0]
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[A]], %[[A]])
// CHECK-NEXT:    %[[W:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[A]], %[[E10]])
// CHECK-NEXT:    return %[[W]]
func.func @known_of_opaque(%a: tensor<f32>, %x: tuple<tensor<2xf32>, tuple<tensor<3xf32>>>) -> tensor<3xf32> {
  %e1 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<2xf32>, tuple<tensor<3xf32>>>) -> tuple<tensor<3xf32>>
  %t = stablehlo.tuple %a, %e1 : tuple<tensor<f32>, tuple<tensor<3xf32>>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%a, %t) {has_side_effect = true} : (tensor<f32>, tuple<tensor<f32>, tuple<tensor<3xf32>>>) -> tuple<tensor<f32>, tuple<tensor<3xf32>>>
  %r1 = stablehlo.get_tuple_element %w[1] : (tuple<tensor<f32>, tuple<tensor<3xf32>>>) -> tuple<tensor<3xf32>>
  %r10 = stablehlo.get_tuple_element %r1[0] : (tuple<tensor<3xf32>>) -> tensor<3xf32>
  return %r10 : tensor<3xf32>
}
