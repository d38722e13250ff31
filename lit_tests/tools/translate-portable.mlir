// RUN: neuron-ctrldep-translate --serialize-portable %s -o %t.bin && neuron-ctrldep-translate --deserialize-portable %t.bin | FileCheck %s
// RUN: neuron-ctrldep-translate --serialize-portable=1.0.0 %s | neuron-ctrldep-translate --deserialize-portable | FileCheck %s
// RUN: not neuron-ctrldep-translate --deserialize-portable %s 2>&1 | FileCheck %s --check-prefix=TEXT
// A StableHLO portable artifact, of the newest version or of one that is named; wire ops and locations survive.

// CHECK: stablehlo.custom_call @AwsNeuronControlDep(
// CHECK: loc("wire")
// TEXT: translate-portable.mlir: error: not a StableHLO portable artifact
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = stablehlo.custom_call @AwsNeuronControlDep(%x, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("wire")
  return %w : tensor<4xf32>
}
