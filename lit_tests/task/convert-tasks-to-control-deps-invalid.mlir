// Storage without a StableHLO form is an error at the op, and nothing is changed.
// RUN: neuron-ctrldep-opt --split-input-file --convert-tasks-to-control-deps --verify-diagnostics %s

module {
  func.func private @W(tensor<64xindex> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xindex>) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{has an operand or result that StableHLO cannot hold: tensor<64xindex>}}
    func.call @W(%s) : (tensor<64xindex>) -> ()
    return
  }
}

// -----

module {
  func.func private @W(memref<16xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @main(%bytes: memref<256xi8>, %n: index) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{'memref.view' op on buffers has no form on tensors}}
    %v = memref.view %bytes[%n][] : memref<256xi8> to memref<16xf32>
    func.call @W(%v) : (memref<16xf32>) -> ()
    return
  }
}
