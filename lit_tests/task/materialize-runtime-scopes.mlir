// Where the run-time scopes of functions in default mode go.
// RUN: neuron-ctrldep-opt --split-input-file --materialize-runtime-scopes %s | FileCheck %s
// A second run changes nothing.
// RUN: neuron-ctrldep-opt --split-input-file --materialize-runtime-scopes %s > %t.once
// RUN: neuron-ctrldep-opt --split-input-file --materialize-runtime-scopes %t.once > %t.twice
// RUN: diff %t.once %t.twice

// A marked body becomes one MANUAL scope, made by the compiler; loops in it get none of their own. Afterwards the mark is
// gone and the function is in explicit mode.
// CHECK-LABEL: func.func @marked_body
// CHECK-SAME: attributes {task.auto_scope = false, task.kind = "orchestration"}
// CHECK: scf.execute_region no_inline
// CHECK: scf.for
// CHECK-NEXT: call @R
// CHECK: {task.owner = "compiler", task.scope = "manual"}
// CHECK-NOT: execute_region
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @marked_body(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration", task.auto_scope = true, task.auto_manual} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      func.call @R(%s) : (tensor<64xf32>) -> ()
    } {task.auto_manual}
    return
  }
}

// -----

// Otherwise the body becomes an AUTO scope, and the body of each loop that holds a task a scope of its own: MANUAL where
// it is marked, else AUTO. A loop without tasks gets none.
// CHECK-LABEL: func.func @loops
// CHECK: scf.execute_region no_inline
// CHECK: scf.for
// CHECK-NEXT: scf.execute_region no_inline
// CHECK-NEXT: call @R
// CHECK: {task.owner = "compiler", task.scope = "auto"}
// CHECK: scf.parallel
// CHECK-NEXT: scf.execute_region no_inline
// CHECK-NEXT: call @R
// CHECK: {task.owner = "compiler", task.scope = "manual"}
// CHECK: scf.for
// CHECK-NEXT: arith.addi
// CHECK: {task.owner = "compiler", task.scope = "auto"}
// CHECK-NEXT: return
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @loops(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      func.call @R(%s) : (tensor<64xf32>) -> ()
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      func.call @R(%s) : (tensor<64xf32>) -> ()
    } {task.auto_manual}
    scf.for %i = %c0 to %n step %c1 {
      %x = arith.addi %i, %i : index
    }
    return
  }
}

// -----

// Each branch that holds a task is a scope of its own; a mark has one entry for each branch. What a branch yields comes
// out of its scope.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if
// CHECK-NEXT: %[[THEN:.*]] = scf.execute_region -> tensor<64xf32> no_inline
// CHECK-NEXT: %[[A:.*]] = func.call @W
// CHECK-NEXT: scf.yield %[[A]]
// CHECK-NEXT: {task.owner = "compiler", task.scope = "auto"}
// CHECK-NEXT: scf.yield %[[THEN]]
// CHECK: else
// CHECK-NEXT: %[[ELSE:.*]] = scf.execute_region -> tensor<64xf32> no_inline
// CHECK: {task.owner = "compiler", task.scope = "manual"}
// CHECK-NEXT: scf.yield %[[ELSE]]
// CHECK-NEXT: }
// CHECK-NOT: task.auto_manual
// CHECK: return
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> tensor<64xf32> attributes {task.kind = "kernel"}
  func.func @branches(%s: tensor<64xf32>, %b: i1) -> tensor<64xf32> attributes {task.kind = "orchestration"} {
    %r = scf.if %b -> (tensor<64xf32>) {
      %a = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>
      scf.yield %a : tensor<64xf32>
    } else {
      %a = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>
      scf.yield %a : tensor<64xf32>
    } {task.auto_manual = array<i1: false, true>}
    return %r : tensor<64xf32>
  }
}

// -----

// The body of a scf.while is not wrapped; what lies inside it is.
// CHECK-LABEL: func.func @while_loop
// CHECK: scf.while
// CHECK-NOT: execute_region
// CHECK: do
// CHECK-NEXT: call @R
// CHECK-NEXT: scf.if
// CHECK-NEXT: scf.execute_region no_inline
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @while_loop(%s: tensor<64xf32>, %b: i1) attributes {task.kind = "orchestration"} {
    scf.while : () -> () {
      scf.condition(%b)
    } do {
      func.call @R(%s) : (tensor<64xf32>) -> ()
      scf.if %b {
        func.call @R(%s) : (tensor<64xf32>) -> ()
      }
      scf.yield
    }
    return
  }
}

// -----

// Nothing is put inside a MANUAL scope, hand-placed or not; loops in a hand-placed AUTO scope are wrapped.
// CHECK-LABEL: func.func @hand_placed
// CHECK: scf.for
// CHECK-NEXT: call @R
// CHECK: {task.scope = "manual"}
// CHECK: scf.for
// CHECK-NEXT: scf.execute_region no_inline
// CHECK: {task.owner = "compiler", task.scope = "auto"}
// CHECK: {task.scope = "auto"}
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @hand_placed(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.execute_region no_inline {
      scf.for %i = %c0 to %n step %c1 {
        func.call @R(%s) : (tensor<64xf32>) -> ()
      }
      scf.yield
    } {task.scope = "manual"}
    scf.execute_region no_inline {
      scf.for %i = %c0 to %n step %c1 {
        func.call @R(%s) : (tensor<64xf32>) -> ()
      }
      scf.yield
    } {task.scope = "auto"}
    return
  }
}

// -----

// Only default mode: a function whose scopes are placed stays as it is.
// CHECK-LABEL: func.func @explicit_mode
// CHECK-NOT: execute_region
// CHECK: return
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @explicit_mode(%s: tensor<64xf32>) attributes {task.kind = "orchestration", task.auto_scope = false} {
    func.call @R(%s) : (tensor<64xf32>) -> ()
    return
  }
}
