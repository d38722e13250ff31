// What is printed, and what is written as bytecode, reads back as the same module.
// RUN: neuron-ctrldep-opt %s --verify-roundtrip | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --verify-roundtrip | FileCheck %s %}
// RUN: neuron-ctrldep-opt %s --verify-roundtrip --no-implicit-module --mlir-print-local-scope | FileCheck %s
// CHECK: func.func @f
func.func @f(%a: tensor<?x4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %0 = tensor.dim %a, %c0 : tensor<?x4xf32> loc("size")
  return %0 : index
}
