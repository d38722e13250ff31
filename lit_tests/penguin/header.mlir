// RUN: neuron-ctrldep-translate --mlir-to-penguin --split-input-file %s | FileCheck %s
// The frame of a program. The module of dependency edges is imported only when the input says that it has edges, or has.

// No edges: no m6.
// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK-NEXT: import neuronxcc.starfish.penguin.ir.DebugInfo as m1
// CHECK-NEXT: import neuronxcc.starfish.penguin.targets.tonga.APIndex as m2
// CHECK-NEXT: import neuronxcc.starfish.penguin.targets.tonga.TongaInst as m3
// CHECK-NEXT: import neuronxcc.starfish.penguin.targets.tonga.TongaISAInst as m4
// CHECK-NEXT: import neuronxcc.starfish.penguin.targets.tonga.TongaTensor as m5
// CHECK-NEXT: import numpy as np
// CHECK-NEXT: v0 = m0.Function(id_=0, batch_ids=[], attrs=())
// CHECK-NEXT: input_0 = m5.Tensor(name="input_0", shape=(), dtype="float32", layout="", attrs={}).markInput(v0)
// CHECK-NEXT: input_1 = m5.Tensor(name="input_1", shape=(2,), dtype="float16", layout="N", attrs={"mhlo.sharding": "\"{replicated}\""}).markInput(v0)
// CHECK-NEXT: input_2 = m5.Tensor(name="input_2", shape=(2, 3), dtype="int8", layout="NC", attrs={}).markInput(v0)
// CHECK-NEXT: input_3 = m5.Tensor(name="input_3", shape=(2, 3, 4), dtype="uint64", layout="NHC", attrs={}).markInput(v0)
// CHECK-NEXT: input_4 = m5.Tensor(name="input_4", shape=(2, 3, 4, 5), dtype="bool", layout="NHWC", attrs={}).markInput(v0)
// A dimension that is not known, and five of them; the name a parameter has in the input is kept.
// CHECK-NEXT: input_5 = m5.Tensor(name="input_5", shape=("?", 1, 1, 1, 1), dtype="float32", layout="", attrs={"name": "weights.5"}).markInput(v0)
// CHECK-NEXT: func_return = m3.NeuronTensorOp("func.return", 'xla_op', srcs=[], dsts=[], dl=m1.DebugLocation(tensor_op_name="func.return", file="{{.*}}header.mlir", line={{[0-9]+}}, column=3, hlo_id=0))
// CHECK-NEXT: v0.id=0
// CHECK-NEXT: ir=v0
func.func @main(%0: tensor<f32>, %1: tensor<2xf16> {mhlo.sharding = "{replicated}"}, %2: tensor<2x3xi8>,
                %3: tensor<2x3x4xui64>, %4: tensor<2x3x4x5xi1>, %5: tensor<?x1x1x1x1xf32> loc("weights.5")) {
  return
}

// -----

// The module is stamped: m6 is there, though no edge is left.
// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK: import neuronxcc.starfish.penguin.targets.tonga.TongaTensor as m5
// CHECK-NEXT: import neuronxcc.starfish.penguin.ir.Dependency as m6
// CHECK-NEXT: import numpy as np
// CHECK-NEXT: v0 = m0.Function(id_=0, batch_ids=[], attrs=("has_control_deps=1",))
module attributes {mhlo.frontend_attributes = {has_control_deps = "1"}} {
  func.func @main() {
    return
  }
}

// -----

// The stamp may be on main.
// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK: import neuronxcc.starfish.penguin.targets.tonga.TongaTensor as m5
// CHECK-NEXT: import neuronxcc.starfish.penguin.ir.Dependency as m6
func.func @main() attributes {mhlo.frontend_attributes = {has_control_deps = "1"}} {
  return
}

// -----

// No stamp, but an edge. What numpy lacks is imported where it is used.
// CHECK-LABEL: import neuronxcc.starfish.penguin.ir.ir as m0
// CHECK: import neuronxcc.starfish.penguin.targets.tonga.TongaTensor as m5
// CHECK-NEXT: import neuronxcc.starfish.penguin.ir.Dependency as m6
// CHECK-NEXT: import numpy as np
// CHECK-NEXT: import scipy.special
// CHECK-NEXT: import neuronxcc.starfish.support
// CHECK-NEXT: v0 =
func.func @main(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %p = stablehlo.logistic %x : tensor<2xbf16>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  %s = stablehlo.abs %w : tensor<2xbf16>
  return %s : tensor<2xbf16>
}
