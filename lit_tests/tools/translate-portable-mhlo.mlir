// RUN: not neuron-ctrldep-translate --serialize-portable %s -o %t.none.bin 2>&1 | FileCheck %s
// RUN: not ls %t.none.bin
// A portable artifact cannot hold MHLO: the op in the way is named, with its place, and no file is written.

// CHECK: translate-portable-mhlo.mlir:7:{{[0-9]+}}: error: a portable artifact cannot hold 'mhlo.copy'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mhlo.copy %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
