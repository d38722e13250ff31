"""Keep the names of HLO instructions through XLA's importer.

The importer makes a location from the ``op_name`` metadata of an instruction, and from the instruction's name only
where there is none. A ``get-tuple-element`` gets the location of its source. The name of such an instruction travels in
the frontend attribute ``ctrldep.name`` instead.

So does the name of every instruction at the end of a control edge, or next to a wire op where control edges were
stripped: attributes that differ keep MLIR's ``cse`` from merging two of them into one, after which nobody could say
which of the two an edge belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neuron_ctrldep import wire
from neuron_ctrldep.hlo.schema import TUPLE
from neuron_ctrldep.hlo.wrapped import WrappedCollectives

# The importer drops their frontend attributes. Their location is freed for the name instead; the start, which as a rule
# has the same op_name, keeps it.
_NAME_IN_LOCATION = frozenset({"all-gather-done", "all-reduce-done", "collective-permute-done"})


def keep_names(proto: Any) -> None:
    """Put ``ctrldep.name`` on the instructions of the ``HloModuleProto`` ``proto`` that need it, in place."""
    wrapped = WrappedCollectives(proto)
    for computation in proto.computations:
        ends = _edge_ends(computation.instructions)
        unkept: set[int] = set()  # the starts that do not keep their attributes; nor do their dones
        for instruction in computation.instructions:
            opcode = instruction.opcode
            attributes = instruction.frontend_attributes.map
            inside = wrapped.of(instruction) if opcode == "async-start" else None
            if inside is not None:
                # The attributes of the op inside are read as those of the start.
                unkept.add(instruction.id)
                attributes = inside.frontend_attributes.map
                attributes.pop(wire.NAME, None)
            if (
                not instruction.metadata.op_name
                and "/" not in instruction.name  # of a location with slashes the last part is taken for the name
                and opcode != "get-tuple-element"
                and instruction.id not in ends
                and wire.NAME not in attributes
            ):
                continue
            if (
                opcode in _NAME_IN_LOCATION
                or (opcode == "async-done" and not unkept.isdisjoint(instruction.operand_ids))
                or (inside is not None and wrapped.is_shared(instruction))
            ):
                instruction.metadata.op_name = ""
                attributes.pop(wire.NAME, None)
            elif opcode == "parameter" and instruction.shape.element_type == TUPLE:
                continue  # the importer flattens it, and refuses frontend attributes on what it flattens
            else:
                # Also over a name that is there: it comes from an earlier import and names an op of another module.
                attributes[wire.NAME] = instruction.name


def _edge_ends(instructions: Sequence[Any]) -> set[int]:
    """The ids of the ends of control edges; of the operands and users of wire ops where control edges were stripped."""
    ends: set[int] = set()
    for instruction in instructions:
        if instruction.control_predecessor_ids:
            ends.add(instruction.id)
            ends.update(instruction.control_predecessor_ids)
    if ends:  # only these: a module is named alike before and after its edges were given to wire ops
        return ends
    wire_ops: set[int] = set()
    for instruction in instructions:
        operands = instruction.operand_ids
        if wire_ops and not wire_ops.isdisjoint(operands):
            ends.add(instruction.id)
        if instruction.opcode == "custom-call" and instruction.custom_call_target == wire.TARGET:
            wire_ops.add(instruction.id)
            ends.update(operands)
    return ends
