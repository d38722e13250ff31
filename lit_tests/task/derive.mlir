// The hazards between tasks in a row, and what the edges look like.
// RUN: neuron-ctrldep-opt --split-input-file --auto-derive-task-dependencies=analyze-auto-scopes=true %s | FileCheck %s
// Without the switch nothing changes at all.
// RUN: neuron-ctrldep-opt --split-input-file %s > %t.in
// RUN: neuron-ctrldep-opt --split-input-file --auto-derive-task-dependencies %s > %t.off
// RUN: diff %t.in %t.off

// RAW, WAW and WAR. A plain call that gets or gives an edge becomes a submit, with name and attributes kept. The reader's
// slot needs no look-up any more. The last writer follows the reader only: that implies the first writer.
// CHECK-LABEL: func.func @hazards
// CHECK-SAME: task.auto_manual
// CHECK: %[[A:[^ ,:)]*]]:2 = "task.submit"(%[[S:[^ ,:)]*]]) {allow_early_resolve, arg_directions = ["OutputExisting"], callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "first"}
// CHECK: %[[B:[^ ,:)]*]]:2 = "task.submit"(%[[S]], %[[A]]#1) {{.*}}compiler_dep_hazards = ["waw"]{{.*}}task.name = "second"
// CHECK: %[[C:[^ ,:)]*]] = "task.submit"(%[[B]]#0, %[[B]]#1) {arg_directions = ["NoDep"]{{.*}}compiler_dep_hazards = ["raw"]{{.*}}task.name = "reader"
// CHECK: "task.submit"(%[[S]], %[[C]]) {arg_directions = ["OutputExisting"]{{.*}}compiler_dep_hazards = ["war"]{{.*}}task.name = "third"
// Read-read is no hazard, and storage of its own neither: these stay plain calls.
// CHECK: call @R(%[[T:[^ ,:)]*]]) {arg_directions = ["Input"], task.name = "r0"}
// CHECK: call @R(%[[T]]) {arg_directions = ["Input"], task.name = "r1"}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) -> (tensor<8xf32> {task.aliases = 0}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @hazards(%s: tensor<8xf32>, %t: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    %a = func.call @W(%s) {task.name = "first", allow_early_resolve} : (tensor<8xf32>) -> tensor<8xf32>
    %b = func.call @W(%s) {task.name = "second"} : (tensor<8xf32>) -> tensor<8xf32>
    func.call @R(%b) {task.name = "reader"} : (tensor<8xf32>) -> ()
    %d = func.call @W(%s) {task.name = "third"} : (tensor<8xf32>) -> tensor<8xf32>
    func.call @R(%t) {task.name = "r0"} : (tensor<8xf32>) -> ()
    func.call @R(%t) {task.name = "r1"} : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// An edge knows all its hazards. Their order is argument order, then program order.
// CHECK-LABEL: func.func @order_of_edges
// CHECK: %[[A:[^ ,:)]*]] = "task.submit"(%[[S:[^ ,:)]*]]) {{.*}}task.name = "a"
// CHECK: %[[B:[^ ,:)]*]] = "task.submit"(%[[T:[^ ,:)]*]]) {{.*}}task.name = "b"
// CHECK: "task.submit"(%[[T]], %[[S]], %[[B]], %[[A]]) {{.*}}compiler_dep_hazards = ["raw+war+waw", "war"], operandSegmentSizes = array<i32: 2, 0, 2>
module {
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @M(tensor<8xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func private @MM(tensor<8xf32> {task.direction = "inout"}, tensor<8xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func @order_of_edges(%s: tensor<8xf32>, %t: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @R(%s) {task.name = "a"} : (tensor<8xf32>) -> ()
    func.call @M(%t) {task.name = "b"} : (tensor<8xf32>) -> ()
    func.call @MM(%t, %s) : (tensor<8xf32>, tensor<8xf32>) -> ()
    return
  }
}

// -----

// The user's edges stay in their own group. What they order, through others too, gets no edge, but its slot is rewritten.
// CHECK-LABEL: func.func @user_edges
// CHECK: %[[P:[^ ,:)]*]] = "task.submit"(%[[S:[^ ,:)]*]]) {{.*}}task.name = "p"
// CHECK: %[[U:[^ ,:)]*]] = "task.submit"(%[[T:[^ ,:)]*]], %[[P]]) {{.*}}task.name = "u"
// CHECK: %[[J:[^ ,:)]*]] = "task.barrier"(%[[U]], %[[U]])
// CHECK: "task.submit"(%[[S]], %[[J]]) {arg_directions = ["NoDep"], callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "covered"}
// CHECK: "task.submit"(%[[S]], %[[U2:[^ ,:)]*]], %[[P]]) {{.*}}compiler_dep_hazards = ["raw"], operandSegmentSizes = array<i32: 1, 1, 1>, task.name = "both"
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @user_edges(%s: tensor<8xf32>, %t: tensor<8xf32>, %o: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "p"} : (tensor<8xf32>) -> !task.id
    %u = "task.submit"(%t, %p) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "u"} : (tensor<8xf32>, !task.id) -> !task.id
    %j = "task.barrier"(%u, %u) : (!task.id, !task.id) -> !task.id
    %c = "task.submit"(%s, %j) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "covered"} : (tensor<8xf32>, !task.id) -> !task.id
    %v = "task.submit"(%o) {callee = @R, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "v"} : (tensor<8xf32>) -> !task.id
    %b = "task.submit"(%s, %v) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "both"} : (tensor<8xf32>, !task.id) -> !task.id
    return
  }
}

// -----

// A NoDep the user wrote is a promise: no hazard on that slot, neither before nor after.
// CHECK-LABEL: func.func @promise
// CHECK: call @W({{.*}}) {arg_directions = ["OutputExisting"], task.name = "w"}
// CHECK: call @R({{.*}}) {arg_direction_overrides = array<i64: 0>, arg_directions = ["NoDep"]}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @promise(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @W(%s) {task.name = "w"} : (tensor<8xf32>) -> ()
    func.call @R(%s) {arg_direction_overrides = array<i64: 0>} : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// Hand-placed scopes. A MANUAL one is left alone: no edges, no rewritten slots. An AUTO one is analyzed, and a later scope
// follows its tasks: ids leave it as results. With task.auto_scope = false a task outside every scope is not analyzed,
// and the slots that meet it keep their directions.
// CHECK-LABEL: func.func @scopes
// CHECK: scf.execute_region no_inline
// CHECK-NEXT: call @W(%[[S:[^ ,:)]*]]) {arg_directions = ["OutputExisting"]}
// CHECK-NEXT: call @R(%[[S]]) {arg_directions = ["Input"]}
// CHECK: {task.scope = "manual"}
// CHECK: %[[X:[^ ,:)]*]] = scf.execute_region -> !task.id no_inline
// CHECK: {task.scope = "auto"}
// CHECK: scf.execute_region no_inline
// CHECK: "task.submit"(%[[T:[^ ,:)]*]], %[[X]]) {arg_directions = ["NoDep"]
// CHECK: call @R(%[[U:[^ ,:)]*]]) {arg_directions = ["Input"], task.name = "meets outside"}
// CHECK: call @R(%[[S]]) {arg_directions = ["Input"], task.name = "meets manual"}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @scopes(%s: tensor<8xf32>, %t: tensor<8xf32>, %u: tensor<8xf32>) attributes {task.kind = "orchestration", task.auto_scope = false} {
    scf.execute_region no_inline {
      func.call @W(%s) : (tensor<8xf32>) -> ()
      func.call @R(%s) : (tensor<8xf32>) -> ()
      scf.yield
    } {task.scope = "manual"}
    scf.execute_region no_inline {
      func.call @W(%t) : (tensor<8xf32>) -> ()
      scf.yield
    } {task.scope = "auto"}
    func.call @W(%u) : (tensor<8xf32>) -> ()
    scf.execute_region no_inline {
      func.call @R(%t) : (tensor<8xf32>) -> ()
      func.call @R(%u) {task.name = "meets outside"} : (tensor<8xf32>) -> ()
      func.call @R(%s) {task.name = "meets manual"} : (tensor<8xf32>) -> ()
      scf.yield
    } {task.scope = "auto"}
    return
  }
}

// -----

// A hazard with a task in a MANUAL scope that the user ordered is explicit: the slot is rewritten.
// CHECK-LABEL: func.func @manual_ordered
// CHECK: "task.submit"(%{{.*}}, %{{.*}}) {arg_directions = ["NoDep"]
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @manual_ordered(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    %x = scf.execute_region -> !task.id no_inline {
      %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<8xf32>) -> !task.id
      scf.yield %p : !task.id
    } {task.scope = "manual"}
    %c = "task.submit"(%s, %x) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<8xf32>, !task.id) -> !task.id
    return
  }
}
