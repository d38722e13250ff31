// What the verifier says, after parsing and as the pass verify-task: one broken rule at a time.
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics %s

// The kernel must exist.
module {
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{'task.submit' op runs @K, which does not exist in this module}}
    %a, %p = "task.submit"(%s) {callee = @K, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    return
  }
}

// -----

// What is run must be a kernel.
module {
  func.func private @helper(tensor<64xf32>)
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{runs @helper, which is not a kernel}}
    %p = "task.submit"(%s) {callee = @helper, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>) -> !task.id
    return
  }
}

// -----

// As many arguments as the kernel has parameters, and of their types.
module {
  func.func private @K(tensor<64xf32> {task.direction = "in"}, index) attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>, %u: tensor<32xf32>, %n: index) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{has 1 argument(s), but @K has 2}}
    %p = "task.submit"(%s) {callee = @K, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>) -> !task.id
    // expected-error@+1 {{argument #0 of @K must be tensor<64xf32>, in any layout; found tensor<32xf32>}}
    %q = "task.submit"(%u, %n) {callee = @K, operandSegmentSizes = array<i32: 2, 0, 0>} : (tensor<32xf32>, index) -> !task.id
    return
  }
}

// -----

// Storage may differ from the parameter in layout, but not in shape or element type.
module {
  func.func private @K(memref<16xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @main(%m: memref<64xf32>, %b: memref<16xbf16>) attributes {task.kind = "orchestration"} {
    %v = memref.subview %m[8] [16] [2] : memref<64xf32> to memref<16xf32, strided<[2], offset: 8>>
    %p = "task.submit"(%v) {callee = @K, operandSegmentSizes = array<i32: 1, 0, 0>} : (memref<16xf32, strided<[2], offset: 8>>) -> !task.id
    // expected-error@+1 {{argument #0 of @K must be memref<16xf32>, in any layout; found memref<16xbf16>}}
    %q = "task.submit"(%b) {callee = @K, operandSegmentSizes = array<i32: 1, 0, 0>} : (memref<16xbf16>) -> !task.id
    return
  }
}

// -----

// A dependency is an id or a tensor of ids.
module {
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{operand #1 (deps) must be !task.id or tensor<N x !task.id>; found index}}
    %p = "task.submit"(%s, %n) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, index) -> !task.id
    // expected-error@+1 {{operand #0 (ids) must be !task.id or tensor<N x !task.id>; found tensor<64xf32>}}
    %b = "task.barrier"(%s) : (tensor<64xf32>) -> !task.id
    return
  }
}

// -----

// The direction at the call fits the parameter: in takes Input or NoDep.
module {
  func.func private @K(tensor<64xf32> {task.direction = "in"}, index) attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration"} {
    func.call @K(%s, %n) {arg_directions = ["Input", "Scalar"]} : (tensor<64xf32>, index) -> ()
    func.call @K(%s, %n) {arg_directions = ["NoDep", "Scalar"]} : (tensor<64xf32>, index) -> ()
    // expected-error@+1 {{argument #0 is 'in' in @K: expected Input, NoDep; found OutputExisting}}
    func.call @K(%s, %n) {arg_directions = ["OutputExisting", "Scalar"]} : (tensor<64xf32>, index) -> ()
    // expected-error@+1 {{argument #1 is not storage, so its direction is Scalar; found Input}}
    func.call @K(%s, %n) {arg_directions = ["Input", "Input"]} : (tensor<64xf32>, index) -> ()
    // expected-error@+1 {{'arg_directions' has 1 entries; there are 2 arguments}}
    func.call @K(%s, %n) {arg_directions = ["Input"]} : (tensor<64xf32>, index) -> ()
    return
  }
}

// -----

// inout takes InOut, OutputExisting or NoDep; out takes Output, OutputExisting, InOut or NoDep.
module {
  func.func private @K(tensor<64xf32> {task.direction = "inout"}, tensor<64xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>, %t: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    func.call @K(%s, %t) {arg_directions = ["InOut", "Output"]} : (tensor<64xf32>, tensor<64xf32>) -> ()
    func.call @K(%s, %t) {arg_directions = ["OutputExisting", "OutputExisting"]} : (tensor<64xf32>, tensor<64xf32>) -> ()
    func.call @K(%s, %t) {arg_directions = ["NoDep", "InOut"]} : (tensor<64xf32>, tensor<64xf32>) -> ()
    // expected-error@+1 {{argument #0 is 'inout' in @K: expected InOut, OutputExisting, NoDep; found Output}}
    func.call @K(%s, %t) {arg_directions = ["Output", "NoDep"]} : (tensor<64xf32>, tensor<64xf32>) -> ()
    // expected-error@+1 {{argument #1 is 'out' in @K: expected Output, OutputExisting, InOut, NoDep; found Input}}
    func.call @K(%s, %t) {arg_directions = ["InOut", "Input"]} : (tensor<64xf32>, tensor<64xf32>) -> ()
    return
  }
}

// -----

// The user's NoDep names arguments that are there, and that are storage.
module {
  func.func private @K(tensor<64xf32> {task.direction = "in"}, index) attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{'arg_direction_overrides' names slot 2; there are 2 arguments}}
    func.call @K(%s, %n) {arg_direction_overrides = array<i64: 0, 2>} : (tensor<64xf32>, index) -> ()
    // expected-error@+1 {{'arg_direction_overrides' names slot 1, which is not storage: index}}
    func.call @K(%s, %n) {arg_direction_overrides = array<i64: 1>} : (tensor<64xf32>, index) -> ()
    return
  }
}

// -----

// An AUTO scope cannot be inside a MANUAL one; a MANUAL one can be inside an AUTO one.
module {
  func.func @main() attributes {task.kind = "orchestration"} {
    scf.execute_region no_inline {
      scf.execute_region no_inline {
        // expected-error@+1 {{is an AUTO scope inside a MANUAL one}}
        scf.execute_region no_inline {
          scf.yield
        } {task.scope = "auto"}
        scf.yield
      } {task.scope = "manual"}
      scf.yield
    } {task.scope = "auto"}
    return
  }
}

// -----

// A scope that canonicalization could dissolve is none.
module {
  func.func @main() attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{is a scope and needs no_inline}}
    scf.execute_region {
      scf.yield
    } {task.scope = "manual"}
    return
  }
}

// -----

// A step that is a constant below 1, which scf accepts silently.
module {
  func.func @main(%n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %minus = arith.constant -1 : index
    // expected-error@+1 {{'scf.for' op has the step 0; a step is at least 1}}
    scf.for %i = %c0 to %n step %c0 {
    }
    // expected-error@+1 {{'scf.for' op has the step -1; a step is at least 1}}
    scf.for %i = %n to %c0 step %minus {
    }
    // expected-error@+1 {{'scf.forall' op has the step 0; a step is at least 1}}
    scf.forall (%i) = (0) to (8) step (0) {
    }
    return
  }
}

// -----

// A kernel says what it does with its storage, and what it hands back.
module {
  // expected-error@+1 {{parameter #1 is storage and needs a 'task.direction'}}
  func.func private @K(index, tensor<64xf32>) attributes {task.kind = "kernel"}
  // expected-error@+1 {{result #0: 'task.aliases' must be the index of one of the 1 parameters; found 7}}
  func.func private @L(tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 7 : i64}) attributes {task.kind = "kernel"}
  // expected-error@+1 {{attribute 'task.kind' must be "kernel" or "orchestration"; found "task"}}
  func.func private @M() attributes {task.kind = "task"}
}

// -----

// Control flow is structured.
module {
  // expected-error@+1 {{has several blocks; an orchestration function is written with structured control flow}}
  func.func @main(%b: i1) attributes {task.kind = "orchestration"} {
    cf.cond_br %b, ^bb1, ^bb1
  ^bb1:
    return
  }
}
