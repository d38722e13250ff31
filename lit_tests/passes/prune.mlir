// prune-control-deps: predecessors that reach every reader anyway are dropped.
//
// RUN: neuron-ctrldep-opt --prune-control-deps %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --prune-control-deps %t | FileCheck %t

// Through another predecessor.
// CHECK-LABEL: func.func @through_predecessor(
// CHECK:         %[[P:.*]] = stablehlo.abs
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.negate %[[P]]
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[Q]], %{{.*}}) {has_side_effect = true, other.unit} : (tensor<f32>, tensor<f32>) -> tensor<f32>
func.func @through_predecessor(%a: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
  %p = stablehlo.abs %a : tensor<f32>
  %q = stablehlo.negate %p : tensor<f32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %q, %d) {has_side_effect = true, other.unit} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.abs %w : tensor<f32>
  return %s : tensor<f32>
}

// Through a predecessor of a predecessor: wire ops carry edges, too.
// CHECK-LABEL: func.func @through_wire_op(
// CHECK:         %[[P:.*]] = stablehlo.abs
// CHECK-NEXT:    %[[W0:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[D:.*]])
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.negate %[[W0]]
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[Q]], %[[D]])
func.func @through_wire_op(%a: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
  %p = stablehlo.abs %a : tensor<f32>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %q = stablehlo.negate %w0 : tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%p, %q, %d) {has_side_effect = true} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.abs %w1 : tensor<f32>
  return %s : tensor<f32>
}

// Through the data: nothing is left, and the data takes the wire op's place. Also where the data is the predecessor itself.
// CHECK-LABEL: func.func @through_data(
// CHECK:         %[[P:.*]] = stablehlo.abs
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.negate %[[P]]
// CHECK-NEXT:    stablehlo.add %[[Q]], %[[P]]
// CHECK-NEXT:    return
func.func @through_data(%a: tensor<f32>) -> tensor<f32> {
  %p = stablehlo.abs %a : tensor<f32>
  %q = stablehlo.negate %p : tensor<f32>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %q) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%p, %p) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.add %w0, %w1 : tensor<f32>
  return %s : tensor<f32>
}

// Through another operand of the reader. A reader that has no other way keeps the predecessor for both.
// CHECK-LABEL: func.func @through_reader(
// CHECK:         %[[P:.*]] = stablehlo.abs
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.negate %[[P]]
// CHECK-NEXT:    stablehlo.add %[[D:.*]], %[[Q]]
// CHECK-NEXT:    %[[W:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[D]])
// CHECK-NEXT:    stablehlo.add %[[W]], %[[Q]]
// CHECK-NEXT:    stablehlo.abs %[[W]]
func.func @through_reader(%a: tensor<f32>, %d: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %p = stablehlo.abs %a : tensor<f32>
  %q = stablehlo.negate %p : tensor<f32>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s0 = stablehlo.add %w0, %q : tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s1 = stablehlo.add %w1, %q : tensor<f32>
  %s2 = stablehlo.abs %w1 : tensor<f32>
  return %s0, %s1, %s2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// Two wire ops hold the same edge: one stays.
// CHECK-LABEL: func.func @twice(
// CHECK:         %[[P:.*]] = stablehlo.abs
// CHECK-NEXT:    %[[W:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %{{.*}})
// CHECK-NEXT:    stablehlo.add %{{.*}}, %[[W]]
func.func @twice(%a: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
  %p = stablehlo.abs %a : tensor<f32>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%p, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.add %w0, %w1 : tensor<f32>
  return %s : tensor<f32>
}

// A use in a nested region is a use by the op around it: the loop waits for p.
// CHECK-LABEL: func.func @nested(
// CHECK-NOT:     AwsNeuronControlDep
// CHECK:         return
func.func @nested(%a: tensor<f32>, %i: tensor<i1>) -> tensor<f32> {
  %p = stablehlo.abs %a : tensor<f32>
  %r:2 = stablehlo.while(%c = %i, %x = %a) : tensor<i1>, tensor<f32>
  cond {
    stablehlo.return %c : tensor<i1>
  } do {
    %y = stablehlo.add %x, %p : tensor<f32>
    stablehlo.return %c, %y : tensor<i1>, tensor<f32>
  }
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %r#1) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.abs %w : tensor<f32>
  return %s : tensor<f32>
}

// No predecessors from the start: the data takes its place.
// CHECK-LABEL: func.func @none(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>)
// CHECK-NEXT:    return %[[A]]
func.func @none(%a: tensor<f32>) -> tensor<f32> {
  %w = stablehlo.custom_call @AwsNeuronControlDep(%a) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// Nothing to do: independent predecessors, where the values only leave the function together; an element of a tuple, which another element of the same tuple says nothing
// about; a wire op that nothing reads.
// CHECK-LABEL: func.func @needed(
// CHECK:         %[[P:.*]] = stablehlo.abs
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.negate %[[A:.*]] :
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[Q]], %[[A]])
// CHECK-NEXT:    %[[W1:.*]] = stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %[[A]])
// CHECK-NEXT:    stablehlo.abs %[[P]]
// CHECK-NEXT:    stablehlo.tuple
// CHECK-NEXT:    stablehlo.get_tuple_element
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %{{.*}})
func.func @needed(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %p = stablehlo.abs %a : tensor<f32>
  %q = stablehlo.negate %a : tensor<f32>
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %q, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%p, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.abs %p : tensor<f32>
  %t = stablehlo.tuple %w1, %c : tuple<tensor<f32>, tensor<f32>>
  %e = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %unread = stablehlo.custom_call @AwsNeuronControlDep(%p, %c) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w0, %e : tensor<f32>, tensor<f32>
}
