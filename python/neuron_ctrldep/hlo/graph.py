"""One HLO computation as a graph: what stands for what, who reads whom, and what may become an operand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from neuron_ctrldep.hlo.schema import BUFFER, TUPLE
from neuron_ctrldep.hlo.wrapped import WrappedCollectives
from neuron_ctrldep.wire import AFTER, DONE_AFTER, TARGET

Instruction = Any
"""An ``HloInstructionProto``."""

START_OF_DONE = {
    "send-done": "send",
    "recv-done": "recv",
    "all-gather-done": "all-gather-start",
    "all-reduce-done": "all-reduce-start",
    "collective-permute-done": "collective-permute-start",
}
"""The dones that XLA's importer merges with their start; frontend attributes on them do not survive."""

ASYNC_SUCCESSORS = frozenset({"async-done", "async-update", "copy-done"})
"""Their operand must be the start (or update) itself too. Their own attributes survive, save where the start wraps a
collective: see :mod:`neuron_ctrldep.hlo.wrapped`."""

_NEVER_OPERANDS = frozenset({"recv", "copy-start", "async-start", "async-update"})
_STARTS = _NEVER_OPERANDS | frozenset(START_OF_DONE.values())
_PACKING = frozenset({"tuple", "get-tuple-element", "custom-call"})  # a wire op is a custom call
_THERE_BEFORE = frozenset({"constant", "parameter"})
NOT_PLAIN = _STARTS | _PACKING
"""Opcodes of values that may be, or hold, one that a wire op cannot take."""


def is_wire_op(instruction: Instruction) -> bool:
    """Whether this is a wire op: a custom call whose target is exactly ``AwsNeuronControlDep``."""
    return (
        instruction.opcode == "custom-call"
        and instruction.custom_call_target == TARGET
        and len(instruction.operand_ids) > 0
    )


def is_transparent(instruction: Instruction) -> bool:
    """Whether it is packaging, not an instruction: attributes on it are lost or not read."""
    return instruction.opcode in ("tuple", "get-tuple-element", "add-dependency") or is_wire_op(instruction)


def is_leafless(shape: Any) -> bool:
    """Whether a shape holds no array, token or buffer: an empty tuple, or a tuple of such."""
    return shape.element_type == TUPLE and all(is_leafless(inner) for inner in shape.tuple_shapes)


def buffer_leaves(shape: Any, index: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The shape indices of the buffers in ``shape``."""
    if shape.element_type == BUFFER:
        yield index
    elif shape.element_type == TUPLE:
        for number, inner in enumerate(shape.tuple_shapes):
            yield from buffer_leaves(inner, (*index, number))


class ModuleFacts:
    """What planning needs to know of the whole module.

    Attributes:
        may_have_wire_ops: ``False`` is certain.
        may_have_marks: whether an ``after`` attribute may stand somewhere; ``False`` is certain.
        may_be_carried: whether any edge may be carried already; ``False`` is certain.
        wrapped: the collectives whose attributes survive inside their start.
    """

    def __init__(self, proto: Any) -> None:
        self.proto = proto
        # Most modules have neither. Searching the bytes tells at a fraction of what visiting each instruction takes.
        data = proto.SerializeToString()
        self.may_have_wire_ops = TARGET.encode() in data
        self.may_have_marks = AFTER.encode() in data or DONE_AFTER.encode() in data
        self.may_be_carried = self.may_have_wire_ops or self.may_have_marks
        self.wrapped = WrappedCollectives(proto)

    @cached_property
    def regions(self) -> frozenset[int]:
        """The computations that become regions on import: those that anything but a call runs."""
        return frozenset(
            one
            for computation in self.proto.computations
            for instruction in computation.instructions
            if instruction.called_computation_ids and instruction.opcode != "call"
            for one in instruction.called_computation_ids
        )


class Graph:
    """A view of one ``HloComputationProto`` as it was before the edit.

    Attributes:
        instructions: of the computation, operands and control predecessors first; the edit appends wire ops.
        place: instruction id to its number in ``instructions``.
        size: how many instructions there were before the edit.
    """

    def __init__(self, computation: Any, ids: list[int], facts: ModuleFacts) -> None:
        self.computation = computation
        self.facts = facts
        # Messages are made when they are looked at, and looking at few of many is what makes the pass quick.
        self.instructions = computation.instructions
        self.size = len(ids)
        self.place: dict[int, int] = dict(zip(ids, range(len(ids)), strict=True))

    def __getitem__(self, one: int) -> Instruction:
        """The instruction with that id."""
        return self.instructions[self.place[one]]

    def is_original(self, instruction: Instruction) -> bool:
        """Whether it was there before the edit."""
        return self.place[instruction.id] < self.size

    @cached_property
    def originals(self) -> list[Instruction]:
        """The instructions before the edit, in order."""
        return self.instructions[: self.size]

    @cached_property
    def users(self) -> dict[int, list[Instruction]]:
        """For each id the instructions that have it as an operand, in order, each once. Ask before editing these."""
        users: dict[int, list[Instruction]] = {one: [] for one in self.place}
        for instruction in self.originals:
            for one in dict.fromkeys(instruction.operand_ids):
                users[one].append(instruction)
        return users

    @cached_property
    def control_successors(self) -> dict[int, list[Instruction]]:
        """For each id that is a control predecessor the instructions it is one of, in order."""
        successors: dict[int, list[Instruction]] = {}
        for instruction in self.originals:
            for one in dict.fromkeys(instruction.control_predecessor_ids):
                successors.setdefault(one, []).append(instruction)
        return successors

    def operand(self, instruction: Instruction, number: int) -> Instruction:
        """The instruction that operand ``number`` is."""
        return self[instruction.operand_ids[number]]

    def text_of(self, instruction: Instruction) -> str:
        """An instruction in short, for logs."""
        operands = ", ".join(self[one].name for one in instruction.operand_ids)
        return f"{instruction.name} = {instruction.opcode}({operands})"

    def element(self, instruction: Instruction) -> Instruction | None:
        """What a ``get-tuple-element`` of a known tuple forwards; ``None`` for any other instruction.

        Wire ops between the two forward the tuple.
        """
        if instruction.opcode != "get-tuple-element" or not instruction.operand_ids:
            return None
        source = self.operand(instruction, 0)
        while is_wire_op(source):
            source = self.operand(source, len(source.operand_ids) - 1)
        index = instruction.tuple_index
        if source.opcode == "tuple" and 0 <= index < len(source.operand_ids):
            return self.operand(source, index)
        return None

    def start_of(self, done: Instruction) -> Instruction | None:
        """The start that has to hold the marks of ``done``, which may lose its attributes on the way.

        ``None`` when ``done`` is none of these, and when its start is not in this computation: such a done is not
        merged, so if XLA imports it at all it keeps its own.
        """
        opcode = START_OF_DONE.get(done.opcode, "async-start" if done.opcode == "async-done" else "")
        current: Instruction | None = self.operand(done, 0) if opcode and done.operand_ids else None
        while current is not None and current.opcode != opcode:
            if is_wire_op(current):
                current = self.operand(current, len(current.operand_ids) - 1)
            else:
                current = self.element(current)
        if current is not None and opcode == "async-start" and not self.facts.wrapped.holds_done_marks(current):
            return None
        return current

    def attributes_of(self, marked: Instruction) -> Any:
        """The frontend attributes that arrive on what ``marked`` becomes: its own, or those of what it wraps."""
        return (self.facts.wrapped.of(marked) or marked).frontend_attributes.map

    def _packed(self, value: Instruction) -> list[Instruction]:
        """What ``value`` packs: itself, or the elements of a tuple, looking through wire ops and known elements."""
        found: dict[int, Instruction] = {}
        stack = [value]
        seen: set[int] = set()
        while stack:
            current = stack.pop()
            if current.id in seen:
                continue
            seen.add(current.id)
            element = self.element(current)
            if element is not None:
                stack.append(element)
            elif current.opcode == "tuple":
                stack += [self[one] for one in current.operand_ids]
            elif is_wire_op(current):
                stack.append(self.operand(current, len(current.operand_ids) - 1))
            else:
                found[current.id] = current
        return list(found.values())

    def can_be_operand(self, value: Instruction, successor: Instruction) -> bool:
        """Whether XLA's importer takes ``value`` as an operand of a wire op that stands right before ``successor``.

        It merges or wraps the starts of asynchronous pairs and looks only at their first user, so a call among their
        users ends it. Of a ``send`` only the first user counts: behind its done a call does no harm. All starts change
        their type on import, so a tuple that holds one is not valid afterwards.
        """
        if value.opcode not in NOT_PLAIN:
            return True
        packed = self._packed(value)
        if packed == [value]:
            return value.opcode not in _NEVER_OPERANDS and (
                value.opcode != "send" or self._is_done_before(value, successor)
            )
        return all(one.opcode not in _STARTS for one in packed)

    def can_be_data(self, value: Instruction) -> bool:
        """Whether a wire op can forward ``value``: a start changes its type on import, which the result would not."""
        if is_leafless(value.shape):
            return False
        return value.opcode not in NOT_PLAIN or all(one.opcode not in _STARTS for one in self._packed(value))

    def _is_done_before(self, send: Instruction, successor: Instruction) -> bool:
        first = next(iter(self.users[send.id]), None)
        return first is not None and first.opcode == "send-done" and self.place[first.id] < self.place[successor.id]

    def producers(self, value: Instruction) -> list[Instruction]:
        """The instructions that ``value`` stands for as a predecessor; parameters do not count.

        A tuple stands for its elements, an element for its source, a wire op for its data and its own predecessors.
        Such packaging cannot wait, nor can a constant or a parameter: what is behind waits for their control
        predecessors.
        """
        found: dict[int, Instruction] = {}
        seen: set[int] = set()
        stack = [value]
        while stack:
            current = stack.pop()
            if current.id in seen:
                continue
            seen.add(current.id)
            if is_transparent(current):
                element = self.element(current)
                if element is None:
                    stack += [self[one] for one in reversed(current.operand_ids)]
                else:
                    stack.append(element)
                    # The element alone is read, but the tuple is waited for, and what wire ops put before it.
                    packed = self.operand(current, 0)
                    while is_wire_op(packed):
                        stack += [
                            self[one] for one in reversed((*packed.operand_ids[:-1], *packed.control_predecessor_ids))
                        ]
                        packed = self.operand(packed, len(packed.operand_ids) - 1)
                    stack += [self[one] for one in reversed(packed.control_predecessor_ids)]
            elif current.opcode != "parameter":
                found[current.id] = current
            if is_transparent(current) or current.opcode in _THERE_BEFORE:
                stack += [self[one] for one in reversed(current.control_predecessor_ids)]
        return list(found.values())

    def waiters(self, value: Instruction) -> list[Instruction]:
        """The instructions that come after ``value``: those that read it, and its control successors."""
        return [*self.users[value.id], *self.control_successors.get(value.id, ())]

    def takes_attributes(self, successor: Instruction) -> bool:
        """Whether a frontend attribute on ``successor`` arrives behind the import and the canonicalizer.

        Constants are merged and hoisted; on a tuple-shaped parameter XLA's importer refuses it; the parameters of
        regions lose it; tuples and their elements are folded.
        """
        opcode = successor.opcode
        if opcode == "parameter":
            return self.computation.id not in self.facts.regions and successor.shape.element_type != TUPLE
        return opcode != "constant" and not is_transparent(successor)

    def readers(self, value: Instruction) -> list[Instruction]:
        """The instructions that read ``value``, through transparent ones, in order."""
        found: dict[int, Instruction] = {}
        seen = {value.id}
        stack = [value]
        while stack:
            current = stack.pop()
            for user in self.users[current.id]:
                if user.id in seen or (is_wire_op(user) and user.operand_ids[-1] != current.id):
                    continue
                seen.add(user.id)
                if is_transparent(user):
                    stack.append(user)
                else:
                    found[user.id] = user
        return sorted(found.values(), key=lambda instruction: self.place[instruction.id])

    # --- wire ops that are there already ------------------------------------------------------------------------------

    def held(self, wire: Instruction) -> set[int]:
        """The ids that the predecessors of a wire op stand for: themselves, and what a wire op among them forwards."""
        found: set[int] = set()
        for one in list(wire.operand_ids)[:-1]:
            found.add(one)
            while is_wire_op(self[one]):
                one = self[one].operand_ids[-1]
                found.add(one)
        return found

    def held_in_front(self, successor: Instruction, number: int) -> set[int]:
        """What the wire ops stacked in front of one operand hold together."""
        found: set[int] = set()
        current = self.operand(successor, number)
        while is_wire_op(current):
            found |= self.held(current)
            current = self.operand(current, len(current.operand_ids) - 1)
        return found

    def is_pin(self, wire: Instruction, pinned: Instruction) -> bool:
        """Whether ``wire`` is a wire op that takes ``pinned`` as its data and as nothing else."""
        operands = list(wire.operand_ids)
        return is_wire_op(wire) and operands[-1] == pinned.id and pinned.id not in operands[:-1]
