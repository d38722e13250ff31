// The pipeline that runs, over several lines, to stderr.
// RUN: neuron-ctrldep-opt %s --dump-pass-pipeline --pass-pipeline='builtin.module(func.func(cse,symbol-privatize),any(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --dump-pass-pipeline --pass-pipeline='builtin.module(func.func(cse,symbol-privatize),any(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s %}
// CHECK: {{^}}Pass Manager with 3 passes:
// CHECK-NEXT: {{^}}builtin.module(
// CHECK-NEXT: {{^}}  func.func(
// CHECK-NEXT: {{^}}    cse,
// CHECK-NEXT: {{^}}    symbol-privatize{{({})?}}
// CHECK-NEXT: {{^}}  ),
// CHECK-NEXT: {{^}}  any(
// CHECK-NEXT: {{^}}    cse
// CHECK-NEXT: {{^}}  ),
// CHECK-NEXT: {{^}}  symbol-dce
// CHECK-NEXT: {{^}})

// What it prints is a pipeline again, the header included.
// RUN: neuron-ctrldep-opt %s --dump-pass-pipeline --pass-pipeline='builtin.module(func.func(cse,canonicalize{max-iterations=4}),flatten-control-dep-tuple-operands{main-only=true})' -o /dev/null 2> %t.first
// RUN: %python -c "import subprocess, sys; text = open(sys.argv[1]).read(); sys.exit(subprocess.call(['neuron-ctrldep-opt', sys.argv[2], '-o', sys.argv[3], '--dump-pass-pipeline', '--pass-pipeline=' + text]))" %t.first %s /dev/null 2> %t.second
// RUN: diff %t.first %t.second

func.func @f() {
  return
}
