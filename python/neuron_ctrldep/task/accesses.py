"""What a task does to storage: one access for each slot and each root it may denote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import NO_DEP, is_storage
from neuron_ctrldep.task.ext import get_attribute
from neuron_ctrldep.task.flow import TaskNode
from neuron_ctrldep.task.lineage import Lineage
from neuron_ctrldep.task.program import Kernel
from neuron_ctrldep.task.regions import Region
from neuron_ctrldep.task.storage import Root, Unsupported, View

READS, WRITES = 1, 2
"""Bits of what an access does."""

_DOES = {"in": READS, "out": WRITES, "inout": READS | WRITES, None: READS | WRITES}


@dataclass(eq=False, slots=True)
class Access:
    """One slot of a task, on one root. Tasks share it: immutable."""

    slot: int
    root: Root
    region: Region
    does: int
    """:data:`READS`, :data:`WRITES` or both: what the kernel does, whatever the call site says of look-ups."""
    runtime: bool
    """Whether the region depends on what only run time knows."""


@dataclass(frozen=True, slots=True)
class UnsupportedAccess:
    """A slot whose storage the analyses cannot represent."""

    slot: int
    does: int
    reason: str


class AccessReader:
    """Reads the accesses of tasks."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._slots: dict[Kernel, list[tuple[int, int]]] = {}
        self._known: dict[TaskNode, tuple[list[Access], Sequence[UnsupportedAccess]]] = {}
        self._accesses: dict[tuple[int, int, int], tuple[View, Access]] = {}

    def storage_slots(self, kernel: Kernel) -> list[tuple[int, int]]:
        """The slots of ``kernel`` that are storage, with what it does to them."""
        known = self._slots.get(kernel)
        if known is None:
            known = self._slots[kernel] = [
                (slot, _DOES[kernel.directions[slot]])
                for slot, type_ in enumerate(kernel.parameter_types)
                if is_storage(type_)
            ]
        return known

    def read(self, task: TaskNode) -> tuple[list[Access], Sequence[UnsupportedAccess]]:
        """The accesses of ``task``, by slot, and the slots whose storage is unsupported.

        A ``NoDep`` slot is the user's promise that there is no hazard: it is left out.
        """
        known = self._known.get(task)
        if known is None:
            slots = self.storage_slots(task.kernel)
            directions = task.directions
            if NO_DEP in directions:
                slots = [entry for entry in slots if directions[entry[0]] != NO_DEP]
            known = self._known[task] = self._read(task, slots)
        return known

    def all(self, task: TaskNode) -> tuple[list[Access], Sequence[UnsupportedAccess]]:
        """The same with ``NoDep`` slots."""
        return self._read(task, self.storage_slots(task.kernel))

    def _read(self, task: TaskNode, slots: list[tuple[int, int]]) -> tuple[list[Access], Sequence[UnsupportedAccess]]:
        accesses: list[Access] = []
        unsupported: list[UnsupportedAccess] | None = None
        args = task.args
        for slot, does in slots:
            storage = self._lineage.of(args[slot])
            if isinstance(storage, Unsupported):
                unsupported = unsupported or []
                unsupported.append(UnsupportedAccess(slot, does, storage.reason))
                continue
            for view in storage:
                # Equal accesses are one object. The view is kept so that its id stays its own.
                known = self._accesses.get((id(view), slot, does))
                if known is None:
                    access = Access(slot, view.root, self._lineage.roots.region(view), does, view.runtime)
                    known = self._accesses[id(view), slot, does] = (view, access)
                accesses.append(known[1])
        return accesses, unsupported or ()


def overrides(op: ir.Operation) -> tuple[int, ...]:
    """The slots the user declared free of hazards."""
    attribute = get_attribute(op, "arg_direction_overrides")
    return tuple(attribute) if attribute is not None else ()
