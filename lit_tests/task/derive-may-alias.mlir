// Parameters of an orchestration function are distinct storage, unless the user says that they may overlap.
// RUN: neuron-ctrldep-opt --auto-derive-task-dependencies=analyze-auto-scopes=true %s | FileCheck %s
// RUN: neuron-ctrldep-opt --auto-derive-task-dependencies="analyze-auto-scopes=true may-alias-args=true" %s | FileCheck %s --check-prefix=ALIAS

// CHECK: call @W(%[[S:[^)]*]]) {arg_directions = ["OutputExisting"]}
// CHECK: call @R(%[[T:[^)]*]]) {arg_directions = ["Input"]}

// ALIAS: %[[P:[^ ,:)]*]] = "task.submit"(%[[S:[^)]*]]) {{.*}}callee = @W
// ALIAS: "task.submit"(%[[T:[^ ,:)]*]], %[[P]]) {arg_directions = ["NoDep"], callee = @R
// An allocation overlaps none of them.
// ALIAS: call @R(%[[A:[^)]*]]) {arg_directions = ["Input"]}
module {
  func.func private @W(memref<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(memref<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @main(%s: memref<8xf32>, %t: memref<8xf32>) attributes {task.kind = "orchestration"} {
    %a = memref.alloc() : memref<8xf32>
    func.call @W(%s) : (memref<8xf32>) -> ()
    func.call @R(%t) : (memref<8xf32>) -> ()
    func.call @R(%a) : (memref<8xf32>) -> ()
    return
  }
}
