"""convert-tasks-to-control-deps: the edges of the tasks are the edges that the other half of the package reads."""

from __future__ import annotations

import pytest

from neuron_ctrldep.control_dep import control_edges, instruction_name, is_control_dep
from neuron_ctrldep.errors import PassError
from neuron_ctrldep.mlir import verify
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.task.dialect import walk
from neuron_ctrldep.task.to_control_deps import ConvertTasksToControlDeps, convert_tasks_to_control_deps
from tests.task.support import KERNELS, corpus_files, parse, program


def convert(body: str, kernels: str = KERNELS):
    module = parse(program(body, kernels=kernels))
    convert_tasks_to_control_deps(module)
    verify(module)
    assert "task." not in str(module)
    return module


def edges(module) -> list[tuple[str, str]]:
    return [(instruction_name(edge.src), instruction_name(edge.dst)) for edge in control_edges(module).edges]


def submit(
    name: str, storage: str = "%s", deps: tuple[str, ...] = (), compiler: tuple[str, ...] = (), kernel="W"
) -> str:
    types = ", ".join(["tensor<64xf32>", *["!task.id"] * (len(deps) + len(compiler))])
    out = f"%{name}r, %{name}" if kernel == "W" else f"%{name}"
    results = "(tensor<64xf32>, !task.id)" if kernel == "W" else "!task.id"
    return (
        f'{out} = "task.submit"({", ".join([storage, *deps, *compiler])}) {{callee = @{kernel}, task.name = "{name}", '
        f"operandSegmentSizes = array<i32: 1, {len(deps)}, {len(compiler)}>}} : ({types}) -> {results}"
    )


def test_user_and_compiler_edges_in_order_each_once():
    module = convert(
        "\n".join(
            [
                submit("A"),
                submit("B", "%t"),
                submit("C", "%s", deps=("%A", "%B"), compiler=("%A",)),
            ]
        )
    )
    assert edges(module) == [("A", "C"), ("B", "C")]
    (wire,) = [op for op in walk(module) if is_control_dep(op)]
    assert len(wire.operands) == 3
    # The data is the first storage operand, and only the call reads what the wire op forwards.
    (use,) = wire.results[0].uses
    assert instruction_name(use.owner) == "C"
    assert use.operand_number == 0


def test_a_task_without_results_yields_a_token():
    module = convert("\n".join([submit("A", kernel="R"), submit("B", deps=("%A",))]))
    assert edges(module) == [("A", "B")]
    assert "-> !stablehlo.token" in str(module)


def test_plain_tasks_and_tasks_without_edges_are_calls_without_a_wire_op():
    module = convert('func.call @R(%s) {task.name = "A"} : (tensor<64xf32>) -> ()\n' + submit("B"))
    assert edges(module) == []
    assert [instruction_name(op) for op in walk(module) if op.name == "stablehlo.custom_call"] == ["A", "B"]


def test_no_task_is_no_predecessor():
    module = convert('%none = "task.invalid"() : () -> !task.id\n' + submit("A", deps=("%none",)))
    assert not any(is_control_dep(op) for op in walk(module))


def test_barriers_join_tokens():
    body = [submit("A"), submit("B", "%t"), '%j = "task.barrier"(%A, %B) : (!task.id, !task.id) -> !task.id']
    module = convert("\n".join([*body, submit("C", deps=("%j",))]))
    assert edges(module) == [("stablehlo.after_all", "C")]
    (after_all,) = [op for op in walk(module) if op.name == "stablehlo.after_all"]
    assert [instruction_name(operand.owner) for operand in after_all.operands] == ["A", "B"]


def test_control_flow_carries_tokens_and_scopes_dissolve():
    module = convert(f"""
      %none = "task.invalid"() : () -> !task.id
      %last = scf.execute_region -> !task.id no_inline {{
        %f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {{
          {submit("P", deps=("%k",))}
          scf.yield %P : !task.id
        }}
        scf.yield %f : !task.id
      }} {{task.scope = "manual"}}
      {submit("C", deps=("%last",))}""")
    assert "execute_region" not in str(module)
    assert "iter_args" in str(module)
    assert edges(module) == [("scf.for", "C")]


def test_id_tensors():
    one = submit("A") + "\n%ids = tensor.from_elements %A, %A : tensor<2x!task.id>\n"
    typed = submit("B", deps=("%ids",)).replace("!task.id)", "tensor<2x!task.id>)", 1)
    assert edges(convert(one + typed)) == [("A", "B")]
    many = submit("A") + "\n%ids = tensor.splat %A : tensor<2x!task.id>\n"
    assert edges(convert(many + typed)) == [("tensor.extract", "B"), ("tensor.extract", "B")]
    dynamic = submit("A") + "\n%ids = tensor.splat %A[%n] : tensor<?x!task.id>\n"
    assert edges(convert(dynamic + typed.replace("2x", "?x"))) == [("scf.for", "B")]


def test_ids_that_the_function_is_given_are_tokens():
    text = program(submit("A", deps=("%id",))).replace(
        "%n: index)", "%n: index, %id: !task.id, %ids: tensor<2x!task.id>)"
    )
    module = parse(text)
    convert_tasks_to_control_deps(module)
    verify(module)
    assert "index, %arg3: !stablehlo.token, %arg4: tensor<2x!stablehlo.token>)" in str(module)


def test_numbers_become_tensors():
    kernels = """func.func private @K(index, f32, tensor<64xf32> {task.direction = "out"}, i32)
        -> (tensor<64xf32> {task.aliases = 2 : i64}) attributes {task.kind = "kernel"}"""
    module = convert(
        """
      %f = arith.constant 1.5 : f32
      %i = arith.constant 7 : i32
      %a, %p = "task.submit"(%n, %f, %s, %i) {callee = @K, operandSegmentSizes = array<i32: 4, 0, 0>}
          : (index, f32, tensor<64xf32>, i32) -> (tensor<64xf32>, !task.id)
      %b, %q = "task.submit"(%n, %f, %a, %i, %p) {callee = @K, operandSegmentSizes = array<i32: 4, 1, 0>,
          task.name = "B"} : (index, f32, tensor<64xf32>, i32, !task.id) -> (tensor<64xf32>, !task.id)""",
        kernels,
    )
    assert "(tensor<i64>, tensor<f32>, tensor<64xf32>, tensor<i32>) -> tensor<64xf32>" in str(module)
    assert "stablehlo.constant dense<7> : tensor<i32>" in str(module)
    assert edges(module) == [("task_0", "B")]


def test_a_task_without_storage_waits_with_a_token():
    kernels = 'func.func private @K(index) attributes {task.kind = "kernel"}'
    module = convert(
        """
        %p = "task.submit"(%n) {callee = @K, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "A"}
            : (index) -> !task.id
        %q = "task.submit"(%n, %p) {callee = @K, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "B"}
            : (index, !task.id) -> !task.id""",
        kernels,
    )
    assert edges(module) == [("A", "B")]


def test_buffers_become_tensors():
    kernels = """
      func.func private @K(memref<4x8xf32, strided<[8, 1], offset: ?>> {task.direction = "inout"})
          -> (memref<4x8xf32, strided<[8, 1], offset: ?>> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
      func.func private @F(memref<32xf32> {task.direction = "in"}, f32) attributes {task.kind = "kernel"}
      func.func @main(%m: memref<16x8xf32>, %n: index) attributes {task.kind = "orchestration"} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %none = "task.invalid"() : () -> !task.id
        %new = memref.alloc() : memref<32xf32>
        %square = memref.expand_shape %new [[0, 1]] output_shape [4, 8] : memref<32xf32> into memref<4x8xf32>
        %flat = memref.collapse_shape %square [[0, 1]] : memref<4x8xf32> into memref<32xf32>
        %size = memref.dim %m, %c0 : memref<16x8xf32>
        %x = memref.load %new[%size] : memref<32xf32>
        %v = memref.subview %m[%n, 0] [4, 8] [1, 1] : memref<16x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
        %f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %v, %last = %none)
            -> (memref<4x8xf32, strided<[8, 1], offset: ?>>, !task.id) {
          %a, %p = "task.submit"(%k, %last) {callee = @K, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "A"}
              : (memref<4x8xf32, strided<[8, 1], offset: ?>>, !task.id)
              -> (memref<4x8xf32, strided<[8, 1], offset: ?>>, !task.id)
          scf.yield %a, %p : memref<4x8xf32, strided<[8, 1], offset: ?>>, !task.id
        }
        %q = "task.submit"(%flat, %x, %f#1) {callee = @F, operandSegmentSizes = array<i32: 2, 1, 0>, task.name = "B"}
            : (memref<32xf32>, f32, !task.id) -> !task.id
        memref.dealloc %new : memref<32xf32>
        return
      }"""
    module = parse(f"module {{ {kernels} }}")
    convert_tasks_to_control_deps(module)
    verify(module)
    assert "memref" not in str(module)
    assert edges(module) == [("scf.for", "B")]


@pytest.mark.parametrize(
    ("kernels", "argument", "message"),
    [
        (
            'func.func private @K(memref<*xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}',
            "memref<*xf32>",
            r"StableHLO cannot hold: memref<\*xf32>",
        ),
        (
            'func.func private @K(tensor<4xindex> {task.direction = "in"}) attributes {task.kind = "kernel"}',
            "tensor<4xindex>",
            "StableHLO cannot hold: tensor<4xindex>",
        ),
        (
            'func.func private @AwsNeuronControlDep(tensor<4xf32> {task.direction = "in"}) '
            'attributes {task.kind = "kernel"}',
            "tensor<4xf32>",
            "the name of control deps",
        ),
    ],
)
def test_what_cannot_be_converted_is_an_error_and_changes_nothing(kernels, argument, message):
    name = kernels.split("@")[1].split("(")[0]
    text = f"""module {{ {kernels}
      func.func @main(%x: {argument}) attributes {{task.kind = "orchestration"}} {{
        func.call @{name}(%x) : ({argument}) -> ()
        return
      }} }}"""
    module = parse(text)
    before = str(module)
    with pytest.raises(PassError, match=message) as caught:
        convert_tasks_to_control_deps(module)
    assert caught.value.diagnostics[0].location.line == 3
    assert str(module) == before


def test_kernels_that_something_else_calls_stay():
    kernels = (
        KERNELS
        + """
      func.func @helper(%x: tensor<64xf32>) {
        func.call @R(%x) : (tensor<64xf32>) -> ()
        return
      }"""
    )
    module = parse(program(submit("A"), kernels=kernels))
    convert_tasks_to_control_deps(module)
    assert "@R(tensor" in str(module)
    assert "@W(tensor" not in str(module)


@pytest.mark.parametrize("path", corpus_files("*.mlir"), ids=lambda path: path and path.stem)
def test_corpus(path):
    module = parse(path.read_text())
    statistics = Statistics()
    ConvertTasksToControlDeps().run(module, statistics)
    verify(module)
    assert "!task" not in str(module)
    assert statistics["tasks"] > 0
    assert set(statistics.as_dict()) == set(ConvertTasksToControlDeps.counters)
