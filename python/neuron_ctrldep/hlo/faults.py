"""Which instruction of a module XLA's importer fails on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from neuron_ctrldep import wire
from neuron_ctrldep.hlo.child import Child, RequestError
from neuron_ctrldep.hlo.schema import TUPLE


@dataclass(frozen=True, slots=True)
class Culprit:
    """An instruction the importer fails on; ``reason`` is what is known to be wrong with it, or empty."""

    name: str
    opcode: str
    computation: str
    reason: str = ""


def locate(proto: Any, failure: RequestError, child: Child) -> Culprit | None:
    """The instruction of the ``HloModuleProto`` ``proto`` that ``failure`` is about, or ``None`` if it cannot be told.

    By the names in its diagnostics and message, else by what is known to break the importer, else by importing parts of
    the module.
    """
    mentioned = _mentioned(proto, failure)
    if mentioned is not None:
        return mentioned
    return next(known_faults(proto), None)


# --- names in messages ------------------------------------------------------------------------------------------------

_KEPT_NAME = re.compile(re.escape(wire.NAME) + r' = "((?:[^"\\]|\\.)*)"')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_HLO_NAME = re.compile(r"%([\w.\-]+)")


def _mentioned(proto: Any, failure: RequestError) -> Culprit | None:
    for name in _names(failure):
        for computation in proto.computations:
            for instruction in computation.instructions:
                if instruction.name == name:
                    return Culprit(name, instruction.opcode, computation.name)
    return None


def _names(failure: RequestError) -> Iterator[str]:
    """What may be the name of an instruction, most certain first."""
    for diagnostic in failure.diagnostics:
        for note in diagnostic["notes"]:
            # The op prints its regions too; its own attributes come last, at the start of the last line.
            yield from _KEPT_NAME.findall(note.rpartition("\n")[2])
        yield from _QUOTED.findall(diagnostic["location"])
    if failure.kind == "refused" and failure.stage == "import":
        yield from _HLO_NAME.findall(failure.message)


# --- known faults -----------------------------------------------------------------------------------------------------

_DONE = {"send": "send-done", "recv": "recv-done"}
_START = {done: start for start, done in _DONE.items()}


def known_faults(proto: Any) -> Iterator[Culprit]:
    """The instructions of which it is known that XLA's importer fails on them, in order."""
    for computation in proto.computations:
        users = _users(computation.instructions)
        opcodes = {instruction.id: instruction.opcode for instruction in computation.instructions}
        for instruction in computation.instructions:
            reason = _known_fault(instruction, users, opcodes)
            if reason:
                yield Culprit(instruction.name, instruction.opcode, computation.name, reason)


def _known_fault(instruction: Any, users: dict[int, list[str]], opcodes: dict[int, str]) -> str:
    opcode = instruction.opcode
    if opcode in _DONE:
        if not instruction.channel_id:
            return f"{opcode} without a channel id"
        if not users.get(instruction.id):
            return f"{opcode} without users"
        first = users[instruction.id][0]
        if first != _DONE[opcode]:
            return f"the first user of a {opcode} must be its {_DONE[opcode]}, found {first}"
    elif opcode in _START and instruction.operand_ids:
        source = opcodes.get(instruction.operand_ids[0], "nothing")
        if source != _START[opcode]:
            return f"the operand of {opcode} must be a {_START[opcode]}, found {source}"
    elif opcode == "parameter" and instruction.shape.element_type == TUPLE and instruction.frontend_attributes.map:
        return "a tuple-shaped parameter with frontend attributes"
    return ""


def _users(instructions: Iterable[Any]) -> dict[int, list[str]]:
    users: dict[int, list[str]] = {}
    for instruction in instructions:
        for operand in instruction.operand_ids:
            users.setdefault(operand, []).append(instruction.opcode)
    return users
