// The parts between the markers are processed by themselves; each may use the same names, and one that fails does not
// stop the others. Line numbers stay those of the file.
// RUN: not neuron-ctrldep-opt %s --split-input-file --cse --mlir-print-debuginfo 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR < %t.err
// RUN: %if mlir-opt %{ not %mlir-opt %s --split-input-file --cse --mlir-print-debuginfo 2>%t.llvm.err | FileCheck %s %}
// RUN: %if mlir-opt %{ FileCheck %s --check-prefix=ERR < %t.llvm.err %}

// CHECK: func.func private @same() loc([[FIRST:#loc.*]])
// CHECK: [[FIRST]] = loc("{{.*}}split-input-file.mlir":12:1)
// CHECK: {{^// [-]+$}}
// The second part fails: nothing of it is printed.
func.func private @same()

// -----

// ERR: split-input-file.mlir:18:3: error: custom op 'no_such_op' is unknown
func.func @same() {
  no_such_op
}

// -----

// The module around the ops of a part is where the part starts.
// CHECK-NEXT: {{^// [-]+$}}
// CHECK: func.func private @same() loc([[THIRD:#loc.*]])
// CHECK: #loc = loc("{{.*}}split-input-file.mlir":21:9)
// CHECK: [[THIRD]] = loc("{{.*}}split-input-file.mlir":28:1)
func.func private @same()
