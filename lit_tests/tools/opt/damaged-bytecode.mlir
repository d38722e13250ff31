// Bytecode that is cut off is a fault of the input; the reader, which may crash on it, runs in a process of its own.
// RUN: neuron-ctrldep-opt %s --emit-bytecode -o %t.mlirbc
// RUN: %python -c "import sys; data = open(sys.argv[1], 'rb').read(); open(sys.argv[2], 'wb').write(data[:len(data) // 2])" %t.mlirbc %t.cut
// RUN: not neuron-ctrldep-opt %t.cut 2>&1 | FileCheck %s
// CHECK: damaged-bytecode.mlir.tmp.cut:0:0: error: {{.+}}
// CHECK-NOT: Traceback
func.func @f() {
  return
}
