"""One HLO computation as a graph: what stands for what, who reads whom, and what may become an operand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from neuron_ctrldep.hlo.schema import BUFFER, TUPLE
from neuron_ctrldep.wire import TARGET

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
"""Their operand must be the start (or update) itself too, but their own attributes survive."""

_NEVER_OPERANDS = frozenset({"recv", "copy-start", "async-start", "async-update"})
_STARTS = _NEVER_OPERANDS | frozenset(START_OF_DONE.values())


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


class Graph:
    """A view of one ``HloComputationProto`` as it was before the edit.

    Attributes:
        order: its instructions, operands and control predecessors first.
        place: instruction id to its number in ``order``.
    """

    def __init__(self, computation: Any, order: list[Instruction], *, is_region: bool) -> None:
        self.computation = computation
        self.order = order
        self.is_region = is_region
        self.by_id: dict[int, Instruction] = {instruction.id: instruction for instruction in order}
        self.place: dict[int, int] = {instruction.id: number for number, instruction in enumerate(order)}

    @cached_property
    def users(self) -> dict[int, list[Instruction]]:
        """For each id the instructions that have it as an operand, in order, each once."""
        users: dict[int, list[Instruction]] = {one: [] for one in self.by_id}
        for instruction in self.order:
            for one in dict.fromkeys(instruction.operand_ids):
                users[one].append(instruction)
        return users

    @cached_property
    def control_sources(self) -> frozenset[int]:
        """The ids that are a control predecessor of something."""
        return frozenset(one for instruction in self.order for one in instruction.control_predecessor_ids)

    def operand(self, instruction: Instruction, number: int) -> Instruction:
        """The instruction that operand ``number`` is."""
        return self.by_id[instruction.operand_ids[number]]

    def text_of(self, instruction: Instruction) -> str:
        """An instruction in short, for logs."""
        operands = ", ".join(self.by_id[one].name for one in instruction.operand_ids)
        return f"{instruction.name} = {instruction.opcode}({operands})"

    def element(self, instruction: Instruction) -> Instruction | None:
        """What a ``get-tuple-element`` of a known tuple stands for; ``None`` for any other instruction."""
        if instruction.opcode != "get-tuple-element":
            return None
        source = self.operand(instruction, 0)
        index = instruction.tuple_index
        if source.opcode == "tuple" and 0 <= index < len(source.operand_ids):
            return self.operand(source, index)
        return None

    def start_of(self, done: Instruction) -> Instruction | None:
        """The start that belongs to one of :data:`START_OF_DONE`; ``None`` when it is not in this computation."""
        current: Instruction | None = self.operand(done, 0) if done.operand_ids else None
        while current is not None and current.opcode != START_OF_DONE[done.opcode]:
            if is_wire_op(current):
                current = self.operand(current, len(current.operand_ids) - 1)
            else:
                current = self.element(current)
        return current

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
                stack += [self.by_id[one] for one in current.operand_ids]
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
        packed = self._packed(value)
        if packed == [value]:
            return value.opcode not in _NEVER_OPERANDS and (
                value.opcode != "send" or self._is_done_before(value, successor)
            )
        return all(one.opcode not in _STARTS for one in packed)

    def can_be_data(self, value: Instruction) -> bool:
        """Whether a wire op can forward ``value``: a start changes its type on import, which the result would not."""
        return not is_leafless(value.shape) and all(one.opcode not in _STARTS for one in self._packed(value))

    def _is_done_before(self, send: Instruction, successor: Instruction) -> bool:
        first = next(iter(self.users[send.id]), None)
        return first is not None and first.opcode == "send-done" and self.place[first.id] < self.place[successor.id]

    def producers(self, value: Instruction) -> list[Instruction]:
        """The instructions that ``value`` stands for as a predecessor; parameters do not count.

        A tuple stands for its elements, an element for its source, a wire op for its data and its own predecessors. A
        wire op among the operands of these stands for its data alone: what it orders is an edge of its own.
        """
        found: dict[int, Instruction] = {}
        seen: set[int] = set()
        stack = [self.by_id[one] for one in reversed(value.operand_ids)] if is_wire_op(value) else [value]
        while stack:
            current = stack.pop()
            if current.id in seen:
                continue
            seen.add(current.id)
            element = self.element(current)
            if element is not None:
                stack.append(element)
            elif is_wire_op(current):
                stack.append(self.operand(current, len(current.operand_ids) - 1))
            elif is_transparent(current):
                stack += [self.by_id[one] for one in reversed(current.operand_ids)]
            elif current.opcode != "parameter":
                found[current.id] = current
        return list(found.values())

    def takes_attributes(self, successor: Instruction) -> bool:
        """Whether a frontend attribute on ``successor`` arrives behind the import and the canonicalizer.

        Constants are merged and hoisted; on a tuple-shaped parameter XLA's importer refuses it; the parameters of
        regions lose it; tuples and their elements are folded; dones are merged with their start.
        """
        opcode = successor.opcode
        if opcode == "parameter":
            return not self.is_region and successor.shape.element_type != TUPLE
        return opcode != "constant" and opcode not in START_OF_DONE and not is_transparent(successor)

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
        """The ids that the predecessors of a wire op stand for: themselves, and what a wire op among them holds."""
        found: set[int] = set()
        stack = list(wire.operand_ids)[:-1]
        while stack:
            one = stack.pop()
            if one in found:
                continue
            found.add(one)
            if is_wire_op(self.by_id[one]):
                stack += self.by_id[one].operand_ids
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
