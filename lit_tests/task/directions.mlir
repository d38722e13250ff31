// Each row of the table of derive-call-directions.
// RUN: neuron-ctrldep-opt --split-input-file --derive-call-directions %s | FileCheck %s
// A second run changes nothing.
// RUN: neuron-ctrldep-opt --split-input-file --derive-call-directions %s > %t.once
// RUN: neuron-ctrldep-opt --split-input-file --derive-call-directions %t.once > %t.twice
// RUN: diff %t.once %t.twice

// The kernel says; what is not storage is Scalar; an out argument that nobody wrote before is OutputExisting, never Output.
// CHECK-LABEL: func.func @kernel_says
// CHECK: call @K({{.*}}) {arg_directions = ["Input", "InOut", "OutputExisting", "Scalar"]}
module {
  func.func private @K(tensor<8xf32> {task.direction = "in"}, tensor<8xf32> {task.direction = "inout"}, tensor<8xf32> {task.direction = "out"}, index) attributes {task.kind = "kernel"}
  func.func @kernel_says(%s: tensor<8xf32>, %t: tensor<8xf32>, %u: tensor<8xf32>, %n: index) attributes {task.kind = "orchestration"} {
    func.call @K(%s, %t, %u, %n) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, index) -> ()
    return
  }
}

// -----

// Under a sequential loop an out argument is InOut: earlier iterations wrote it. A parallel loop alone does not do that.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for
// CHECK: call @W({{.*}}) {arg_directions = ["InOut"], task.name = "for"}
// CHECK: scf.parallel
// CHECK: call @W({{.*}}) {arg_directions = ["InOut"], task.name = "parallel in for"}
// CHECK: scf.while
// CHECK: call @W({{.*}}) {arg_directions = ["InOut"], task.name = "while"}
// CHECK: scf.parallel
// CHECK: call @W({{.*}}) {arg_directions = ["OutputExisting"], task.name = "parallel"}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @loops(%s: tensor<8xf32>, %t: tensor<8xf32>, %u: tensor<8xf32>, %v: tensor<8xf32>, %c: i1) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      func.call @W(%s) {task.name = "for"} : (tensor<8xf32>) -> ()
      scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
        func.call @W(%t) {task.name = "parallel in for"} : (tensor<8xf32>) -> ()
      }
    }
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      func.call @W(%u) {task.name = "while"} : (tensor<8xf32>) -> ()
      scf.yield
    }
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      func.call @W(%v) {task.name = "parallel"} : (tensor<8xf32>) -> ()
    }
    return
  }
}

// -----

// An out argument that may denote two roots, or storage that is not known, is InOut.
// CHECK-LABEL: func.func @several_roots
// CHECK: call @W({{.*}}) {arg_directions = ["InOut"], task.name = "either"}
// CHECK: call @W({{.*}}) {arg_directions = ["InOut"], task.name = "unknown"}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @G(tensor<8xf32> {task.direction = "in"}) -> tensor<8xf32> attributes {task.kind = "kernel"}
  func.func @several_roots(%s: tensor<8xf32>, %t: tensor<8xf32>, %u: tensor<8xf32>, %c: i1) attributes {task.kind = "orchestration"} {
    %e = arith.select %c, %s, %t : tensor<8xf32>
    func.call @W(%e) {task.name = "either"} : (tensor<8xf32>) -> ()
    %g = func.call @G(%u) : (tensor<8xf32>) -> tensor<8xf32>
    func.call @W(%g) {task.name = "unknown"} : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// An earlier task that writes what may overlap makes it InOut; one in the other branch, or on another tile, does not.
// CHECK-LABEL: func.func @earlier_writer
// CHECK: call @W({{.*}}) {arg_directions = ["OutputExisting"], task.name = "then"}
// CHECK: call @W({{.*}}) {arg_directions = ["OutputExisting"], task.name = "else"}
// CHECK: call @W({{.*}}) {arg_directions = ["InOut"], task.name = "after"}
// CHECK: call @W4({{.*}}) {arg_directions = ["OutputExisting"], task.name = "low tile"}
// CHECK: call @W4({{.*}}) {arg_directions = ["OutputExisting"], task.name = "high tile"}
// CHECK: call @W4({{.*}}) {arg_directions = ["InOut"], task.name = "between"}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @W4(tensor<4xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @earlier_writer(%s: tensor<8xf32>, %t: tensor<8xf32>, %c: i1) attributes {task.kind = "orchestration"} {
    scf.if %c {
      func.call @W(%s) {task.name = "then"} : (tensor<8xf32>) -> ()
    } else {
      func.call @W(%s) {task.name = "else"} : (tensor<8xf32>) -> ()
    }
    func.call @W(%s) {task.name = "after"} : (tensor<8xf32>) -> ()
    %l = tensor.extract_slice %t[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %h = tensor.extract_slice %t[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %m = tensor.extract_slice %t[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
    func.call @W4(%l) {task.name = "low tile"} : (tensor<4xf32>) -> ()
    func.call @W4(%h) {task.name = "high tile"} : (tensor<4xf32>) -> ()
    func.call @W4(%m) {task.name = "between"} : (tensor<4xf32>) -> ()
    return
  }
}

// -----

// The root is a parameter of the function that is declared inout.
// CHECK-LABEL: func.func @inout_parameter
// CHECK: call @W({{.*}}) {arg_directions = ["InOut"]}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @inout_parameter(%s: tensor<8xf32> {task.direction = "inout"}) attributes {task.kind = "orchestration"} {
    func.call @W(%s) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// What is there is never touched; the user's overrides become NoDep.
// CHECK-LABEL: func.func @kept
// CHECK: call @W({{.*}}) {arg_directions = ["Output"]}
// CHECK: call @K({{.*}}) {arg_direction_overrides = array<i64: 1>, arg_directions = ["Input", "NoDep"]}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @K(tensor<8xf32> {task.direction = "in"}, tensor<8xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func @kept(%s: tensor<8xf32>, %t: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @W(%s) {arg_directions = ["Output"]} : (tensor<8xf32>) -> ()
    func.call @K(%s, %t) {arg_direction_overrides = array<i64: 1>} : (tensor<8xf32>, tensor<8xf32>) -> ()
    return
  }
}

// -----

// A wrapper does what it declares, joined with what the kernels it forwards to do; that is written back. What it calls are
// no tasks of the orchestration, and a plain call stays a plain call.
// CHECK: func.func @G(%{{.*}}: tensor<8xf32> {task.direction = "inout"}, %{{.*}}: tensor<8xf32> {task.direction = "out"})
// CHECK-NEXT: call @M(%{{.*}}) : (tensor<8xf32>) -> ()
// CHECK-LABEL: func.func @wrapper
// CHECK: call @G({{.*}}) {arg_directions = ["InOut", "OutputExisting"]}
module {
  func.func private @M(tensor<8xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @G(%a: tensor<8xf32> {task.direction = "in"}, %b: tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel", task.group} {
    func.call @M(%a) : (tensor<8xf32>) -> ()
    func.call @W(%b) : (tensor<8xf32>) -> ()
    return
  }
  func.func @wrapper(%s: tensor<8xf32>, %t: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @G(%s, %t) : (tensor<8xf32>, tensor<8xf32>) -> ()
    return
  }
}
