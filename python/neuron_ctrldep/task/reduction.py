"""Which edges others imply: what several ids that control flow chooses say together.

Where control flow chooses several ids at once, it chooses the same way for all: what holds on each way, holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.events import ConstructIds
from neuron_ctrldep.task.facts import Facts, construct_of, ways_of
from neuron_ctrldep.task.flow import Body, Construct
from neuron_ctrldep.task.ids import Choice, Final, Handed, Id, IdTensor, Join, Phi, resolve

_DEPTH = 6
"""How many constructs are looked through for what ids imply together."""

_BUDGET = 100_000
"""How often, in one function, that is done at all: it finds edges that can be left out, and costs time."""

_FEW = 32
"""Up to so many ids that leave a construct are all looked at together."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What is known of decisions because a place was reached at all."""

    branches: dict[ir.Value, int]
    """Conditions, with the branch they led into."""
    ranges: frozenset[tuple[object, ...]]
    """Ranges of loops that are not empty."""

    steady: Taken | None = None
    """That part of it that holds at any time, in every iteration; ``None`` where all of it does."""

    def possible(self, construct: Construct, way: int) -> bool:
        """Whether ``construct``, a branch or a sequential loop that may not run, can have gone this way."""
        if construct.condition is not None:
            return self.branches.get(construct.condition, way) == way
        return way > 0 or not construct.ranges or construct.ranges[0] not in self.ranges


class Reduction:
    """Finds out which edges to leave out.

    Args:
        facts: what is known at the place that is asked about.
        homes: for each construct the ids that enter and leave it.
        top: the body of the function.
        keep_redundant: whether only the user's edges may stand for others.
    """

    def __init__(
        self, facts: Facts, homes: Mapping[Construct, ConstructIds], top: Body, *, keep_redundant: bool
    ) -> None:
        self._facts = facts
        self._homes = homes
        self._top = top
        self._keep_redundant = keep_redundant
        self._budget = _BUDGET
        self._taken: dict[Body, Taken] = {top: Taken({}, frozenset())}

    def without_implied(self, nodes: list[Id], user: int, given: list[Id], taken: Taken) -> list[Id]:
        """``nodes`` without those that the others and the user's edges imply together.

        One after the other is left out, so that what is left implies all that was left out. An edge that only the
        user's edges imply goes even where all others are wanted.
        """
        kept = list(nodes)
        for node in nodes:
            others = [other for other in kept if other is not node] if not self._keep_redundant else []
            if others or given:
                known = self.together(user | self._facts.all_upto(others), [*others, *given], taken)
                if self._implies(known, node, _DEPTH, taken):
                    kept.remove(node)
        return kept

    def together(self, known: int, nodes: Sequence[Id], taken: Taken) -> int:
        """``known`` and what ``nodes``, which are complete, imply together.

        Where control flow chooses several of them at once, it chooses the same way for all: what holds on each way,
        holds. An iteration is the first or it is not; a branch was taken or another one.
        """
        groups: dict[tuple[Construct, type[Id]], Phi | Choice | Final] = {}
        for node in nodes:
            while isinstance(node, Handed) and not node.outside and known & self._facts.bit(node):
                # What the first body of a while loop hands over is what it was there.
                known |= self._facts.upto(node.source)
                node = resolve(node.source)
            if isinstance(node, Phi | Choice | Final):
                groups.setdefault((construct_of(node), type(node)), node)
        for node in groups.values():
            ids = self._homes[construct_of(node)]
            outer = self._facts.before(ids.start)
            exits = self._exits(ids, node)
            members = [other for other in exits if other.ways and known & self._facts.bit(other)]
            found, completed = outer, exits
            ways = ways_of(node)
            for way in range(len(ways)):
                if len(ways) > 1 and not isinstance(node, Phi) and not taken.possible(ids.construct, way):
                    continue
                there = known & outer
                for member in members:
                    there |= member.ways[way]
                found &= there
                completed = [other for other in completed if self._facts.holds(there, ways_of(other)[way])]
            for other in completed:
                found |= self._facts.bit(other)
            known |= found
        return known

    def _implies(self, known: int, goal: Id, depth: int, taken: Taken) -> bool:
        """Whether ``goal`` is complete when all of ``known`` are, looked at way by way, construct by construct."""
        goal = resolve(goal)
        if self._facts.holds(known, goal):
            return True
        if not depth or self._budget <= 0:
            return False
        self._budget -= 1
        if isinstance(goal, Handed) and not goal.outside:
            # What the first body of a while loop hands over is what it was there.
            for handed in self._homes[goal.construct].handed_in[:_FEW]:
                known |= self._facts.upto(handed.source) if known & self._facts.bit(handed) else 0
            return self._implies(known, goal.source, depth - 1, taken)
        if isinstance(goal, Join | IdTensor):
            return all(self._implies(known, member, depth - 1, taken) for member in goal.sources())
        if not isinstance(goal, Phi | Choice | Final | Handed):
            return False
        ids = self._homes[construct_of(goal)]
        members = [other for other in self._exits(ids, goal) if other.ways and known & self._facts.bit(other)]
        ways = ways_of(goal)
        for way, source in enumerate(ways):
            if len(ways) > 1 and not isinstance(goal, Phi) and not taken.possible(ids.construct, way):
                continue
            there = known & self._facts.before(ids.start)
            for member in members:
                there |= member.ways[way]
            # What is known here was so before the loop, and is so in a branch; in other iterations only some of it.
            same = taken if way == 0 or isinstance(goal, Choice) else taken.steady or taken
            if self._facts.holds(there, source):
                continue
            there = self.together(there, [resolve(ways_of(member)[way]) for member in members], same)
            if not self._implies(there, source, depth - 1, same):
                return False
        return True

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

    def taken_at(self, body: Body) -> Taken:
        """What is known at ``body``."""
        known = self._taken.get(body)
        if known is None:
            known = self._taken[body] = self._taken_inside(body)
        return known

    def _taken_inside(self, body: Body) -> Taken:
        owner = body.owner
        assert owner is not None
        around = self.taken_at(owner.parent)
        if owner.condition is None and not owner.ranges:
            return around
        branches, ranges = dict(around.branches), set(around.ranges)
        steady = around.steady or around
        steady_branches, steady_ranges = dict(steady.branches), set(steady.ranges)
        if owner.condition is not None:
            branches[owner.condition] = body.position
            if _is_fixed(owner.condition, self._top):
                steady_branches[owner.condition] = body.position
        ranges.update(owner.ranges)
        steady_ranges.update(
            bounds for bounds in owner.ranges if all(isinstance(b, int) or _is_fixed(b, self._top) for b in bounds)
        )
        return Taken(branches, frozenset(ranges), Taken(steady_branches, frozenset(steady_ranges)))


def _is_fixed(value: object, top: Body) -> bool:
    """Whether ``value`` is defined in the function's own body, and so only once."""
    if isinstance(value, ir.OpResult):
        return bool(value.owner.operation.block == top.block)
    return value in top.arguments
