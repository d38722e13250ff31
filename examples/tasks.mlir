// A two-stage pipeline on one buffer: each iteration loads a tile and adds it to a running sum. What must wait for what
// is not written down; neuron-ctrldep derives it (docs/tasks.md).
module @pipeline {
  func.func private @load(tensor<64xf32> {task.direction = "in"}, tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 1 : i64})
    attributes {task.kind = "kernel"}
  func.func private @accumulate(tensor<64xf32> {task.direction = "in"}, tensor<64xf32> {task.direction = "inout"})
    -> (tensor<64xf32> {task.aliases = 1 : i64}) attributes {task.kind = "kernel"}
  func.func private @scale(tensor<64xf32> {task.direction = "inout"}) -> (tensor<64xf32> {task.aliases = 0 : i64})
    attributes {task.kind = "kernel"}

  func.func @main(%source: tensor<64xf32>, %tile: tensor<64xf32>, %sum: tensor<64xf32>) -> tensor<64xf32>
    attributes {task.kind = "orchestration", task.auto_scope = true} {
    %t, %load = "task.submit"(%source, %tile) {callee = @load, operandSegmentSizes = array<i32: 2, 0, 0>, task.name = "load"}
      : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    %s, %add = "task.submit"(%t, %sum) {callee = @accumulate, operandSegmentSizes = array<i32: 2, 0, 0>, task.name = "accumulate"}
      : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    %u, %again = "task.submit"(%source, %t) {callee = @load, operandSegmentSizes = array<i32: 2, 0, 0>, task.name = "load_again"}
      : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    %r, %scale = "task.submit"(%s) {callee = @scale, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "scale"}
      : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    return %r : tensor<64xf32>
  }
}
