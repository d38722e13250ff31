"""Rules of ``preserve-control-deps`` that HLO text cannot show: ids, schedules, what is left as it was."""

from __future__ import annotations

from typing import Any

import pytest

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import InputError, PassError
from neuron_ctrldep.hlo.importer import import_hlo
from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps


def load(text: str) -> HloModule:
    return load_hlo(mlir.hlo_text_to_proto(text), "m.hlo")


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


def test_an_edge_that_nothing_carries_is_not_called_carried_on_a_second_run() -> None:
    """*Already* is what a wire op, a pin or an attribute carries; nothing does, and nothing has to."""
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
        assert (report.edges, report.attribute, report.already) == (2, 2, 0)
        reasons = {detail.successor: detail.reason for detail in report.details}
        assert reasons["r"].endswith("stands for parameters only: there is nothing to wait for")
        assert reasons["unread"].endswith("nothing in the computation reads the successor")
    assert not report.changed


@pytest.mark.parametrize("what", [mlir.parse_module("module {}"), b"HloModule m", None], ids=["op", "bytes", "None"])
def test_what_is_no_hlo_module_is_refused_by_name(what: object) -> None:
    with pytest.raises(TypeError, match=f"takes an HloModule .*not {type(what).__name__}"):
        preserve_control_deps(what)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["carrier", "rewire", "on_unreifiable"])
def test_a_wrong_option_is_not_taken_for_another(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option}: expected one of"):
        preserve_control_deps(load(TWO_COMPUTATIONS), **{option: "nothing"})  # type: ignore[arg-type]
