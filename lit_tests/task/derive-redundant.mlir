// keep-redundant lists every conflicting predecessor; by default what others imply is left out.
// RUN: neuron-ctrldep-opt --auto-derive-task-dependencies=analyze-auto-scopes=true %s | FileCheck %s
// RUN: neuron-ctrldep-opt --auto-derive-task-dependencies="analyze-auto-scopes=true keep-redundant=true" %s | FileCheck %s --check-prefix=ALL

// CHECK: %[[A:[^ ,:)]*]] = "task.submit"(%{{.*}}) {{.*}}task.name = "a"
// CHECK: %[[B:[^ ,:)]*]] = "task.submit"(%[[S:[^ ,:)]*]], %[[A]]) {{.*}}task.name = "b"
// CHECK: "task.submit"(%[[S]], %[[B]]) {{.*}}compiler_dep_hazards = ["raw+war+waw"], operandSegmentSizes = array<i32: 1, 0, 1>, task.name = "c"

// ALL: %[[A:[^ ,:)]*]] = "task.submit"(%{{.*}}) {{.*}}task.name = "a"
// ALL: %[[B:[^ ,:)]*]] = "task.submit"(%[[S:[^ ,:)]*]], %[[A]]) {{.*}}task.name = "b"
// ALL: "task.submit"(%[[S]], %[[A]], %[[B]]) {{.*}}compiler_dep_hazards = ["raw+war+waw", "raw+war+waw"], operandSegmentSizes = array<i32: 1, 0, 2>, task.name = "c"
module {
  func.func private @M(memref<8xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func @main(%s: memref<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @M(%s) {task.name = "a"} : (memref<8xf32>) -> ()
    func.call @M(%s) {task.name = "b"} : (memref<8xf32>) -> ()
    func.call @M(%s) {task.name = "c"} : (memref<8xf32>) -> ()
    return
  }
}
