// What cannot be represented leaves its whole region to the run time; a remark says why.
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics --auto-derive-task-dependencies=analyze-auto-scopes=true %s
// RUN: neuron-ctrldep-opt --split-input-file --auto-derive-task-dependencies=analyze-auto-scopes=true %s 2>/dev/null | FileCheck %s

// A result that is none of the parameters. The whole function keeps its plain calls, its slots, and gets no mark.
// CHECK-LABEL: func.func @no_alias
// CHECK-SAME: attributes {task.fallback = "argument #0 of the task is unsupported storage: a result of @G that is none of its parameters", task.kind = "orchestration"}
// CHECK: call @W({{.*}}) {arg_directions = ["OutputExisting"]}
// CHECK: call @G({{.*}}) {arg_directions = ["Input"]}
// CHECK: call @R({{.*}}) {arg_directions = ["Input"]}
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @G(tensor<8xf32> {task.direction = "in"}) -> tensor<8xf32> attributes {task.kind = "kernel"}
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @no_alias(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @W(%s) : (tensor<8xf32>) -> ()
    %g = func.call @G(%s) : (tensor<8xf32>) -> tensor<8xf32>
    // expected-remark@+1 {{no task dependencies are derived: argument #0 of the task is unsupported storage: a result of @G}}
    func.call @R(%g) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// A gather: what it reads depends on values.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: task.fallback
module {
  func.func private @R(tensor<2x1xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @gather(%s: tensor<8xf32>, %i: tensor<2x1xindex>) attributes {task.kind = "orchestration"} {
    %g = tensor.gather %s[%i] gather_dims([0]) : (tensor<8xf32>, tensor<2x1xindex>) -> tensor<2x1xf32>
    // expected-remark@+1 {{'tensor.gather' is no view the analysis understands}}
    func.call @R(%g) : (tensor<2x1xf32>) -> ()
    return
  }
}

// -----

// More than four roots.
// CHECK-LABEL: func.func @five_roots
// CHECK-SAME: task.fallback
module {
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @five_roots(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %d: tensor<8xf32>, %e: tensor<8xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %l:5 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a, %w = %b, %x = %c, %y = %d, %z = %e) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
      scf.yield %w, %x, %y, %z, %v : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
    // expected-remark@+1 {{it may denote more than 4 storage roots}}
    func.call @R(%l#0) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// A copy: the source of an insertion does not lie in its destination yet. Where it does, there is no copy.
// CHECK-LABEL: func.func @copy
// CHECK-SAME: task.fallback
// CHECK-LABEL: func.func @no_copy
// CHECK-NOT: task.fallback
// CHECK: "task.submit"(%{{.*}}, %{{.*}}) {arg_directions = ["NoDep"], callee = @R
module {
  func.func private @W(tensor<4xf32> {task.direction = "out"}) -> (tensor<4xf32> {task.aliases = 0}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @copy(%s: tensor<8xf32>, %t: tensor<4xf32>) attributes {task.kind = "orchestration"} {
    %i = tensor.insert_slice %t into %s[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
    // expected-remark@+1 {{an insertion of a slice that does not lie in its destination yet, which is a copy}}
    func.call @R(%i) : (tensor<8xf32>) -> ()
    return
  }
  func.func @no_copy(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    %v = tensor.extract_slice %s[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %w = func.call @W(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %i = tensor.insert_slice %w into %s[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
    func.call @R(%i) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// A function that is no kernel may submit tasks of its own.
// CHECK-LABEL: func.func @helper
// CHECK-SAME: task.fallback
module {
  func.func private @other(tensor<8xf32>)
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @helper(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    // expected-remark@+1 {{'func.call' may submit tasks}}
    func.call @other(%s) : (tensor<8xf32>) -> ()
    func.call @R(%s) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// An inner region falls back, the outer one goes on without relying on it: what meets the unknown storage of the inner task
// keeps its direction, which after it is every slot, and nothing becomes MANUAL.
// CHECK-LABEL: func.func @inner
// CHECK-NOT: task.auto_manual
// CHECK: %[[P:[^ ,:)]*]] = "task.submit"({{.*}}task.name = "p"
// CHECK: "task.submit"(%{{.*}}, %[[P]]) {arg_directions = ["NoDep"]{{.*}}task.name = "before"
// CHECK: scf.execute_region
// CHECK: } {task.fallback = {{.*}}, task.scope = "auto"}
// CHECK: "task.submit"(%{{.*}}, %[[P]]) {arg_directions = ["Input"]{{.*}}task.name = "after"
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @G(tensor<8xf32> {task.direction = "in"}) -> tensor<8xf32> attributes {task.kind = "kernel"}
  func.func @inner(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @W(%s) {task.name = "p"} : (tensor<8xf32>) -> ()
    func.call @R(%s) {task.name = "before"} : (tensor<8xf32>) -> ()
    // expected-note@+1 {{the AUTO scope stays with the tracking of the run time}}
    scf.execute_region no_inline {
      %g = func.call @G(%s) : (tensor<8xf32>) -> tensor<8xf32>
      // expected-remark@+1 {{no task dependencies are derived}}
      func.call @W(%g) : (tensor<8xf32>) -> ()
      scf.yield
    } {task.scope = "auto"}
    func.call @R(%s) {task.name = "after"} : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// A function that another orchestration function calls does not start with no task in flight: what its caller wrote is
// tracked by the run time only. Nor can its caller know what it submits.
// CHECK-LABEL: func.func @callee
// CHECK-SAME: task.fallback
// CHECK: call @R({{.*}}) {arg_directions = ["Input"]}
// CHECK-LABEL: func.func @caller
// CHECK-SAME: task.fallback
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  // expected-remark@+2 {{an orchestration function calls it, whose tasks may be in flight}}
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @callee(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @R(%s) : (tensor<8xf32>) -> ()
    return
  }
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @caller(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @W(%s) : (tensor<8xf32>) -> ()
    // expected-remark@+1 {{'func.call' may submit tasks}}
    func.call @callee(%s) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// The same where no storage is handed over: the tasks of `helper` would be untracked in a MANUAL scope around the call.
// A function whose body submits nothing, and one that is only declared, are harmless.
// CHECK-LABEL: func.func @calls_helper
// CHECK-SAME: task.fallback
// CHECK-LABEL: func.func @calls_number
// CHECK-NOT: task.fallback
// CHECK-SAME: task.auto_manual
// CHECK: "task.submit"({{.*}}arg_directions = ["NoDep"]
module {
  func.func private @W(tensor<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @number() -> index
  func.func @helper() {
    %t = tensor.empty() : tensor<8xf32>
    func.call @W(%t) : (tensor<8xf32>) -> ()
    func.call @R(%t) : (tensor<8xf32>) -> ()
    return
  }
  func.func @middle() {
    func.call @helper() : () -> ()
    return
  }
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @calls_helper(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @W(%s) : (tensor<8xf32>) -> ()
    // expected-remark@+1 {{'func.call' may submit tasks}}
    func.call @middle() : () -> ()
    func.call @R(%s) : (tensor<8xf32>) -> ()
    return
  }
  func.func @calls_number(%s: tensor<8xf32>) attributes {task.kind = "orchestration"} {
    func.call @W(%s) : (tensor<8xf32>) -> ()
    %n = func.call @number() : () -> index
    func.call @R(%s) : (tensor<8xf32>) -> ()
    return
  }
}

// -----

// Tasks where a reduction says how to combine, and a call of what only run time knows.
// CHECK-LABEL: func.func @in_a_reduction
// CHECK-SAME: task.fallback
// CHECK-LABEL: func.func @indirect
// CHECK-SAME: task.fallback
module {
  func.func private @W(memref<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R(memref<8xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @in_a_reduction(%s: memref<8xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i32
    %q = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> i32 {
      // expected-remark@+1 {{'scf.reduce' may submit tasks}}
      scf.reduce(%z : i32) {
        ^bb0(%l: i32, %r: i32):
          func.call @W(%s) : (memref<8xf32>) -> ()
          scf.reduce.return %l : i32
      }
    }
    func.call @R(%s) : (memref<8xf32>) -> ()
    return
  }
  // expected-note@+1 {{the function stays with the tracking of the run time}}
  func.func @indirect(%s: memref<8xf32>) attributes {task.kind = "orchestration"} {
    %f = func.constant @W : (memref<8xf32>) -> ()
    // expected-remark@+1 {{'func.call_indirect' may submit tasks}}
    func.call_indirect %f(%s) : (memref<8xf32>) -> ()
    func.call @R(%s) : (memref<8xf32>) -> ()
    return
  }
}
