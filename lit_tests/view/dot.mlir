// The graph of a module for Graphviz.
// RUN: neuron-ctrldep-translate --mlir-to-dot %s | FileCheck %s

// CHECK: digraph "pictured" {
module @pictured {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    // A function is a box; its arguments, operations and end are nodes.
    // CHECK-LABEL: subgraph cluster_0 {
    // CHECK-NEXT: label="@main"
    // CHECK-NEXT: [[A:n[0-9]+]] [label="arg0\ntensor<4xf32>" shape=ellipse
    // CHECK-NEXT: [[B:n[0-9]+]] [label="arg1\ntensor<4xf32>" shape=ellipse
    // CHECK-NEXT: [[LIMIT:n[0-9]+]] [label="constant\ndense<3> : tensor<i32>"
    // CHECK-NEXT: [[SINE:n[0-9]+]] [label="sine\nfirst" shape=box tooltip="first\n%{{.*}} = stablehlo.sine %{{.*}}"]
    // CHECK-NEXT: [[TANH:n[0-9]+]] [label="tanh\nsecond"
    // CHECK-NEXT: [[LOOP:n[0-9]+]] [label="while\nloop"
    // CHECK-NEXT: [[RETURN:n[0-9]+]] [label="return\nreturn"
    %limit = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.sine %a : tensor<4xf32> loc("first")
    // The wire op is no node: it is the edge from "first" to "second".
    %1 = stablehlo.custom_call @AwsNeuronControlDep(%0, %b) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.tanh %1 : tensor<4xf32> loc("second")
    // Each region is a box inside, whatever is in its name.
    // CHECK-NEXT: subgraph cluster_1 {
    // CHECK-NEXT: label="while condition"
    // CHECK: label="compare\na \"quoted\" na..."
    // CHECK: subgraph cluster_2 {
    // CHECK-NEXT: label="while body"
    %i, %v = stablehlo.while(%n = %limit, %x = %2) : tensor<i32>, tensor<4xf32>
      cond {
        %c = stablehlo.compare GT, %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("a \"quoted\" na...")
        stablehlo.return %c : tensor<i1>
      } do {
        stablehlo.return %n, %x : tensor<i32>, tensor<4xf32>
      } loc("loop")
    return %v : tensor<4xf32>
  }
}
// Data edges are solid, the dependency is dashed and labelled.
// CHECK: [[A]] -> [[SINE]] [color="{{[^"]*}}" style="solid"]
// CHECK: [[B]] -> [[TANH]] [color="{{[^"]*}}" style="solid"]
// CHECK: [[LIMIT]] -> [[LOOP]]
// CHECK: [[TANH]] -> [[LOOP]]
// CHECK: [[LOOP]] -> [[RETURN]]
// CHECK: [[SINE]] -> [[TANH]] [color="{{[^"]*}}" style="dashed" label="ORDERED"
// CHECK-NOT: AwsNeuronControlDep" shape
