// Times of parser, passes and output, as a tree, as a list, as JSON.
// RUN: neuron-ctrldep-opt %s --mlir-timing --mlir-disable-threading --pass-pipeline='builtin.module(cse,func.func(canonicalize,cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-timing --mlir-disable-threading --pass-pipeline='builtin.module(cse,func.func(canonicalize,cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s %}
// CHECK: Execution time report
// CHECK: Total Execution Time: {{[0-9.]+}} seconds
// CHECK: ----Wall Time---- ----Name----
// CHECK-NEXT: {{[0-9.]+}} ({{ *}}{{[0-9.]+}}%) Parser
// CHECK-NEXT: {{^.*[)]  CSE$}}
// CHECK-NEXT: {{^.*[)]    [(]A[)] DominanceInfo$}}
// CHECK: {{^.*[)]  'func.func' Pipeline$}}
// CHECK: {{^.*[)]    Canonicalizer$}}
// CHECK-NEXT: {{^.*[)]    CSE$}}
// CHECK-NEXT: {{^.*[)]      [(]A[)] DominanceInfo$}}
// CHECK: {{^.*[)]  SymbolDCE$}}
// CHECK-NEXT: Output
// CHECK-NEXT: Rest
// CHECK-NEXT: ({{ *}}100.0%) Total

// RUN: neuron-ctrldep-opt %s --mlir-timing --mlir-timing-display=list --mlir-disable-threading --pass-pipeline='builtin.module(func.func(cse),any(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-timing --mlir-timing-display=list --mlir-disable-threading --pass-pipeline='builtin.module(func.func(cse),any(cse),symbol-dce)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST %}
// LIST: ----Name----
// LIST-NEXT: (100.0%) root
// LIST-DAG: Parser
// LIST-DAG: CSE
// LIST-DAG: Pipeline Collection : ['func.func']
// LIST-DAG: 'func.func' Pipeline
// LIST-DAG: Pipeline Collection : ['any']
// LIST-DAG: (A) DominanceInfo
// LIST-DAG: SymbolDCE
// LIST: Rest
// LIST-NEXT: Total

// RUN: neuron-ctrldep-opt %s --mlir-timing --mlir-output-format=json --cse -o /dev/null 2> %t.json
// RUN: %python -c "import json, sys; print([part['name'] for part in json.load(open(sys.argv[1]))])" %t.json | FileCheck %s --check-prefix=JSON
// RUN: %if mlir-opt %{ %mlir-opt %s --mlir-timing --mlir-output-format=json --cse -o /dev/null 2> %t.json %}
// RUN: %if mlir-opt %{ %python -c "import json, sys; print([part['name'] for part in json.load(open(sys.argv[1]))])" %t.json | FileCheck %s --check-prefix=JSON %}
// JSON: ['Parser', 'CSE', 'Output', 'Rest', 'Total']

// A report for each part of a split input.
// RUN: neuron-ctrldep-opt %S/Inputs/cut.mlir --split-input-file='// CUT' --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: %if mlir-opt %{ %mlir-opt %S/Inputs/cut.mlir --split-input-file='// CUT' --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPLIT %}
// SPLIT-COUNT-2: Execution time report
func.func @f() {
  return
}
