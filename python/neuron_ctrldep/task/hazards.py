"""Hazards: which earlier ids each task conflicts with, found by memory SSA over ids.

One walk in program order carries, per storage root, who accessed what last (:mod:`~neuron_ctrldep.task.state`). A task
conflicts with the entries it overlaps; a write takes the place of the entries it covers, for it is going to follow
them. Where control flow joins, the changes of the joined paths become ids of their own: phis, choices, collections
(:mod:`~neuron_ctrldep.task.ids`). Nothing here knows which edges suffice: :mod:`~neuron_ctrldep.task.order` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from neuron_ctrldep.task.accesses import READS, WRITES, Access, AccessReader
from neuron_ctrldep.task.carried import CarriedIds
from neuron_ctrldep.task.claims import find_claims
from neuron_ctrldep.task.events import HAZARD_OF, Conflict, ConstructIds, Event, Hazards, TaskHazards
from neuron_ctrldep.task.flow import Body, Construct, Flow, PlainOp, TaskNode
from neuron_ctrldep.task.ids import Choice, Collected, Fence, Id, Join, Leaf, Unknown
from neuron_ctrldep.task.lineage import Lineage
from neuron_ctrldep.task.regions import Region
from neuron_ctrldep.task.state import (
    LAST_WRITERS,
    MAX_CARRIED,
    OUTSIDE_READERS,
    OUTSIDE_WRITERS,
    READERS,
    WRITERS_TO_FOLLOW,
    Change,
    Entry,
    EntryKey,
    Part,
    State,
    entry_key,
)
from neuron_ctrldep.task.storage import Root, Unsupported, is_private
from neuron_ctrldep.task.user_ids import UserIds, gathered, is_id

_MAX_OUTSIDE = 64
"""Up to so many tasks on one region that were not analyzed are told apart."""

SomeId = TypeVar("SomeId", bound=Id)

Summary = dict[tuple[Root, Region, bool], int]
"""For each root and region, analyzed or not, what the tasks of a body do to it, as seen at the body's end.

Each bit ``1 << does`` stands for accesses that do just that.
"""


def find_hazards(flow: Flow, lineage: Lineage, reader: AccessReader, *, supersede: bool = True) -> Hazards:
    """Walk ``flow``.

    Args:
        flow: the function; its regions of analysis know whether they fell back.
        lineage: where its storage lies.
        reader: for the accesses of its tasks.
        supersede: whether a later access may stand for the earlier ones it follows. Without it every conflict is found.
    """
    walk = _Walk(flow, lineage, reader, supersede)
    walk.body(flow.top)
    return walk.found


class _Walk:
    def __init__(self, flow: Flow, lineage: Lineage, reader: AccessReader, supersede: bool) -> None:
        self.found = Hazards()
        self.lineage = lineage
        self.regions = lineage.roots.regions
        self.reader = reader
        self.supersede = supersede
        self.state = State()
        self.user = UserIds(lineage.indices, self.new, self.found.no_task)
        self.summaries: dict[Body, Summary] = {}
        self.unknown_in: set[Body] = set()
        self.meets_unknown = False
        self._has_outside = False
        self._after: list[Event] = []
        """What is made where the construct just walked ends."""
        for item in flow.top.items:
            if isinstance(item, Construct):
                for body in item.bodies:
                    self._summarize(body)

    def new(self, kind: Callable[..., SomeId], **parts: Any) -> SomeId:
        node = kind(len(self.found.ids), **parts)
        self.found.ids.append(node)
        return node

    # --- what bodies do, before the walk ---

    def _summarize(self, body: Body) -> None:
        summary: Summary = {}
        for item in body.items:
            if isinstance(item, TaskNode):
                accesses, unsupported = self.reader.read(item)
                if unsupported and not item.is_analyzed:
                    self.unknown_in.add(body)
                for access in accesses:
                    key = (access.root, access.region, item.is_analyzed)
                    summary[key] = summary.get(key, 0) | 1 << access.does
            elif isinstance(item, Construct):
                for inner in item.bodies:
                    self._summarize(inner)
                    if inner in self.unknown_in:
                        self.unknown_in.add(body)
                    for (root, region, analyzed), does in self.summaries[inner].items():
                        key = (root, self.regions.freed(region, item.indices), analyzed)
                        summary[key] = summary.get(key, 0) | does
            else:
                for touch in self.lineage.touches.get(item.op, ()):
                    if not touch.submits:
                        continue
                    if isinstance(touch.storage, Unsupported):
                        self.unknown_in.add(body)
                        continue
                    for root, region in self.lineage.regions(touch.storage):
                        summary[root, region, False] = 1 << (READS | WRITES)
        self._has_outside |= not all(analyzed for _, _, analyzed in summary)
        self.summaries[body] = {key: does for key, does in summary.items() if not is_private(key[0], body)}

    # --- the walk ---

    def body(self, body: Body) -> None:
        events = self.found.events[body] = []
        for item in body.items:
            if isinstance(item, TaskNode):
                self._task(item, events)
            elif isinstance(item, Construct):
                self._construct(item, events)
            else:
                self._plain(item, events)

    def _plain(self, item: PlainOp, events: list[Event]) -> None:
        made = self.user.plain(item)
        if made is not None:
            events.append(made)
        for touch in self.lineage.touches.get(item.op, ()):
            if not touch.submits:
                continue
            if isinstance(touch.storage, Unsupported):
                self._meet_unknown()
                continue
            node = self.new(Leaf, task=None)
            for root, region in self.lineage.regions(touch.storage):
                self._add_outside(root, region, node, READS | WRITES)

    def _meet_unknown(self) -> None:
        self.meets_unknown = True
        self.found.unknown_outside = True

    def _task(self, task: TaskNode, events: list[Event]) -> None:
        accesses, unsupported = self.reader.read(task)
        user = [self.user[value] for value in task.deps]
        leaf = Leaf(len(self.found.ids), task=task)
        self.found.ids.append(leaf)
        conflicts: list[Conflict] = []
        found = TaskHazards(task, leaf, accesses, unsupported, user, conflicts)
        found.meets_unknown = self.meets_unknown
        for access in accesses:
            self._conflicts(access, conflicts)
        if task.is_analyzed:
            if self._has_outside:
                found.outside = [conflict for access in accesses for conflict in self._outside(access)]
            for access in accesses:
                self._record(access, leaf)
        else:
            for access in accesses:
                self._add_outside(access.root, access.region, leaf, access.does)
            if unsupported:
                self._meet_unknown()
        if task.is_submit:
            self.user[task.op.results[len(task.op.results) - 1]] = leaf
        self.found.tasks.append(found)
        events.append(found)

    def _conflicts(self, access: Access, conflicts: list[Conflict]) -> None:
        """Add those with analyzed tasks."""
        parts = self.state.parts(access.root)
        region, does, slot = access.region, access.does, access.slot
        if does & WRITES:
            for entry in parts[WRITERS_TO_FOLLOW].overlapping(region):
                conflicts.append((slot, entry.node, HAZARD_OF[entry.does][does]))
            # The other last writers are followed by a reader met here.
            for entry in parts[READERS].overlapping(region):
                conflicts.append((slot, entry.node, HAZARD_OF[entry.does][does]))
        else:
            for entry in parts[LAST_WRITERS].overlapping(region):
                conflicts.append((slot, entry.node, HAZARD_OF[entry.does][does]))

    def _outside(self, access: Access) -> Iterator[Conflict]:
        """Those with tasks that were not analyzed."""
        parts = self.state.parts(access.root)
        for number in (OUTSIDE_WRITERS, OUTSIDE_READERS) if access.does & WRITES else (OUTSIDE_WRITERS,):
            for entry in parts[number].overlapping(access.region):
                yield access.slot, entry.node, HAZARD_OF[entry.does][access.does]

    def _record(self, access: Access, leaf: Leaf) -> None:
        root, region, does = access.root, access.region, access.does
        state = self.state
        last_writers, writers_to_follow, readers, _, _ = state.parts(root)
        if not self.supersede:
            for part in (last_writers, writers_to_follow) if does & WRITES else (readers,):
                state.add(part, Entry(root, region, leaf, does))
        elif does & WRITES:
            state.supersede(last_writers, region, Entry(root, region, leaf, does))
            state.supersede(writers_to_follow, region, Entry(root, region, leaf, does))
            state.supersede(readers, region, None)
        else:
            state.supersede(writers_to_follow, region, None)
            state.add(readers, Entry(root, region, leaf, does))

    def _add_outside(self, root: Root, region: Region, node: Id, does: int) -> None:
        self._has_outside = True
        part = self.state.parts(root)[OUTSIDE_WRITERS if does & WRITES else OUTSIDE_READERS]
        present = part.at(region)
        if len(present) >= _MAX_OUTSIDE:
            # None of them can get an edge: from here on one id, never known to be complete, stands for all.
            for entry in present:
                self.state.remove(part, entry)
                does |= entry.does
            node = present[0].node if isinstance(present[0].node, Unknown) else self.new(Unknown)
        self.state.add(part, Entry(root, region, node, does))

    # --- control flow ---

    def _construct(self, construct: Construct, events: list[Event]) -> None:
        ids = ConstructIds(construct, len(self.found.ids))
        if any(body in self.unknown_in for body in construct.bodies) and construct.kind in ("for", "while"):
            self._meet_unknown()
        if construct.kind == "branch":
            self._branch(ids)
        elif construct.kind == "parallel":
            self._parallel(ids)
        else:
            self._loop(ids, events)
        events.append(ids)
        events += self._after
        self._after = []

    def changes(self, mark: int, body: Body) -> Change:
        """The net changes of ``body``, without storage that exists within one run of it only."""
        removed, added = self.state.changes(mark)
        return removed, {entry: part for entry, part in added.items() if not is_private(entry.root, body)}

    # Branches.

    def _branch(self, ids: ConstructIds) -> None:
        construct = ids.construct
        mark = self.state.mark()
        changes: list[Change] = []
        unknown = False
        before = self.meets_unknown
        for body in construct.bodies:
            self.meets_unknown = before
            self.body(body)
            unknown |= self.meets_unknown
            changes.append(self.changes(mark, body))
            self.state.rewind(mark)
        self.meets_unknown = unknown or before
        if construct.op.name == "scf.if" and len(construct.bodies) == 1:
            changes.append(({}, {}))
        self.state.release()
        for position, result in enumerate(construct.op.results):
            if is_id(result.type):
                alternatives = tuple(self.user[body.returned[position]] for body in construct.bodies)
                choice = self.new(Choice, construct=construct, alternatives=alternatives)
                self.user[result] = choice
                ids.choices.append(choice)
        self._merge(ids, changes)

    def _merge(self, ids: ConstructIds, changes: list[Change]) -> None:
        """Apply the changes of the bodies of a branch: what differs between them becomes a choice."""
        nobody = self.found.no_task
        rows: dict[EntryKey, list[list[Id]]] = {}
        origins: dict[EntryKey, tuple[Root, int]] = {}
        touched: dict[Entry, Part] = {}
        for removed, _ in changes:
            touched.update(removed)
        for entry, part in touched.items():
            key = entry_key(part, entry)
            rows.setdefault(key, []).append([nobody if entry in removed else entry.node for removed, _ in changes])
            origins[key] = (entry.root, origins.get(key, (None, 0))[1] | entry.does)
            self.state.remove(part, entry)
        for which, (_, added) in enumerate(changes):
            for entry, part in added.items():
                key = entry_key(part, entry)
                present = rows.setdefault(key, [])
                free = [row for row in present if row[which] is nobody]
                if free:
                    free[0][which] = entry.node
                elif len(present) < MAX_CARRIED:
                    present.append([entry.node if i == which else nobody for i in range(len(changes))])
                else:
                    present[-1][which] = self._joined(ids, which, present[-1][which], entry.node)
                origins[key] = (entry.root, origins.get(key, (None, 0))[1] | entry.does)
        made: dict[tuple[Id, ...], Choice] = {}
        for (part, region, carried), alternatives in rows.items():
            root, does = origins[part, region, carried]
            for row in map(tuple, alternatives):
                if all(node is nobody for node in row):
                    continue
                choice = made.get(row)
                if choice is None:
                    choice = made[row] = self.new(Choice, construct=ids.construct, alternatives=row)
                    ids.choices.append(choice)
                self.state.add(part, Entry(root, region, choice, does, carried))
        self._fence(ids.construct, rows)

    def _fence(self, construct: Construct, keys: Iterable[EntryKey]) -> None:
        """Join entries of one key that became many: a later access has to follow each of them otherwise."""
        for part, region, carried in dict.fromkeys(keys):
            entries = [entry for entry in part.at(region) if entry.carried is carried]
            if len(entries) <= MAX_CARRIED:
                continue
            does = 0
            for entry in entries:
                self.state.remove(part, entry)
                does |= entry.does
            fence = self.new(Fence, members=tuple(entry.node for entry in entries), construct=construct)
            self._after.append(fence)
            self.state.add(part, Entry(entries[0].root, region, fence, does, carried))

    def _joined(self, ids: ConstructIds, which: int, *nodes: Id) -> Id:
        """A join at the end of a body."""
        join = self.new(Join, members=nodes)
        bodies = ids.construct.bodies
        if which < len(bodies):
            self.found.events[bodies[which]].append(join)
        return join

    # Parallel loops.

    def _parallel(self, ids: ConstructIds) -> None:
        construct = ids.construct
        body = construct.bodies[0]
        mark = self.state.mark()
        self.body(body)
        removed, added = self.changes(mark, body)
        self.state.rewind(mark)
        self.state.release()
        find_claims(body, self.reader, self.regions, self.found.claimed)
        for value, initial, joined in self.user.reductions(construct):
            if joined is None:
                self.user[value] = initial if construct.op.name == "scf.parallel" else self.found.no_task
                continue
            collected = gathered(self.new, construct, joined)
            ids.collected.append(collected)
            join = self.new(Join, members=(initial, collected))
            self._after.append(join)
            self.user[value] = join
        if construct.runs_at_least_once:
            for entry, part in removed.items():
                self.state.remove(part, entry)
        made: dict[Id, Collected] = {}
        keys: list[EntryKey] = []
        for entry, part in added.items():
            node = made.get(entry.node)
            if node is None:
                node = made[entry.node] = gathered(self.new, construct, entry.node)
                ids.collected.append(node)
            region = self.regions.freed(entry.region, construct.indices)
            self.state.add(part, Entry(entry.root, region, node, entry.does, entry.carried))
            keys.append((part, region, entry.carried))
        self._fence(construct, keys)

    # Sequential loops.

    def _loop(self, ids: ConstructIds, events: list[Event]) -> None:
        construct = ids.construct
        loop = CarriedIds(self, ids)
        loop.carry(events)
        mark = self.state.mark()
        loop.enter()
        inner = self.state.mark()
        self.body(construct.bodies[0])
        if construct.kind == "while":
            loop.hand_over(inner)
            self.body(construct.bodies[1])
        loop.close(self.changes(inner, construct.bodies[-1]))
        self.state.release()
        self.state.rewind(mark)
        loop.leave()
        self.state.release()
