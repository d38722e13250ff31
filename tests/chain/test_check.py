"""What check says of edges whose source is MLIR; the HLO side is in test_properties and in lit_tests/tools/main."""

from __future__ import annotations

from neuron_ctrldep.chain import CheckResult, check
from neuron_ctrldep.checker import CheckedEdge, render

T = "tensor<4xf32>"


def checked(*lines: str, result: str = "%r") -> list[tuple[str, str, str, str]]:
    text = f"module {{ func.func @main(%a: {T}, %b: {T}) -> {T} {{ {' '.join(lines)} return {result} : {T} }} }}"
    found = check(text.encode())
    assert isinstance(found, CheckResult)
    return [(edge.src, edge.dst, edge.verdict, edge.reason) for edge in found.edges]


def op(name: str, kind: str, operand: str) -> str:
    return f'%{name} = "stablehlo.{kind}"({operand}) : ({T}) -> {T} loc("{name}")'


def wire(name: str, predecessor: str, data: str) -> str:
    call = f"stablehlo.custom_call @AwsNeuronControlDep({predecessor}, {data})"
    return f"%{name} = {call} {{has_side_effect = true}} : ({T}, {T}) -> {T}"


def test_an_edge_of_the_source_is_kept() -> None:
    assert checked(op("p", "negate", "%a"), wire("w", "%p", "%b"), op("r", "sine", "%w")) == [("p", "r", "kept", "")]


def test_what_is_written_as_an_edge_and_is_none_is_listed_with_its_reason() -> None:
    assert checked(op("p", "negate", "%a"), wire("r", "%p", "%b")) == [
        ("p", "func.return", "dropped", "the successor is a terminator: everything in the block precedes it")
    ]
    assert checked(wire("w", "%a", "%b"), op("r", "sine", "%w")) == [
        ("-", "r", "dropped", "the predecessor is there before the block runs")
    ]
    assert checked(op("r", "negate", "%a"), wire("w", "%r", "%b")) == [
        ("r", "-", "dropped", "nothing uses what the control dependency forwards")
    ]


HLO = """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  k = f32[4] constant({1,2,3,4}), control-predecessors={a}
  ROOT r = f32[4] add(k, p)
}
"""


def test_readers_that_wait_in_place_of_a_pinned_successor_imply_its_edge() -> None:
    found = check(HLO.encode())
    assert isinstance(found, CheckResult)
    assert [(edge.verdict, edge.reason) for edge in found.edges] == [
        ("implied", "what reads the successor waits in its place")
    ]


def test_a_line_break_in_a_name_stays_in_its_row() -> None:
    edge = CheckedEdge("e", "a\nb", "c", "kept")
    table = render("f.hlo", [edge], [edge]).splitlines()
    assert table[2].split() == ["a\\nb", "c", "e", "kept", "kept"]


def test_one_edge_is_not_called_edges() -> None:
    edge = CheckedEdge("a", "b", "main", "kept", "")
    heads = [render("f", [edge] * number, [edge] * number).split("\n")[0] for number in (0, 1, 2)]
    assert heads == ["f: 0 control edges", "f: 1 control edge", "f: 2 control edges"]
