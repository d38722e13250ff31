// What each kind of operand becomes in predecessor position.
//
// RUN: neuron-ctrldep-opt --stablehlo-flatten-control-dep-tuple-operands %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --flatten-control-dep-tuple-operands %t | FileCheck %t

// A tuple becomes its elements, in order.
// CHECK-LABEL: func.func @tuple(
// CHECK-SAME:    %[[P0:.*]]: tensor<f32>, %[[P1:.*]]: tensor<2xf32>, %[[D:.*]]: tensor<3xf32>)
// CHECK-NEXT:    %[[W:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P0]], %[[P1]], %[[D]]) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    return %[[W]]
func.func @tuple(%p0: tensor<f32>, %p1: tensor<2xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %t = stablehlo.tuple %p0, %p1 : tuple<tensor<f32>, tensor<2xf32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %d) {has_side_effect = true} : (tuple<tensor<f32>, tensor<2xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return %w : tensor<3xf32>
}

// So do tuples in tuples, wherever among the operands they stand; plain operands stay where they are.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<3xf32>, %[[D:.*]]: tensor<4xf32>)
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[D]], %[[C]], %[[A]], %[[B]], %[[D]])
// CHECK-NEXT:    return
func.func @nested(%a: tensor<f32>, %b: tensor<2xf32>, %c: tensor<3xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %inner = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xf32>>
  %outer = stablehlo.tuple %c, %inner : tuple<tensor<3xf32>, tuple<tensor<f32>, tensor<2xf32>>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%d, %outer, %d) {has_side_effect = true} : (tensor<4xf32>, tuple<tensor<3xf32>, tuple<tensor<f32>, tensor<2xf32>>>, tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// An element of a known tuple becomes that element only.
// CHECK-LABEL: func.func @element_of_tuple(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[B]], %[[A]])
// CHECK-NEXT:    return
func.func @element_of_tuple(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xf32>>
  %e = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<2xf32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e, %a) {has_side_effect = true} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// An element of an element: the two are looked through together.
// CHECK-LABEL: func.func @element_of_element(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[B]], %[[A]])
// CHECK-NEXT:    return
func.func @element_of_element(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %inner = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xf32>>
  %outer = stablehlo.tuple %inner : tuple<tuple<tensor<f32>, tensor<2xf32>>>
  %e0 = stablehlo.get_tuple_element %outer[0] : (tuple<tuple<tensor<f32>, tensor<2xf32>>>) -> tuple<tensor<f32>, tensor<2xf32>>
  %e1 = stablehlo.get_tuple_element %e0[1] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<2xf32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e1, %a) {has_side_effect = true} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// An element of what another op makes becomes that op's value: ordering after the op is what counts. Two elements of one
// op are therefore one predecessor.
// CHECK-LABEL: func.func @element_of_op(
// CHECK-NEXT:    %[[X:.*]] = stablehlo.custom_call @foo()
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[X]], %{{.*}}) {has_side_effect = true} : (tuple<tensor<f32>, tuple<tensor<2xf32>>>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    return
func.func @element_of_op(%d: tensor<f32>) -> tensor<f32> {
  %x = stablehlo.custom_call @foo() : () -> tuple<tensor<f32>, tuple<tensor<2xf32>>>
  %e0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>, tuple<tensor<2xf32>>>) -> tensor<f32>
  %e1 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<f32>, tuple<tensor<2xf32>>>) -> tuple<tensor<2xf32>>
  %e10 = stablehlo.get_tuple_element %e1[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e0, %e10, %d) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// Predecessors that repeat after expansion are kept once, in the first place.
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[B]], %[[A]], %[[A]]) {{.*}} : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    return
func.func @repeated(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %t = stablehlo.tuple %b, %a, %b : tuple<tensor<2xf32>, tensor<f32>, tensor<2xf32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%b, %t, %a, %a) {has_side_effect = true} : (tensor<2xf32>, tuple<tensor<2xf32>, tensor<f32>, tensor<2xf32>>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// A tuple of nothing contributes nothing; here no predecessor is left, and the op stays legal.
// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    %[[D:.*]]: tensor<f32>)
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[D]]) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    return
func.func @empty(%d: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple : tuple<>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %d) {has_side_effect = true} : (tuple<>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// Tokens stay, also out of a tuple; so do tuple-typed values of opaque ops and arguments, empty ones too.
// CHECK-LABEL: func.func @stay(
// CHECK-SAME:    %[[K:.*]]: !stablehlo.token, %[[X:.*]]: tuple<tensor<f32>>, %[[N:.*]]: tuple<>, %[[D:.*]]: tensor<f32>)
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[K]], %[[X]], %[[N]], %[[D]])
// CHECK-NEXT:    return
func.func @stay(%k: !stablehlo.token, %x: tuple<tensor<f32>>, %n: tuple<>, %d: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %k, %x, %n : tuple<!stablehlo.token, tuple<tensor<f32>>, tuple<>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %d) {has_side_effect = true} : (tuple<!stablehlo.token, tuple<tensor<f32>>, tuple<>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// A predecessor that is a wire op stays, and one that a wire op forwards as a tuple becomes its parts.
// CHECK-LABEL: func.func @wire_op(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    %[[W0:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[B]], %[[A]])
// CHECK-NEXT:    %[[W1A:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[W0]], %[[A]])
// CHECK-NEXT:    %[[W1B:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[W0]], %[[B]])
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[W1A]], %[[W1B]], %[[A]])
// CHECK-NEXT:    return
func.func @wire_op(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%b, %a) {has_side_effect = true} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xf32>>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%w0, %t) {has_side_effect = true} : (tensor<f32>, tuple<tensor<f32>, tensor<2xf32>>) -> tuple<tensor<f32>, tensor<2xf32>>
  %w2 = stablehlo.custom_call @AwsNeuronControlDep(%w1, %a) {has_side_effect = true} : (tuple<tensor<f32>, tensor<2xf32>>, tensor<f32>) -> tensor<f32>
  return %w2 : tensor<f32>
}
