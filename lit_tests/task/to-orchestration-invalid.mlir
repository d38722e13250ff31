// What the run-time API cannot express is an error at the op; nothing is printed.
// RUN: not neuron-ctrldep-translate --task-to-orchestration %s 2>&1 | FileCheck %s

// CHECK-NOT: #include
// CHECK: to-orchestration-invalid.mlir:8:{{[0-9]+}}: error: 'tensor.extract_slice' op has no counterpart in the run-time API: the run time has no view with strides
module {
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    %x = tensor.extract_slice %s[0] [32] [2] : tensor<64xf32> to tensor<32xf32>
    return
  }
}
