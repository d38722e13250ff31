// Which parts of storage overlap.
// RUN: neuron-ctrldep-opt --split-input-file --auto-derive-task-dependencies=analyze-auto-scopes=true %s | FileCheck %s
// CHECK-NOT: task.fallback

// Tiles [i*4 .. i*4+4): disjoint from iteration to iteration, so that only the tasks of one iteration are ordered. The reader
// of the whole waits for all of them; a loop that counts down makes no difference.
// CHECK-LABEL: func.func @tiles
// CHECK: %[[L:[^ ]*]] = scf.for {{.*}} iter_args(%[[K:[^ ]*]] = %{{.*}}) -> (!task.id)
// CHECK: %[[W:[^ ]*]] = "task.submit"(%{{[^ ,]*}}) {arg_directions = ["InOut"], callee = @W4
// CHECK: %[[R:[^ ]*]] = "task.submit"(%{{[^ ,]*}}, %[[W]]) {arg_directions = ["NoDep"], callee = @R4
// CHECK: %[[J:[^ ]*]] = "task.barrier"(%[[K]], %[[W]])
// CHECK: scf.yield %[[J]]
// CHECK: "task.submit"(%{{[^ ,]*}}, %[[L]]) {arg_directions = ["NoDep"], callee = @R
module {
  func.func private @W4(tensor<4xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R4(tensor<4xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<16xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @tiles(%s: tensor<16xf32>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %d = arith.subi %c3, %i : index
      %o = arith.muli %d, %c4 : index
      %v = tensor.extract_slice %s[%o] [4] [1] : tensor<16xf32> to tensor<4xf32>
      func.call @W4(%v) : (tensor<4xf32>) -> ()
      func.call @R4(%v) : (tensor<4xf32>) -> ()
    }
    func.call @R(%s) : (tensor<16xf32>) -> ()
    return
  }
}

// -----

// A tile that reaches into the one before: now iterations are ordered.
// CHECK-LABEL: func.func @overlapping_tiles
// CHECK: scf.for {{.*}} iter_args(%[[K:[^ ]*]] = %{{.*}}) -> (!task.id)
// CHECK: "task.submit"(%{{[^ ,]*}}, %[[K]]) {{.*}}callee = @W4{{.*}}["waw"]
module {
  func.func private @W4(tensor<4xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @overlapping_tiles(%s: tensor<16xf32>) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c12 = arith.constant 12 : index
    scf.for %i = %c0 to %c12 step %c3 {
      %v = tensor.extract_slice %s[%i] [4] [1] : tensor<16xf32> to tensor<4xf32>
      func.call @W4(%v) : (tensor<4xf32>) -> ()
    }
    return
  }
}

// -----

// Reshapes, casts, transposes and strided views keep the root and the window: the quarter [0..4) x [4..8) of an 8 x 8 array
// through all of them, against a row that crosses it, rows below it, and the even columns left of it.
// CHECK-LABEL: func.func @views
// CHECK: %[[W:[^ ]*]] = "task.submit"(%{{[^ ,]*}}) {{.*}}callee = @W
// CHECK: call @R8({{.*}}) {arg_directions = ["Input"], task.name = "row 4"}
// CHECK: "task.submit"(%{{[^ ,]*}}, %[[W]]) {arg_directions = ["NoDep"]{{.*}}task.name = "row 3"
// CHECK: call @R2({{.*}}) {arg_directions = ["Input"], task.name = "even columns below 4"}
module {
  func.func private @W(memref<4x4xf32, strided<[?, ?], offset: ?>> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @R8(memref<8xf32, strided<[?], offset: ?>> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @R2(memref<8x2xf32, strided<[?, ?], offset: ?>> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func @views(%s: memref<64xf32>) attributes {task.kind = "orchestration"} {
    %e = memref.expand_shape %s [[0, 1]] output_shape [8, 8] : memref<64xf32> into memref<8x8xf32>
    %t = memref.transpose %e (i, j) -> (j, i) : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
    %q = memref.subview %t[4, 0] [4, 4] [1, 1] : memref<8x8xf32, strided<[1, 8]>> to memref<4x4xf32, strided<[1, 8], offset: 4>>
    %w = memref.cast %q : memref<4x4xf32, strided<[1, 8], offset: 4>> to memref<4x4xf32, strided<[?, ?], offset: ?>>
    "task.submit"(%w) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (memref<4x4xf32, strided<[?, ?], offset: ?>>) -> !task.id
    %row4 = memref.reinterpret_cast %s to offset: [32], sizes: [8], strides: [1] : memref<64xf32> to memref<8xf32, strided<[1], offset: 32>>
    %r4 = memref.cast %row4 : memref<8xf32, strided<[1], offset: 32>> to memref<8xf32, strided<[?], offset: ?>>
    func.call @R8(%r4) {task.name = "row 4"} : (memref<8xf32, strided<[?], offset: ?>>) -> ()
    %row3 = memref.reinterpret_cast %s to offset: [24], sizes: [8], strides: [1] : memref<64xf32> to memref<8xf32, strided<[1], offset: 24>>
    %r3 = memref.cast %row3 : memref<8xf32, strided<[1], offset: 24>> to memref<8xf32, strided<[?], offset: ?>>
    func.call @R8(%r3) {task.name = "row 3"} : (memref<8xf32, strided<[?], offset: ?>>) -> ()
    %even = memref.subview %e[0, 0] [8, 2] [1, 2] : memref<8x8xf32> to memref<8x2xf32, strided<[8, 2]>>
    %ev = memref.cast %even : memref<8x2xf32, strided<[8, 2]>> to memref<8x2xf32, strided<[?, ?], offset: ?>>
    func.call @R2(%ev) {task.name = "even columns below 4"} : (memref<8x2xf32, strided<[?, ?], offset: ?>>) -> ()
    return
  }
}

// -----

// Byte ranges of one buffer, and a buffer made in a loop: it is another one in each iteration, so that nothing is carried.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[W:[^ ]*]] = "task.submit"(%{{[^ ,]*}}) {{.*}}task.name = "low"
// CHECK: call @W8({{.*}}) {arg_directions = ["OutputExisting"], task.name = "high"}
// CHECK: "task.submit"(%{{[^ ,]*}}, %[[W]]) {{.*}}["waw"]{{.*}}task.name = "last of low"
// CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
module {
  func.func private @W8(memref<8xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func private @W1(memref<1xi32> {task.direction = "out"}) attributes {task.kind = "kernel"}
  func.func @bytes(%n: index) attributes {task.kind = "orchestration"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c28 = arith.constant 28 : index
    %c32 = arith.constant 32 : index
    %b = memref.alloc() : memref<64xi8>
    %l = memref.view %b[%c0][] : memref<64xi8> to memref<8xf32>
    %h = memref.view %b[%c32][] : memref<64xi8> to memref<8xf32>
    %e = memref.view %b[%c28][] : memref<64xi8> to memref<1xi32>
    func.call @W8(%l) {task.name = "low"} : (memref<8xf32>) -> ()
    func.call @W8(%h) {task.name = "high"} : (memref<8xf32>) -> ()
    func.call @W1(%e) {task.name = "last of low"} : (memref<1xi32>) -> ()
    scf.for %i = %c0 to %n step %c1 {
      %t = memref.alloc() : memref<8xf32>
      func.call @W8(%t) : (memref<8xf32>) -> ()
    }
    return
  }
}
