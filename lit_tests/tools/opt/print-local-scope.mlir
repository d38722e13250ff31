// --mlir-print-local-scope: nothing by alias, so that each op reads by itself.
// RUN: neuron-ctrldep-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL %}
// One newline is at the end then, else there are two.
// RUN: neuron-ctrldep-opt %s --mlir-print-local-scope | wc -l | FileCheck %s --check-prefix=LINES
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-local-scope | wc -l | FileCheck %s --check-prefix=LINES %}
// LINES: 6
// LOCAL-NOT: #map
// LOCAL: affine_map<(d0) -> (d0)>
// LOCAL: arith.constant {{.*}} loc("{{.*}}print-local-scope.mlir":{{[0-9]+}}:10)

#map = affine_map<(d0) -> (d0)>
module {
  func.func @f() attributes {test.map = #map} {
    %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    return
  }
}
