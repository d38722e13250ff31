// The IR that a failing pass left; passes that succeed print nothing.
// RUN: not neuron-ctrldep-opt %s --mlir-print-ir-after-failure --mlir-disable-threading --pass-pipeline='builtin.module(func.func(cse,symbol-dce))' -o /dev/null 2>&1 | FileCheck %s
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-print-ir-after-failure --mlir-disable-threading --pass-pipeline='builtin.module(func.func(cse,symbol-dce))' -o /dev/null 2>&1 | FileCheck %s %}
// CHECK-NOT: IR Dump After CSE
// CHECK: error: 'func.func' op {{.*}}does not define a symbol table
// CHECK: // -----// IR Dump After SymbolDCE Failed (symbol-dce) //----- //
// CHECK-NEXT: {{^}}func.func @f
// A function that fails does not keep another from its passes.
// CHECK: // -----// IR Dump After SymbolDCE Failed (symbol-dce) //----- //
// CHECK-NEXT: {{^}}func.func private @g

// A pass in Python.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --mlir-print-ir-after-failure --cse --extra-fail -o /dev/null 2>&1 | FileCheck %s --check-prefix=PYTHON
// PYTHON: error: functions are not welcome here
// PYTHON: // -----// IR Dump After Fail Failed (extra-fail) //----- //
// PYTHON-NEXT: {{^}}func.func @f
func.func @f() {
  return
}
func.func private @g() {
  return
}
