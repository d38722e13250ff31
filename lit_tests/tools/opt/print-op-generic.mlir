// --mlir-print-op-generic: the form that every op has.
// RUN: neuron-ctrldep-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC %}
// GENERIC: "builtin.module"() ({
// GENERIC: "arith.constant"() <{value = dense<[1, 2, 3]> : tensor<3xi32>}>

#map = affine_map<(d0) -> (d0)>
module {
  func.func @f() attributes {test.map = #map} {
    %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    return
  }
}
