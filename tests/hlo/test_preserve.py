"""Rules of ``preserve-control-deps`` that HLO text cannot show: ids, schedules, what is left as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from neuron_ctrldep import mlir
from neuron_ctrldep.chain import lower
from neuron_ctrldep.errors import InputError, PassError
from neuron_ctrldep.hlo.child import Child
from neuron_ctrldep.hlo.importer import import_hlo
from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.penguin.weights import WeightNames
from neuron_ctrldep.wire import TARGET
from tests.hlo.support import text_to_proto


def load(text: str) -> HloModule:
    return load_hlo(text_to_proto(text), "m.hlo")


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child() as process:
        yield process


def named(module: HloModule) -> dict[str, Any]:
    return {i.name: i for computation in module.proto.computations for i in computation.instructions}


TWO_COMPUTATIONS = """\
HloModule m
body {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  ROOT b = f32[4] exponential(x), control-predecessors={a}
}
ENTRY e {
  p = f32[4] parameter(0)
  s = f32[4] sine(p)
  c = f32[4] call(p), to_apply=body, control-predecessors={s}
  ROOT r = f32[4] add(s, c)
}
"""

SCHEDULED = """\
HloModule m, is_scheduled=true
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] sine(p)
  ROOT s = f32[4] add(p, b), control-predecessors={a}
}
"""


def test_ids_go_on_from_the_maximum_of_their_computation() -> None:
    module = load(TWO_COMPUTATIONS)
    preserve_control_deps(module)
    body, entry = module.proto.computations
    # XLA: (computation id << 32) + local id, and reads back the low half alone.
    assert named(module)["AwsNeuronControlDep"].id == (body.id << 32) + 3
    assert named(module)["AwsNeuronControlDep.1"].id == (entry.id << 32) + 4


def test_an_id_is_free_in_its_low_half_too() -> None:
    module = load(TWO_COMPUTATIONS)
    body = module.proto.computations[0]
    instructions = named(module)
    # The highest id has a small low half; another instruction has the next.
    instructions["x"].id = (7 << 32) + 1
    instructions["a"].id = 2
    for name in ("a", "b"):
        instructions[name].operand_ids[:] = [(7 << 32) + 1]
    instructions["b"].id = body.root_id = 5
    instructions["b"].control_predecessor_ids[:] = [2]
    preserve_control_deps(module)
    local = [i.id & 0xFFFFFFFF for i in body.instructions]
    assert sorted(local) == [1, 2, 5, 6]


def test_an_id_with_a_comma_is_replaced() -> None:
    module = load("""\
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p), frontend_attributes={ctrldep.id="x,y"}
  ROOT r = f32[4] custom-call(), custom_call_target="f", custom_call_has_side_effect=true, control-predecessors={a}
}
""")
    preserve_control_deps(module)
    assert named(module)["a"].frontend_attributes.map["ctrldep.id"] == "1"
    assert named(module)["r"].frontend_attributes.map["ctrldep.after"] == "1"


def test_new_ids_step_aside_for_those_in_the_module() -> None:
    module = load("""\
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  other = f32[4] sine(p), frontend_attributes={ctrldep.id="1"}
  start = f32[4] cosine(p), frontend_attributes={ctrldep.done.id="2"}
  a = f32[4] negate(p)
  read = f32[4] custom-call(), custom_call_target="f", custom_call_has_side_effect=true, control-predecessors={a}
  ROOT r = (f32[4], f32[4], f32[4]) tuple(other, start, read)
}
""")
    preserve_control_deps(module)
    assert named(module)["a"].frontend_attributes.map["ctrldep.id"] == "3"


def test_a_schedule_that_misses_an_end_of_an_edge_is_refused() -> None:
    module = load(SCHEDULED)
    sequence = module.proto.schedule.sequences[module.proto.entry_computation_id].instruction_ids
    sequence.remove(named(module)["a"].id)
    before = module.to_bytes()
    with pytest.raises(InputError, match="computation 'e': instruction 'a' is not in the schedule"):
        preserve_control_deps(module)
    assert module.to_bytes() == before


def test_a_schedule_against_an_edge_is_refused() -> None:
    module = load(SCHEDULED)
    sequence = module.proto.schedule.sequences[module.proto.entry_computation_id].instruction_ids
    ids = {name: i.id for name, i in named(module).items()}
    sequence[:] = [ids["p"], ids["b"], ids["s"], ids["a"]]
    with pytest.raises(InputError, match="instruction 's' is scheduled before its control predecessor 'a'"):
        preserve_control_deps(module)


def test_on_an_error_the_module_is_as_it_was() -> None:
    text = TWO_COMPUTATIONS.replace(
        "ROOT r = f32[4] add(s, c)", "k = f32[] constant(1), control-predecessors={s}\nROOT r = f32[4] add(s, c)"
    )
    module = load(text)
    before = module.proto.SerializeToString(deterministic=True)
    with pytest.raises(PassError, match="1 control edge cannot be carried") as caught:
        preserve_control_deps(module, carrier="operand")
    assert module.proto.SerializeToString(deterministic=True) == before
    (note,) = caught.value.diagnostics[0].notes
    assert note.message.startswith("computation 'e': s -> k (the successor has no operands; ")


def test_an_error_also_undoes_the_sorting() -> None:
    module = load(TWO_COMPUTATIONS.replace("sine(p)", "constant({1, 2, 3, 4})"))
    instructions = named(module)
    # Against the order of the file: s, which has no operands, after r's operand c.
    instructions["c"].control_predecessor_ids.pop()
    instructions["s"].control_predecessor_ids.append(instructions["c"].id)
    before = module.proto.SerializeToString(deterministic=True)
    with pytest.raises(PassError):
        preserve_control_deps(module, carrier="operand")
    assert module.proto.SerializeToString(deterministic=True) == before
    assert preserve_control_deps(module).attribute == 1


CARRIED_START = """\
HloModule m
condition {
  c = (f32[4], (f32[4], u32[], token[])) parameter(0)
  ROOT go = pred[] custom-call(), custom_call_target="go"
}
body {
  c = (f32[4], (f32[4], u32[], token[])) parameter(0)
  v = f32[4] get-tuple-element(c), index=0
  carried = (f32[4], u32[], token[]) get-tuple-element(c), index=1
  a = f32[4] negate(v)
  done = DONE(carried), channel_id=1, control-predecessors={a}
  b = f32[4] custom-call(), custom_call_target="b", custom_call_has_side_effect=true, control-predecessors={done}
  tok = token[] after-all()
  start = (f32[4], u32[], token[]) START, channel_id=1
  ROOT next = (f32[4], (f32[4], u32[], token[])) tuple(b, start)
}
ENTRY e {
  v = f32[4] parameter(0)
  tok = token[] after-all()
  start = (f32[4], u32[], token[]) START, channel_id=1
  first = (f32[4], (f32[4], u32[], token[])) tuple(v, start)
  loop = (f32[4], (f32[4], u32[], token[])) while(first), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(loop), index=0
}
"""


@pytest.mark.parametrize(
    ("start", "done"), [("send(v, tok)", "token[] send-done"), ("recv(tok)", "(f32[4], token[]) recv-done")]
)
def test_a_done_whose_start_is_elsewhere_holds_its_own_marks(start: str, done: str) -> None:
    module = load(CARRIED_START.replace("START", start).replace("DONE", done))
    original = module.to_bytes()
    report = preserve_control_deps(module)
    # The README of the corpus: an edge into a done counts as attribute.
    assert [(d.predecessor, d.successor, d.edge_class) for d in report.details] == [
        ("a", "done", "attribute"),
        ("done", "b", "attribute"),
    ]
    marks = {name: dict(i.frontend_attributes.map) for name, i in named(module).items() if i.frontend_attributes.map}
    assert marks == {
        "a": {"ctrldep.id": "1"},
        "done": {"ctrldep.after": "1", "ctrldep.id": "2"},
        "b": {"ctrldep.after": "2"},
    }
    assert not preserve_control_deps(load_hlo(module.to_bytes())).changed
    # XLA takes no such module, whoever edited it.
    with pytest.raises(InputError, match=r"instruction 'done' .*; the untouched module fails as well"):
        import_hlo(module, original=load_hlo(original))


def test_an_edge_that_nothing_has_to_carry_is_dropped() -> None:
    module = load("""\
HloModule m
ENTRY e {
  pair = (f32[4], f32[4]) parameter(0)
  g = f32[4] get-tuple-element(pair), index=0
  a = f32[4] negate(g)
  unread = () parameter(1), control-predecessors={a}
  ROOT r = f32[4] custom-call(), custom_call_target="f", custom_call_has_side_effect=true, control-predecessors={g}
}
""")
    for _ in range(2):
        report = preserve_control_deps(module)
        assert (report.edges, report.dropped) == (2, 2)
        reasons = {detail.successor: detail.reason for detail in report.details}
        assert reasons["r"] == "the predecessor stands for parameters only: nothing to wait for"
        assert reasons["unread"] == "nothing in the computation comes after the successor"
        assert not report.changed


# Tuples, their elements, add-dependencies, wire ops and constants are no instructions that could wait: whatever comes
# after one comes after its control predecessors. Here "a" (or the start "s") stands before one, and "z" behind it.
START = "s = (f32[4], f32[4], u32[]) copy-start(x)\n  d = f32[4] copy-done(s)"
EFFECT = 'a = f32[4] custom-call(x), custom_call_target="A", custom_call_has_side_effect=true'
BETWEEN = {
    "tuple": "t = (f32[4], f32[4]) tuple(m, n), control-predecessors={%s}",
    "empty tuple": "t = () tuple(), control-predecessors={%s}",
    "element of a parameter": "t = f32[4] get-tuple-element(q), index=0, control-predecessors={%s}",
    "element of a tuple": "u = (f32[4], f32[4]) tuple(m, n)\n  "
    "t = f32[4] get-tuple-element(u), index=0, control-predecessors={%s}",
    "element of an ordered tuple": "u = (f32[4], f32[4]) tuple(m, n), control-predecessors={%s}\n  "
    "t = f32[4] get-tuple-element(u), index=0",
    "add-dependency": "k = token[] after-all()\n  t = f32[4] add-dependency(m, k), control-predecessors={%s}",
    "constant": "t = f32[4] constant({1, 2, 3, 4}), control-predecessors={%s}",
    "wire op": 't = f32[4] custom-call(m, n), custom_call_target="AwsNeuronControlDep", '
    "custom_call_has_side_effect=true, control-predecessors={%s}",
    "chain": "u = (f32[4], f32[4]) tuple(m, n), control-predecessors={%s}\n  "
    "v = () tuple(), control-predecessors={u}\n  t = f32[4] get-tuple-element(q), index=1, control-predecessors={v}",
}
BEHIND = {
    "operand": "z = f32[4] exponential(y), control-predecessors={t}",
    "effect": 'z = f32[4] custom-call(), custom_call_target="Z", custom_call_has_side_effect=true, '
    "control-predecessors={t}",
    "done": "zs = (f32[4], f32[4], u32[]) copy-start(y)\n  z = f32[4] copy-done(zs), control-predecessors={t}",
}


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize(("first", "name"), [(EFFECT, "a"), (START, "s")], ids=["effect", "start"])
def test_order_goes_through_what_is_no_instruction(
    first: str, name: str, between: str, behind: str, child: Child
) -> None:
    module = load(f"""\
HloModule m
ENTRY e {{
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  q = (f32[4], f32[4]) parameter(2)
  m = f32[4] sine(y)
  n = f32[4] cosine(y)
  {first}
  {BETWEEN[between] % name}
  {BEHIND[behind]}
  ROOT r = (f32[4], f32[4]) tuple(z, {"d" if name == "s" else "a"})
}}
""")
    program = read_penguin(lower(module, child=child).penguin(weights=WeightNames()))
    edges = {(edge.src, edge.dst) for function in program.functions for edge in function.dep_edges}
    assert (name, "z") in edges
    first_run = load_hlo(module.to_bytes())
    preserve_control_deps(first_run)
    assert not preserve_control_deps(load_hlo(first_run.to_bytes())).changed


def test_a_wire_op_with_two_readers_is_not_extended_for_one() -> None:
    """Its users are those it had before anything moved."""
    module = load("""\
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  p = f32[4] cosine(x)
  k = f32[4] sine(x)
  q = f32[4] tanh(x)
  w = f32[4] custom-call(k, y), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
  o = f32[4] exponential(w), control-predecessors={p}
  f = f32[4] negate(w), control-predecessors={k, q}
  ROOT r = (f32[4], f32[4]) tuple(o, f)
}
""")
    preserve_control_deps(module)
    place = {one.id: number for number, one in enumerate(module.proto.computations[0].instructions)}
    for instruction in module.proto.computations[0].instructions:
        assert all(place[one] < place[instruction.id] for one in instruction.operand_ids)
    wires = [one for one in module.proto.computations[0].instructions if one.custom_call_target == TARGET]
    names = {one.id: one.name for one in module.proto.computations[0].instructions}
    assert [[names[one] for one in wire.operand_ids] for wire in wires] == [
        ["k", "y"],
        ["p", "w"],
        ["k", "q", "y"],
    ]


def test_the_text_holds_all_values_of_a_constant(child: Child) -> None:
    values = ", ".join(map(str, range(1, 301)))
    module = load(f"""\
HloModule m
ENTRY e {{
  x = f32[300] parameter(0)
  c = f32[300] constant({{{values}}})
  ROOT r = f32[300] add(x, c)
}}
""")
    assert f"constant({{{values}}})" in module.to_text(child=child)


def test_a_constant_without_its_values_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    text = "HloModule m\nENTRY e {\n  ROOT c = f32[300] constant({...})\n}\n"
    load_hlo(text.encode(), "m.hlo")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.text.count("m.hlo:3:21: warning: the values of this constant are left out") == 1


@pytest.mark.parametrize("what", [mlir.parse_module("module {}"), b"HloModule m", None], ids=["op", "bytes", "None"])
def test_what_is_no_hlo_module_is_refused_by_name(what: object) -> None:
    with pytest.raises(TypeError, match=f"takes an HloModule .*not {type(what).__name__}"):
        preserve_control_deps(what)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", [mlir.parse_module("module {}"), b"HloModule m", None], ids=["op", "bytes", "None"])
def test_what_is_no_hlo_module_is_not_imported(what: object) -> None:
    with pytest.raises(TypeError, match=f"takes an HloModule .*not {type(what).__name__}"):
        import_hlo(what)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["carrier", "rewire", "on_unreifiable"])
def test_a_wrong_option_is_not_taken_for_another(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option}: expected one of"):
        preserve_control_deps(load(TWO_COMPUTATIONS), **{option: "nothing"})  # type: ignore[arg-type]
