// What happens to the attributes of a wire op that is rebuilt.
//
// RUN: neuron-ctrldep-opt --stablehlo-flatten-control-dep-tuple-operands --mlir-print-debuginfo %s | FileCheck %s
// RUN: sed 's/stablehlo/mhlo/g' %s > %t
// RUN: neuron-ctrldep-opt --flatten-control-dep-tuple-operands --mlir-print-debuginfo %t | FileCheck %t

// Layouts follow their operands: the repeated predecessor and its layout go. With layouts a tuple is no valid operand, so
// the element of an opaque tuple stays.
// CHECK-LABEL: func.func @layouts(
// CHECK:         %[[E:.*]] = stablehlo.get_tuple_element
// CHECK-NEXT:    stablehlo.custom_call @AwsNeuronControlDep(%[[E]], %{{.*}}, %{{.*}}) {has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tensor<4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    return
func.func @layouts(%x: tuple<tensor<4xf32>>, %m: tensor<2x2xf32>, %d: tensor<f32>) -> tensor<f32> {
  %e = stablehlo.get_tuple_element %x[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %t = stablehlo.tuple %d, %m : tuple<tensor<f32>, tensor<2x2xf32>>
  %m1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2x2xf32>>) -> tensor<2x2xf32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e, %m1, %e, %d) {has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// Aliases get the new number of their operand.
// CHECK-LABEL: func.func @alias(
// CHECK:         stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}, %{{.*}}) {{{.*}}output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 2, operand_tuple_indices = []>]}
// CHECK:         return
func.func @alias(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %d) {has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tuple<tensor<f32>, tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// An alias with a part of a tuple names that part afterwards, wherever it ended up.
// CHECK-LABEL: func.func @alias_of_element(
// CHECK:         stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}, %{{.*}}) {{{.*}}operand_index = 1, operand_tuple_indices = []>]}
// CHECK:         return
func.func @alias_of_element(%a: tensor<2xf32>, %b: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a, %b : tuple<tensor<2xf32>, tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %d) {has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [1]>]} : (tuple<tensor<2xf32>, tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// An element that becomes the whole opaque tuple: the alias names the element in it.
// CHECK-LABEL: func.func @alias_in_opaque(
// CHECK-SAME:    %[[X:[^ :]*]]: tuple<tensor<2xf32>, tensor<f32>>
// CHECK:         stablehlo.custom_call @AwsNeuronControlDep(%[[X]], %{{.*}}) {{{.*}}operand_index = 0, operand_tuple_indices = [1]>]}
// CHECK:         return
func.func @alias_in_opaque(%x: tuple<tensor<2xf32>, tensor<f32>>, %d: tensor<f32>) -> tensor<f32> {
  %e = stablehlo.get_tuple_element %x[1] : (tuple<tensor<2xf32>, tensor<f32>>) -> tensor<f32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%e, %d) {has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// Where a tuple is split, each part keeps its own alias, and xla_shape, which describes the tuple, goes.
// CHECK-LABEL: func.func @split(
// CHECK:         stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK:         stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {has_side_effect = true{{(, output_operand_aliases = \[\])?}}} : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK:         return
func.func @split(%p: tensor<f32>, %x: tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>> {
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {has_side_effect = true, xla_shape = "(f32[2]{0}, f32[3]{0})", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = [0]>]} : (tensor<f32>, tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  return %w : tuple<tensor<2xf32>, tensor<3xf32>>
}

// xla_shape stays where the result's type did.
// CHECK-LABEL: func.func @shape(
// CHECK:         stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {has_side_effect = true, xla_shape = "f32[]"}
func.func @shape(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {has_side_effect = true, xla_shape = "f32[]"} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}

// All are carried over, those this project does not know too; the side effect is set where it was missing; the location
// is that of the original.
// CHECK-LABEL: func.func @carried(
// CHECK:         stablehlo.custom_call @AwsNeuronControlDep(%{{.*}}, %{{.*}}) {api_version = 2 : i32, backend_config = "b", has_side_effect = true, mhlo.frontend_attributes = {k = "v"}, other.unit} : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#[[LOC:.*]])
// CHECK:         return
func.func @carried(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %a) {api_version = 2 : i32, backend_config = "b", mhlo.frontend_attributes = {k = "v"}, other.unit} : (tuple<tensor<f32>>, tensor<f32>) -> tensor<f32> loc("the original")
  return %w : tensor<f32>
}
// CHECK: #[[LOC]] = loc("the original")
