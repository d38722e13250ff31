// RUN: neuron-ctrldep-translate --mlir-to-edges %s | FileCheck %s
// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | neuron-ctrldep-translate --penguin-to-edges | FileCheck %s
// The edges of a module and those of its Penguin Python are the same, by the names that the input used.

// CHECK: [
// CHECK-NEXT:   {
// CHECK-DAG:     "kind": "ORDERED"
// CHECK-DAG:     "src": "the first.1"
// CHECK-DAG:     "dst": "print"
// CHECK:   }
// CHECK-NEXT: ]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.sine %x : tensor<4xf32> loc("the first.1")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cosine %w : tensor<4xf32> loc("print")
  return %s : tensor<4xf32>
}
