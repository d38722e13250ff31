// One thread: what functions report comes in their order.
// RUN: not neuron-ctrldep-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(func.func(symbol-dce))' 2>&1 | FileCheck %s
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(func.func(symbol-dce))' 2>&1 | FileCheck %s %}
// CHECK: :6:1: error: 'func.func' op {{.*}}does not define a symbol table
// CHECK: note: see current operation
func.func @f() {
  return
}
