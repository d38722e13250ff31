// --mlir-use-nameloc-as-prefix: values by the names in their locations.
// RUN: neuron-ctrldep-opt %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=NAME
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=NAME %}
// NAME: %weights = arith.constant dense_resource

module {
  func.func @f() {
    %0 = arith.constant dense_resource<blob> : tensor<1xi64> loc("weights")
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
