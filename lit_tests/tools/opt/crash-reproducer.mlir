// A reproducer that is written only when a pass fails.
// RUN: rm -f %t.crash.mlir
// RUN: neuron-ctrldep-opt %s --mlir-pass-pipeline-crash-reproducer=%t.crash.mlir --cse -o /dev/null
// RUN: not ls %t.crash.mlir
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --mlir-pass-pipeline-crash-reproducer=%t.crash.mlir --verify-each=false --cse --extra-fail 2>&1 | FileCheck %s --check-prefix=CRASH
// CRASH: error: functions are not welcome here
// CRASH: error: Failures have been detected while processing an MLIR pass pipeline
// CRASH: note: Pipeline failed while executing [`Fail` on 'func.func' operation: @f]: reproducer generated at `{{.*}}crash.mlir`
// RUN: FileCheck %s --check-prefix=CRASH-FILE < %t.crash.mlir
// CRASH-FILE: pipeline: "builtin.module(cse,func.func(extra-fail))"
// CRASH-FILE: verify_each: false


// The same for a C++ pass that fails; canonicalize is not done in one iteration here.
// RUN: not neuron-ctrldep-opt %s --mlir-pass-pipeline-crash-reproducer=%t.cpp.mlir --pass-pipeline='builtin.module(symbol-dce,func.func(cse,canonicalize{max-iterations=1 test-convergence}))' 2>&1 | FileCheck %s --check-prefix=CPP
// RUN: not neuron-ctrldep-opt %t.cpp.mlir --run-reproducer
// RUN: %if mlir-opt %{ not %mlir-opt %t.cpp.mlir --run-reproducer %}
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-pass-pipeline-crash-reproducer=%t.cpp.mlir --pass-pipeline='builtin.module(symbol-dce,func.func(cse,canonicalize{max-iterations=1 test-convergence}))' 2>&1 | FileCheck %s --check-prefix=CPP %}
// RUN: %if mlir-opt %{ not neuron-ctrldep-opt %t.cpp.mlir --run-reproducer %}
// CPP: error: Failures have been detected while processing an MLIR pass pipeline
// CPP: note: Pipeline failed while executing [`Canonicalizer` on 'func.func' operation: @f]: reproducer generated at `{{.*}}cpp.mlir`

// A local one holds the pass that fails, and the module as it was before it: cse has
// merged two additions of three.
// RUN: not neuron-ctrldep-opt %s --mlir-disable-threading --mlir-pass-pipeline-local-reproducer --mlir-pass-pipeline-crash-reproducer=%t.local.mlir --pass-pipeline='builtin.module(symbol-dce,func.func(cse,canonicalize{max-iterations=1 test-convergence}))' 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: FileCheck %s --check-prefix=LOCAL-FILE < %t.local.mlir
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-disable-threading --mlir-pass-pipeline-local-reproducer --mlir-pass-pipeline-crash-reproducer=%t.local.mlir --pass-pipeline='builtin.module(symbol-dce,func.func(cse,canonicalize{max-iterations=1 test-convergence}))' 2>&1 | FileCheck %s --check-prefix=LOCAL %}
// RUN: %if mlir-opt %{ FileCheck %s --check-prefix=LOCAL-FILE < %t.local.mlir %}
// LOCAL: note: Pipeline failed while executing `Canonicalizer` on 'func.func' operation: @f: reproducer generated at
// LOCAL-FILE: arith.addi
// LOCAL-FILE-NEXT: arith.addi
// LOCAL-FILE-NEXT: arith.muli
// LOCAL-FILE: pipeline: "builtin.module(func.func(canonicalize{

// That needs passes that run one by one.
// RUN: not neuron-ctrldep-opt %s --mlir-pass-pipeline-local-reproducer --mlir-pass-pipeline-crash-reproducer=%t.local.mlir --cse 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: %if mlir-opt %{ not %mlir-opt %s --mlir-pass-pipeline-local-reproducer --mlir-pass-pipeline-crash-reproducer=%t.local.mlir --cse 2>&1 | FileCheck %s --check-prefix=THREADS %}
// THREADS: error: Local crash reproduction may not be used without disabling mutli-threading first.

// A pass that ends the process leaves one, too, and nothing beside it.
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: env PYTHONPATH=%S/Inputs/extra_passes not neuron-ctrldep-opt %s --mlir-pass-pipeline-crash-reproducer=%t.dir/died.mlir --cse --extra-die 2>&1 | FileCheck %s --check-prefix=DIED
// DIED: error: the process was ended by SIGABRT
// DIED: note: reproducer generated at `{{.*}}died.mlir`
// RUN: ls -A %t.dir | FileCheck %s --check-prefix=ALONE
// ALONE: {{^}}died.mlir{{$}}
// ALONE-NOT: pending
// RUN: FileCheck %s --check-prefix=DIED-FILE < %t.dir/died.mlir
// DIED-FILE-COUNT-3: arith.addi
// DIED-FILE: pipeline: "builtin.module(cse,extra-die)"
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %0 = arith.addi %a, %zero : i32
  %1 = arith.addi %a, %zero : i32
  %2 = arith.addi %0, %a : i32
  %3 = arith.muli %1, %2 : i32
  return %3 : i32
}
