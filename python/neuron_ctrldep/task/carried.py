"""The ids a sequential loop carries: phis where an iteration begins, and what they are after the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.accesses import READS, WRITES
from neuron_ctrldep.task.events import ConstructIds, Event, Hazards
from neuron_ctrldep.task.flow import Body, Construct
from neuron_ctrldep.task.ids import Final, Handed, Id, Join, NoTask, Phi, resolve
from neuron_ctrldep.task.regions import Region, RegionTable
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
from neuron_ctrldep.task.storage import Root, is_private
from neuron_ctrldep.task.user_ids import UserIds, is_id


class Walk(Protocol):
    """What the hazard walk lends."""

    state: State
    regions: RegionTable
    user: UserIds
    found: Hazards
    supersede: bool
    summaries: dict[Body, dict[tuple[Root, Region, bool], int]]

    @property
    def new(self) -> Callable[..., Any]:
        """Makes an id with the next serial number."""
        ...

    def changes(self, mark: int, body: Body) -> Change:
        """The net changes of a body."""
        ...


@dataclass(eq=False, slots=True)
class _Slot:
    """One carried id of the state."""

    part: Part
    incoming: Entry | None
    """What it stands for when the loop begins; ``None``: nothing yet."""
    entry: Entry
    """Its entry inside the loop; the node is the phi."""
    phi: Phi
    final_region: Region


@dataclass(eq=False, slots=True)
class _HandedEntry:
    part: Part
    inside: Handed
    outside: Handed
    entry: Entry


class CarriedIds:
    """The carried ids of one loop, through the stages of the walk over it: carry, enter, (hand over,) close, leave."""

    def __init__(self, walk: Walk, ids: ConstructIds) -> None:
        self._walk = walk
        self._ids = ids
        self._construct: Construct = ids.construct
        self._slots: dict[EntryKey, list[_Slot]] = {}
        self._handed: list[_HandedEntry] = []
        self._user: list[tuple[Phi, ir.Value, ir.Value]] = []

    # --- before the loop ---

    def carry(self, events: list[Event]) -> None:
        """Choose what to carry: entries the loop may supersede, and all the loop may leave behind."""
        regions, state = self._walk.regions, self._walk.state
        indices = self._construct.indices
        touched: dict[Entry, Part] = {}
        made: dict[EntryKey, tuple[Root, int, Region]] = {}
        for body in self._construct.bodies:
            for (root, region, analyzed), variants in self._walk.summaries[body].items():
                parts = state.parts(root)
                everywhere = regions.freed(region, indices)
                carried = regions.earlier(region, indices)
                if analyzed and self._walk.supersede:
                    only_reads = variants == 1 << READS
                    numbers = (WRITERS_TO_FOLLOW,) if only_reads else (LAST_WRITERS, WRITERS_TO_FOLLOW, READERS)
                    for number in numbers:
                        for entry in parts[number].overlapping(everywhere):
                            touched[entry] = parts[number]
                for number, does in _left_behind(variants, analyzed):
                    key = (parts[number], carried, self._frame(carried, None))
                    made[key] = (root, made[key][1] | does if key in made else does, everywhere)
        groups: dict[EntryKey, list[Entry]] = {}
        for entry, part in touched.items():
            groups.setdefault(entry_key(part, entry), []).append(entry)
        self._ids.start = len(self._walk.found.ids)
        for key, entries in groups.items():
            part, region, frame = key
            if len(entries) > MAX_CARRIED:
                join = self._walk.new(Join, members=tuple(entry.node for entry in entries))
                self._ids.start = len(self._walk.found.ids)
                events.append(join)
                does = 0
                for entry in entries:
                    state.remove(part, entry)
                    does |= entry.does
                entries[:] = [Entry(entries[0].root, region, join, does, frame)]
                state.add(part, entries[0])
        for key, entries in groups.items():
            does = made[key][1] if key in made else 0
            for entry in entries:
                self._slot(key, entry.root, entry, entry.does | does, entry.region)
        for key, (root, does, everywhere) in made.items():
            self._slot(key, root, None, does, everywhere)
        self._carry_user()

    def _slot(self, key: EntryKey, root: Root, incoming: Entry | None, does: int, final: Region) -> None:
        part, region, frame = key
        initial: Id = incoming.node if incoming is not None else self._walk.found.no_task
        phi = self._phi(initial)
        slot = _Slot(part, incoming, Entry(root, region, phi, does, frame), phi, final)
        self._slots.setdefault(key, []).append(slot)

    def _phi(self, initial: Id) -> Phi:
        phi: Phi = self._walk.new(Phi, construct=self._construct, initial=initial)
        self._ids.phis.append(phi)
        return phi

    def _frame(self, region: Region, frame: Construct | None) -> Construct | None:
        """Whose earlier iterations ``region`` means, once carried by this loop."""
        return self._construct if any(index in region.indices for index in self._construct.indices) else frame

    def _carry_user(self) -> None:
        op = self._construct.op
        skipped = 3 if self._construct.kind == "for" else 0
        first, last = self._construct.bodies[0], self._construct.bodies[-1]
        arguments = first.arguments[1:] if skipped else first.arguments
        for value, argument, returned in zip(list(op.operands)[skipped:], arguments, last.returned, strict=True):
            if is_id(value.type):
                phi = self._phi(self._walk.user[value])
                self._walk.user[argument] = phi
                self._user.append((phi, argument, returned))

    def enter(self) -> None:
        """Let the state say what it is at the start of an iteration."""
        for slots in self._slots.values():
            for slot in slots:
                if slot.incoming is not None:
                    self._walk.state.remove(slot.part, slot.incoming)
                self._walk.state.add(slot.part, slot.entry)

    # --- between the bodies of scf.while ---

    def hand_over(self, mark: int) -> None:
        """The second body sees what the first one hands it."""
        first, second = self._construct.bodies
        state = self._walk.state
        removed, added = state.changes(mark)
        live = [(s.part, s.entry) for slots in self._slots.values() for s in slots if s.entry not in removed]
        live += [(part, entry) for entry, part in added.items()]
        for part, entry in live:
            state.remove(part, entry)
            if is_private(entry.root, first):
                continue
            inside = self._handed_id(entry.node, outside=False)
            outside = self._handed_id(entry.node, outside=True)
            handed = Entry(entry.root, entry.region, inside, entry.does, entry.carried)
            state.add(part, handed)
            self._handed.append(_HandedEntry(part, inside, outside, handed))
        for value, argument, result in zip(first.returned, second.arguments, self._construct.op.results, strict=True):
            if is_id(value.type):
                node = self._walk.user[value]
                self._walk.user[argument] = self._handed_id(node, outside=False)
                self._walk.user[result] = self._handed_id(node, outside=True)

    def _handed_id(self, source: Id, *, outside: bool) -> Handed:
        node: Handed = self._walk.new(Handed, construct=self._construct, source=source, outside=outside)
        (self._ids.handed_out if outside else self._ids.handed_in).append(node)
        return node

    # --- at the end of an iteration ---

    def close(self, changes: Change) -> None:
        """Give each phi what the loop yields for it."""
        removed, added = changes
        regions, indices = self._walk.regions, self._construct.indices
        own: dict[Id, _Slot] = {slot.phi: slot for slots in self._slots.values() for slot in slots}
        new: dict[EntryKey, list[Id]] = {}
        for slot in own.values():
            if slot.entry not in removed:
                slot.phi.yielded = slot.phi
        for entry, part in added.items():
            region = entry.region if entry.carried is self._construct else regions.earlier(entry.region, indices)
            key = (part, region, self._frame(region, entry.carried))
            node = resolve(entry.node)
            unchanged = own.get(resolve(node.source)) if isinstance(node, Handed) else None
            if unchanged is not None and key == entry_key(unchanged.part, unchanged.entry):
                unchanged.phi.yielded = node
            else:
                new.setdefault(key, []).append(node)
        for key, nodes in new.items():
            self._share_out(self._slots[key], nodes)
        for phi, _, returned in self._user:
            phi.yielded = resolve(self._walk.user[returned])
        self._simplify()
        for phi, _, _ in self._user:
            self._walk.user.close_loop(phi)

    def _share_out(self, slots: list[_Slot], nodes: list[Id]) -> None:
        """Each new id gets a phi of its own while there are any; the last one takes the rest, on top of what it has."""
        free = [slot for slot in slots if slot.phi.yielded is None]
        nodes = sorted(dict.fromkeys(nodes), key=lambda node: node.serial)
        for slot in free:
            if not nodes:
                return
            slot.phi.yielded = nodes.pop(0)
        if nodes:
            last = slots[-1].phi
            assert last.yielded is not None
            join = self._walk.new(Join, members=(last.yielded, *nodes))
            self._walk.found.events[self._construct.bodies[-1]].append(join)
            last.yielded = join

    def _simplify(self) -> None:
        """Phis that never change, or that are equal, become one id."""
        nobody = self._walk.found.no_task
        seen: dict[tuple[Id, Id], Phi] = {}
        for phi in self._ids.phis:
            if phi.yielded is None:
                phi.yielded = nobody
            initial, yielded = resolve(phi.initial), phi.yielded
            back = resolve(yielded.source) if isinstance(yielded, Handed) else yielded
            if back is phi or yielded is initial:
                phi.forward = initial
            else:
                twin = seen.setdefault((initial, yielded), phi)
                if twin is not phi:
                    phi.forward = twin
        for node in (*self._ids.handed_in, *self._ids.handed_out):
            source = resolve(node.source)
            if source.serial < self._ids.start:
                node.forward = source
        self._ids.phis = [phi for phi in self._ids.phis if phi.forward is None]

    # --- after the loop ---

    def leave(self) -> None:
        """Let the state say what it is after the loop."""
        state = self._walk.state
        finals: dict[Id, Final] = {}
        for slots in self._slots.values():
            for slot in slots:
                phi = resolve(slot.phi)
                if not isinstance(phi, Phi) or phi.construct is not self._construct:
                    continue  # the loop leaves it as it was
                if slot.incoming is not None:
                    state.remove(slot.part, slot.incoming)
                if self._construct.kind == "for":
                    frame = slot.incoming.carried if slot.incoming is not None else None
                    final = self._final(phi, finals)
                    entry = slot.entry
                    if not isinstance(final, NoTask):
                        state.add(slot.part, Entry(entry.root, slot.final_region, final, entry.does, frame))
        for handed in self._handed:
            node = handed.outside
            if node.forward is None:
                entry = handed.entry
                state.add(handed.part, Entry(entry.root, entry.region, node, entry.does, entry.carried))
        self._ids.handed_in = [node for node in self._ids.handed_in if node.forward is None]
        self._ids.handed_out = [node for node in self._ids.handed_out if node.forward is None]
        if self._construct.kind == "for":
            for phi, argument, _ in self._user:
                resolved = resolve(phi)
                result = self._construct.op.results[self._construct.bodies[0].arguments.index(argument) - 1]
                if isinstance(resolved, Phi) and resolved.construct is self._construct:
                    resolved = self._final(resolved, finals)
                self._walk.user[result] = resolved

    def _final(self, phi: Phi, finals: dict[Id, Final]) -> Id:
        assert phi.yielded is not None
        yielded = resolve(phi.yielded)
        if self._construct.never_runs:
            return resolve(phi.initial)
        if self._construct.runs_at_least_once and yielded.serial < self._ids.start:
            return yielded
        final = finals.get(phi)
        if final is None:
            final = finals[phi] = self._walk.new(Final, phi=phi)
            self._ids.finals.append(final)
        return final


def _left_behind(variants: int, analyzed: bool) -> Iterator[tuple[int, int]]:
    """The parts of the state in which accesses leave entries, with what they do; ``variants`` as in a summary."""
    writers = 0
    for does in (WRITES, READS | WRITES):
        if variants >> does & 1:
            writers |= does
    if writers:
        yield from ((part, writers) for part in ((LAST_WRITERS, WRITERS_TO_FOLLOW) if analyzed else (OUTSIDE_WRITERS,)))
    if variants >> READS & 1:
        yield (READERS if analyzed else OUTSIDE_READERS), READS
