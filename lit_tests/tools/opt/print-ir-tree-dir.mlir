// A folder for each op and a file for each print; the names count the prints, as mlir-opt does.
// RUN: rm -rf %t.dir %t.llvm
// RUN: neuron-ctrldep-opt %s --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.dir --pass-pipeline='builtin.module(cse,func.func(cse,canonicalize),symbol-dce,func.func(cse))' -o /dev/null
// RUN: %python -c "import pathlib, sys; [print(p.relative_to(sys.argv[1])) for p in sorted(pathlib.Path(sys.argv[1]).rglob('*.mlir'))]" %t.dir | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE < %t.dir/builtin_module_no-symbol-name/func_func_f/0_1_canonicalize.mlir
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.llvm --pass-pipeline='builtin.module(cse,func.func(cse,canonicalize),symbol-dce,func.func(cse))' -o /dev/null %}
// RUN: %if mlir-opt %{ diff -r %t.dir %t.llvm %}

// CHECK: {{^}}builtin_module_no-symbol-name/0_cse.mlir
// CHECK-NEXT: builtin_module_no-symbol-name/1_symbol-dce.mlir
// CHECK-NEXT: builtin_module_no-symbol-name/func_func_f/0_0_cse.mlir
// CHECK-NEXT: builtin_module_no-symbol-name/func_func_f/0_1_canonicalize.mlir
// CHECK-NEXT: builtin_module_no-symbol-name/func_func_f/1_2_cse.mlir
// CHECK-NEXT: builtin_module_no-symbol-name/func_func_g/0_0_cse.mlir
// CHECK-NEXT: builtin_module_no-symbol-name/func_func_g/0_1_canonicalize.mlir
// CHECK-NEXT: builtin_module_no-symbol-name/func_func_g/1_2_cse.mlir

// FILE: // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// FILE-NEXT: func.func @f
func.func @f() {
  return
}
func.func @g() {
  return
}
