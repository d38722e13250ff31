"""The search for the instruction at fault, with an importer that is a plain function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jaxlib import _hlo

from neuron_ctrldep.hlo.isolate import MAX_IMPORTS, failing_instruction
from neuron_ctrldep.hlo.schema import HloModuleProto
from tests.hlo.support import text_to_proto

LENGTH = 1000
ENTRY = "\n".join(f"  i{i} = f32[4] negate(i{i - 1})" for i in range(1, LENGTH))
TEXT = f"""HloModule m
inner {{
  a = f32[4] parameter(0)
  in1 = f32[4] sine(a)
  in2 = f32[4] cosine(in1)
  ROOT in3 = f32[4] tan(in2)
}}
outer {{
  a = f32[4] parameter(0)
  out1 = f32[4] call(a), to_apply=inner
  ROOT out2 = f32[4] exponential(out1)
}}
ENTRY e {{
  i0 = f32[4] parameter(0)
{ENTRY}
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(i0, t), channel_id=1
  between = f32[4] abs(i0)
  d = token[] send-done(s), channel_id=1
  c = f32[4] call(between), to_apply=outer
  ROOT r = f32[4] add(c, i{LENGTH - 1}), control-predecessors={{between}}
}}"""


def module() -> Any:
    return HloModuleProto.FromString(text_to_proto(TEXT))


def on(name: str) -> Callable[[Any], bool]:
    """An importer that fails on every module with an instruction of this name; parts must be sound HLO."""

    def fails(part: Any) -> bool:
        _hlo.HloModule.from_serialized_hlo_module_proto(part.SerializeToString())
        return any(i.name == name for c in part.computations for i in c.instructions)

    return fails


@pytest.mark.parametrize(
    ("name", "computation"),
    [
        ("i1", "e"),
        ("i500", "e"),
        (f"i{LENGTH - 1}", "e"),
        ("r", "e"),
        ("out2", "outer"),
        ("in1", "inner"),
        ("in3", "inner"),
    ],
)
def test_the_instruction_is_found(name, computation):
    found = failing_instruction(module(), on(name))
    assert found is not None
    assert (found[0].name, found[1].name) == (computation, name)


def test_a_start_and_its_done_stay_together():
    asked: list[set[str]] = []

    def fails(part: Any) -> bool:
        names = {i.name for i in part.computations[-1].instructions}
        asked.append(names)
        return "d" in names

    found = failing_instruction(module(), fails)
    assert found is not None
    assert found[1].name == "s"
    assert all(("s" in names) == ("d" in names) for names in asked)


def test_what_no_part_shows_is_not_guessed():
    assert failing_instruction(module(), lambda part: False) is None


def test_the_search_is_short():
    calls = 0

    def fails(part: Any) -> bool:
        nonlocal calls
        calls += 1
        return on("in2")(part)

    assert failing_instruction(module(), fails) is not None
    assert calls < 25


def test_the_search_ends():
    # An importer of moods: each part fails, so the search goes ever deeper into what a computation calls.
    depth = 2 * MAX_IMPORTS
    functions = [
        f"fn{i} {{\n  a = f32[4] parameter(0)\n  ROOT c = f32[4] call(a), to_apply=fn{i - 1}\n}}"
        for i in range(1, depth)
    ]
    text = "\n".join(
        [
            "HloModule m",
            "fn0 {\n  a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a)\n}",
            *functions,
            f"ENTRY e {{\n  a = f32[4] parameter(0)\n  ROOT c = f32[4] call(a), to_apply=fn{depth - 1}\n}}",
        ]
    )
    deep = HloModuleProto.FromString(text_to_proto(text))
    calls = 0

    def fails(part: Any) -> bool:
        nonlocal calls
        calls += 1
        return part.computations[-1].instructions[-1].opcode == "call"

    assert failing_instruction(deep, fails) is None
    assert calls == MAX_IMPORTS
