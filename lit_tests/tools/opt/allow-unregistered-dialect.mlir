// Ops of unknown dialects are refused unless they are allowed.
// RUN: not neuron-ctrldep-opt %s 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: %if mlir-opt %{ not %mlir-opt %s 2>&1 | FileCheck %s --check-prefix=ERR %}
// RUN: neuron-ctrldep-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --allow-unregistered-dialect | FileCheck %s %}

// ERR: :9:{{[0-9]+}}: error: operation being parsed with an unregistered dialect
// CHECK: "unknown.op"() {a = 1 : i32} : () -> ()
"unknown.op"() {a = 1 : i32} : () -> ()

// The task dialect is this project's own, though the bindings do not know it.
// RUN: echo '"unknown.op"() : () -> () "task.program"() ({}) : () -> ()' | not neuron-ctrldep-opt 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: error: operation being parsed with an unregistered dialect: 'unknown.op'
