// RUN: neuron-ctrldep-translate --mlir-to-dot %s | FileCheck %s
// The graph for Graphviz: data and dependency edges are told apart.

// CHECK: digraph
// CHECK-DAG: first
// CHECK-DAG: second
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.sine %x : tensor<4xf32> loc("first")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cosine %w : tensor<4xf32> loc("second")
  return %s : tensor<4xf32>
}
