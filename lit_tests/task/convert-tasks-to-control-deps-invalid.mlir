// Storage without a StableHLO form is an error at the task.
// RUN: neuron-ctrldep-opt --convert-tasks-to-control-deps --verify-diagnostics %s

module {
  func.func private @W(memref<64xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @main(%s: memref<64xf32>) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{has an operand or result that StableHLO cannot hold: memref<64xf32>}}
    func.call @W(%s) : (memref<64xf32>) -> ()
    return
  }
}
