// Ops at the top go into a module. Locations and diagnostics name the file.
// RUN: neuron-ctrldep-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s %}
// From stdin, too.
// RUN: neuron-ctrldep-opt --mlir-print-debuginfo --mlir-print-local-scope < %s | FileCheck %s --check-prefix=STDIN
// RUN: %if mlir-opt %{ %mlir-opt --mlir-print-debuginfo --mlir-print-local-scope < %s | FileCheck %s --check-prefix=STDIN %}
// RUN: echo 'func.func private @f() func.func private @f()' | not neuron-ctrldep-opt 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: %if mlir-opt %{ echo 'func.func private @f() func.func private @f()' | not %mlir-opt 2>&1 | FileCheck %s --check-prefix=ERR %}
// ERR: <stdin>:1:24: error: redefinition of symbol named 'f'

// CHECK: module {
// CHECK-NEXT: func.func @f(%arg0: i32 loc("{{.*}}implicit-module.mlir":15:14)) {
// CHECK-NEXT: return loc("{{.*}}implicit-module.mlir":16:3)
// STDIN: func.func @f(%arg0: i32 loc("<stdin>":15:14)) {
func.func @f(%a: i32) {
  return
}
// CHECK: } loc("kept")
// CHECK-NEXT: } loc("{{.*}}implicit-module.mlir":0:0)
func.func @g() {
  return
} loc("kept")

// Nothing is an empty module.
// RUN: echo '// nothing' | neuron-ctrldep-opt | FileCheck %s --check-prefix=EMPTY
// RUN: %if mlir-opt %{ echo '// nothing' | %mlir-opt | FileCheck %s --check-prefix=EMPTY %}
// EMPTY: module {
// EMPTY-NEXT: }
