"""A task becomes a submit with the edges that were added to it."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.dialect import HAZARDS
from neuron_ctrldep.task.flow import TaskNode
from neuron_ctrldep.task.program import Kernel

_HAZARD_TEXTS = tuple(
    "+".join(name for bit, name in enumerate(HAZARDS) if kinds >> bit & 1) for kinds in range(1 << len(HAZARDS))
)
"""The spelling of hazards in ``compiler_dep_hazards``, by their bits."""


class SubmitWriter:
    """Writes submits. Most tasks are alike: each attribute is made once."""

    def __init__(self, id_type: ir.Type) -> None:
        self._id_type = id_type
        self._callees: dict[Kernel, ir.Attribute] = {}
        self._known: dict[tuple[str, ...], ir.Attribute] = {}
        self._segments: dict[tuple[int, ...], ir.Attribute] = {}

    def texts(self, texts: tuple[str, ...]) -> ir.Attribute:
        """An array of strings; the same one is made once."""
        found = self._known.get(texts)
        if found is None:
            found = self._known[texts] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in texts])
        return found

    def write(
        self, task: TaskNode, edges: Sequence[ir.Value], kinds: Sequence[int], directions: tuple[str, ...]
    ) -> ir.Operation:
        """Write ``task`` anew, and erase what it was.

        Args:
            task: a submit or a plain call.
            edges: the ids to add to its ``compiler_deps``.
            kinds: the hazards of each of them, as bits.
            directions: of all its arguments.
        """
        op = task.op
        attributes = self._task_attributes(task, op)
        attributes["arg_directions"] = self.texts(directions)
        args, deps, present = task.segments
        operands = list(op.operands)
        if edges:
            operands += edges
            hazards = [_HAZARD_TEXTS[bits] for bits in kinds]
            if present:
                old = attributes.get("compiler_dep_hazards")
                # Edges without known hazards may stand for any.
                before = [entry.value for entry in old] if old is not None else ["+".join(HAZARDS)] * present
                hazards = before + hazards
            attributes["compiler_dep_hazards"] = self.texts(tuple(hazards))
        sizes = (args, deps, present + len(edges))
        segments = self._segments.get(sizes)
        if segments is None:
            segments = self._segments[sizes] = ir.DenseI32ArrayAttr.get(list(sizes))
        attributes[SEGMENT_SIZES] = segments
        results = list(op.results) if task.is_submit or task.kernel.result_types else []
        types = [result.type for result in results]
        if not task.is_submit:
            types.append(self._id_type)
        new = ir.Operation.create(
            "task.submit",
            results=types,
            operands=operands,
            attributes=attributes,
            loc=op.location,
            ip=ir.InsertionPoint(op),
        ).operation
        if results:
            for result, value in zip(results, new.results, strict=False):
                result.replace_all_uses_with(value)
        op.erase()
        return new

    def _task_attributes(self, task: TaskNode, op: ir.Operation) -> dict[str, ir.Attribute]:
        """The attributes of ``op`` but for the directions, which are written anew."""
        attributes = op.attributes
        # To look up one is much faster than to list all; nearly always there is nothing but a callee and a name.
        name = attributes.get("task.name")
        if task.is_submit or name is None or len(attributes) != 3:
            return attributes_of(op)
        callee = self._callees.get(task.kernel)
        if callee is None:
            callee = self._callees[task.kernel] = attributes["callee"]
        return {"callee": callee, "task.name": name}


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of ``op`` by name."""
    return dict(op.attributes.items())
