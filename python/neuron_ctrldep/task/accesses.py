"""What a task does to storage: one access for each slot and each root it may denote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import get_attribute
from neuron_ctrldep.task.dialect import NO_DEP, is_storage
from neuron_ctrldep.task.flow import TaskNode
from neuron_ctrldep.task.lineage import Lineage
from neuron_ctrldep.task.program import Kernel
from neuron_ctrldep.task.regions import Region
from neuron_ctrldep.task.storage import Root, Storage, Unsupported

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


Accesses = tuple[Sequence[Access], Sequence[UnsupportedAccess]]
"""The accesses of a task, by slot, and the slots whose storage is unsupported."""

_Slots = list[tuple[int, int]]


class AccessReader:
    """Reads the accesses of tasks."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._slots: dict[Kernel, _Slots] = {}
        self._tracked: dict[tuple[Kernel, tuple[str, ...]], _Slots] = {}
        self._alike: dict[tuple[int, ...], tuple[_Slots, list[Storage], Accesses]] = {}

    def storage_slots(self, kernel: Kernel) -> _Slots:
        """The slots of ``kernel`` that are storage, with what it does to them."""
        known = self._slots.get(kernel)
        if known is None:
            known = self._slots[kernel] = [
                (slot, _DOES[kernel.directions[slot]])
                for slot, type_ in enumerate(kernel.parameter_types)
                if is_storage(type_)
            ]
        return known

    def read(self, task: TaskNode) -> Accesses:
        """The accesses of ``task``.

        A ``NoDep`` slot is the user's promise that there is no hazard: it is left out.
        """
        known = task.accesses
        if known is None:
            key = (task.kernel, task.directions)
            slots = self._tracked.get(key)
            if slots is None:
                kernel, directions = key
                slots = self._tracked[key] = [
                    (slot, does)
                    for slot, does in self.storage_slots(kernel)
                    if slot >= len(directions) or directions[slot] != NO_DEP
                ]
            known = task.accesses = self._read(task, slots)
        return known

    def all(self, task: TaskNode) -> Accesses:
        """The same with ``NoDep`` slots."""
        return self._read(task, self.storage_slots(task.kernel))

    def _read(self, task: TaskNode, slots: _Slots) -> Accesses:
        args = task.args
        storages = [self._lineage.of(args[slot]) for slot, _ in slots]
        # Tasks that are alike share what they do. By identity: hashing a view costs more than all else here. What has
        # an id in the key is kept so that its id stays its own.
        key = (id(slots), *map(id, storages))
        alike = self._alike.get(key)
        if alike is None:
            alike = self._alike[key] = (slots, storages, self._accesses(slots, storages))
        return alike[2]

    def _accesses(self, slots: _Slots, storages: list[Storage]) -> Accesses:
        accesses: list[Access] = []
        unsupported: list[UnsupportedAccess] = []
        for (slot, does), storage in zip(slots, storages, strict=True):
            if isinstance(storage, Unsupported):
                unsupported.append(UnsupportedAccess(slot, does, storage.reason))
                continue
            for view in storage:
                accesses.append(Access(slot, view.root, self._lineage.roots.region(view), does, view.runtime))
        return accesses, unsupported


def overrides(op: ir.Operation) -> tuple[int, ...]:
    """The slots the user declared free of hazards."""
    attribute = get_attribute(op, "arg_direction_overrides")
    return tuple(attribute) if attribute is not None else ()
