// Without a module around it, the input is one op, and pipelines start at that op.
// RUN: neuron-ctrldep-opt %s --no-implicit-module --pass-pipeline='func.func(cse)' | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --no-implicit-module --pass-pipeline='func.func(cse)' | FileCheck %s %}
// RUN: neuron-ctrldep-opt %s --no-implicit-module --cse | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --no-implicit-module --cse | FileCheck %s %}

// Without a pipeline, too.
// RUN: neuron-ctrldep-opt %s --no-implicit-module | FileCheck %s --check-prefix=AS-IS
// RUN: %if mlir-opt %{ %mlir-opt %s --no-implicit-module | FileCheck %s --check-prefix=AS-IS %}
// AS-IS-NOT: module
// AS-IS: {{^}}func.func @f

// With more than one op it is a fault.
// RUN: echo 'func.func private @f() func.func private @g()' | not neuron-ctrldep-opt --no-implicit-module 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: %if mlir-opt %{ echo 'func.func private @f() func.func private @g()' | not %mlir-opt --no-implicit-module 2>&1 | FileCheck %s --check-prefix=ERR %}
// ERR: error: source must contain a single top-level operation, found: 2

// CHECK-NOT: module
// CHECK: {{^}}func.func @f
// CHECK-NEXT: %[[SUM:.*]] = arith.addi
// CHECK-NEXT: arith.muli %[[SUM]], %[[SUM]]
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
