"""Edges at both ends of every kind of asynchronous chain, by the two ways from the pass to the importer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from neuron_ctrldep.control_dep import control_edges, instruction_name
from neuron_ctrldep.hlo.importer import Child, import_hlo
from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.mlir import ir
from tests.hlo.support import text_to_proto

# What a chain can wrap: operand shape, result shape, instruction.
WRAPPED = {
    "reduce-scatter": ("f32[8]", "f32[4]", "reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add"),
    "all-to-all": ("f32[8]", "f32[8]", "all-to-all(x), replica_groups={{0,1}}, dimensions={0}"),
    "collective-broadcast": ("f32[8]", "f32[8]", "collective-broadcast(x), replica_groups={{0,1}}"),
    "all-reduce": ("f32[8]", "f32[8]", "all-reduce(x), replica_groups={{0,1}}, to_apply=add"),
    "all-gather": ("f32[8]", "f32[16]", "all-gather(x), replica_groups={{0,1}}, dimensions={0}"),
    "collective-permute": ("f32[8]", "f32[8]", "collective-permute(x), source_target_pairs={{0,1}}"),
    "custom-call": ("f32[8]", "f32[8]", 'custom-call(x), custom_call_target="work"'),
    "call": ("f32[8]", "f32[8]", "call(x), to_apply=callee"),
    "fusion": ("f32[8]", "f32[8]", "fusion(x), kind=kLoop, calls=callee"),
    "sort": ("f32[8]", "f32[8]", "sort(x), dimensions={0}, to_apply=less"),
    "slice": ("f32[8]", "f32[2]", "slice(x), slice={[0:2]}"),
    "copy": ("f32[8]", "f32[8]", "copy(x)"),
    "negate": ("f32[8]", "f32[8]", "negate(x)"),
}
INSIDE = ("reduce-scatter", "all-to-all", "collective-broadcast")

REGIONS = """\
HloModule m, num_partitions=2
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
less { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = pred[] compare(x, y), direction=LT }
callee { x = f32[8] parameter(0) ROOT s = f32[8] negate(x) }
"""
EDGES = {("a", "start"), ("start", "b"), ("b", "done"), ("late", "done"), ("done", "c"), ("done", "source")}


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child() as process:
        yield process


def chain(wrapped: str, on_start: str = "", on_done: str = "") -> HloModule:
    """A chain with an edge into and out of each end, from and to what attributes and wire ops carry."""
    operand, result, instruction = WRAPPED[wrapped]
    return load(f"""{REGIONS}
wrapped {{ x = {operand} parameter(0) ROOT w = {result} {instruction} }}
ENTRY e {{
  p = {operand} parameter(0)
  a = {operand} negate(p)
  start = (({operand}), {result}) async-start(p), calls=wrapped, control-predecessors={{a}}{on_start}
  b = {operand} sine(p), control-predecessors={{start}}
  late = {operand} tanh(b)
  done = {result} async-done(start), control-predecessors={{b, late}}{on_done}
  c = {operand} cosine(p), control-predecessors={{done}}
  source = f32[] custom-call(), custom_call_target="f", custom_call_has_side_effect=true, control-predecessors={{done}}
  ROOT r = ({result}, {operand}, f32[]) tuple(done, c, source)
}}
""")


def load(text: str) -> HloModule:
    return load_hlo(text_to_proto(text), "m.hlo")


def edges(module: ir.Operation) -> set[tuple[str, str]]:
    return {(instruction_name(edge.src), instruction_name(edge.dst)) for edge in control_edges(module).edges}


def imported(module: HloModule, child: Child, *, through_text: bool = False) -> ir.Operation:
    return import_hlo(load(module.to_text()) if through_text else module, child=child)


@pytest.mark.parametrize("through_text", [False, True], ids=["proto", "text"])
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_every_edge_at_an_end_of_a_chain_arrives(wrapped: str, through_text: bool, child: Child) -> None:
    module = chain(wrapped)
    report = preserve_control_deps(module)
    # Into the start and from the done an operand carries it, but for a successor without operands.
    assert (report.edges, report.operand, report.attribute) == (6, 2, 4)
    found = imported(module, child, through_text=through_text)
    assert edges(found) == EDGES
    if wrapped in INSIDE or not through_text:  # the parser copies the marks of other chains into their computation
        assert not control_edges(found).uncounted


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_a_second_run_finds_the_edges_behind_text_too(wrapped: str) -> None:
    module = chain(wrapped)
    preserve_control_deps(module)
    for again in (load_hlo(module.to_bytes()), load(module.to_text())):
        before = again.to_bytes()
        report = preserve_control_deps(again)
        assert (report.already, report.changed) == (6, False)
        assert again.to_bytes() == before


@pytest.mark.parametrize("through_text", [False, True], ids=["proto", "text"])
@pytest.mark.parametrize("own", ["start", "done", "both"])
@pytest.mark.parametrize("wrapped", INSIDE)
def test_attributes_and_names_that_were_there_do_not_get_in_the_way(
    wrapped: str, own: str, through_text: bool, child: Child
) -> None:
    given = ', frontend_attributes={mine="1"}, metadata={op_name="jit(f)/work"}'
    module = chain(wrapped, given if own != "done" else "", given if own != "start" else "")
    preserve_control_deps(module)
    found = imported(module, child, through_text=through_text)
    assert edges(found) == EDGES
    assert 'mine = "1"' in str(found)


@pytest.mark.parametrize("marked", [1, 2])
def test_starts_that_share_a_wrapped_instruction_are_told_apart(marked: int, child: Child) -> None:
    lines = [
        f"""a{n} = f32[8] {opcode}(p)
  start{n} = ((f32[8]), f32[4]) reduce-scatter-start(p), replica_groups={{{{0,1}}}}, dimensions={{0}}, to_apply=add
  b{n} = f32[8] negate(a{n}){f", control-predecessors={{start{n}}}" if n < marked else ""}
  done{n} = f32[4] reduce-scatter-done(start{n}){f", control-predecessors={{a{n}}}" if n < marked else ""}"""
        for n, opcode in enumerate(["sine", "cosine"])
    ]
    module = load(f"""HloModule m, num_partitions=2, is_scheduled=true
add {{ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }}
ENTRY e {{
  p = f32[8] parameter(0)
  {"  ".join(line + chr(10) for line in lines)}
  ROOT r = (f32[4], f32[4], f32[8], f32[8]) tuple(done0, done1, b0, b1)
}}
""")
    share(module)
    preserve_control_deps(module)
    again = load_hlo(module.to_bytes())
    assert not preserve_control_deps(again).changed
    names = Counter(i.name for c in module.proto.computations for i in c.instructions)
    assert max(names.values()) == 1
    found = imported(module, child)
    assert edges(found) == {edge for n in range(marked) for edge in ((f"start{n}", f"b{n}"), (f"a{n}", f"done{n}"))}


def share(module: HloModule) -> None:
    """Let all starts run the computation of the first; XLA's text gives each its own."""
    starts: list[Any] = [i for c in module.proto.computations for i in c.instructions if i.opcode == "async-start"]
    kept, *others = (one.called_computation_ids[0] for one in starts)
    for one in starts:
        one.called_computation_ids[0] = kept
    for computation in [one for one in module.proto.computations if one.id in others]:
        module.proto.computations.remove(computation)
        if computation.id in module.proto.schedule.sequences:
            del module.proto.schedule.sequences[computation.id]
