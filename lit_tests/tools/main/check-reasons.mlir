// Section 5: which edges a module holds, and why what is written as one is none. The reader looks through wire ops, tuples
// and their elements; "check" lists every edge with what became of it.
//
// RUN: neuron-ctrldep check %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t.mlir
// RUN: neuron-ctrldep check %t.mlir | FileCheck %s

func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = stablehlo.negate %a : tensor<4xf32> loc("p")
  %q = stablehlo.sine %a : tensor<4xf32> loc("q")
  %one = stablehlo.constant dense<1.0> : tensor<4xf32> loc("one")

  // Predecessors in a tuple, and one that is itself a wire op: it stands for its data and for its own predecessors.
  %t = stablehlo.tuple %p, %q : tuple<tensor<4xf32>, tensor<4xf32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %b) {has_side_effect = true} : (tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cosine %w : tensor<4xf32> loc("s")
  %v = stablehlo.custom_call @AwsNeuronControlDep(%w, %s, %a) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = stablehlo.tanh %v : tensor<4xf32> loc("r")

  // There before the block runs: an argument and a constant.
  %x = stablehlo.custom_call @AwsNeuronControlDep(%a, %one, %b) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = stablehlo.abs %x : tensor<4xf32> loc("u")

  // An attribute edge whose predecessor is gone, and a wire op that nothing reads.
  %g = stablehlo.add %r, %u {mhlo.frontend_attributes = {ctrldep.after = "7"}} : tensor<4xf32> loc("g")
  %unused = stablehlo.custom_call @AwsNeuronControlDep(%s, %b) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

  // A terminator: everything in the block precedes it.
  %end = stablehlo.custom_call @AwsNeuronControlDep(%q, %g) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %end, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK:      predecessor  successor    computation  with     without  reason
// CHECK-NEXT: p            s            block 0      kept     LOST
// CHECK-NEXT: q            s            block 0      kept     LOST
// CHECK-NEXT: p            r            block 0      kept     LOST
// CHECK-NEXT: q            r            block 0      kept     LOST
// CHECK-NEXT: s            r            block 0      kept     LOST
// CHECK-DAG:  -            u                         dropped  dropped  the predecessor is there before the block runs
// CHECK-DAG:  one          u                         dropped  dropped  the predecessor is a constant
// CHECK-DAG:  -            g                         dropped  dropped  the predecessor was removed as dead
// CHECK-DAG:  s            -                         dropped  dropped  nothing uses what the control dependency forwards
// CHECK-DAG:  q            func.return               dropped  dropped  the successor is a terminator
