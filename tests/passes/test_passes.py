"""The passes on control dependencies: what lit cannot see (identity, counters, hostile input)."""

from __future__ import annotations

import re

import pytest

from neuron_ctrldep.control_dep import is_control_dep
from neuron_ctrldep.errors import PassError
from neuron_ctrldep.mlir import ir, parse_module, verify
from neuron_ctrldep.passes import registry
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.flatten import flatten
from neuron_ctrldep.passes.optimization_barrier import control_deps_to_optimization_barrier
from neuron_ctrldep.passes.prune import prune_control_deps
from neuron_ctrldep.passes.strip import strip_control_deps
from neuron_ctrldep.passes.verify import verify_control_deps
from neuron_ctrldep.passes.wire_ops import MAX_TUPLE_DEPTH

PASSES = [
    "flatten-control-dep-tuple-operands",
    "stablehlo-flatten-control-dep-tuple-operands",
    "verify-control-deps",
    "strip-control-deps",
    "prune-control-deps",
    "control-deps-to-optimization-barrier",
]


def ops_of(module: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def wire(operands: str, types: str, result: str, attributes: str = "has_side_effect = true") -> str:
    return f"stablehlo.custom_call @AwsNeuronControlDep({operands}) {{{attributes}}} : ({types}) -> {result}"


def function(body: str, arguments: str = "%a: tensor<f32>", results: str = "") -> ir.Operation:
    return parse_module(f"module {{ func.func @main({arguments}) {results} {{\n{body}\n}} }}", file="in.mlir")


@pytest.mark.parametrize("name", PASSES)
def test_declaration(name: str) -> None:
    cls = registry.find(name)
    assert cls is not None
    assert cls.name == name
    assert cls.summary
    assert "\n" not in cls.summary
    assert "```mlir" in cls.description
    assert all(option.metadata["help"] for option in cls.options().values())
    statistics = Statistics()
    cls().run(function("return"), statistics)
    assert set(statistics.as_dict()) <= set(cls.counters)


@pytest.mark.parametrize("name", PASSES)
def test_illegal_ops_are_all_reported_and_nothing_changes(name: str) -> None:
    module = function(
        f"""%t = stablehlo.tuple %a : tuple<tensor<f32>>
        %w0 = {wire("%t, %a", "tuple<tensor<f32>>, tensor<f32>", "tensor<f32>")}
        %w1 = {wire("", "", "tensor<f32>")}
        %w2 = {wire("%w0", "tensor<f32>", "tensor<2xf32>")}
        %w3 = mhlo.custom_call @AwsNeuronControlDep(%a) : (tensor<f32>) -> tensor<3xf32>
        return"""
    )
    ops, text = ops_of(module), str(module)
    expected = {"flatten-control-dep-tuple-operands": [6], "stablehlo-flatten-control-dep-tuple-operands": [4, 5]}
    cls = registry.find(name)
    assert cls is not None
    with pytest.raises(PassError) as caught:
        cls().run(module, Statistics())
    lines = [d.location.line for d in caught.value.diagnostics if d.location is not None]
    assert lines == expected.get(name, [4, 5, 6])
    assert ops_of(module) == ops
    assert str(module) == text


def test_a_fault_without_a_file_names_the_instruction() -> None:
    module = function(f'%w = {wire("", "", "tensor<f32>")} loc("fusion.7")\nreturn')
    with pytest.raises(PassError, match=r"'stablehlo.custom_call' op \(fusion.7\)"):
        verify_control_deps(module)


def test_counters_of_flatten() -> None:
    module = function(
        f"""%t = stablehlo.tuple %a : tuple<tensor<f32>>
        %u = stablehlo.tuple %t : tuple<tuple<tensor<f32>>>
        %w0 = {wire("%u, %t, %a", "tuple<tuple<tensor<f32>>>, tuple<tensor<f32>>, tensor<f32>", "tensor<f32>")}
        %w1 = {wire("%a, %w0", "tensor<f32>, tensor<f32>", "tensor<f32>")}
        %w2 = {wire("%w1, %n", "tensor<f32>, tuple<>", "tuple<>")}
        return %w2 : tuple<>""",
        "%a: tensor<f32>, %n: tuple<>",
        "-> tuple<>",
    )
    statistics = Statistics()
    flatten(module, dialect="stablehlo", statistics=statistics)
    assert statistics.as_dict() == {
        "ops-seen": 3,
        "ops-rebuilt": 2,
        "operands-expanded": 2,
        "ops-erased": 2,
        "edges-dropped": 1,
    }


def test_the_pieces_of_split_data_are_built_once() -> None:
    pair = "tuple<tensor<f32>, tensor<f32>>"
    module = function(
        f"""%t = stablehlo.tuple %a, %b : {pair}
        %w = {wire("%a, %t", f"tensor<f32>, {pair}", pair)}
        return %w : {pair}""",
        "%a: tensor<f32>, %b: tensor<f32>",
        f"-> {pair}",
    )
    statistics = Statistics()
    flatten(module, dialect="stablehlo", statistics=statistics)
    counts = statistics.as_dict()
    # One operand changed, the data; neither piece has one that would.
    assert (counts["ops-rebuilt"], counts["operands-expanded"], counts["ops-erased"]) == (1, 1, 1)


def test_flat_ops_stay_the_same_ops() -> None:
    module = function(
        f"""%t = stablehlo.tuple %a : tuple<tensor<f32>>
        %flat = {wire("%a, %a", "tensor<f32>, tensor<f32>", "tensor<f32>")}
        %w = {wire("%t, %flat", "tuple<tensor<f32>>, tensor<f32>", "tensor<f32>")}
        return"""
    )
    before = [op for op in ops_of(module) if is_control_dep(op)]
    flatten(module, dialect="stablehlo")
    after = [op for op in ops_of(module) if is_control_dep(op)]
    assert after[0] == before[0]
    assert len(after) == 2


def test_buffers_keep_their_alias_when_a_tuple_is_split() -> None:
    alias = (
        "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, "
        "operand_tuple_indices = [0]>]"
    )
    kind = "tuple<memref<4xf32>, tensor<f32>>"
    module = function(
        f"%w = {wire('%a, %x', f'tensor<f32>, {kind}', kind, alias)}\nreturn %w : {kind}",
        f"%a: tensor<f32>, %x: {kind}",
        f"-> {kind}",
    )
    flatten(module, dialect="stablehlo")
    verify(module)  # a buffer that a call passes on must be aliased
    assert len([op for op in ops_of(module) if is_control_dep(op)]) == 2


@pytest.mark.parametrize("run", [flatten, strip_control_deps, prune_control_deps, control_deps_to_optimization_barrier])
def test_circles_in_unreachable_code(run: object) -> None:
    """Dominance does not hold in a block that nothing jumps to: ops may use each other's results."""
    module = function(
        f"""return
        ^bb1:
        %e = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>>) -> tensor<f32>
        %t = stablehlo.tuple %e : tuple<tensor<f32>>
        %w0 = {wire("%e, %w0", "tensor<f32>, tensor<f32>", "tensor<f32>")}
        %w1 = {wire("%t, %w2", "tuple<tensor<f32>>, tensor<f32>", "tensor<f32>")}
        %w2 = {wire("%w1, %w1", "tensor<f32>, tensor<f32>", "tensor<f32>")}
        %w3 = {wire("%w3, %w3", "tuple<tensor<f32>>, tuple<tensor<f32>>", "tuple<tensor<f32>>")}
        %w4 = {wire("%w4, %w5", "tuple<>, tuple<>", "tuple<>")}
        %w5 = {wire("%w5, %w4", "tuple<>, tuple<>", "tuple<>")}
        %u = stablehlo.tuple %w3 : tuple<tuple<tensor<f32>>>
        return"""
    )
    if run is flatten:
        flatten(module, dialect="stablehlo")
    else:
        run(module)  # type: ignore[operator]
    verify(module)


@pytest.mark.parametrize(
    "run", ["stablehlo-flatten-control-dep-tuple-operands", "control-deps-to-optimization-barrier"]
)
def test_tuple_types_that_are_too_large(run: str) -> None:
    """A few lines of type aliases spell a tuple of 2**17 elements; deep ones would exhaust the stack."""
    aliases = ["!t0 = tuple<tensor<f32>>", *(f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>" for i in range(1, 18))]
    call = wire("%a, %x", "tensor<f32>, !t17", "!t17")
    text = f"func.func @main(%a: tensor<f32>, %x: !t17) {{\n%w = {call}\nreturn\n}}"
    module = parse_module("\n".join([*aliases, "module {", text, "}"]))
    cls = registry.find(run)
    assert cls is not None
    with pytest.raises(PassError, match=r"18 deep and has 131072 leaves"):
        cls().run(module, Statistics())
    depth = MAX_TUPLE_DEPTH + 1
    kind = "tuple<" * depth + "tensor<f32>" + ">" * depth
    module = function(f"%w = {wire('%x', kind, kind)}\nreturn", f"%x: {kind}")
    with pytest.raises(PassError, match=f"{depth} deep"):
        cls().run(module, Statistics())


def test_shared_tuples_are_expanded_once() -> None:
    """18 tuples, each of the one before twice: 2**17 paths, 18 ops."""
    aliases = ["!t0 = tuple<tensor<f32>>", *(f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>" for i in range(1, 18))]
    body = ["%v0 = stablehlo.tuple %a : !t0"]
    body += [f"%v{i} = stablehlo.tuple %v{i - 1}, %v{i - 1} : !t{i}" for i in range(1, 18)]
    body.append(f"%w = {wire('%v17, %a', '!t17, tensor<f32>', 'tensor<f32>')}")
    text = "\n".join([*aliases, "module {", "func.func @main(%a: tensor<f32>) {", *body, "return", "}", "}"])
    module = parse_module(text)
    statistics = Statistics()
    flatten(module, dialect="stablehlo", statistics=statistics)
    assert statistics["ops-erased"] == 18
    assert re.search(r"AwsNeuronControlDep\(%arg0, %arg0\)", str(module))


def test_long_chains() -> None:
    """Ten thousand elements of elements, tuples of tuples and wire ops on wire ops: no recursion, no square."""
    body = ["%v0 = stablehlo.tuple %a : tuple<tensor<f32>>"]
    for i in range(1, 10_000):
        body.append(f"%e{i} = stablehlo.get_tuple_element %v{i - 1}[0] : (tuple<tensor<f32>>) -> tensor<f32>")
        body.append(f"%v{i} = stablehlo.tuple %e{i} : tuple<tensor<f32>>")
    body.append(f"%w0 = {wire('%v9999, %a', 'tuple<tensor<f32>>, tensor<f32>', 'tensor<f32>')}")
    body += [f"%w{i} = {wire(f'%a, %w{i - 1}', 'tensor<f32>, tensor<f32>', 'tensor<f32>')}" for i in range(1, 10_000)]
    module = function("\n".join([*body, "return %w9999 : tensor<f32>"]), results="-> tensor<f32>")
    statistics = Statistics()
    flatten(module, dialect="stablehlo", statistics=statistics)
    assert statistics["ops-erased"] == 19_999
    prune_control_deps(module)
    strip_control_deps(module)
    assert "return %arg0" in str(module)


def test_passes_are_library_functions_on_modules() -> None:
    module = function(f"%w = {wire('%a, %a', 'tensor<f32>, tensor<f32>', 'tensor<f32>')}\nreturn")
    with module.context:
        flatten(ir.Module.parse(str(module)), dialect="stablehlo")


def test_every_pass_is_a_pass() -> None:
    for name in PASSES:
        cls = registry.find(name)
        assert cls is not None
        assert issubclass(cls, Pass)
