// --mlir-print-skip-regions: the op and not what is in it.
// RUN: neuron-ctrldep-opt %s --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIP
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIP %}
// SKIP: module {...}
// SKIP-NOT: arith.constant

#map = affine_map<(d0) -> (d0)>
module {
  func.func @f() attributes {test.map = #map} {
    %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    return
  }
}
