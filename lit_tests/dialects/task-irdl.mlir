// The same programs, valid and invalid, under LLVM's mlir-opt with the generated IRDL file and under ours. What IRDL
// cannot express (optional attributes, "an id or a tensor of ids", callees) is in ../task/verify.mlir.
// REQUIRES: mlir-opt
// RUN: %mlir-opt --irdl-file=%S/../../dialects/task.irdl.mlir --split-input-file --verify-diagnostics %s
// RUN: neuron-ctrldep-opt --split-input-file --verify-diagnostics %s

// All ops, in their valid forms.
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> tensor<64xf32> attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    %none = "task.invalid"() : () -> !task.id
    %a, %p = "task.submit"(%s, %none) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 0>}
        : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
    %ids = tensor.from_elements %p, %none : tensor<2x!task.id>
    %all = "task.barrier"(%ids) : (tensor<2x!task.id>) -> !task.id
    %nothing = "task.barrier"() : () -> !task.id
    return
  }
}

// -----

// A submit names its kernel.
module {
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{callee}}
    %a, %p = "task.submit"(%s) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    return
  }
}

// -----

// The segment sizes add up to the number of operands.
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> tensor<64xf32> attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{operandSegmentSizes}}
    %a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    return
  }
}

// -----

// A submit yields an id, after the results of the kernel.
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> tensor<64xf32> attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{task.id}}
    %a = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>) -> tensor<64xf32>
    return
  }
}

// -----

// A barrier has one result.
module {
  func.func @main() attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{2}}
    %b, %e = "task.barrier"() : () -> (!task.id, !task.id)
    return
  }
}

// -----

// The id of no task is made of nothing.
module {
  func.func @main(%n: index) attributes {task.kind = "orchestration"} {
    // expected-error@+1 {{operands}}
    %i = "task.invalid"(%n) : (index) -> !task.id
    return
  }
}
