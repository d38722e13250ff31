"""Who accessed each piece of storage last: the state of memory SSA at one point of a program, and its undo log."""

from __future__ import annotations

from dataclasses import dataclass

from neuron_ctrldep.task.flow import Construct
from neuron_ctrldep.task.ids import Id
from neuron_ctrldep.task.region_index import RegionIndex
from neuron_ctrldep.task.regions import Region
from neuron_ctrldep.task.storage import Root

LAST_WRITERS, WRITERS_TO_FOLLOW, READERS, OUTSIDE_WRITERS, OUTSIDE_READERS = range(5)
"""The parts of a state, for each root.

- ``LAST_WRITERS``: what a reader must follow.
- ``WRITERS_TO_FOLLOW``: of these, what a writer must follow; the others are followed by one of ``READERS``.
- ``READERS``: the readers since, which a writer must follow.
- ``OUTSIDE_…``: tasks that were not analyzed. None of them is ever superseded, and no edge can be made to them.
"""
PARTS = 5


@dataclass(eq=False, slots=True)
class Entry:
    """``node`` accessed ``region``. Immutable."""

    root: Root
    region: Region
    node: Id
    does: int
    carried: Construct | None = None
    """The loop of which ``region`` means earlier iterations already, rather than the current one."""


class Part(RegionIndex[Entry]):
    """One part of the state of one root."""

    __slots__ = ()


EntryKey = tuple[Part, Region, Construct | None]
"""What entries have in common that may be merged where control flow joins."""

MAX_CARRIED = 4
"""Up to so many entries of one key are carried through control flow side by side; more are joined first."""


def entry_key(part: Part, entry: Entry) -> EntryKey:
    """The key of ``entry`` in ``part``."""
    return part, entry.region, entry.carried


Change = tuple[dict[Entry, Part], dict[Entry, Part]]
"""The net entries removed and added since a mark."""


class State:
    """The parts by root, with an undo log while a mark is set."""

    def __init__(self) -> None:
        self._parts: dict[object, tuple[Part, ...]] = {}
        self._log: list[tuple[Part, Entry, bool]] = []
        self._marks = 0

    def parts(self, root: Root) -> tuple[Part, ...]:
        """The five parts of the storage that ``root`` shares with all roots of its key."""
        parts = self._parts.get(root.key)
        if parts is None:
            parts = self._parts[root.key] = tuple(Part() for _ in range(PARTS))
        return parts

    def add(self, part: Part, entry: Entry) -> None:
        """Add ``entry`` to ``part``."""
        part.add(entry)
        if self._marks:
            self._log.append((part, entry, True))

    def remove(self, part: Part, entry: Entry) -> None:
        """Remove ``entry`` from ``part``."""
        part.remove(entry)
        if self._marks:
            self._log.append((part, entry, False))

    def supersede(self, part: Part, region: Region, entry: Entry | None) -> None:
        """Remove the entries that ``region`` covers; ``entry`` takes their place."""
        if not self._marks and part.replace_all(region, entry):
            return
        for covered in part.covered(region):
            self.remove(part, covered)
        if entry is not None:
            self.add(part, entry)

    def mark(self) -> int:
        """Set a mark to return to. Marks nest."""
        self._marks += 1
        return len(self._log)

    def changes(self, mark: int) -> Change:
        """What was removed and added since ``mark``, net."""
        removed: dict[Entry, Part] = {}
        added: dict[Entry, Part] = {}
        for part, entry, is_added in self._log[mark:]:
            if is_added:
                if removed.pop(entry, None) is None:
                    added[entry] = part
            elif added.pop(entry, None) is None:
                removed[entry] = part
        return removed, added

    def rewind(self, mark: int) -> None:
        """Undo everything since ``mark``, which stays set."""
        while len(self._log) > mark:
            part, entry, is_added = self._log.pop()
            if is_added:
                part.remove(entry)
            else:
                part.add(entry)

    def release(self) -> None:
        """Forget the last mark."""
        self._marks -= 1
        if not self._marks:
            self._log.clear()
