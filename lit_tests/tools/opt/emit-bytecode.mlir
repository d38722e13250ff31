// Bytecode instead of text, and back; an old version of the format; one that there is not.
// RUN: neuron-ctrldep-opt %s --emit-bytecode -o %t.mlirbc
// RUN: neuron-ctrldep-opt %t.mlirbc | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --emit-bytecode -o %t.llvm.mlirbc %}
// RUN: %if mlir-opt %{ neuron-ctrldep-opt %t.llvm.mlirbc | FileCheck %s %}
// RUN: neuron-ctrldep-opt %s --emit-bytecode --emit-bytecode-version=3 -o %t.v3.mlirbc
// RUN: %python -c "import sys; print('version', open(sys.argv[1], 'rb').read()[4] >> 1)" %t.v3.mlirbc | FileCheck %s --check-prefix=VERSION
// RUN: not neuron-ctrldep-opt %s --emit-bytecode --emit-bytecode-version=99 -o %t.v99.mlirbc 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: %if mlir-opt %{ not %mlir-opt %s --emit-bytecode --emit-bytecode-version=99 -o %t.v99.mlirbc 2>&1 | FileCheck %s --check-prefix=ERR %}

// RUN: not neuron-ctrldep-opt %s --emit-bytecode --emit-bytecode-version=-1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: %if mlir-opt %{ not %mlir-opt %s --emit-bytecode --emit-bytecode-version=-1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE %}
// NEGATIVE: error: unsupported version requested -1, must be in range [0, 6]
// RUN: not neuron-ctrldep-opt %s --emit-bytecode-version=3 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: %if mlir-opt %{ not %mlir-opt %s --emit-bytecode-version=3 2>&1 | FileCheck %s --check-prefix=ALONE %}
// ALONE: error: bytecode version while not emitting bytecode

// VERSION: version 3
// ERR: error: unsupported version requested 99, must be in range [0, 6]
// CHECK-LABEL: func.func @f
// CHECK-NEXT: arith.constant 7 : i32
func.func @f() -> i32 {
  %0 = arith.constant 7 : i32
  return %0 : i32
}
