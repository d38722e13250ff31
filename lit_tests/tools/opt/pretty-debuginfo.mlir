// --mlir-pretty-debuginfo: locations for people. It says how, --mlir-print-debuginfo says that they are printed.
// RUN: neuron-ctrldep-opt %s --mlir-pretty-debuginfo --mlir-print-debuginfo | FileCheck %s --check-prefix=PRETTY
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-pretty-debuginfo --mlir-print-debuginfo | FileCheck %s --check-prefix=PRETTY %}
// RUN: neuron-ctrldep-opt %s --mlir-pretty-debuginfo | FileCheck %s --check-prefix=ALONE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-pretty-debuginfo | FileCheck %s --check-prefix=ALONE %}
// ALONE: arith.constant dense<[1, 2, 3]> : tensor<3xi32>{{$}}
// PRETTY: arith.constant {{.*}} {{[^"]*}}pretty-debuginfo.mlir:{{[0-9]+}}:10{{$}}

#map = affine_map<(d0) -> (d0)>
module {
  func.func @f() attributes {test.map = #map} {
    %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    return
  }
}
