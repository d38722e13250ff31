// A MANUAL scope orders only what its dependencies say. "scale" reads what "fill" writes and does not wait for it:
//
//   neuron-ctrldep check examples/manual_scope_race.mlir
//
// names both tasks, the storage, the hazard and the iteration distance. manual_scope.mlir is the same program, repaired.
module {
  func.func private @fill(memref<64xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @scale(memref<64xf32> {task.direction = "in"}, memref<64xf32> {task.direction = "out"})
      attributes {task.kind = "kernel"}
  func.func @main(%a: memref<64xf32>, %b: memref<64xf32>, %n: index)
      attributes {task.kind = "orchestration", task.auto_scope = false} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.execute_region no_inline {
      %none = "task.invalid"() : () -> !task.id
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> (!task.id) {
        %filled = "task.submit"(%a, %before) {callee = @fill, task.name = "fill",
            operandSegmentSizes = array<i32: 1, 1, 0>} : (memref<64xf32>, !task.id) -> !task.id
        %scaled = "task.submit"(%a, %b, %before) {callee = @scale, task.name = "scale",
            operandSegmentSizes = array<i32: 2, 1, 0>} : (memref<64xf32>, memref<64xf32>, !task.id) -> !task.id
        scf.yield %scaled : !task.id
      }
      scf.yield
    } {task.scope = "manual"}
    return
  }
}
