"""The computations of an HLO module in the judge's terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from neuron_ctrldep.checker.source import SourceBlock, SourceInstruction, add_callers
from neuron_ctrldep.wire import AFTER, BARRIER, DONE_AFTER, DONE_ID, ID, TARGET, parse_ids

if TYPE_CHECKING:
    from neuron_ctrldep.hlo.module import HloModule

_SIDE_EFFECTS = frozenset(
    {"send", "send-done", "recv", "recv-done", "infeed", "outfeed", "rng", "rng-get-and-update-state"}
)
"""HLO opcodes that act on something outside the program even when nothing reads their result."""


Instruction: TypeAlias = Any
"""An ``HloInstructionProto``."""


def of_hlo(module: HloModule) -> dict[str, SourceBlock]:
    """The computations of an HLO module, with their control edges; repeated predecessors count once.

    A wire op in the source, or the barrier that stands for one, holds edges that may be written nowhere else: from its
    predecessors to its own name, which stands for what reads it.
    """
    proto = module.proto
    by_id = {computation.id: computation for computation in proto.computations}
    blocks: dict[str, SourceBlock] = {}
    for computation in proto.computations:
        names = {instruction.id: instruction.name for instruction in computation.instructions}
        shapes = {instruction.id: instruction.shape for instruction in computation.instructions}
        instructions = {
            one.name: SourceInstruction(
                one.name,
                "add-dependency" if _orders_data(one) else one.opcode,
                [names[operand] for operand in one.operand_ids],
                one.custom_call_has_side_effect or one.opcode in _SIDE_EFFECTS,
                one.tuple_index,
                one.parameter_number,
                [by_id[called].name for called in one.called_computation_ids],
                _value(one, shapes),
                one.comparison_direction,
            )
            for one in computation.instructions
        }
        edges = [
            (names[predecessor], one.name)
            for one in computation.instructions
            for predecessor in dict.fromkeys(one.control_predecessor_ids)
        ]
        edges += _held_edges(computation.instructions, edges)
        edges += _marked_edges(computation.instructions, edges)
        blocks[computation.name] = SourceBlock(
            computation.name,
            instructions,
            names.get(computation.root_id),
            edges,
            is_entry=computation.id == proto.entry_computation_id,
        )
    add_callers(blocks)
    return blocks


def _value(instruction: Instruction, shapes: dict[int, Any]) -> int | None:
    """The one integer or truth value that a constant, or the size of a static dimension, holds, however often."""
    if instruction.opcode == "get-dimension-size":
        (dimension,), shape = instruction.dimensions, shapes[instruction.operand_ids[0]]
        return None if any(shape.is_dynamic_dimension) else shape.dimensions[dimension]
    if instruction.opcode == "constant":
        literal = instruction.literal
        for values in (literal.preds, literal.s32s, literal.s64s, literal.u32s, literal.u64s):
            if values:
                # An array of another type than these, or of none, has no values here.
                return values[0] if all(value == values[0] for value in values) else None
    return None


def _orders_data(instruction: Instruction) -> bool:
    """Whether it is packaging that forwards data, ordered after other operands."""
    if instruction.opcode == "custom-call":
        return instruction.custom_call_target == TARGET
    return instruction.opcode == "opt-barrier" and BARRIER in instruction.frontend_attributes.map


def _held_edges(instructions: Iterable[Instruction], written: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges that wire ops and marked barriers hold, without those that are written as control edges too."""
    by_id = {instruction.id: instruction for instruction in instructions}
    readers: dict[int, list[Instruction]] = {}
    for instruction in by_id.values():
        for operand in dict.fromkeys(instruction.operand_ids):
            readers.setdefault(operand, []).append(instruction)
    known = set(written)
    edges: list[tuple[str, str]] = []
    for instruction in by_id.values():
        if not _orders_data(instruction):
            continue
        held, ends = list(instruction.operand_ids), [instruction]
        if instruction.opcode == "opt-barrier":
            packed = by_id[held[0]] if held else None
            held = list(packed.operand_ids) if packed is not None and packed.opcode == "tuple" else []
            ends = [one for one in readers.get(instruction.id, ()) if one.tuple_index == len(held) - 1]
        for end in ends:
            waiting = readers.get(end.id, ())
            for predecessor in dict.fromkeys(by_id[one].name for one in held[:-1]):
                is_written = bool(waiting) and all((predecessor, one.name) in known for one in waiting)
                if not is_written and (predecessor, end.name) not in known:
                    edges.append((predecessor, end.name))
    return edges


def _marked_edges(instructions: Iterable[Instruction], known: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges that frontend attributes hold, without those that are known."""
    sources: dict[str, list[str]] = {}
    targets: list[tuple[str, str]] = []
    starts: dict[int, list[str]] = {}
    marked: list[tuple[Instruction, Any]] = []
    for one in instructions:
        if one.opcode.endswith("-done") and one.operand_ids:
            starts.setdefault(one.operand_ids[0], []).append(one.name)
        if one.HasField("frontend_attributes"):
            marked.append((one, one.frontend_attributes.map))
    for one, attributes in marked:
        done = starts.get(one.id, [one.name])
        for owners, id_key, after_key in (([one.name], ID, AFTER), (done, DONE_ID, DONE_AFTER)):
            if id_key in attributes:
                sources.setdefault(attributes[id_key], []).extend(owners)
            if after_key in attributes:
                targets += [(mark, name) for mark in parse_ids(attributes[after_key]) for name in owners]
    written = set(known)
    edges = dict.fromkeys((source, name) for mark, name in targets for source in sources.get(mark, ()))
    return [edge for edge in edges if edge[0] != edge[1] and edge not in written]
