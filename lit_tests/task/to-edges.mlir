// Task programs as JSON: the explicit edges of each task, resolved to the tasks they may stand for.
// RUN: neuron-ctrldep-translate --task-to-edges %s | FileCheck %s

module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
  // CHECK: "functions": {
  // CHECK-NEXT: "main": {
  // CHECK-NEXT: "tasks": {
  func.func @main(%s: tensor<64xf32>, %n: index, %b: i1) attributes {task.kind = "orchestration", task.auto_scope = false, task.fallback = "a gather"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: "P": {
    // CHECK-NEXT: "directions": [
    // CHECK-NEXT: "OutputExisting"
    // CHECK-NEXT: ],
    // CHECK-NEXT: "deps": []
    %a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "P", arg_directions = ["OutputExisting"]} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)

    // A loop that carries an id: P stands for it in the first iteration, Q of the iteration before in the others.
    // CHECK: "Q": {
    // CHECK: "task": "P",
    // CHECK-NEXT: "source": "user",
    // CHECK-NEXT: "hazards": [],
    // CHECK-NEXT: "distance": 0
    // CHECK: "task": "Q",
    // CHECK-NEXT: "source": "user",
    // CHECK-NEXT: "hazards": [],
    // CHECK-NEXT: "distance": 1
    %f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %p) -> (!task.id) {
      %x, %q = "task.submit"(%s, %k) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "Q"} : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
      scf.yield %q : !task.id
    }

    // Through a barrier and a tensor, after a loop that may run zero times. The compiler's edges know their hazards, and a
    // task without a name gets one.
    // CHECK: "task_2": {
    // CHECK: "task": "P",
    // CHECK-NEXT: "source": "compiler",
    // CHECK-NEXT: "hazards": [
    // CHECK-NEXT: "war",
    // CHECK-NEXT: "waw"
    // CHECK-NEXT: ],
    // CHECK-NEXT: "distance": 0
    // CHECK: "task": "Q",
    // CHECK-NEXT: "source": "compiler",
    %ids = tensor.from_elements %f, %p : tensor<2x!task.id>
    %j = "task.barrier"(%ids) : (tensor<2x!task.id>) -> !task.id
    %y, %r = "task.submit"(%s, %j) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 1>, compiler_dep_hazards = ["war+waw"]} : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)

    // All iterations before, in a tensor: the distance is that of the nearest.
    // CHECK: "S": {
    // CHECK: "task": "S",
    // CHECK-NEXT: "source": "user",
    // CHECK-NEXT: "hazards": [],
    // CHECK-NEXT: "distance": 1
    %e = tensor.empty(%n) : tensor<?x!task.id>
    %g = scf.for %i = %c0 to %n step %c1 iter_args(%k = %e) -> (tensor<?x!task.id>) {
      %x, %q = "task.submit"(%s, %k) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "S"} : (tensor<64xf32>, tensor<?x!task.id>) -> (tensor<64xf32>, !task.id)
      %k2 = tensor.insert %q into %k[%i] : tensor<?x!task.id>
      scf.yield %k2 : tensor<?x!task.id>
    }

    // The tree of scopes; its root is the function.
    // CHECK: "scopes": {
    // CHECK-NEXT: "mode": null,
    // CHECK: "mode": "manual",
    // CHECK-NEXT: "owner": "user",
    // CHECK-NEXT: "tasks": [
    // CHECK-NEXT: "U"
    scf.execute_region no_inline {
      %x = func.call @W(%s) {task.name = "U"} : (tensor<64xf32>) -> tensor<64xf32>
      scf.yield
    } {task.scope = "manual"}

    // What was left to the run time: the path of the scope in the tree (here the function) and the reason.
    // CHECK: "fallbacks": [
    // CHECK: "scope": [],
    // CHECK-NEXT: "reason": "a gather"
    return
  }
}
