// RUN: neuron-ctrldep-translate --mlir-to-penguin %s | FileCheck %s
// What a result is called, and that no two are called the same. The name of the input stays in tensor_op_name.

func.func @main(%x: tensor<f32>) {
  // The first there is: ctrldep.name, neuron.symName, the last part of the location, the op's name.
  // CHECK: kept_1 = {{.*}}tensor_op_name="kept.1"
  %0 = stablehlo.abs %x {mhlo.frontend_attributes = {ctrldep.name = "kept.1"}, neuron.symName = "symbol"} : tensor<f32> loc("location")
  // CHECK-NEXT: symbol = {{.*}}tensor_op_name="symbol"
  %1 = stablehlo.abs %x {neuron.symName = "symbol"} : tensor<f32> loc("location")
  // CHECK-NEXT: mul = {{.*}}tensor_op_name="mul", file="model.py", line=3, column=14
  %2 = stablehlo.abs %x : tensor<f32> loc("jit(f)/layer/mul"("model.py":3:14))
  // CHECK-NEXT: stablehlo_abs = {{.*}}tensor_op_name="stablehlo.abs"
  %3 = stablehlo.abs %x : tensor<f32> loc(unknown)
  // A second op of the same name, and one whose name would be the second's.
  // CHECK-NEXT: mul_1 = {{.*}}tensor_op_name="mul"
  %4 = stablehlo.abs %x : tensor<f32> loc("mul")
  // CHECK-NEXT: mul_1_1 = {{.*}}tensor_op_name="mul_1"
  %5 = stablehlo.abs %x : tensor<f32> loc("mul_1")
  // Python's words and builtins, and the names that a program uses for itself.
  // CHECK-NEXT: lambda_1 = {{.*}}tensor_op_name="lambda"
  %6 = stablehlo.abs %x : tensor<f32> loc("lambda")
  // CHECK-NEXT: print_1 = {{.*}}tensor_op_name="print"
  %7 = stablehlo.abs %x : tensor<f32> loc("print")
  // CHECK-NEXT: np_1 = {{.*}}tensor_op_name="np"
  %8 = stablehlo.abs %x : tensor<f32> loc("np")
  // CHECK-NEXT: ir_1 =
  %9 = stablehlo.abs %x : tensor<f32> loc("ir")
  // CHECK-NEXT: weight_load_1 =
  %10 = stablehlo.abs %x : tensor<f32> loc("weight_load")
  // CHECK-NEXT: v0_1 =
  %11 = stablehlo.abs %x : tensor<f32> loc("v0")
  // CHECK-NEXT: m6_1 =
  %12 = stablehlo.abs %x : tensor<f32> loc("m6")
  // CHECK-NEXT: input_0_1 =
  %13 = stablehlo.abs %x : tensor<f32> loc("input_0")
  // An identifier is ASCII and does not start with a digit.
  // CHECK-NEXT: _42_ = {{.*}}tensor_op_name="42\xe9"
  %14 = stablehlo.abs %x : tensor<f32> loc("42é")
  return
}
