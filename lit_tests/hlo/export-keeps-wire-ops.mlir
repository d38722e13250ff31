// RUN: neuron-ctrldep-translate --stablehlo-to-hlo %s | FileCheck %s

// The way back: a wire op keeps its side effect, without which XLA would remove or merge it.

// CHECK-LABEL: ENTRY
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:[^ ]+]] = f32[4]{0} negate(
  %a = stablehlo.negate %arg0 : tensor<4xf32>
  // CHECK: %[[W:[^ ]+]] = f32[4]{0} custom-call(%[[A]], %{{[^ ]+}}), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
  %w = stablehlo.custom_call @AwsNeuronControlDep(%a, %arg0) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: exponential(%[[W]])
  %s = stablehlo.exponential %w : tensor<4xf32>
  return %s : tensor<4xf32>
}
