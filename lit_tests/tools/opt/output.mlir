// -o writes the file whole or not at all: a fault leaves what was there.
// RUN: echo before > %t.out
// RUN: not neuron-ctrldep-opt %s --no-implicit-module -o %t.out 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: FileCheck %s --check-prefix=KEPT < %t.out
// RUN: neuron-ctrldep-opt %s -o %t.out
// RUN: FileCheck %s < %t.out
// RUN: not neuron-ctrldep-opt %s -o %t.no-such-folder/out 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not neuron-ctrldep-opt %t.no-such-file 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not neuron-ctrldep-opt %s %s 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: neuron-ctrldep-opt - -o - < %s | FileCheck %s

// ERR: error: source must contain a single top-level operation
// KEPT: before
// FOLDER: no-such-folder/out: error: cannot write the file: No such file or directory
// MISSING: no-such-file: error: cannot read the file: No such file or directory
// USAGE: error: unrecognized arguments
// CHECK: {{^}}module {
// CHECK-NEXT: func.func private @f()
// CHECK-NEXT: func.func private @g()
func.func private @f()
func.func private @g()
