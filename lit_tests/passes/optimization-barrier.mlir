// control-deps-to-optimization-barrier: the same values in an op that every XLA backend keeps; the result is the last.
//
// RUN: neuron-ctrldep-opt --control-deps-to-optimization-barrier %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --control-deps-to-optimization-barrier %t | FileCheck %t

// CHECK-LABEL: func.func @plain(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[Q:.*]]: tensor<2xf32>, %[[D:.*]]: tensor<3xf32>)
// CHECK-NEXT:    %[[B:.*]]:3 = stablehlo.optimization_barrier %[[P]], %[[Q]], %[[D]] : tensor<f32>, tensor<2xf32>, tensor<3xf32>
// CHECK-NEXT:    return %[[B]]#2
func.func @plain(%p: tensor<f32>, %q: tensor<2xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %q, %d) {has_side_effect = true} : (tensor<f32>, tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %w : tensor<3xf32>
}

// Tokens, as predecessors and as data.
// CHECK-LABEL: func.func @token(
// CHECK-SAME:    %[[K:.*]]: !stablehlo.token, %[[D:.*]]: tensor<f32>)
// CHECK-NEXT:    %[[B:.*]]:2 = stablehlo.optimization_barrier %[[K]], %[[D]]
// CHECK-NEXT:    %[[C:.*]]:2 = stablehlo.optimization_barrier %[[B]]#1, %[[K]]
// CHECK-NEXT:    return %[[B]]#1, %[[C]]#1
func.func @token(%k: !stablehlo.token, %d: tensor<f32>) -> (tensor<f32>, !stablehlo.token) {
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%k, %d) {has_side_effect = true} : (!stablehlo.token, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%w0, %k) {has_side_effect = true} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return %w0, %w1 : tensor<f32>, !stablehlo.token
}

// Tuples go through leaf by leaf, and those of the data are packed again.
// CHECK-LABEL: func.func @tuple(
// CHECK-SAME:    %[[A:.*]]: tensor<f32>, %[[X:.*]]: tuple<tensor<2xf32>, tensor<3xf32>>)
// CHECK-NEXT:    %[[E0:.*]] = stablehlo.get_tuple_element %[[X]][0]
// CHECK-NEXT:    %[[E1:.*]] = stablehlo.get_tuple_element %[[X]][1]
// CHECK-NEXT:    %[[B:.*]]:3 = stablehlo.optimization_barrier %[[A]], %[[E0]], %[[E1]]
// CHECK-NEXT:    %[[T:.*]] = stablehlo.tuple %[[B]]#1, %[[B]]#2
// CHECK-NEXT:    return %[[T]]
func.func @tuple(%a: tensor<f32>, %x: tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %x) {has_side_effect = true} : (tuple<tensor<f32>>, tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  return %w : tuple<tensor<2xf32>, tensor<3xf32>>
}

// An empty tuple has no value for a barrier; what was ordered after it is ordered after its predecessors.
// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    %[[P:.*]]: tensor<f32>, %[[N:.*]]: tuple<>)
// CHECK-NEXT:    %[[B:.*]]:2 = stablehlo.optimization_barrier %[[P]], %[[P]]
// CHECK-NEXT:    return %[[N]], %[[B]]#1
func.func @empty(%p: tensor<f32>, %n: tuple<>) -> (tuple<>, tensor<f32>) {
  %w0 = stablehlo.custom_call @AwsNeuronControlDep(%p, %n) {has_side_effect = true} : (tensor<f32>, tuple<>) -> tuple<>
  %w1 = stablehlo.custom_call @AwsNeuronControlDep(%w0, %p) {has_side_effect = true} : (tuple<>, tensor<f32>) -> tensor<f32>
  return %w0, %w1 : tuple<>, tensor<f32>
}

// Nothing to do.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    stablehlo.custom_call @foo
// CHECK-NEXT:    stablehlo.optimization_barrier
// CHECK-NEXT:    return
func.func @others(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @foo(%a, %a) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.optimization_barrier %0 : tensor<f32>
  return %1 : tensor<f32>
}

// The body of a fusion runs as one kernel, and XLA's verifier takes no barrier in it: the data alone is left.
// CHECK-LABEL: func.func @fusion(
// CHECK:         "mhlo.fusion"
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[P:.*]] = stablehlo.negate %[[X]]
// CHECK-NEXT:      %[[S:.*]] = stablehlo.sine %[[X]]
// CHECK-NEXT:      %[[R:.*]] = stablehlo.add %[[P]], %[[S]]
// CHECK-NEXT:      mhlo.return %[[R]]
func.func @fusion(%a: tensor<4xf32>) -> tensor<4xf32> {
  %f = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%x: tensor<4xf32>):
    %p = stablehlo.negate %x : tensor<4xf32>
    %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = stablehlo.sine %w : tensor<4xf32>
    %r = stablehlo.add %p, %s : tensor<4xf32>
    mhlo.return %r : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}
