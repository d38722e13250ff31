// Task programs as C++ against PTO's run-time API.
// RUN: neuron-ctrldep-translate --task-to-orchestration %s | FileCheck %s
// Deterministic, byte for byte.
// RUN: neuron-ctrldep-translate --task-to-orchestration %s > %t.one
// RUN: neuron-ctrldep-translate --task-to-orchestration %s > %t.two
// RUN: diff %t.one %t.two

// CHECK: #include "pto_orchestration_api.h"
// CHECK: constexpr int32_t KERNEL_0 = 0;  // "K"
// CHECK: constexpr int32_t KERNEL_1 = 1;  // "W"
module {
  func.func private @K(index, tensor<64xf32> {task.direction = "in"}, tensor<64xf32> {task.direction = "inout"}, tensor<64xf32> {task.direction = "out"}, tensor<64xf32> {task.direction = "out"}, tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}

  // CHECK: void aicpu_orchestration_entry(const ChipStorageTaskArgs &orch_args)
  // CHECK-NEXT: Tensor arg0 = from_tensor_arg(orch_args.tensor(0));
  // CHECK-NEXT: Tensor arg1 = from_tensor_arg(orch_args.tensor(1));
  // CHECK-NEXT: const int64_t arg2 = from_u64<int64_t>(orch_args.scalar(0));
  func.func @main(%s: tensor<64xf32>, %t: tensor<64xf32>, %n: index) attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %none = "task.invalid"() : () -> !task.id

    // Scopes are blocks, one for one. Output and OutputExisting are both add_output. Numbers come after all storage.
    // CHECK: PTO2_SCOPE() {
    scf.execute_region no_inline {
      // CHECK-NEXT: // Task 0 "first" runs "K"
      // CHECK-NEXT: Arg params_t0;
      // CHECK-NEXT: params_t0.add_input(arg0);
      // CHECK-NEXT: params_t0.add_inout(arg1);
      // CHECK-NEXT: params_t0.add_output(arg0);
      // CHECK-NEXT: params_t0.add_output(arg1);
      // CHECK-NEXT: params_t0.add_no_dep(arg0);
      // CHECK-NEXT: params_t0.add_scalar(arg2);
      // CHECK-NEXT: params_t0.set_allow_early_resolve(true);
      // CHECK-NEXT: TaskOutputTensors task_0_outs = rt_submit_aiv_task(KERNEL_0, params_t0);
      // CHECK-NEXT: PTO2TaskId [[P:v[0-9]+]] = task_0_outs.task_id();
      %p = "task.submit"(%n, %s, %t, %s, %t, %s) {callee = @K, operandSegmentSizes = array<i32: 6, 0, 0>, task.name = "first", allow_early_resolve, arg_directions = ["Scalar", "Input", "InOut", "OutputExisting", "Output", "NoDep"]}
          : (index, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> !task.id

      // CHECK-NEXT: PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
      scf.execute_region no_inline {
        // CHECK: // Task 1 "second" runs "W"
        // CHECK: PTO2TaskId [[Q:v[0-9]+]] = task_1_outs.task_id();
        %a, %q = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "second"} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)

        // The user's dependencies first, then the compiler's, each once; no task is left out. A task's result is its
        // argument.
        // CHECK: // Task 2 runs "W"
        // CHECK: params_t2.add_inout(arg0);
        // CHECK-NEXT: PTO2TaskId params_t2_deps[2];
        // CHECK-NEXT: uint32_t params_t2_deps_count = 0;
        // CHECK-NEXT: params_t2_deps[params_t2_deps_count++] = [[Q]];
        // CHECK-NEXT: params_t2_deps[params_t2_deps_count++] = [[P]];
        // CHECK-NEXT: params_t2.set_dependencies(params_t2_deps, params_t2_deps_count);
        // CHECK-NEXT: TaskOutputTensors task_2_outs
        %b, %r = "task.submit"(%a, %q, %none, %p, %q) {callee = @W, operandSegmentSizes = array<i32: 1, 2, 2>} : (tensor<64xf32>, !task.id, !task.id, !task.id, !task.id) -> (tensor<64xf32>, !task.id)
        scf.yield
      }  {task.scope = "manual"}
      scf.yield
    } {task.scope = "auto"}

    // An id that may be no task is guarded: here it is none in the first iteration.
    // CHECK: PTO2TaskId [[LAST:v[0-9]+]] = PTO2TaskId::invalid();
    // CHECK-NEXT: for (int64_t [[I:v[0-9]+]] = 0; [[I]] < arg2; [[I]] += 1) {
    // CHECK: if ([[LAST]].is_valid()) params_t3_deps[params_t3_deps_count++] = [[LAST]];
    // CHECK: PTO2TaskId [[NEXT:v[0-9]+]] = task_3_outs.task_id();
    // CHECK-NEXT: [[LAST]] = [[NEXT]];
    %f = scf.for %i = %c0 to %n step %c1 iter_args(%last = %none) -> (!task.id) {
      %a, %next = "task.submit"(%s, %last) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
      scf.yield %next : !task.id
    }

    // A barrier is a dummy task.
    // CHECK: // Barrier 0
    // CHECK-NEXT: Arg params_b0;
    // CHECK-NEXT: PTO2TaskId params_b0_deps[5];
    // CHECK: if ([[LAST]].is_valid()) params_b0_deps[params_b0_deps_count++] = [[LAST]];
    // CHECK-NEXT: for (const PTO2TaskId &id : {{v[0-9]+}}) {
    // CHECK-NEXT: if (id.is_valid()) params_b0_deps[params_b0_deps_count++] = id;
    // CHECK: params_b0.set_dependencies(params_b0_deps, params_b0_deps_count);
    // CHECK-NEXT: TaskOutputTensors barrier_0_outs = rt_submit_dummy_task(params_b0);
    %ids = tensor.empty() : tensor<4x!task.id>
    %j = "task.barrier"(%f, %ids) : (!task.id, tensor<4x!task.id>) -> !task.id
    return
  }
}
