// The counters of passes, in the shape of the pipeline. The bindings are built without those of C++ passes.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s --mlir-pass-statistics --pass-pipeline='builtin.module(cse,func.func(extra-count-ops,canonicalize,extra-count-ops{only=func.return}))' -o /dev/null 2>&1 | FileCheck %s
// CHECK: Pass statistics report
// CHECK: {{^CSE$}}
// CHECK-NEXT: {{^'func.func' Pipeline$}}
// CHECK-NEXT: {{^  CountOps$}}
// CHECK-NEXT: {{^    [(]S[)] 3 ops - ops seen$}}
// CHECK-NEXT: {{^  Canonicalizer$}}
// CHECK-NEXT: {{^  CountOps$}}
// CHECK-NEXT: {{^    [(]S[)] 2 ops - ops seen$}}

// One row for each pass.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s --mlir-pass-statistics --mlir-pass-statistics-display=list --extra-count-ops --extra-count-ops -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: CountOps
// LIST-NEXT: (S) 6 ops - ops seen
func.func @f() {
  return
}
func.func @g() -> i32 {
  %0 = arith.constant 1 : i32
  return %0 : i32
}
