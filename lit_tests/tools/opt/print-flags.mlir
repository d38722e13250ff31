// How ops are printed.
// RUN: neuron-ctrldep-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC %}
// GENERIC: "builtin.module"() ({
// GENERIC: "arith.constant"() <{value = dense<[1, 2, 3]> : tensor<3xi32>}>

// RUN: neuron-ctrldep-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC %}
// LOC: #map = affine_map
// LOC: arith.constant {{.*}} loc([[CONST:#loc.*]])
// LOC: [[CONST]] = loc("{{.*}}print-flags.mlir":{{[0-9]+}}:10)

// RUN: neuron-ctrldep-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL %}
// One newline is at the end then, else there are two.
// RUN: neuron-ctrldep-opt %s --mlir-print-local-scope | wc -l | FileCheck %s --check-prefix=LINES
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-local-scope | wc -l | FileCheck %s --check-prefix=LINES %}
// LINES: 7
// LOCAL-NOT: #map
// LOCAL: affine_map<(d0) -> (d0)>
// LOCAL: arith.constant {{.*}} loc("{{.*}}print-flags.mlir":{{[0-9]+}}:10)

// RUN: neuron-ctrldep-opt %s --mlir-pretty-debuginfo --mlir-print-debuginfo | FileCheck %s --check-prefix=PRETTY
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-pretty-debuginfo --mlir-print-debuginfo | FileCheck %s --check-prefix=PRETTY %}
// RUN: neuron-ctrldep-opt %s --mlir-pretty-debuginfo | FileCheck %s --check-prefix=ALONE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-pretty-debuginfo | FileCheck %s --check-prefix=ALONE %}
// ALONE: arith.constant dense<[1, 2, 3]> : tensor<3xi32>{{$}}
// PRETTY: arith.constant {{.*}} {{[^"]*}}print-flags.mlir:{{[0-9]+}}:10{{$}}

// RUN: neuron-ctrldep-opt %s --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELIDE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELIDE %}
// ELIDE: arith.constant dense_resource<__elided__> : tensor<3xi32>
// RUN: neuron-ctrldep-opt %s --mlir-elide-elementsattrs-if-larger=3 | FileCheck %s --check-prefix=WHOLE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-elide-elementsattrs-if-larger=3 | FileCheck %s --check-prefix=WHOLE %}
// WHOLE: arith.constant dense<[1, 2, 3]> : tensor<3xi32>

// RUN: neuron-ctrldep-opt %s --mlir-elide-resource-strings-if-larger=4 | FileCheck %s --check-prefix=RESOURCE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-elide-resource-strings-if-larger=4 | FileCheck %s --check-prefix=RESOURCE %}
// RESOURCE: dense_resource<blob>
// RESOURCE-NOT: 0x08000000

// RUN: neuron-ctrldep-opt %s --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIP
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIP %}
// SKIP: module {...}
// SKIP-NOT: arith.constant

// RUN: neuron-ctrldep-opt %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=NAME
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=NAME %}
// NAME: %weights = arith.constant dense_resource

// RUN: not neuron-ctrldep-opt %s --mlir-elide-elementsattrs-if-larger=many 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-elide-elementsattrs-if-larger=many 2>&1 | FileCheck %s --check-prefix=LIMIT %}
// LIMIT: 'many' value invalid for uint argument!

#map = affine_map<(d0) -> (d0)>
module {
  func.func @f() attributes {test.map = #map} {
    %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
    %1 = arith.constant dense_resource<blob> : tensor<1xi64> loc("weights")
    return
  }
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x080000000100000000000000"
    }
  }
#-}
