"""Which ids are complete whenever another one is, and so which edges suffice.

``id.after`` holds, as bits, the ids that are complete whenever ``id`` is. Within an iteration that is reachability over
edges. Where control flow joins, a fact holds that holds on each way: for phis it is assumed first and dropped when the
end of the loop does not bear it out, which is induction over iterations. Facts only ever disappear, so the walks over
a loop end. What is left over when an id goes out of use is dropped too, so that memory stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.events import RAW, Conflict, ConstructIds, Event, Hazards, TaskHazards
from neuron_ctrldep.task.flow import Body, Construct
from neuron_ctrldep.task.ids import (
    Choice,
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

_MEMORY_BITS = 1 << 28
"""About how many bits all ``after`` sets together may take; beyond, facts on the oldest ids are forgotten."""


_WINDOW = 1 << 14
"""Facts on ids that are older than this many are forgotten in any case: long sets would make long programs slower."""

_FORGET_EVERY = 256

_TABLE_DEPTH = 3
"""The same, where many ids are compared with each other."""

_DEPTH = 6
"""How many constructs are looked through for what ids imply together."""

_BUDGET = 100_000
"""How often, in one function, that is done at all: it finds edges that can be left out, and costs time."""

_FEW = 32
"""Up to so many ids that leave a construct are all looked at together."""

_MAX_DEPTH = 8
"""How many ids made of ids are looked through: without a limit, long chains of branches would take quadratic time."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is known of decisions because a place was reached at all."""

    branches: dict[ir.Value, int]
    """Conditions, with the branch they led into."""
    ranges: frozenset[tuple[object, ...]]
    """Ranges of loops that are not empty."""

    def possible(self, construct: Construct, way: int) -> bool:
        """Whether ``construct``, a branch or a sequential loop that may not run, can have gone this way."""
        if construct.condition is not None:
            return self.branches.get(construct.condition, way) == way
        return way > 0 or not construct.ranges or construct.ranges[0] not in self.ranges


_NOTHING = _Taken({}, frozenset())


@dataclass(eq=False, slots=True)
class Ordered:
    """What holds for one task when all its edges are in place."""

    edges: list[tuple[Id, int]] = field(default_factory=list)
    """The edges to add, with their hazards: argument order, then program order."""
    conflicting: int = 0
    """The slots with a hazard with an earlier task, as bits."""
    raw: int = 0
    """The slots with a RAW hazard."""
    unordered: int = 0
    """The slots with a hazard that no explicit edge orders."""


@dataclass
class Order:
    """The result of :func:`order`."""

    tasks: dict[TaskHazards, Ordered] = field(default_factory=dict)


def order(hazards: Hazards, top: Body, *, keep_redundant: bool = False) -> Order:
    """Choose the edges.

    Args:
        hazards: what the hazard walk found.
        top: the body of the function.
        keep_redundant: whether to list every conflicting predecessor that no edge of the user's orders.
    """
    walk = _OrderWalk(hazards, top, keep_redundant)
    walk.run(top)
    return walk.found


class _OrderWalk:
    def __init__(self, hazards: Hazards, top: Body, keep_redundant: bool) -> None:
        self.hazards = hazards
        self.top = top
        self.keep_redundant = keep_redundant
        self.found = Order()
        self.base = 0
        self.budget = _BUDGET
        self.steady = _NOTHING
        self.live: dict[Id, None] = {}
        self.assumed: dict[Phi, tuple[int, int]] = {}
        self.homes: dict[Construct, ConstructIds] = {
            event.construct: event
            for events in hazards.events.values()
            for event in events
            if isinstance(event, ConstructIds)
        }

    # --- sets ---

    def bit(self, node: Id) -> int:
        """The bit of ``node``; none for ids that are too old to be spoken of."""
        place = node.serial - self.base
        return 1 << place if place >= 0 else 0

    def upto(self, node: Id) -> int:
        """``node`` and all that is complete when it is."""
        node = resolve(node)
        return 0 if isinstance(node, NoTask) else node.after | self.bit(node)

    def all_upto(self, nodes: Iterable[Id]) -> int:
        found = 0
        for node in nodes:
            found |= self.upto(node)
        return found

    def holds(self, known: int, node: Id, depth: int = _MAX_DEPTH) -> bool:
        """Whether ``node`` is complete when all of ``known`` are; where that takes too long to see, no."""
        node = resolve(node)
        if isinstance(node, NoTask) or known & self.bit(node):
            return True
        values = _values(node) if depth else None
        return values is not None and all(self.holds(known, value, depth - 1) for value in values)

    def set(self, node: Id, after: int) -> None:
        node.after = after & ~self.bit(node)
        self.live[node] = None

    # --- the walk ---

    def run(self, top: Body) -> None:
        """Walk the body of the function, letting go of ids after their last use."""
        events = self.hazards.events[top]
        self._last_uses(events)
        ends: dict[int, list[Id]] = {}
        for node in self.hazards.ids:
            if node.last_use >= 0:
                ends.setdefault(node.last_use, []).append(node)
        for number, event in enumerate(events):
            self._event(event)
            for node in ends.pop(number, ()):
                node.after, node.ways = 0, ()
                self.live.pop(node, None)
            if not number % _FORGET_EVERY:
                self._forget()

    def _last_uses(self, events: Sequence[Event]) -> None:
        """For each id the last item of the function's body in which it is looked at."""
        for number, event in enumerate(events):
            stack: list[Event] = [event]
            while stack:
                inner = stack.pop()
                if isinstance(inner, TaskHazards):
                    inner.leaf.last_use = number
                    for conflict in (*inner.conflicts, *inner.outside):
                        _use(conflict.node, number)
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

    def _forget(self) -> None:
        """Forget the oldest ids when there are too many facts."""
        newest = len(self.hazards.ids) if not self.live else next(reversed(self.live)).serial
        width = min(_WINDOW, max(4096, _MEMORY_BITS // max(1, len(self.live))))
        if newest - self.base <= 2 * width:
            return
        shift = newest - self.base - width
        self.base += shift
        for node in self.live:
            node.after >>= shift
            node.ways = tuple(way >> shift for way in node.ways)

    def _body(self, body: Body) -> None:
        for event in self.hazards.events[body]:
            self._event(event)

    def _event(self, event: Event) -> None:
        if isinstance(event, TaskHazards):
            self._task(event)
        elif isinstance(event, ConstructIds):
            self._construct(event)
        elif isinstance(event, Insert):
            known = self.upto(event.value)
            self.set(event, known | self.upto(event.tensor) if event.keeps else known)
        else:
            self.set(event, self.all_upto(event.sources()))

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
        outer = self._outer(ids)
        known = [[self.upto(source) for source in sources] for _, sources in exits]
        related = self._related(exits, known)
        for (node, sources), ways, others in zip(exits, known, related, strict=True):
            # An alternative that is no task bears out no fact at all: its set is empty.
            after = (outer if always else 0) if sources else 0
            for way in ways:
                after &= way
            self.set(node, after | others)
            if isinstance(node, Choice | Final) or (isinstance(node, Handed) and node.outside):
                node.ways = tuple(ways)

    def _related(self, exits: Sequence[tuple[Id, Sequence[Id]]], known: list[list[int]]) -> list[int]:
        """For each exit the exits that are complete when it is, way by way."""
        if not exits:
            return []
        bits = [self.bit(node) for node, _ in exits]
        everything = 0
        for bit in bits:
            everything |= bit
        related = [everything] * len(exits)
        for way in range(len(exits[0][1])):
            table = _Table(self, [(bit, sources[way]) for bit, (_, sources) in zip(bits, exits, strict=True)])
            for number, sets in enumerate(known):
                related[number] &= table.complete(sets[way])
        return related

    def _loop(self, ids: ConstructIds) -> None:
        construct = ids.construct
        outer = self._outer(ids)
        phis = ids.phis
        initial: list[tuple[Id, Sequence[Id]]] = [(phi, (phi.initial,)) for phi in phis]
        known = [[self.upto(phi.initial)] for phi in phis]
        for phi, sets, others in zip(phis, known, self._related(initial, known), strict=True):
            before, between = self.assumed.get(phi, (-1, -1))
            self.assumed[phi] = (sets[0] & outer & before, others & between)
            phi.ways = (sets[0],) if construct.runs_at_most_once else (sets[0], phi.ways[1] if phi.ways else -1)
        while True:
            for phi in phis:
                before, between = self.assumed[phi]
                self.set(phi, before | between)
            self._body(construct.bodies[0])
            if construct.kind == "while":
                self._leave(ids, [(node, (node.source,)) for node in ids.handed_in])
                self._body(construct.bodies[1])
            yielded: list[tuple[Id, Sequence[Id]]] = [(phi, (_yielded(phi),)) for phi in phis]
            ends = [[self.upto(_yielded(phi))] for phi in phis]
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
            self._leave(ids, [(final, _ways_of(final)) for final in ids.finals])

    # --- tasks ---

    def _task(self, task: TaskHazards) -> None:
        user = self.all_upto(task.user) if task.user else 0
        result = self.found.tasks[task] = Ordered()
        kinds: dict[Id, int] = {}
        for slot, conflict, what in _in_order(task.conflicts):
            conflict = resolve(conflict)
            for node in (conflict,) if isinstance(conflict, Leaf) else flatten([conflict]):
                if not isinstance(node, Leaf) and self.holds(0, node):
                    continue  # it is no task whenever this one runs
                kinds[node] = kinds.get(node, 0) | what
                result.conflicting |= 1 << slot
                if what & RAW:
                    result.raw |= 1 << slot
        if task.task.is_analyzed:
            nodes = list(kinds)
            complete = user
            for node in nodes:
                complete |= node.after
            kept = nodes if not user else [node for node in nodes if not self.holds(user, node)]
            if not self.keep_redundant:
                kept = [node for node in kept if not self._implied(node, nodes, complete)]
            given = flatten(task.user) if task.user else []
            complete |= self.all_upto(nodes)
            if any(node.ways or isinstance(node, Handed) for node in (*nodes, *given)):
                taken, self.steady = _taken(task.task.body, self.top)
                kept = self._without_implied(kept, user, given, taken)
                complete = self._together(complete, [*nodes, *given], taken)
            result.edges = [(node, kinds[node]) for node in kept]
        else:
            complete = user
            for slot, conflict, _ in task.conflicts:
                if not self.holds(user, conflict):
                    result.unordered |= 1 << slot
        for slot, conflict, what in task.outside:
            if self.holds(0, conflict):
                continue
            result.conflicting |= 1 << slot
            if what & RAW:
                result.raw |= 1 << slot
            if not self.holds(complete, conflict):
                result.unordered |= 1 << slot
        self.set(task.leaf, complete)

    def _without_implied(self, nodes: list[Id], user: int, given: list[Id], taken: _Taken) -> list[Id]:
        """``nodes`` without those that the others and the user's edges imply together.

        One after the other is left out, so that what is left implies all that was left out. An edge that only the
        user's edges imply goes even where all others are wanted.
        """
        kept = list(nodes)
        for node in nodes:
            others = [other for other in kept if other is not node] if not self.keep_redundant else []
            if others or given:
                known = self._together(user | self.all_upto(others), [*others, *given], taken)
                if self._implies(known, node, _DEPTH, taken):
                    kept.remove(node)
        return kept

    def _together(self, known: int, nodes: Sequence[Id], taken: _Taken) -> int:
        """``known`` and what ``nodes``, which are complete, imply together.

        Where control flow chooses several of them at once, it chooses the same way for all: what holds on each way,
        holds. An iteration is the first or it is not; a branch was taken or another one.
        """
        groups: dict[tuple[Construct, type[Id]], Phi | Choice | Final] = {}
        for node in nodes:
            while isinstance(node, Handed) and not node.outside and known & self.bit(node):
                # What the first body of a while loop hands over is what it was there.
                known |= self.upto(node.source)
                node = resolve(node.source)
            if isinstance(node, Phi | Choice | Final):
                groups.setdefault((_construct_of(node), type(node)), node)
        for node in groups.values():
            ids = self.homes[_construct_of(node)]
            outer = self._outer(ids)
            exits = self._exits(ids, node)
            members = [other for other in exits if other.ways and known & self.bit(other)]
            found, completed = outer, exits
            ways = _ways_of(node)
            for way in range(len(ways)):
                if len(ways) > 1 and not isinstance(node, Phi) and not taken.possible(ids.construct, way):
                    continue
                there = known & outer
                for member in members:
                    there |= member.ways[way]
                found &= there
                completed = [other for other in completed if self.holds(there, _ways_of(other)[way])]
            for other in completed:
                found |= self.bit(other)
            known |= found
        return known

    def _implies(self, known: int, goal: Id, depth: int, taken: _Taken) -> bool:
        """Whether ``goal`` is complete when all of ``known`` are, looked at way by way, construct by construct."""
        goal = resolve(goal)
        if self.holds(known, goal):
            return True
        if not depth or self.budget <= 0:
            return False
        self.budget -= 1
        if isinstance(goal, Handed) and not goal.outside:
            # What the first body of a while loop hands over is what it was there.
            for handed in self.homes[goal.construct].handed_in[:_FEW]:
                known |= self.upto(handed.source) if known & self.bit(handed) else 0
            return self._implies(known, goal.source, depth - 1, taken)
        if isinstance(goal, Join | IdTensor):
            return all(self._implies(known, member, depth - 1, taken) for member in goal.sources())
        if not isinstance(goal, Phi | Choice | Final | Handed):
            return False
        ids = self.homes[_construct_of(goal)]
        members = [other for other in self._exits(ids, goal) if other.ways and known & self.bit(other)]
        ways = _ways_of(goal)
        for way, source in enumerate(ways):
            if len(ways) > 1 and not isinstance(goal, Phi) and not taken.possible(ids.construct, way):
                continue
            there = known & self._outer(ids)
            for member in members:
                there |= member.ways[way]
            # What is known here was so before the loop, and is so in a branch; in other iterations only some of it.
            same = taken if way == 0 or isinstance(goal, Choice) else self.steady
            if self.holds(there, source):
                continue
            there = self._together(there, [resolve(_ways_of(member)[way]) for member in members], same)
            if not self._implies(there, source, depth - 1, same):
                return False
        return True

    def _outer(self, ids: ConstructIds) -> int:
        """The bits of all ids defined before a construct."""
        return (1 << max(0, ids.start - self.base)) - 1

    def _exits(self, ids: ConstructIds, node: Id) -> Sequence[Id]:
        """The ids chosen together with ``node``, while they are few."""
        found: Sequence[Id]
        if isinstance(node, Phi):
            found = ids.phis
        elif isinstance(node, Choice):
            found = ids.choices
        else:
            found = ids.finals if isinstance(node, Final) else ids.handed_out
        return found if len(found) <= _FEW else [node]

    def _implied(self, node: Id, nodes: list[Id], complete: int) -> bool:
        """Whether another of ``nodes`` is complete only after ``node``. Of equal ones the first is kept."""
        bit = self.bit(node)
        if not complete & bit:
            return False
        stronger = [other for other in nodes if other is not node and other.after & bit]
        for other in stronger:
            if not node.after & self.bit(other):
                return True
        return any(nodes.index(other) < nodes.index(node) for other in stronger)


def _taken(body: Body, top: Body) -> tuple[_Taken, _Taken]:
    """What is known at ``body``; and that part of it that holds at any time, in every iteration."""
    branches: dict[ir.Value, int] = {}
    ranges: list[tuple[object, ...]] = []
    owner = body.owner
    inner = body
    while owner is not None:
        if owner.condition is not None:
            branches[owner.condition] = inner.position
        ranges += owner.ranges
        inner, owner = owner.parent, owner.parent.owner
    fixed = {value: way for value, way in branches.items() if _is_fixed(value, top)}
    steady = [bounds for bounds in ranges if all(isinstance(b, int) or _is_fixed(b, top) for b in bounds)]
    return _Taken(branches, frozenset(ranges)), _Taken(fixed, frozenset(steady))


def _is_fixed(value: object, top: Body) -> bool:
    """Whether ``value`` is defined in the function's own body, and so only once."""
    if isinstance(value, ir.OpResult):
        return bool(value.owner.operation.block == top.block)
    return value in top.arguments


class _Table:
    """Finds which of many sources are complete when given ids are."""

    def __init__(self, walk: _OrderWalk, entries: list[tuple[int, Id]]) -> None:
        self._walk = walk
        self._always = 0
        self._by_serial: dict[int, int] = {}
        self._compound: list[tuple[int, Id]] = []
        self._mask = 0
        for bit, source in entries:
            source = resolve(source)
            if isinstance(source, NoTask):
                self._always |= bit
                continue
            own = walk.bit(source)
            if not own or _values(source) is not None:
                self._compound.append((bit, source))
            if own:
                self._by_serial[own.bit_length()] = self._by_serial.get(own.bit_length(), 0) | bit
                self._mask |= own

    def complete(self, known: int) -> int:
        found = self._always
        hits = known & self._mask
        while hits:
            low = hits & -hits
            found |= self._by_serial[low.bit_length()]
            hits ^= low
        for bit, source in self._compound:
            if not found & bit and self._walk.holds(known, source, _TABLE_DEPTH):
                found |= bit
        return found


def _values(node: Id) -> list[Id] | None:
    """Ids defined outside the constructs around which complete ``node`` is: all it is made of, or may be.

    ``None`` where it may be something else: what a loop yields is another instance of what its body speaks of.
    """
    if isinstance(node, Join | IdTensor):
        return [resolve(source) for source in node.sources()]
    if isinstance(node, Choice):
        values = [resolve(source) for source in node.alternatives]
        return values if any(not isinstance(value, Leaf) for value in values) else None
    if isinstance(node, Handed):
        return [resolve(node.source)]
    if isinstance(node, Final):
        yielded = [_yielded(node.phi)]
        return yielded if node.phi.construct.runs_at_least_once else [resolve(node.phi.initial), *yielded]
    if isinstance(node, Phi):
        if node.construct.runs_at_most_once:
            return [resolve(node.initial)]
        yielded_id = _yielded(node) if node.yielded is not None else None
        if yielded_id is not None and yielded_id.serial < node.serial and not _is_twin(node, yielded_id):
            return [resolve(node.initial), yielded_id]
    return None


def _is_twin(phi: Phi, other: Id) -> bool:
    return isinstance(other, Phi) and other.construct is phi.construct


def _construct_of(node: Phi | Choice | Final | Handed) -> Construct:
    return node.phi.construct if isinstance(node, Final) else node.construct


def _ways_of(node: Id) -> Sequence[Id]:
    """What ``node`` may be, way by way, in the order of its ``ways``."""
    if isinstance(node, Choice):
        return node.alternatives
    if isinstance(node, Handed):
        return (node.source,)
    if isinstance(node, Final):
        phi = node.phi
        return (_yielded(phi),) if phi.construct.runs_at_least_once else (phi.initial, _yielded(phi))
    assert isinstance(node, Phi)
    return (node.initial,) if node.construct.runs_at_most_once else (node.initial, _yielded(node))


def _yielded(phi: Phi) -> Id:
    assert phi.yielded is not None
    return resolve(phi.yielded)


def _in_order(conflicts: list[Conflict]) -> list[Conflict]:
    order_key: Callable[[Conflict], tuple[int, int]] = lambda c: (c.slot, c.node.serial)  # noqa: E731
    if len(conflicts) < 2 or (len(conflicts) == 2 and order_key(conflicts[0]) <= order_key(conflicts[1])):
        return conflicts
    return sorted(conflicts, key=order_key)


def _exchanged(ids: ConstructIds) -> tuple[Sequence[Id], ...]:
    return ids.phis, ids.finals, ids.choices, ids.handed_in, ids.handed_out, ids.collected


def _use_made(node: Id, number: int) -> None:
    """``node`` is made in item ``number``."""
    _use(node, number)
    for source in node.sources():
        _use(source, number)


def _use(node: Id, number: int) -> None:
    """``node`` is looked at in item ``number``; to look at a join is to look at its members."""
    stack = [node]
    while stack:
        current = resolve(stack.pop())
        if current.last_use < number and not isinstance(current, NoTask):
            current.last_use = number
            if isinstance(current, Join | IdTensor):
                stack += current.sources()
