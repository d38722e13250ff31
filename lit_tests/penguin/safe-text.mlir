// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | neuron-ctrldep-translate --penguin-to-edges | FileCheck %s --check-prefix=EDGES
// Whatever an input is called, it stays inside one string literal of one line.

func.func @main(%x: tensor<f32> {attribute.x = "a\"b"}) {
  // CHECK: input_0 = {{.*}} attrs={"attribute.x": "\"a\\22b\""}).markInput(v0)
  // A quote and a line break in a name: no second statement.
  // CHECK-NEXT: x____import_os___ = {{.*}}tensor_op_name="x\"); import os\n#\\"
  %0 = stablehlo.abs %x : tensor<f32> loc("x\22); import os\0A#\\")
  // In a file name.
  // CHECK-NEXT: stablehlo_abs = {{.*}}file="\"\n);import os#.py", line=1, column=2
  %1 = stablehlo.abs %x : tensor<f32> loc("\22\0A);import os#.py":1:2)
  // Line separators that Python's tokenizer does not know, and a name of nothing but signs.
  // CHECK-NEXT: __ = {{.*}}tensor_op_name="\u2028\x85"
  %2 = stablehlo.abs %x : tensor<f32> loc("\E2\80\A8\C2\85")
  // In an attribute and a target.
  // CHECK-NEXT: call = {{.*}}attrs={"backend_config": "\"\\0A)]\"", "call_target_name": "\"ev'il\\22\""}
  %w = stablehlo.custom_call @AwsNeuronControlDep(%0, %x) {api_version = 1 : i32, has_side_effect = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.custom_call @"ev'il\22"(%w) {backend_config = "\0A)]"} : (tensor<f32>) -> tensor<f32> loc("call")
  // CHECK-NEXT: call.add_dep_edge(m6.DependencyEdge(src=x____import_os___, dst=call,
  return
}
// The original name comes back.
// EDGES: "src": "x\"); import os\n#\\",
// EDGES-NEXT: "dst": "call",
