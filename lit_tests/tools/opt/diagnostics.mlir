// How diagnostics look: the place, the source line, a caret, then the notes.
// RUN: not neuron-ctrldep-opt %s --split-input-file 2>&1 | FileCheck %s
// RUN: %if mlir-opt %{ not %mlir-opt %s --split-input-file 2>&1 | FileCheck %s %}

// A note at the place of its error does not repeat the source line; tabs are as wide as on a terminal.
// CHECK: diagnostics.mlir:13:2: error: type of return operand 0 ('i64') doesn't match function result type ('i32')
// CHECK-NEXT: {{^        return %0 : i64$}}
// CHECK-NEXT: {{^        \^$}}
// CHECK-NEXT: diagnostics.mlir:13:2: note: see current operation: "func.return"(%0) : (i64) -> ()
// CHECK-NEXT: diagnostics.mlir:25:1: error:
func.func @tab() -> i32 {
	%0 = arith.constant 3 : i64
	return %0 : i64
}

// -----
// A note at another place shows what is there.
// CHECK-SAME: redefinition of symbol named 'f'
// CHECK-NEXT: func.func private @f() // again
// CHECK-NEXT: {{^\^$}}
// CHECK: diagnostics.mlir:24:1: note: see existing symbol definition here
// CHECK-NEXT: func.func private @f()
// CHECK-NEXT: {{^\^$}}
func.func private @f()
func.func private @f() // again

// -----
// Calls say where they come from.
// CHECK-NEXT: callee.py:3:4: error: 'func.return' op has 0 operands
// CHECK-NEXT: caller.py:5:6: note: called from
// CHECK-NEXT: top.py:7:8: note: called from
// CHECK-NEXT: callee.py:3:4: note: see current operation
func.func @calls() -> i32 {
  return loc("jit(f)"(callsite("callee.py":3:4 at callsite("name at ("("caller.py":5:6) at "top.py":7:8))))
}

// -----
// Of a place without a file, there is its name.
// CHECK-NEXT: <unknown>:0: error: loc("layer3"): 'func.return' op has 0 operands
// CHECK-NEXT: <unknown>:0: note: loc("layer3"): see current operation
func.func @name() -> i32 {
  return loc("layer3")
}

// -----
// CHECK-NEXT: <unknown>:0: error: 'func.return' op has 0 operands
// CHECK-NEXT: <unknown>:0: note: see current operation
func.func @nowhere() -> i32 {
  return loc(unknown)
}

// The op itself can be left out, or all notes.
// RUN: not neuron-ctrldep-opt %s --split-input-file --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --check-prefix=NO-OP
// RUN: %if mlir-opt %{ not %mlir-opt %s --split-input-file --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --check-prefix=NO-OP %}
// NO-OP-NOT: see current operation
// NO-OP: note: see existing symbol definition here
// NO-OP-NOT: see current operation
// RUN: not neuron-ctrldep-opt %s --split-input-file --mlir-disable-diagnostic-notes 2>&1 | FileCheck %s --check-prefix=NO-NOTE
// NO-NOTE: error:
// NO-NOTE-NOT: note:
// NO-NOTE: loc("layer3")
// NO-NOTE-NOT: note:
