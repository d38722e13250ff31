"""Which edges suffice: what is complete when each task starts, found by one walk in program order.

Within an iteration that is reachability over edges (:mod:`~neuron_ctrldep.task.facts`). Where control flow joins, a
fact holds that holds on each way: for phis it is assumed first and dropped when the end of the loop does not bear it
out, which is induction over iterations. Facts only ever disappear, so the walks over a loop end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from neuron_ctrldep.task.events import RAW, Conflict, ConstructIds, Event, Hazards, TaskHazards
from neuron_ctrldep.task.facts import Facts, Table, ways_of, yielded_by
from neuron_ctrldep.task.flow import Body, Construct
from neuron_ctrldep.task.ids import (
    Choice,
    Collected,
    Final,
    Handed,
    Id,
    IdTensor,
    Insert,
    Join,
    Leaf,
    NoTask,
    Phi,
    flatten,
    resolve,
)
from neuron_ctrldep.task.reduction import LOOKED_THROUGH, Reduction


def order(hazards: Hazards, top: Body, *, keep_redundant: bool = False) -> None:
    """Choose the edges, and note at each task of ``hazards`` what follows.

    Args:
        hazards: what the hazard walk found.
        top: the body of the function.
        keep_redundant: whether to list every conflicting predecessor that no edge of the user's orders.
    """
    _OrderWalk(hazards, top, keep_redundant).run(top)


class _OrderWalk:
    def __init__(self, hazards: Hazards, top: Body, keep_redundant: bool) -> None:
        self.hazards = hazards
        self.keep_redundant = keep_redundant
        self.facts = Facts()
        self.assumed: dict[Phi, tuple[int, int]] = {}
        homes: dict[Construct, ConstructIds] = {
            event.construct: event
            for events in hazards.events.values()
            for event in events
            if isinstance(event, ConstructIds)
        }
        self.reduction = Reduction(self.facts, homes, top, keep_redundant=keep_redundant)

    # --- the walk ---

    def run(self, top: Body) -> None:
        """Walk the body of the function, letting go of ids after their last use."""
        events = self.hazards.events[top]
        self._last_uses(events)
        ids = self.hazards.ids
        dying = sorted([node for node in ids if node.last_use >= 0], key=attrgetter("last_use"), reverse=True)
        for number, event in enumerate(events):
            self._event(event)
            if isinstance(event, TaskHazards):
                event.conflicts = event.outside = ()  # no loop comes back to them
            while dying and dying[-1].last_use <= number:
                self.facts.forget(dying.pop())
            self.facts.shorten(_serial(event))

    def _last_uses(self, events: Sequence[Event]) -> None:
        """For each id the last item of the function's body in which it is looked at."""
        stack: list[Event] = []
        for number, event in enumerate(events):
            stack.append(event)
            while stack:
                inner = stack.pop()
                if isinstance(inner, TaskHazards):
                    inner.leaf.last_use = number
                    for _, node, _ in inner.conflicts:
                        _use(node, number)
                    for _, node, _ in inner.outside:
                        _use(node, number)
                    for node in inner.user:
                        _use(node, number)
                elif isinstance(inner, ConstructIds):
                    for body in inner.construct.bodies:
                        stack += self.hazards.events[body]
                    for nodes in _exchanged(inner):
                        for node in nodes:
                            _use_made(node, number)
                else:
                    _use_made(inner, number)

    def _body(self, body: Body) -> None:
        for event in self.hazards.events[body]:
            self._event(event)

    def _event(self, event: Event) -> None:
        if isinstance(event, TaskHazards):
            self._task(event)
        elif isinstance(event, ConstructIds):
            self._construct(event)
        elif isinstance(event, Insert):
            known = self.facts.upto(event.value)
            self.facts.set(event, known | self.facts.upto(event.tensor) if event.keeps else known)
        else:
            self.facts.set(event, self.facts.all_upto(event.sources()))

    # --- control flow ---

    def _construct(self, ids: ConstructIds) -> None:
        construct = ids.construct
        if construct.kind in ("for", "while"):
            self._loop(ids)
            return
        for body in construct.bodies:
            self._body(body)
        if construct.kind == "branch":
            self._leave(ids, [(choice, choice.alternatives) for choice in ids.choices])
        else:
            exits: list[tuple[Id, Sequence[Id]]] = [(node, (node.source,)) for node in ids.collected]
            self._leave(ids, exits, always=construct.runs_at_least_once)

    def _leave(self, ids: ConstructIds, exits: Sequence[tuple[Id, Sequence[Id]]], *, always: bool = True) -> None:
        """Each exit is one of its alternatives; facts hold that hold for each of them in turn.

        Without ``always`` there may be no run at all, in which only other exits of this construct are complete too.
        """
        outer = self.facts.before(ids.start)
        known = [[self.facts.upto(source) for source in sources] for _, sources in exits]
        related = self._related(exits, known)
        for (node, sources), ways, others in zip(exits, known, related, strict=True):
            # An alternative that is no task bears out no fact at all: its set is empty.
            after = (outer if always else 0) if sources else 0
            for way in ways:
                after &= way
            self.facts.set(node, after | others)
            if isinstance(node, Choice | Final | Collected) or (isinstance(node, Handed) and node.outside):
                node.ways = tuple(ways)

    def _related(self, exits: Sequence[tuple[Id, Sequence[Id]]], known: list[list[int]]) -> list[int]:
        """For each exit the exits that are complete when it is, way by way."""
        if not exits:
            return []
        bits = [self.facts.bit(node) for node, _ in exits]
        everything = 0
        for bit in bits:
            everything |= bit
        related = [everything] * len(exits)
        for way in range(len(exits[0][1])):
            table = Table(self.facts, [(bit, sources[way]) for bit, (_, sources) in zip(bits, exits, strict=True)])
            for number, sets in enumerate(known):
                related[number] &= table.complete(sets[way])
        return related

    def _loop(self, ids: ConstructIds) -> None:
        construct = ids.construct
        outer = self.facts.before(ids.start)
        phis = ids.phis
        initial: list[tuple[Id, Sequence[Id]]] = [(phi, (phi.initial,)) for phi in phis]
        known = [[self.facts.upto(phi.initial)] for phi in phis]
        for phi, sets, others in zip(phis, known, self._related(initial, known), strict=True):
            before, between = self.assumed.get(phi, (-1, -1))
            self.assumed[phi] = (sets[0] & outer & before, others & between)
            phi.ways = (sets[0],) if construct.runs_at_most_once else (sets[0], phi.ways[1] if phi.ways else -1)
        while True:
            for phi in phis:
                before, between = self.assumed[phi]
                self.facts.set(phi, before | between)
            self._body(construct.bodies[0])
            if construct.kind == "while":
                self._leave(ids, [(node, (node.source,)) for node in ids.handed_in])
                self._body(construct.bodies[1])
            yielded: list[tuple[Id, Sequence[Id]]] = [(phi, (yielded_by(phi),)) for phi in phis]
            ends = [[self.facts.upto(yielded_by(phi))] for phi in phis]
            changed = False
            related = self._related(yielded, ends)
            if construct.runs_at_most_once:
                break
            for phi, sets in zip(phis, ends, strict=True):
                # What holds of sets of phis is found with these.
                changed |= phi.ways[1] != sets[0]
                phi.ways = (phi.ways[0], sets[0])
            for phi, sets, others in zip(phis, ends, related, strict=True):
                before, between = self.assumed[phi]
                now = (before & sets[0], between & others)
                changed |= now != (before, between)
                self.assumed[phi] = now
            if not changed:
                break
        if construct.kind == "while":
            self._leave(ids, [(node, (node.source,)) for node in ids.handed_out])
        else:
            self._leave(ids, [(final, ways_of(final)) for final in ids.finals])

    # --- tasks ---

    def _task(self, task: TaskHazards) -> None:
        facts = self.facts
        user = facts.all_upto(task.user) if task.user else 0
        task.unordered = 0
        kinds = self._conflicts(task)
        # The same as ``facts.bit``, which is too dear to call for each conflict of each task.
        base, leaf = facts.base, task.leaf
        if task.task.is_analyzed:
            complete = user
            for node in kinds:
                complete |= node.after
            kept = []
            for node in kinds:
                place = node.serial - base
                if user and facts.holds(user, node):
                    continue
                if place < 0 or not complete >> place & 1 or self.keep_redundant or not self._implied(node, kinds):
                    kept.append(node)
            given = flatten(task.user) if task.user else []
            simple = not given
            for node in kinds:
                place = node.serial - base
                if place >= 0:
                    complete |= 1 << place
                simple = simple and not node.ways and not isinstance(node, Handed)
            if not simple and any(node.ways or isinstance(node, Handed) for node in (*kinds, *given)):
                taken = self.reduction.taken_at(task.task.body)
                kept = self.reduction.without_implied(kept, user, given, taken)
                complete = self.reduction.together(complete, [*kinds, *given], taken)
            task.edges = (
                tuple(kinds.items()) if len(kept) == len(kinds) else tuple([(node, kinds[node]) for node in kept])
            )
        else:
            complete = user
            for slot, conflict, _ in task.conflicts:
                if not facts.holds(user, conflict):
                    task.unordered |= 1 << slot
        for slot, conflict, what in task.outside:
            if facts.holds(0, conflict):
                continue
            task.conflicting |= 1 << slot
            if what & RAW:
                task.raw |= 1 << slot
            if not facts.holds(complete, conflict):
                task.unordered |= 1 << slot
        place = leaf.serial - base
        leaf.after = complete & ~(1 << place) if place >= 0 and complete >> place else complete
        facts.live[leaf] = None

    def _conflicts(self, task: TaskHazards) -> dict[Id, int]:
        """The hazards with each id, in argument order, then program order."""
        kinds: dict[Id, int] = {}
        conflicting = raw = 0
        for slot, conflict, what in _in_order(task.conflicts):
            if isinstance(conflict, Leaf):
                kinds[conflict] = kinds.get(conflict, 0) | what
            else:
                found = False
                for node in flatten([conflict]):
                    if isinstance(node, Leaf) or not self.facts.holds(0, node):
                        kinds[node] = kinds.get(node, 0) | what
                        found = True
                if not found:
                    continue  # it is no task whenever this one runs
            conflicting |= 1 << slot
            if what & RAW:
                raw |= 1 << slot
        task.conflicting, task.raw = conflicting, raw
        return kinds

    def _implied(self, node: Id, nodes: Iterable[Id]) -> bool:
        """Whether another of ``nodes`` is complete only after ``node``. Of equal ones the first is kept."""
        bit = self.facts.bit(node)
        first = True
        for other in nodes:
            if other is node:
                first = False
            elif other.after & bit and (first or not node.after & self.facts.bit(other)):
                return True
        return False


def _serial(event: Event) -> int:
    """The serial number of an id made in ``event``."""
    if isinstance(event, TaskHazards):
        return event.leaf.serial
    return event.start if isinstance(event, ConstructIds) else event.serial


def _in_order(conflicts: Sequence[Conflict]) -> Sequence[Conflict]:
    if len(conflicts) < 2:
        return conflicts
    return sorted(conflicts, key=lambda conflict: (conflict[0], conflict[1].serial))


def _exchanged(ids: ConstructIds) -> tuple[Sequence[Id], ...]:
    return ids.phis, ids.finals, ids.choices, ids.handed_in, ids.handed_out, ids.collected


def _use_made(node: Id, number: int) -> None:
    """``node`` is made in item ``number``."""
    _use(node, number)
    for source in node.sources():
        _use(source, number)


def _use(node: Id, number: int) -> None:
    """``node`` is looked at in item ``number``, and so is what it is made of, through a few constructs."""
    if isinstance(node, Leaf):
        node.last_use = number
        return
    level = [node]
    for _ in range(LOOKED_THROUGH + 1):
        further: list[Id] = []
        while level:
            current = resolve(level.pop())
            if current.last_use < number and not isinstance(current, NoTask):
                current.last_use = number
                (level if isinstance(current, Join | IdTensor | Final) else further).extend(current.sources())
        level = further
