// Where the pass looks: all functions, nested regions included; with main-only=true the main function.
//
// RUN: neuron-ctrldep-opt --split-input-file --stablehlo-flatten-control-dep-tuple-operands %s | FileCheck %s --check-prefixes=ALL
// RUN: neuron-ctrldep-opt --split-input-file --stablehlo-flatten-control-dep-tuple-operands=main-only=true %s | FileCheck %s --check-prefixes=MAIN
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --split-input-file --flatten-control-dep-tuple-operands %t | FileCheck %t --check-prefixes=ALL
// RUN: neuron-ctrldep-opt --split-input-file --flatten-control-dep-tuple-operands=main-only=true %t | FileCheck %t --check-prefixes=MAIN

// The function named main, wherever it stands. A wire op in a loop body may be ordered after values from around the loop.
// ALL-LABEL:  func.func private @first(
// ALL-NOT:      stablehlo.tuple
// MAIN-LABEL: func.func private @first(
// MAIN-NEXT:    stablehlo.tuple
func.func private @first(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
// ALL-LABEL:  func.func @public(
// ALL-NOT:      stablehlo.tuple
// MAIN-LABEL: func.func @public(
// MAIN-NEXT:    stablehlo.tuple
func.func @public(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
// ALL-LABEL:  func.func private @main(
// ALL-SAME:     %[[P:.*]]: tensor<f32>, %[[I:.*]]: tensor<i1>)
// ALL-NOT:      stablehlo.tuple
// ALL:          stablehlo.custom_call @AwsNeuronControlDep(%[[P]], %{{.*}}) {{.*}} : (tensor<f32>, tensor<i1>) -> tensor<i1>
// MAIN-LABEL: func.func private @main(
// MAIN-NOT:     stablehlo.tuple
// MAIN:         stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {{.*}} : (tensor<f32>, tensor<i1>) -> tensor<i1>
func.func private @main(%p: tensor<f32>, %i: tensor<i1>) -> tensor<i1> {
  %t = stablehlo.tuple %p : tuple<tensor<f32>>
  %r = "stablehlo.while"(%i) ({
  ^bb0(%x: tensor<i1>):
    stablehlo.return %x : tensor<i1>
  }, {
  ^bb0(%x: tensor<i1>):
    %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %x) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<i1>) -> tensor<i1>
    stablehlo.return %w : tensor<i1>
  }) : (tensor<i1>) -> tensor<i1>
  return %r : tensor<i1>
}

// -----

// No main: the first public function. XLA's importer puts private functions in front.
// MAIN-LABEL: func.func private @helper(
// MAIN-NEXT:    stablehlo.tuple
func.func private @helper(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
// MAIN-LABEL: func.func @entry(
// MAIN-NEXT:    stablehlo.custom_call
func.func @entry(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
// MAIN-LABEL: func.func @second(
// MAIN-NEXT:    stablehlo.tuple
func.func @second(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// -----

// Neither: the first function. Blocks that nothing jumps to are looked into like any other.
// ALL-LABEL:  func.func private @only(
// ALL-NOT:      stablehlo.tuple
// ALL:        }
// MAIN-LABEL: func.func private @only(
// MAIN-NOT:     stablehlo.tuple
// MAIN:         ^bb1
// MAIN-NEXT:      stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}})
func.func private @only(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
^bb1:
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
// MAIN-LABEL: func.func private @other(
// MAIN-NEXT:    stablehlo.tuple
func.func private @other(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
