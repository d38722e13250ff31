// No edge is added that others imply, also where no single one implies it: by cases, and by induction over iterations.
// RUN: neuron-ctrldep-opt --split-input-file --auto-derive-task-dependencies=analyze-auto-scopes=true %s | FileCheck %s

// `part` waits for the readers in the loops, or for `all` where no loop ran. Either way `all` is complete then, so that
// `last`, which reads what both of them wrote, waits for `part` only.
// CHECK-LABEL: func.func @readers_or_none
// CHECK: "task.submit"(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}}compiler_dep_hazards = ["waw", "war"]{{.*}}task.name = "part"
// CHECK: "task.submit"(%{{.*}}, %{{.*}}) {{.*}}compiler_dep_hazards = ["raw"]{{.*}}task.name = "last"
module {
  func.func private @W(memref<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(memref<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @W4(memref<4xf32, strided<[1]>> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @readers_or_none(%s: memref<8xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    func.call @W(%s) {task.name = "all"} : (memref<8xf32>) -> ()
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        func.call @R(%s) {task.name = "read"} : (memref<8xf32>) -> ()
      }
    }
    %v = memref.subview %s[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
    func.call @W4(%v) {task.name = "part"} : (memref<4xf32, strided<[1]>>) -> ()
    func.call @R(%s) {task.name = "last"} : (memref<8xf32>) -> ()
    return
  }
}

// -----

// What a loop that never runs hands on is what it was given: the user's edge is all that `next` needs.
// CHECK-LABEL: func.func @zero_trips
// CHECK: "task.submit"(%{{.*}}, %{{.*}}) {{.*}}operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "next"
module {
  func.func private @W(memref<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @zero_trips(%s: memref<8xf32>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "first"} : (memref<8xf32>) -> !task.id
    scf.for %i = %c0 to %c0 step %c1 {
      func.call @W(%s) {task.name = "never"} : (memref<8xf32>) -> ()
    }
    %q = "task.submit"(%s, %p) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "next"} : (memref<8xf32>, !task.id) -> !task.id
    return
  }
}
