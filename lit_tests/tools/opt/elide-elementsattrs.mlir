// --mlir-elide-elementsattrs-if-larger: large constants without their values; the program does not read back.
// RUN: neuron-ctrldep-opt %s --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELIDE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELIDE %}
// ELIDE: arith.constant dense_resource<__elided__> : tensor<3xi32>
// RUN: neuron-ctrldep-opt %s --mlir-elide-elementsattrs-if-larger=3 | FileCheck %s --check-prefix=WHOLE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-elide-elementsattrs-if-larger=3 | FileCheck %s --check-prefix=WHOLE %}
// WHOLE: arith.constant dense<[1, 2, 3]> : tensor<3xi32>

// RUN: not neuron-ctrldep-opt %s --mlir-elide-elementsattrs-if-larger=many 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-elide-elementsattrs-if-larger=many 2>&1 | FileCheck %s --check-prefix=LIMIT %}
// LIMIT: 'many' value invalid for uint argument!

#map = affine_map<(d0) -> (d0)>
module {
  func.func @f() attributes {test.map = #map} {
    %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    return
  }
}
