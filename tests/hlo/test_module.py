"""Reading HLO: the three forms, told by content, and one message for whatever is none of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from neuron_ctrldep.errors import CtrlDepError, InputError
from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.hlo.schema import HloModuleProto, HloProto
from tests.generators.hlo import module_of_seed
from tests.hlo.support import text_to_proto

TEXT = """\
HloModule m
f {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] sine(p)
  b = f32[4] cosine(p), control-predecessors={a}
  k = f32[4] call(b), to_apply=f
  ROOT r = f32[4] add(a, k)
}
"""


@pytest.fixture(scope="module")
def proto() -> bytes:
    return text_to_proto(TEXT)


def names(module: HloModule) -> list[str]:
    return [instruction.name for computation in module.proto.computations for instruction in computation.instructions]


def test_text_is_read_and_printed() -> None:
    module = load_hlo(TEXT.encode(), "m.hlo")
    assert names(module) == ["x", "y", "p", "a", "b", "k", "r"]
    assert "control-predecessors={%a}" in module.to_text()


def test_the_same_text_gives_the_same_bytes() -> None:
    attributes = ", ".join(f'k{number}="v"' for number in range(9))
    text = TEXT.replace("sine(p)", f"sine(p), frontend_attributes={{{attributes}}}").encode()
    assert load_hlo(text).to_bytes() == load_hlo(text).to_bytes()


def test_a_proto_comes_out_byte_for_byte(proto: bytes) -> None:
    assert load_hlo(proto).to_bytes() == proto


def test_unknown_fields_survive_an_edit(proto: bytes) -> None:
    module = load_hlo(proto)
    module.proto.frontend_attributes.map["k"] = "v"
    edited = HloModuleProto()
    edited.ParseFromString(module.to_bytes())
    del edited.frontend_attributes.map["k"]
    original = HloModuleProto()
    original.ParseFromString(proto)
    assert edited.SerializeToString(deterministic=True) == original.SerializeToString(deterministic=True)


@pytest.mark.parametrize("behind", [b"", b"\x1a\x02\x0a\x00"], ids=["alone", "with a buffer assignment"])
def test_an_hlo_proto_gives_the_module_in_it(proto: bytes, behind: bytes) -> None:
    wrapped = HloProto()
    wrapped.hlo_module.ParseFromString(proto)
    # The inner bytes as they are: protobuf would write maps in another order.
    size = len(proto)
    length = bytes([size & 0x7F | 0x80, size >> 7]) if size > 127 else bytes([size])
    assert load_hlo(b"\x0a" + length + proto + behind).to_bytes() == proto
    assert names(load_hlo(wrapped.SerializeToString() + behind)) == ["x", "y", "p", "a", "b", "k", "r"]


@pytest.mark.parametrize("data", [b"", b"  \n\t\n"])
def test_an_empty_file_is_named_so(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^f\.hlo: error: the file is empty"):
        load_hlo(data, "f.hlo")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\x00\x00", b"\x00", b"\xff\xfe\x01", b"ML\xefR\x01"])
def test_garbage_is_none_of_the_three(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^f: error: (neither HLO text|no HLO module)"):
        load_hlo(data, "f")


def test_text_that_xla_refuses_has_line_and_column() -> None:
    text = TEXT.replace("sine(p)", "sine(nobody)")
    with pytest.raises(InputError) as caught:
        load_hlo(text.encode(), "f.hlo")
    first = caught.value.diagnostics[0]
    assert str(first.location) == "f.hlo:8:19"
    assert "  a = f32[4] sine(nobody)\n                  ^" in caught.value.render()
    assert any("nobody" in note.message for note in first.notes)


def test_a_control_byte_in_text_is_refused_as_text() -> None:
    with pytest.raises(InputError, match=r"^f:3:\d+: error: XLA refuses the text"):
        load_hlo(TEXT.replace("x = f32", "x = \0f32").encode(), "f")


def test_text_that_kills_xla_is_a_fault_of_the_input() -> None:
    # XLA checks the index of an element by aborting.
    bad = "get-tuple-element(t), index=22"
    text = f"HloModule m\nENTRY e {{\n  t = (f32[4], f32[4]) parameter(0)\n  ROOT g = {bad}\n}}\n"
    expected = r"^f:4: error: XLA ended the process while parsing the text \(Check failed: .*22.*\); the module breaks"
    with pytest.raises(InputError, match=expected):
        load_hlo(text.encode(), "f")


def test_a_proto_that_xla_refuses_cannot_be_printed(proto: bytes) -> None:
    module = load_hlo(proto, "f.pb")
    module.proto.computations[1].instructions[1].opcode = "frobnicate"
    with pytest.raises(InputError, match=r"^f\.pb: error: XLA refuses the module: Unknown opcode: frobnicate$"):
        module.to_text()


def edited(proto: bytes, edit: Callable[[Any, dict[str, Any]], None]) -> bytes:
    message = HloModuleProto()
    message.ParseFromString(proto)
    by_name = {i.name: i for computation in message.computations for i in computation.instructions}
    edit(message, by_name)
    return bytes(message.SerializeToString())


def add_edge(predecessor: str | int, successor: str) -> Callable[[Any, dict[str, Any]], None]:
    def edit(_: Any, named: dict[str, Any]) -> None:
        one = named[predecessor].id if isinstance(predecessor, str) else predecessor
        named[successor].control_predecessor_ids.append(one)

    return edit


def set_name(instruction: str, name: str) -> Callable[[Any, dict[str, Any]], None]:
    return lambda _, named: setattr(named[instruction], "name", name)


FAULTS = {
    "unknown predecessor": (
        add_edge(999, "k"),
        "computation 'e': instruction 'k': no instruction has the id 999 of its control predecessor",
    ),
    # XLA reads back only the low half of an id, and would put this edge on 'a' without a word.
    "foreign predecessor": (
        add_edge("y", "k"),
        "computation 'e': instruction 'k': its control predecessor 'y' belongs to computation 'f'",
    ),
    "foreign operand": (
        lambda _, named: named["k"].operand_ids.__setitem__(0, named["y"].id),
        "computation 'e': instruction 'k': its operand 'y' belongs to computation 'f'",
    ),
    "self edge": (add_edge("k", "k"), "computation 'e': instruction 'k' is its own control predecessor"),
    "cycle of data and control": (
        add_edge("r", "a"),
        "computation 'e': instruction 'a' is part of a cycle of data and control edges: 'a' -> 'r' -> 'a'",
    ),
    "cycle of control": (add_edge("b", "a"), "'a' -> 'b' -> 'a'"),
    "name twice": (set_name("a", "b"), "computation 'e': two instructions of the module are named 'b'"),
    "name twice in two computations": (set_name("y", "b"), "two instructions of the module are named 'b'"),
    "no name": (set_name("a", ""), "computation 'e': an instruction has no name"),
    "id twice": (
        lambda _, named: setattr(named["b"], "id", named["a"].id),
        "computation 'e': instruction 'b': its id 4294967297 is taken",
    ),
    "negative id": (lambda _, named: setattr(named["r"], "id", -5), "instruction 'r': its id -5 is out of range"),
    "huge id": (lambda _, named: setattr(named["r"], "id", 2**63 - 1), "instruction 'r': its id 9223372036854775807"),
    "no root": (lambda m, _: setattr(m.computations[1], "root_id", 77), "computation 'e': its root (id 77)"),
    "no entry": (lambda m, _: setattr(m, "entry_computation_id", 77), "the entry computation (id 77)"),
    "no callee": (
        lambda _, named: named["k"].called_computation_ids.__setitem__(0, 99),
        "computation 'e': instruction 'k' calls computation 99, which is not there",
    ),
    "computation id twice": (
        lambda m, _: setattr(m.computations[0], "id", m.computations[1].id),
        "two computations have the same id",
    ),
    "empty computation": (lambda m, _: m.computations[0].ClearField("instructions"), "'f' holds no instruction"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_name_file_computation_and_instruction(proto: bytes, fault: str) -> None:
    edit, message = FAULTS[fault]
    with pytest.raises(InputError, match=rf"^dump\.pb: error: .*{re.escape(message)}"):
        load_hlo(edited(proto, edit), "dump.pb")


def test_a_cut_proto_is_refused_wherever_it_is_cut(proto: bytes) -> None:
    whole = load_hlo(proto).proto.computations
    for length in range(1, len(proto), 7):
        data = proto[:length]
        try:
            module = load_hlo(data, "cut.pb")
        except InputError:
            continue
        # Cut between two fields behind the last computation: whole for all we can tell.
        assert len(module.proto.computations) == len(whole)


def test_an_edge_against_the_order_of_the_file_is_sorted(proto: bytes) -> None:
    # XLA refuses such a module; the pass brings it in order.
    def reverse_edge(_: Any, named: dict[str, Any]) -> None:
        del named["b"].control_predecessor_ids[:]
        named["a"].control_predecessor_ids.append(named["b"].id)

    module = load_hlo(edited(proto, reverse_edge))
    report = preserve_control_deps(module)
    assert (report.operand, report.changed) == (1, True)
    order = [instruction.name for instruction in module.proto.computations[1].instructions]
    assert order == ["p", "b", "AwsNeuronControlDep", "a", "k", "r"]
    assert "%a = f32[4]{0} sine(%AwsNeuronControlDep), control-predecessors={%b}" in module.to_text()


@pytest.mark.parametrize("seed", range(4))
def test_damaged_protos_end_in_one_message(seed: int) -> None:
    """Bytes flipped, cut and removed: a module, or an error of this package; never another exception."""
    rng = random.Random(seed)
    whole = text_to_proto(module_of_seed(seed))
    messages = []
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            start = rng.randrange(len(data))
            if rng.random() < 0.7:
                data[start] = rng.randrange(256)
            else:
                del data[start : start + rng.randint(1, 9)]
        try:
            preserve_control_deps(load_hlo(bytes(data), "damaged"), on_unreifiable="warn")
        except CtrlDepError as error:
            messages.append(str(error))
    assert messages
    assert all(message.startswith("damaged: error: ") for message in messages)
