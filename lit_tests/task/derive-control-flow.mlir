// Ids flow through control flow as SSA values: nothing here needs a fallback.
// RUN: neuron-ctrldep-opt --split-input-file --auto-derive-task-dependencies=analyze-auto-scopes=true %s | FileCheck %s
// CHECK-NOT: task.fallback

// An in-place chain through a loop whose trips only run time knows: each iteration waits for the one before, the first one
// for what came before the loop, and the reader for the last iteration, or for that where the loop runs zero times.
// CHECK-LABEL: func.func @chain
// CHECK: %[[P:[^ ,:)]*]]:2 = "task.submit"({{.*}}task.name = "p"
// CHECK: %[[L:[^ ,:)]*]]:2 = scf.for {{.*}} iter_args(%[[K:[^ ,:)]*]] = %[[P]]#0, %[[LAST:[^ ,:)]*]] = %[[P]]#1)
// CHECK-NEXT: %[[C:[^ ,:)]*]]:2 = "task.submit"(%[[K]], %[[LAST]]) {{.*}}compiler_dep_hazards = ["raw+war+waw"]
// CHECK-NEXT: scf.yield %[[C]]#0, %[[C]]#1
// CHECK: "task.submit"(%[[L]]#0, %[[L]]#1) {arg_directions = ["NoDep"]
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) -> (tensor<8xf32> {task.aliases = 0}) attributes {task.kind = "kernel"}
  func.func private @M(tensor<8xf32> {task.direction = "inout"}) -> (tensor<8xf32> {task.aliases = 0}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @chain(%s: tensor<8xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = func.call @W(%s) {task.name = "p"} : (tensor<8xf32>) -> tensor<8xf32>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%k = %p) -> (tensor<8xf32>) {
      %b = func.call @M(%k) : (tensor<8xf32>) -> tensor<8xf32>
      scf.yield %b : tensor<8xf32>
    }
    func.call @R(%l) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// Two tasks in one iteration: an edge within it, and one from the reader to the writer of the next iteration.
// CHECK-LABEL: func.func @same_iteration
// CHECK: scf.for {{.*}} iter_args(%[[READER:[^ ,:)]*]] = %{{.*}}) -> (!task.id)
// CHECK-NEXT: %[[W:[^ ,:)]*]] = "task.submit"(%[[S:[^ ,:)]*]], %[[READER]]) {arg_directions = ["OutputExisting"]{{.*}}["war"]
// CHECK-NEXT: %[[R:[^ ,:)]*]] = "task.submit"(%[[S]], %[[W]]) {arg_directions = ["NoDep"]{{.*}}["raw"]
// CHECK-NEXT: scf.yield %[[R]]
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @same_iteration(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      func.call @W(%s) : (tensor<8xf32>) -> ()
      func.call @R(%s) : (tensor<8xf32>) -> ()
    }
    return
  }
}

// -----

// Many readers in a loop, then a writer: a chain of barriers collects them. The writer before the loop matters to it only
// where no reader ran; that is what the second carried id says.
// CHECK-LABEL: func.func @readers_then_writer
// CHECK: %[[P:[^ ,:)]*]] = "task.submit"({{.*}}task.name = "p"
// CHECK: %[[L:[^ ,:)]*]]:2 = scf.for {{.*}} iter_args(%[[FIRST:[^ ,:)]*]] = %[[P]], %[[SO_FAR:[^ ,:)]*]] = %[[NONE:[^ ,:)]*]])
// CHECK-NEXT: %[[R:[^ ,:)]*]] = "task.submit"(%{{.*}}, %[[P]])
// CHECK-NEXT: %[[J:[^ ,:)]*]] = "task.barrier"(%[[SO_FAR]], %[[R]])
// CHECK-NEXT: scf.yield %[[NONE]], %[[J]]
// CHECK: "task.submit"(%{{.*}}, %[[L]]#0, %[[L]]#1) {{.*}}["waw", "war"]
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @readers_then_writer(%s: tensor<8xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    func.call @W(%s) {task.name = "p"} : (tensor<8xf32>) -> ()
    scf.for %i = %c0 to %n step %c1 {
      func.call @R(%s) : (tensor<8xf32>) -> ()
    }
    func.call @W(%s) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// A branch yields the id of each side; task.invalid stands where a side has none.
// CHECK-LABEL: func.func @branch
// CHECK: %[[NONE:[^ ]*]] = "task.invalid"()
// CHECK: %[[P:[^ ]*]] = "task.submit"({{.*}}task.name = "p"
// CHECK: %[[B:[^ ]*]]:2 = scf.if
// CHECK: %[[X:[^ ]*]] = "task.submit"({{.*}}task.name = "x"
// CHECK: %[[Y:[^ ]*]] = "task.submit"({{.*}}task.name = "y"
// CHECK: scf.yield %[[X]], %[[Y]]
// CHECK: } else {
// CHECK: scf.yield %[[P]], %[[NONE]]
// CHECK: }
// CHECK: "task.submit"(%{{[^ ]*}}, %[[B]]#0){{.*}}task.name = "r"
// CHECK: "task.submit"(%{{[^ ]*}}, %[[B]]#1){{.*}}task.name = "q"
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @branch(%s: tensor<8xf32>, %t: tensor<8xf32>, %c: i1) attributes {task.kind = "orchestration"} {
    func.call @W(%s) {task.name = "p"} : (tensor<8xf32>) -> ()
    scf.if %c {
      func.call @W(%s) {task.name = "x"} : (tensor<8xf32>) -> ()
      func.call @R(%t) {task.name = "y"} : (tensor<8xf32>) -> ()
    }
    func.call @R(%s) {task.name = "r"} : (tensor<8xf32>) -> ()
    func.call @W(%t) {task.name = "q"} : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// A parallel loop: its iterations are never ordered, but all are waited for: a reduction by task.barrier.
// CHECK-LABEL: func.func @parallel
// CHECK: %[[ALL:[^ ,:)]*]] = scf.parallel {{.*}} init (%{{.*}}) -> !task.id
// CHECK: %[[W:[^ ,:)]*]] = "task.submit"(%{{.*}}) {arg_directions = ["OutputExisting"]
// CHECK: scf.reduce(%[[W]] : !task.id)
// CHECK-NEXT: ^bb0(%[[A:[^ ,:)]*]]: !task.id, %[[B:[^ ,:)]*]]: !task.id):
// CHECK-NEXT: %[[J:[^ ,:)]*]] = "task.barrier"(%[[A]], %[[B]])
// CHECK-NEXT: scf.reduce.return %[[J]]
// CHECK: "task.submit"(%{{.*}}, %[[ALL]]) {arg_directions = ["NoDep"]
module {
  func.func private @W(tensor<4xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<16xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @parallel(%s: tensor<16xf32>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      %o = arith.muli %i, %c4 : index
      %v = tensor.extract_slice %s[%o] [4] [1] : tensor<16xf32> to tensor<4xf32>
      func.call @W(%v) : (tensor<4xf32>) -> ()
    }
    func.call @R(%s) : (tensor<16xf32>) -> ()
    return
  }
}

// -----

// scf.forall puts its ids into a shared tensor, one slot for each iteration.
// CHECK-LABEL: func.func @forall
// CHECK: %[[E:[^ ,:)]*]] = tensor.empty() : tensor<8x!task.id>
// CHECK: %[[F:[^ ,:)]*]] = scf.forall (%[[I:[^ ,:)]*]], %[[J:[^ ,:)]*]]) in (4, 2) shared_outs(%[[O:[^ ,:)]*]] = %[[E]])
// CHECK: %[[R:[^ ,:)]*]] = "task.submit"
// CHECK: %[[ONE:[^ ,:)]*]] = tensor.from_elements %[[R]]
// CHECK: tensor.parallel_insert_slice %[[ONE]] into %[[O]][%{{.*}}] [1] [1]
// CHECK: %[[B:[^ ,:)]*]] = "task.barrier"(%[[F]])
// CHECK: "task.submit"(%{{.*}}, %[[B]]) {{.*}}["war"]
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @forall(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    scf.forall (%i, %j) in (4, 2) {
      func.call @R(%s) : (tensor<8xf32>) -> ()
    }
    func.call @W(%s) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// A while loop with a task in each of its bodies: the condition hands the ids on.
// CHECK-LABEL: func.func @while
// CHECK: %[[L:[^ ,:)]*]] = scf.while (%[[K:[^ ,:)]*]] = %{{.*}}) : (!task.id) -> !task.id
// CHECK: %[[R:[^ ,:)]*]] = "task.submit"(%[[S:[^ ,:)]*]], %[[K]]) {arg_directions = ["NoDep"]{{.*}}task.name = "reads first"
// CHECK: scf.condition(%{{.*}}) %[[R]] : !task.id
// CHECK: ^bb0(%[[H:[^ ,:)]*]]: !task.id):
// CHECK: %[[W:[^ ,:)]*]] = "task.submit"(%[[S]], %[[H]]) {arg_directions = ["OutputExisting"]{{.*}}task.name = "writes then"
// CHECK: scf.yield %[[W]]
// CHECK: "task.submit"(%[[S]], %[[L]]) {{.*}}["war"]{{.*}}task.name = "after"
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @while(%s: tensor<8xf32>, %f: memref<1xi1>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    scf.while : () -> () {
      func.call @R(%s) {task.name = "reads first"} : (tensor<8xf32>) -> ()
      %c = memref.load %f[%c0] : memref<1xi1>
      scf.condition(%c)
    } do {
      func.call @W(%s) {task.name = "writes then"} : (tensor<8xf32>) -> ()
      scf.yield
    }
    func.call @W(%s) {task.name = "after"} : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// Ping-pong buffers: either may be either, so that the chain goes through both.
// CHECK-LABEL: func.func @ping_pong
// CHECK: scf.for {{.*}} iter_args(%[[X:[^ ,:)]*]] = %{{.*}}, %[[Y:[^ ,:)]*]] = %{{.*}}, %[[LAST:[^ ,:)]*]] = %{{.*}})
// CHECK-NEXT: %[[K:[^ ,:)]*]]:2 = "task.submit"(%[[X]], %[[Y]], %[[LAST]]) {arg_directions = ["NoDep", "OutputExisting"]
// CHECK-NEXT: scf.yield %[[K]]#0, %[[X]], %[[K]]#1
module {
  func.func private @K(tensor<8xf32> {task.direction = "in"}, tensor<8xf32> {task.direction = "out"}) -> (tensor<8xf32> {task.aliases = 1}) attributes {task.kind = "kernel"}
  func.func @ping_pong(%s: tensor<8xf32>, %t: tensor<8xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s, %y = %t) -> (tensor<8xf32>, tensor<8xf32>) {
      %r = func.call @K(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      scf.yield %r, %x : tensor<8xf32>, tensor<8xf32>
    }
    return
  }
}

// -----

// The user's id tensor, filled slot by slot in a loop, orders all it holds: nothing is added. Where one slot was set to
// "no task" afterwards, it does not.
// CHECK-LABEL: func.func @id_tensor
// CHECK: "task.submit"(%{{.*}}, %[[F:[^ ,:)]*]]) {arg_directions = ["NoDep"]{{.*}}operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "all"
// CHECK: "task.submit"(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}}operandSegmentSizes = array<i32: 1, 1, 1>, task.name = "some"
module {
  func.func private @W(tensor<4xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<16xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @id_tensor(%s: tensor<16xf32>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %e = tensor.empty() : tensor<4x!task.id>
    %f = scf.for %i = %c0 to %c4 step %c1 iter_args(%k = %e) -> (tensor<4x!task.id>) {
      %o = arith.muli %i, %c4 : index
      %v = tensor.extract_slice %s[%o] [4] [1] : tensor<16xf32> to tensor<4xf32>
      %p = "task.submit"(%v) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<4xf32>) -> !task.id
      %k2 = tensor.insert %p into %k[%i] : tensor<4x!task.id>
      scf.yield %k2 : tensor<4x!task.id>
    }
    %a = "task.submit"(%s, %f) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "all"} : (tensor<16xf32>, tensor<4x!task.id>) -> !task.id
    %none = "task.invalid"() : () -> !task.id
    %g = tensor.insert %none into %f[%c1] : tensor<4x!task.id>
    %b = "task.submit"(%s, %g) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "some"} : (tensor<16xf32>, tensor<4x!task.id>) -> !task.id
    return
  }
}

// -----

// A loop whose bounds are compared as unsigned numbers: here from 0 to 255, so that it does run.
// CHECK-LABEL: func.func @unsigned
// CHECK: scf.for unsigned {{.*}} iter_args(%[[K:[^ ,:)]*]] =
// CHECK: "task.submit"(%{{.*}}, %[[K]]) {{.*}}task.name = "w"
// CHECK: "task.submit"(%{{.*}}, %{{.*}}) {arg_directions = ["NoDep"]{{.*}}task.name = "r"
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @unsigned(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    %first = arith.constant 0 : i8
    %last = arith.constant -1 : i8
    %step = arith.constant 100 : i8
    scf.for unsigned %i = %first to %last step %step : i8 {
      func.call @W(%s) {task.name = "w"} : (tensor<8xf32>) -> ()
    }
    func.call @R(%s) {task.name = "r"} : (tensor<8xf32>) -> ()
    return
  }
}
