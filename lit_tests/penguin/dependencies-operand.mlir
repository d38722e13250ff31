// RUN: neuron-ctrldep-translate --mlir-to-penguin --split-input-file %s | FileCheck %s
// RUN: neuron-ctrldep-translate --mlir-to-penguin=edges-only --split-input-file %s | FileCheck %s --check-prefix=EDGES
// Edges that wire ops carry. The wire op prints nothing: its reader reads the data, and waits for the predecessors.

// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK: p = m3.NeuronTensorOp(np.exp,
// CHECK-NEXT: q = m3.NeuronTensorOp(np.tanh,
// CHECK-NEXT: s = m3.NeuronTensorOp(np.add, 'mhlo.binary', srcs=[input_0, input_0],
// One line for each predecessor, in operand order, right after the later end.
// CHECK-NEXT: s.add_dep_edge(m6.DependencyEdge(src=q, dst=s, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
// CHECK-NEXT: s.add_dep_edge(m6.DependencyEdge(src=p, dst=s, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
// CHECK-NEXT: func_return = {{.*}} srcs=[s],
// CHECK-NOT: AwsNeuronControlDep

// EDGES: s.add_dep_edge(m6.DependencyEdge(src=q, dst=s, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
// EDGES-NEXT: s.add_dep_edge(m6.DependencyEdge(src=p, dst=s, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.exponential %x : tensor<4xf32> loc("p")
  %q = stablehlo.tanh %x : tensor<4xf32> loc("q")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%q, %p, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.add %w, %x : tensor<4xf32> loc("s")
  return %s : tensor<4xf32>
}

// -----

// A second operand of MHLO; tuples and their elements are packaging: they print, but no edge starts or ends at them.
// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK: t = m3.NeuronTensorOp("mhlo.tuple", 'xla_op', srcs=[p, input_0], dsts=[m5.Tensor(name="t", shape=(), dtype="tuple<tensor<4xf32>, tensor<4xf32>>")],
// CHECK: s = m3.NeuronTensorOp(np.subtract, 'mhlo.binary', srcs=[input_0, input_0],
// CHECK-NEXT: s.add_dep_edge(m6.DependencyEdge(src=p, dst=s, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
// CHECK-NOT: add_dep_edge
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = mhlo.exponential %x : tensor<4xf32> loc("p")
  %t = mhlo.tuple %p, %x {xla_shape = "(f32[4], f32[4])"} : tuple<tensor<4xf32>, tensor<4xf32>> loc("t")
  %w = mhlo.custom_call @AwsNeuronControlDep(%t, %x) {api_version = 1 : i32, has_side_effect = true} : (tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>) -> tensor<4xf32>
  %s = mhlo.subtract %x, %w : tensor<4xf32> loc("s")
  return %s : tensor<4xf32>
}

// -----

// A near miss of the target is an op like any other.
// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK-NOT: Dependency
// CHECK: w = m3.NeuronTensorOp("stablehlo.custom_call", 'xla_op', srcs=[p, input_0], {{.*}} attrs={{.*}}\"AwsNeuronControlDepX\"
// CHECK-NOT: add_dep_edge
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.exponential %x : tensor<4xf32> loc("p")
  %w = stablehlo.custom_call @AwsNeuronControlDepX(%p, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("w")
  return %w : tensor<4xf32>
}

// -----

// An op that is several statements waits with the first of them that reads an operand, and by name with the last.
// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK: p_1 = m3.NeuronTensorOp(np.minimum,
// CHECK-NEXT: p = m3.NeuronTensorOp(np.maximum,
// CHECK-NEXT: s_1 = m3.NeuronTensorOp("stablehlo.constant",
// CHECK-NEXT: s_2 = m3.NeuronTensorOp(np.abs,
// CHECK: s = m3.NeuronTensorOp(np.multiply,
// CHECK-NEXT: s_2.add_dep_edge(m6.DependencyEdge(src=p, dst=s_2, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
// CHECK-NEXT: s.add_dep_edge(m6.DependencyEdge(src=p, dst=s, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.clamp %x, %x, %x : tensor<4xf32> loc("p")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cbrt %w : tensor<4xf32> loc("s")
  return %s : tensor<4xf32>
}
