// RUN: neuron-ctrldep-translate --stablehlo-to-hlo %s | FileCheck %s
// The way back to HLO: a wire op stays a call with a side effect.

// CHECK: HloModule
// CHECK: ENTRY
// CHECK: custom-call({{.*}}), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.sine %x : tensor<4xf32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cosine %w : tensor<4xf32>
  return %s : tensor<4xf32>
}
