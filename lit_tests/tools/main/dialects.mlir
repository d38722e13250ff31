// neuron-ctrldep lower on MLIR input: --emit=mhlo and --dialect=mhlo make MHLO of StableHLO, --emit=stablehlo the
// other way. Wire ops and the attributes that carry edges stay. Without a wish, input stays in its dialect.
//
// RUN: neuron-ctrldep lower --emit=mhlo %s | FileCheck %s --check-prefix=MHLO
// MHLO-NOT:  stablehlo.
// MHLO:      %[[P:.*]] = mhlo.sine %{{.*}} {mhlo.frontend_attributes = {ctrldep.id = "1"}}
// MHLO-NEXT: %[[W:.*]] = mhlo.custom_call @AwsNeuronControlDep(%[[P]], %{{.*}}) {has_side_effect = true}
// MHLO-NEXT: mhlo.cosine %[[W]]
// MHLO-NEXT: mhlo.abs %{{.*}} {mhlo.frontend_attributes = {ctrldep.after = "1"}}
//
// RUN: neuron-ctrldep lower --dialect=mhlo --emit=edges %s | FileCheck %s --check-prefix=EDGES
// RUN: neuron-ctrldep lower --emit=edges %s | FileCheck %s --check-prefix=EDGES
// EDGES:      "src": "p",
// EDGES-NEXT: "dst": "s",
// EDGES:      "src": "p",
// EDGES-NEXT: "dst": "t",
//
// RUN: neuron-ctrldep lower --emit=mhlo %s > %t.mlir
// RUN: neuron-ctrldep lower --emit=stablehlo %t.mlir | FileCheck %s --check-prefix=BACK
// BACK-NOT: mhlo.sine
// BACK:     stablehlo.custom_call @AwsNeuronControlDep
//
// RUN: neuron-ctrldep lower --emit=flat %t.mlir | FileCheck %s --check-prefix=SAME
// SAME: mhlo.custom_call @AwsNeuronControlDep
//
// What has no form in the other dialect is an error that names it.
// RUN: sed 's/mhlo.abs/mhlo.copy/' %t.mlir > %t.copy.mlir
// RUN: not neuron-ctrldep lower --emit=stablehlo %t.copy.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: this module has no StableHLO form
// NONE: mhlo.copy

func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = stablehlo.sine %a {mhlo.frontend_attributes = {ctrldep.id = "1"}} : tensor<4xf32> loc("p")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %b) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cosine %w : tensor<4xf32> loc("s")
  %t = stablehlo.abs %b {mhlo.frontend_attributes = {ctrldep.after = "1"}} : tensor<4xf32> loc("t")
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}
