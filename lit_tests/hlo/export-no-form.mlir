// RUN: not neuron-ctrldep-translate --stablehlo-to-hlo %s 2>&1 | FileCheck %s

// XLA's exporter knows StableHLO and MHLO only.

// CHECK: export-no-form.mlir: error: XLA cannot export this module to HLO: {{.+}}
// CHECK-NOT: {{.}}
func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.addi %a, %a : tensor<4xi32>
  return %0 : tensor<4xi32>
}
