// --mlir-print-debuginfo: locations, by alias.
// RUN: neuron-ctrldep-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC %}
// LOC: #map = affine_map
// LOC: arith.constant {{.*}} loc([[CONST:#loc.*]])
// LOC: [[CONST]] = loc("{{.*}}print-debuginfo.mlir":{{[0-9]+}}:10)

#map = affine_map<(d0) -> (d0)>
module {
  func.func @f() attributes {test.map = #map} {
    %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    return
  }
}
