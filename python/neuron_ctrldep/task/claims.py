"""Which slots may conflict between iterations of one parallel loop, whose independence is the programmer's claim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from neuron_ctrldep.task.accesses import READS, WRITES, Access, AccessReader
from neuron_ctrldep.task.flow import Body, Construct, TaskNode
from neuron_ctrldep.task.region_index import RegionIndex
from neuron_ctrldep.task.regions import Region, RegionTable
from neuron_ctrldep.task.storage import Root, is_private


@dataclass(eq=False)
class _Group:
    """The accesses of one region of one root in a parallel loop."""

    region: Region
    does: int = 0
    claimed: int = 0
    slots: list[tuple[TaskNode, int, int]] = field(default_factory=list)


def find_claims(body: Body, reader: AccessReader, regions: RegionTable, claimed: dict[TaskNode, int]) -> None:
    """Add to ``claimed``, as bits, the slots that may conflict with another iteration of the loop around ``body``."""
    construct = body.owner
    assert construct is not None
    groups: dict[tuple[Root, Region], _Group] = {}
    parts: dict[object, Any] = {}
    for task, access, region in _inside(body, reader, regions):
        group = groups.get((access.root, region))
        if group is None:
            group = groups[access.root, region] = _Group(region)
            parts.setdefault(access.root.key, []).append(group)
        group.does |= access.does
        group.slots.append((task, access.slot, access.does))
    for members in parts.values():
        index: RegionIndex[_Group] = RegionIndex()
        for group in members:
            index.add(group)
        for group in members:
            if not group.does & WRITES:
                continue
            for elsewhere in regions.elsewhere(group.region, construct.indices):
                for other in index.overlapping(elsewhere):
                    other.claimed |= READS | WRITES
                    group.claimed |= WRITES
        for group in members:
            for task, slot, does in group.slots:
                if does & group.claimed:
                    claimed[task] = claimed.get(task, 0) | 1 << slot


def _inside(body: Body, reader: AccessReader, regions: RegionTable) -> Iterable[tuple[TaskNode, Access, Region]]:
    """The accesses below ``body`` that outlive one run of it, with their regions as seen at its end."""
    for item in body.items:
        if isinstance(item, TaskNode):
            for access in reader.read(item)[0]:
                if not is_private(access.root, body):
                    yield item, access, access.region
        elif isinstance(item, Construct):
            for inner in item.bodies:
                for task, access, region in _inside(inner, reader, regions):
                    if not is_private(access.root, body):
                        yield task, access, regions.freed(region, item.indices)
