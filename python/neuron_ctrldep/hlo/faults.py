"""Which instruction of a module XLA's importer fails on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from neuron_ctrldep import wire
from neuron_ctrldep.hlo.child import Child, RequestError
from neuron_ctrldep.hlo.isolate import failing_instruction
from neuron_ctrldep.hlo.schema import TUPLE

MAX_NESTING = 500
"""Deeper nesting is named as the fault when the importer dies: at some 1,000 it overflows the stack."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """An instruction the importer fails on; ``reason`` is what is known to be wrong with it, or empty."""

    name: str
    opcode: str
    computation: str
    reason: str = ""


def locate(proto: Any, failure: RequestError, child: Child, dialect: str) -> Culprit | None:
    """The instruction of the ``HloModuleProto`` ``proto`` that ``failure`` is about, or ``None`` if it cannot be told.

    By the names in its diagnostics and message, else by what is known to break the importer, else by importing parts of
    the module.
    """
    found = (
        next(_mentioned(proto, failure), None)
        or next(_known_faults(proto, failure.kind), None)
        or _too_deep(proto, failure)
    )
    if found is not None or failure.kind == "timeout":
        return found

    def fails(part: Any) -> bool:
        try:
            child.import_hlo(part.SerializeToString(), dialect)
        except RequestError as error:
            return (error.kind, error.stage, one_line(error.message)) == expected
        return False

    expected = (failure.kind, failure.stage, one_line(failure.message))
    part = failing_instruction(proto, fails)
    if part is None:
        return None
    computation, instruction = part
    start, reason = _pipelined(computation, instruction)
    return Culprit(start.name, start.opcode, computation.name, reason)


def one_line(message: str) -> str:
    """The first line of a message of XLA, without status code and place in XLA's source; stack traces may follow it."""
    return _STATUS.sub("", message.strip().partition("\n")[0]).rstrip(": ")


_STATUS = re.compile(r"^(?:[A-Z_]+: )?(?:RET_CHECK failure \([^)]*\) )?(?:<unknown>:0: error: )?")


# --- names in messages ------------------------------------------------------------------------------------------------

_KEPT_NAME = re.compile(re.escape(wire.NAME) + r' = "((?:[^"\\]|\\.)*)"')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_HLO_NAME = re.compile(r"%([\w.\-]+)")


def _mentioned(proto: Any, failure: RequestError) -> Iterator[Culprit]:
    names = list(_names(failure))
    if not names:
        return
    instructions = {i.name: (i.opcode, c.name) for c in proto.computations for i in c.instructions}
    for name in names:
        if name in instructions:
            yield Culprit(name, *instructions[name])


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
_THROUGH = frozenset({"get-tuple-element", *_START})


def _known_faults(proto: Any, kind: str) -> Iterator[Culprit]:
    """The instructions of which it is known that XLA's importer fails on them, in this way, in order."""
    known_fault = _fatal if kind == "died" else _refused
    for computation in proto.computations:
        users = _users(computation.instructions)
        opcodes = {instruction.id: instruction.opcode for instruction in computation.instructions}
        for instruction in computation.instructions:
            reason = known_fault(instruction, users, opcodes)
            if reason:
                yield Culprit(instruction.name, instruction.opcode, computation.name, reason)


def _pipelined(computation: Any, instruction: Any) -> tuple[Any, str]:
    """The send or recv that ``instruction`` reads or is, when others than its done read it, and that as a reason.

    The importer then makes an asynchronous op of it, which some readers cannot take. Else ``instruction``, no reason.
    """
    instructions = {i.id: i for i in computation.instructions}
    start = instruction
    while start.opcode in _THROUGH and start.operand_ids:
        start = instructions[start.operand_ids[0]]
    done = _DONE.get(start.opcode)
    others = [user for user in _users(computation.instructions).get(start.id, []) if user != done]
    if done is None or not others:
        return instruction, ""
    return start, f"a {start.opcode} that a {others[0]} reads, not only its {done}"


def _fatal(instruction: Any, users: dict[int, list[str]], _: dict[int, str]) -> str:
    if instruction.opcode not in _DONE:
        return ""
    if not instruction.channel_id:
        return f"{instruction.opcode} without a channel id"
    return "" if users.get(instruction.id) else f"{instruction.opcode} without users"


def _refused(instruction: Any, _: dict[int, list[str]], opcodes: dict[int, str]) -> str:
    opcode = instruction.opcode
    if opcode in _START and instruction.operand_ids:
        source = opcodes.get(instruction.operand_ids[0], "nothing")
        if source != _START[opcode]:
            return f"the operand of {opcode} must be a {_START[opcode]}, found {source}"
    if opcode == "parameter" and instruction.frontend_attributes.map and _leaves(instruction.shape) > 1:
        return "a tuple-shaped parameter with frontend attributes"
    return ""


def _too_deep(proto: Any, failure: RequestError) -> Culprit | None:
    """The instruction that holds more than :data:`MAX_NESTING` regions inside each other."""
    if failure.kind != "died":
        return None
    depths: dict[int, int] = {}
    for computation in proto.computations:  # callees come before their callers
        depth = 0
        for instruction in computation.instructions:
            if instruction.opcode == "call":  # becomes a call of a function, not a region
                continue
            depth = max([depth, *(1 + depths.get(callee, 0) for callee in instruction.called_computation_ids)])
            if depth > MAX_NESTING:
                reason = f"computations nested more than {MAX_NESTING} deep"
                return Culprit(instruction.name, instruction.opcode, computation.name, reason)
        depths[computation.id] = depth
    return None


def _leaves(shape: Any) -> int:
    return sum(map(_leaves, shape.tuple_shapes)) if shape.element_type == TUPLE else 1


def _users(instructions: Iterable[Any]) -> dict[int, list[str]]:
    users: dict[int, list[str]] = {}
    for instruction in instructions:
        for operand in instruction.operand_ids:
            users.setdefault(operand, []).append(instruction.opcode)
    return users
