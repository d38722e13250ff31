"""What follows once the order is known: slots that need no look-up, and parts that may become MANUAL."""

from __future__ import annotations

from dataclasses import dataclass, field

from neuron_ctrldep.task.accesses import Access
from neuron_ctrldep.task.dialect import INOUT, INPUT, NO_DEP, OUTPUT_EXISTING
from neuron_ctrldep.task.events import Hazards, TaskHazards
from neuron_ctrldep.task.flow import Body, Construct, Flow, TaskNode
from neuron_ctrldep.task.lineage import Lineage
from neuron_ctrldep.task.region_index import RegionIndex
from neuron_ctrldep.task.regions import Region, RegionTable
from neuron_ctrldep.task.storage import Unsupported


@dataclass
class Decisions:
    """The result of :func:`decide`."""

    slots: int = 0
    """How many slots get a new direction; the tasks of the hazards know which."""
    manual: set[Body] = field(default_factory=set)
    """The bodies whose every hazard is explicit, the function's own among them."""


def decide(flow: Flow, lineage: Lineage, hazards: Hazards) -> Decisions:
    """Decide on slots and marks; see section 4 of the specification, *Slots* and *Marks*."""
    decisions = Decisions()
    touched = _Touched(flow, lineage)
    blocked = _Blocked()
    # Most tasks are alike.
    plain: dict[tuple[tuple[str, ...], int, int], dict[int, str]] = {}
    for touches in lineage.touches.values():
        for touch in touches:
            if touch.submits and not isinstance(touch.storage, Unsupported):
                blocked.roots.update(view.root.key for view in touch.storage)
    for task in hazards.tasks:
        if task.task.is_analyzed:
            claimed = hazards.claimed.get(task.task, 0)
            if claimed or task.unordered or task.meets_unknown:
                blocked.add(task.task)
            relevant = task.conflicting & ~(task.unordered | claimed)
            if relevant and not task.meets_unknown:
                directions = task.task.directions
                key = (directions, relevant, task.raw)
                rewritten = plain.get(key)
                if rewritten is None:
                    rewritten = plain[key] = _rewritten_slots(directions, relevant, task.raw)
                kept = _kept_slots(task, touched) if rewritten else 0
                if kept:
                    rewritten = {slot: text for slot, text in rewritten.items() if not kept >> slot & 1}
                if rewritten:
                    decisions.slots += len(rewritten)
                    task.directions = tuple([rewritten.get(slot, text) for slot, text in enumerate(directions)])
        elif task.unordered:
            # A later task that is not ordered after what it meets: anything on that storage may be concerned.
            blocked.roots.update(access.root.key for access in task.accesses if task.unordered >> access.slot & 1)
    _mark(flow, hazards, blocked, decisions)
    return decisions


def _rewritten_slots(directions: tuple[str, ...], relevant: int, raw: int) -> dict[int, str]:
    """The new directions among the ``relevant`` slots: all their hazards are ordered explicitly."""
    found: dict[int, str] = {}
    for slot, direction in enumerate(directions):
        if not relevant >> slot & 1:
            continue
        if direction == INPUT:
            if raw >> slot & 1:
                found[slot] = NO_DEP
        elif direction == INOUT:
            found[slot] = OUTPUT_EXISTING
    return found


def _kept_slots(task: TaskHazards, touched: _Touched) -> int:
    """The slots, as bits, that keep their direction in any case."""
    kept = 0
    for access in task.accesses:
        if access.runtime or (touched.anything and touched.meets(access)):
            kept |= 1 << access.slot
    return kept


class _Touched:
    """The storage the orchestrator itself reads or copies, anywhere in the function."""

    def __init__(self, flow: Flow, lineage: Lineage) -> None:
        self._regions: RegionTable = lineage.roots.regions
        self._all = False
        self._parts: dict[object, RegionIndex[_Place]] = {}
        self.anything = bool(lineage.touches)
        for touches in lineage.touches.values():
            for touch in touches:
                if touch.submits:
                    continue
                if isinstance(touch.storage, Unsupported):
                    self._all = True
                    continue
                for root, region in lineage.regions(touch.storage):
                    index = self._parts.setdefault(root.key, RegionIndex())
                    index.add(_Place(self._anywhere(region)))

    def _anywhere(self, region: Region) -> Region:
        return self._regions.freed(region, sorted(region.indices, key=lambda index: index.serial))

    def meets(self, access: Access) -> bool:
        if self._all:
            return True
        index = self._parts.get(access.root.key)
        return index is not None and index.meets(self._anywhere(access.region))


@dataclass(eq=False, slots=True)
class _Place:
    region: Region


@dataclass
class _Blocked:
    """Bodies that hold an instance with a hazard that is not explicit."""

    bodies: set[Body] = field(default_factory=set)
    roots: set[object] = field(default_factory=set)
    """Storage all of whose accesses are blocked."""

    def add(self, task: TaskNode) -> None:
        body: Body | None = task.body
        while body is not None and body not in self.bodies:
            self.bodies.add(body)
            body = body.owner.parent if body.owner is not None else None


def _mark(flow: Flow, hazards: Hazards, blocked: _Blocked, decisions: Decisions) -> None:
    # Scopes are placed by a later pass only where the function is in default mode.
    if not flow.function.auto_scope or hazards.unknown_outside:
        return
    if blocked.roots:
        for task in hazards.tasks:
            if task.task.is_analyzed and any(access.root.key in blocked.roots for access in task.accesses):
                blocked.add(task.task)
    stack = [flow.top]
    while stack:
        body = stack.pop()
        for item in body.items:
            if isinstance(item, Construct):
                stack += item.bodies
        region = body.region
        owner = body.owner
        if region is None or not region.is_analyzed or region.touched or not body.holds_tasks or body in blocked.bodies:
            continue
        holds_scope = flow.holds_scope if owner is None else _holds_scope(body)
        takes_mark = owner is None or owner.kind in ("for", "parallel") or owner.op.name != "scf.execute_region"
        if takes_mark and not holds_scope and (owner is None or owner.kind != "while"):
            decisions.manual.add(body)


def _holds_scope(body: Body) -> bool:
    return any(isinstance(item, Construct) and item.holds_scope for item in body.items)
