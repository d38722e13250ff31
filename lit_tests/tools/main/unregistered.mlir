// Ops of dialects that are not known: refused as mlir-opt does, and let in by the same flag.
//
// RUN: not neuron-ctrldep check %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: operation being parsed with an unregistered dialect
//
// RUN: neuron-ctrldep check --allow-unregistered-dialect %s | FileCheck %s
// CHECK: p            s          block 0      kept  LOST
//
// RUN: neuron-ctrldep lower --allow-unregistered-dialect %s | FileCheck %s --check-prefix=LOWER
// LOWER: p = m3.NeuronTensorOp("mine.op", 'xla_op'
//
// RUN: neuron-ctrldep view --allow-unregistered-dialect %s -o %t.dot
// RUN: FileCheck %s --check-prefix=VIEW < %t.dot
// VIEW: mine.op
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %p = "mine.op"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("p")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %b) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cosine %w : tensor<4xf32> loc("s")
  return %s : tensor<4xf32>
}
