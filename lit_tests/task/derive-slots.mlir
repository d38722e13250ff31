// Which slots are rewritten, and what is marked for materialize-runtime-scopes.
// RUN: neuron-ctrldep-opt --split-input-file --auto-derive-task-dependencies=analyze-auto-scopes=true %s | FileCheck %s

// Input becomes NoDep and InOut becomes OutputExisting where there is a hazard and all are explicit. Without a hazard nothing
// changes, and what was OutputExisting before stays.
// CHECK-LABEL: func.func @rewritten
// CHECK: "task.submit"(%{{[^)]*}}) {arg_directions = ["InOut"]{{.*}}task.name = "no hazard"
// CHECK: "task.submit"(%{{[^)]*}}) {arg_directions = ["OutputExisting"]{{.*}}task.name = "hazard"
// CHECK: "task.submit"(%{{[^)]*}}) {arg_directions = ["NoDep"]{{.*}}task.name = "reads"
// CHECK: "task.submit"(%{{[^)]*}}) {arg_directions = ["OutputExisting"]{{.*}}task.name = "writes"
module {
  func.func private @M(tensor<8xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @rewritten(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @M(%s) {task.name = "no hazard"} : (tensor<8xf32>) -> ()
    func.call @M(%s) {task.name = "hazard"} : (tensor<8xf32>) -> ()
    func.call @R(%s) {task.name = "reads"} : (tensor<8xf32>) -> ()
    func.call @W(%s) {task.name = "writes", arg_directions = ["OutputExisting"]} : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// An offset from an argument or a load is known at run time only: the edge is there, the slot keeps its look-up.
// CHECK-LABEL: func.func @run_time_window
// CHECK: %[[W:[^ ]*]] = "task.submit"
// CHECK: "task.submit"(%{{[^ ,]*}}, %[[W]]) {arg_directions = ["Input"]{{.*}}compiler_dep_hazards = ["raw"]{{.*}}task.name = "argument"
// CHECK: "task.submit"(%{{[^ ,]*}}, %[[W]]) {arg_directions = ["Input"]{{.*}}task.name = "load"
module {
  func.func private @W(tensor<16xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<4xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @run_time_window(%s: tensor<16xf32>, %n: index, %f: memref<1xindex>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    func.call @W(%s) : (tensor<16xf32>) -> ()
    %v = tensor.extract_slice %s[%n] [4] [1] : tensor<16xf32> to tensor<4xf32>
    func.call @R(%v) {task.name = "argument"} : (tensor<4xf32>) -> ()
    %m = memref.load %f[%c0] : memref<1xindex>
    %w = tensor.extract_slice %s[%m] [4] [1] : tensor<16xf32> to tensor<4xf32>
    func.call @R(%w) {task.name = "load"} : (tensor<4xf32>) -> ()
    return
  }
}

// -----

// What the orchestrator itself reads cannot be ordered by edges: no mark, and slots on that storage keep their directions.
// CHECK-LABEL: func.func @orchestrator_reads
// CHECK-SAME: attributes {task.kind = "orchestration"}
// CHECK: "task.submit"(%{{.*}}) {arg_directions = ["Input"]{{.*}}task.name = "on it"
// CHECK: "task.submit"(%{{.*}}) {arg_directions = ["NoDep"]{{.*}}task.name = "elsewhere"
// CHECK-NOT: auto_manual
module {
  func.func private @W(memref<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(memref<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @orchestrator_reads(%s: memref<8xf32>, %t: memref<8xf32>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    func.call @W(%s) : (memref<8xf32>) -> ()
    func.call @W(%t) : (memref<8xf32>) -> ()
    %x = memref.load %s[%c0] : memref<8xf32>
    func.call @R(%s) {task.name = "on it"} : (memref<8xf32>) -> ()
    func.call @R(%t) {task.name = "elsewhere"} : (memref<8xf32>) -> ()
    return
  }
}

// -----

// Iterations of a parallel loop that may conflict: no edge between them, the slots that look up keep doing so, and nothing
// around the loop becomes MANUAL. Disjoint tiles are no such case.
// CHECK-LABEL: func.func @claimed
// CHECK-SAME: attributes {task.kind = "orchestration"}
// CHECK: scf.parallel
// CHECK-NEXT: "task.submit"(%{{[^,)]*}}, %{{[^,)]*}}) {arg_directions = ["InOut"]
// CHECK: }
// CHECK-NOT: auto_manual
// CHECK-LABEL: func.func @disjoint
// CHECK-SAME: task.auto_manual
// CHECK: call @M4({{.*}}) {arg_directions = ["InOut"]}
// CHECK: } {task.auto_manual}
module {
  func.func private @M(tensor<16xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func private @M4(tensor<4xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func @claimed(%s: tensor<16xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    func.call @M(%s) : (tensor<16xf32>) -> ()
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      func.call @M(%s) : (tensor<16xf32>) -> ()
    }
    return
  }
  func.func @disjoint(%s: tensor<16xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %o = arith.muli %i, %c4 : index
      %v = tensor.extract_slice %s[%o] [4] [1] : tensor<16xf32> to tensor<4xf32>
      func.call @M4(%v) : (tensor<4xf32>) -> ()
    }
    return
  }
}

// -----

// Marks. A function with a hand-placed scope is not marked, nor what holds that scope; a loop body is where every hazard that
// touches it is explicit. A branch says for each of its bodies. A while loop is never marked.
// CHECK-LABEL: func.func @marks
// CHECK-SAME: attributes {task.kind = "orchestration"}
// CHECK: } {task.auto_manual}
// CHECK: scf.while
// CHECK-NOT: {task.auto_manual}
// CHECK: } {task.auto_manual = array<i1: true, false>}
module {
  func.func private @M(tensor<8xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @marks(%s: tensor<8xf32>, %t: tensor<8xf32>, %u: tensor<8xf32>, %n: index, %c: i1) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      func.call @M(%s) : (tensor<8xf32>) -> ()
    }
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      func.call @M(%s) : (tensor<8xf32>) -> ()
      scf.yield
    }
    scf.execute_region no_inline {
      func.call @M(%t) : (tensor<8xf32>) -> ()
      scf.yield
    } {task.scope = "manual"}
    scf.if %c {
      func.call @R(%u) : (tensor<8xf32>) -> ()
    } else {
      func.call @R(%t) : (tensor<8xf32>) -> ()
    }
    return
  }
}
