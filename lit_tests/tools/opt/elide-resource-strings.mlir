// --mlir-elide-resource-strings-if-larger: resources without their bytes.
// RUN: neuron-ctrldep-opt %s --mlir-elide-resource-strings-if-larger=4 | FileCheck %s --check-prefix=RESOURCE
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-elide-resource-strings-if-larger=4 | FileCheck %s --check-prefix=RESOURCE %}
// RESOURCE: dense_resource<blob>
// RESOURCE-NOT: 0x08000000

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
