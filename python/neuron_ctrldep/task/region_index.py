"""An index of regions: finds the entries whose regions overlap one without looking at all."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Generic, Protocol, TypeVar

from neuron_ctrldep.task.regions import UNBOUNDED, Region


class HasRegion(Protocol):
    """What an index holds: anything with a region that does not change."""

    @property
    def region(self) -> Region:
        """Where it is."""
        ...


Entry = TypeVar("Entry", bound=HasRegion)


class RegionIndex(Generic[Entry]):
    """Entries by region; finds those that overlap a region without looking at all.

    Regions of one group are found through a grid: a region of size up to ``2**level`` lies in the cell its start falls
    in, so a query looks into the few cells that may reach it. Regions of other groups are looked at one by one: there
    are as many groups as ways in which loop indices enter an offset, which is few.
    """

    _SCAN = 8
    """Up to so many regions a scan is faster than the grid."""

    __slots__ = ("_groups", "_held", "_many", "_one")

    def __init__(self) -> None:
        # Nearly always there is one region, all of a buffer: a program has many buffers, and each takes room in caches.
        self._one: Region | None = None
        self._held: dict[Entry, None] = {}
        """The entries, all of them at ``_one``."""
        self._many: dict[Region, dict[Entry, None]] | None = None
        """The entries instead, when there are several regions."""
        self._groups: dict[Hashable, _Grid] | None = None
        """Made when there are regions enough to need it."""

    def add(self, entry: Entry) -> None:
        """Add ``entry``."""
        region = entry.region
        many = self._many
        if many is None:
            if region is self._one:
                self._held[entry] = None
                return
            if not self._held:
                self._one = region
                self._held[entry] = None
                return
            assert self._one is not None
            many = self._many = {self._one: self._held}
            self._one, self._held = None, {}
        entries = many.get(region)
        if entries is not None:
            entries[entry] = None
            return
        many[region] = {entry: None}
        if self._groups is not None:
            self._grid(region).add(region)
        elif len(many) > self._SCAN:
            self._groups = {}
            for other in many:
                self._grid(other).add(other)

    def _grid(self, region: Region) -> _Grid:
        assert self._groups is not None
        grid = self._groups.get(region.group)
        if grid is None:
            grid = self._groups[region.group] = _Grid()
        return grid

    def remove(self, entry: Entry) -> None:
        """Take ``entry`` out; it must be there."""
        many = self._many
        if many is None:
            del self._held[entry]
            return
        region = entry.region
        entries = many[region]
        del entries[entry]
        if entries:
            return
        del many[region]
        if self._groups is not None:
            grid = self._groups[region.group]
            grid.remove(region)
            if not grid:
                del self._groups[region.group]
        if len(many) == 1:
            ((self._one, self._held),) = many.items()
            self._many = self._groups = None

    def at(self, region: Region) -> list[Entry]:
        """The entries of exactly this region, in the order they were added."""
        if self._many is None:
            return list(self._held) if region is self._one else []
        return list(self._many.get(region, ()))

    def _overlapping(self, many: dict[Region, dict[Entry, None]], region: Region) -> list[Region]:
        if self._groups is None or region.whole:
            return [other for other in many if region.overlaps(other)]
        found: list[Region] = []
        for group, grid in self._groups.items():
            near = grid.near(region) if group == region.group else grid.all()
            found += [other for other in near if region.overlaps(other)]
        return found

    def overlapping(self, region: Region) -> Collection[Entry]:
        """The entries that may overlap ``region``, to look at before the index changes."""
        many = self._many
        if many is None:
            one = self._one
            return self._held if one is region or (one is not None and region.overlaps(one)) else ()
        return [entry for other in self._overlapping(many, region) for entry in many[other]]

    def meets(self, region: Region) -> bool:
        """Whether any entry may overlap ``region``."""
        many = self._many
        return bool(self.overlapping(region) if many is None else self._overlapping(many, region))

    def covered(self, region: Region) -> list[Entry]:
        """The entries that ``region`` surely covers."""
        many = self._many
        if many is None:
            one = self._one
            return list(self._held) if one is not None and region.covers(one) else []
        covered = [other for other in self._overlapping(many, region) if region.covers(other)]
        return [entry for other in covered for entry in many[other]]

    def replace_all(self, region: Region, entry: Entry | None) -> bool:
        """Hold ``entry`` only (or nothing), if nothing but ``region``, its region, is held; whether that is so."""
        if self._many is not None or (self._held and region is not self._one):
            return False
        self._one = region
        self._held = {} if entry is None else {entry: None}
        return True


class _Grid:
    """Regions of one group by the start of their first axis, for each power of two of size."""

    def __init__(self) -> None:
        self._regions: dict[Region, tuple[int, int] | None] = {}
        self._levels: dict[int, dict[int, dict[Region, None]]] = {}
        self._unbounded: dict[Region, None] = {}

    def __len__(self) -> int:
        return len(self._regions)

    def add(self, region: Region) -> None:
        low, high = region.axes[0].hull() if region.axes else (0, 0)
        if low <= -UNBOUNDED or high >= UNBOUNDED:
            self._regions[region] = None
            self._unbounded[region] = None
            return
        level = (high - low).bit_length()
        cell = low >> level
        self._regions[region] = (level, cell)
        self._levels.setdefault(level, {}).setdefault(cell, {})[region] = None

    def remove(self, region: Region) -> None:
        place = self._regions.pop(region)
        if place is None:
            del self._unbounded[region]
            return
        level, cell = place
        cells = self._levels[level]
        del cells[cell][region]
        if not cells[cell]:
            del cells[cell]
            if not cells:
                del self._levels[level]

    def all(self) -> list[Region]:
        return list(self._regions)

    def near(self, region: Region) -> list[Region]:
        """The regions whose hull may meet that of ``region``."""
        low, high = region.axes[0].hull() if region.axes else (0, 0)
        if low <= -UNBOUNDED or high >= UNBOUNDED:
            return list(self._regions)
        found = list(self._unbounded)
        for level, cells in self._levels.items():
            first, last = (low >> level) - 1, high >> level
            if last - first >= len(cells):
                found += [other for regions in cells.values() for other in regions]
            else:
                for cell in range(first, last + 1):
                    found += cells.get(cell, ())
        return found
