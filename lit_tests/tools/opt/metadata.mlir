// The resources of other tools in the metadata at the end of a file stay there, as MLIR prints them.
// RUN: neuron-ctrldep-opt %s --cse | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --cse | FileCheck %s %}
// CHECK: {-#
// CHECK-NEXT: dialect_resources: {
// CHECK-NEXT: builtin: {
// CHECK-NEXT: blob: "0x080000000100000000000000"
// CHECK-NEXT: }
// CHECK-NEXT: },
// CHECK-NEXT: external_resources: {
// CHECK-NEXT: mlir_reproducer: {
// CHECK-NEXT: pipeline: "builtin.module(cse)",
// CHECK-NEXT: disable_threading: false
// CHECK-NEXT: },
// CHECK-NEXT: other_tool: {
// CHECK-NEXT: name: "one\22 two\09\C3\A9",
// CHECK-NEXT: data: "0x04000000AABBCCDD"
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: #-}

// A reproducer that was run is through.
// RUN: neuron-ctrldep-opt %s --run-reproducer | FileCheck %s --check-prefix=RUN-IT
// RUN: %if mlir-opt %{ %mlir-opt %s --run-reproducer | FileCheck %s --check-prefix=RUN-IT %}
// RUN-IT: external_resources: {
// RUN-IT-NEXT: other_tool: {

// What is too long is left out; of nothing else there is a trace.
// RUN: neuron-ctrldep-opt %s --mlir-elide-resource-strings-if-larger=5 | FileCheck %s --check-prefix=SHORT
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-elide-resource-strings-if-larger=5 | FileCheck %s --check-prefix=SHORT %}
// SHORT: {-#
// SHORT-NEXT: external_resources: {
// SHORT-NEXT: mlir_reproducer: {
// SHORT-NEXT: disable_threading: false
// SHORT-NEXT: }
// SHORT-NEXT: }
// SHORT-NEXT: #-}
func.func @f() -> tensor<1xi64> {
  %0 = arith.constant dense_resource<blob> : tensor<1xi64>
  return %0 : tensor<1xi64>
}
{-#
  external_resources: {
    // Not a key: { , }
    mlir_reproducer: {
      pipeline: "builtin.module(cse)", // pipeline: "builtin.module(no-such-pass)" }
      disable_threading: false
    },
    other_tool: { name: "one\" two\té", data: "0x04000000aabbccdd" }
  },
  dialect_resources: { builtin: { blob: "0x080000000100000000000000" } }
#-}
