"""Which edges others imply: what several ids that control flow chooses say together.

Where control flow chooses several ids at once, it chooses the same way for all: what holds on each way, holds.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.events import ConstructIds
from neuron_ctrldep.task.facts import Chosen, Facts, construct_of, ways_of
from neuron_ctrldep.task.flow import Body, Construct
from neuron_ctrldep.task.ids import Choice, Collected, Final, Handed, Id, IdTensor, Join, Phi, resolve

LOOKED_THROUGH = 4
"""How many constructs are looked through for what ids imply together."""

_DEPTH = 6
"""How many are looked through for whether they imply a given one, which is faster."""

_BUDGET = 100_000
"""How often, in one function, that is done at all: it finds edges that can be left out, and costs time."""

_CASES = 200
"""How many cases are told apart for what one set of ids implies together."""

_CASES_IN_ALL = 20_000
"""The same for one function."""

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


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    """In the iteration of ``loop`` that is looked at, all of ``gives`` is complete when all of ``needs`` is."""

    loop: Construct
    needs: int
    gives: int


@dataclass(frozen=True, slots=True)
class _Case:
    """A choice that control flow made: one of the ids it chose, and all of them."""

    ids: ConstructIds
    node: Chosen
    exits: Sequence[Id]
    taken: Taken
    depth: int
    """How many constructs further in to look."""
    hypotheses: tuple[_Hypothesis, ...]
    """On loops around the construct."""
    before: _Hypothesis | None = None
    """On the iteration before."""


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
        self._cases_in_all = _CASES_IN_ALL
        self._cases = 0
        """How many may still be looked at for one set of ids."""
        self._found: dict[Hashable, int] = {}
        """What was found out while one set of ids was looked at: the same is asked many times."""
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

    def together(self, known: int, nodes: Iterable[Id], taken: Taken) -> int:
        """``known`` and what ``nodes``, which are complete, imply together.

        Where control flow chooses several of them at once, it chooses the same way for all: what holds on each way,
        holds. An iteration is the first or it is not; a branch was taken or another one.
        """
        self._found.clear()
        self._cases = min(_CASES, self._cases_in_all)
        return self._close(known, nodes, taken, LOOKED_THROUGH, ())

    def _close(
        self, known: int, nodes: Iterable[Id], taken: Taken, depth: int, hypotheses: tuple[_Hypothesis, ...]
    ) -> int:
        known, groups = self._groups(known, nodes)
        known = _apply(hypotheses, known)
        for node in groups:
            construct = construct_of(node)
            around = tuple(one for one in hypotheses if _is_inside(construct, one.loop))
            exits = self._exits(self._homes[construct], node)
            key = (exits[0], len(exits), known, id(taken), depth, around)
            found = self._found.get(key)
            if found is None:
                case = _Case(self._homes[construct], node, exits, taken, depth, around)
                found = self._by_induction(known, case) if isinstance(node, Phi) else self._by_cases(known, case)
                self._found[key] = found
            known |= found
        return _apply(hypotheses, known) if groups else known

    def _groups(self, known: int, nodes: Iterable[Id]) -> tuple[int, Collection[Chosen]]:
        """One of the chosen ids that ``nodes`` are made of for each choice, and what else is known at once."""
        groups: dict[tuple[Construct, type[Id]], Chosen] = {}
        stack = [resolve(node) for node in nodes]
        seen: set[Id] = set()
        stack.reverse()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, Join | IdTensor):
                stack += [resolve(source) for source in node.sources()]
            elif isinstance(node, Handed) and not node.outside:
                # What the first body of a while loop hands over is what it was there.
                for handed in self._homes[node.construct].handed_in[:_FEW]:
                    if known & self._facts.bit(handed):
                        known |= self._facts.upto(handed.source)
                        stack.append(resolve(handed.source))
            elif isinstance(node, Chosen):
                groups.setdefault((construct_of(node), type(node)), node)
        return known, groups.values()

    def _by_cases(self, known: int, case: _Case) -> int:
        """What holds on each way."""
        ids, node = case.ids, case.node
        outer = self._facts.before(ids.start)
        members = [other for other in case.exits if other.ways and known & self._facts.bit(other)]
        # There may be no iteration to collect anything from: then all that is collected is complete, and nothing else.
        found = 0 if isinstance(node, Collected) and not ids.construct.runs_at_least_once else outer
        completed = case.exits
        ways = ways_of(node)
        for way in range(len(ways)):
            if len(ways) > 1 and not isinstance(node, Phi) and not case.taken.possible(ids.construct, way):
                continue
            there = known & outer
            for member in members:
                there |= member.ways[way]
            if case.depth and self._cases > 0:
                self._cases -= 1
                self._cases_in_all -= 1
                sources = [ways_of(member)[way] for member in members]
                same = _elsewhere(case.taken, node, way)
                assumed = (*case.hypotheses, case.before) if case.before is not None and way else case.hypotheses
                there = self._close(there, sources, same, case.depth - 1, assumed)
            found &= there
            completed = [other for other in completed if self._facts.holds(there, ways_of(other)[way])]
        for other in completed:
            found |= self._facts.bit(other)
        return found

    def _by_induction(self, known: int, case: _Case) -> int:
        """What holds at the start of each iteration, because it holds at the first and passes on to the next.

        Assumed is that the ids known here imply ``gives`` in the iteration before. What that does not bear out is
        dropped until the rest does.
        """
        needs = 0
        for phi in case.exits:
            needs |= known & self._facts.bit(phi)
        gives = -1
        while needs and case.depth and self._cases > 0:
            found = self._by_cases(known, replace(case, before=_Hypothesis(case.ids.construct, needs, gives)))
            if found == gives:
                return found
            gives = found
        return self._by_cases(known, replace(case, depth=0))

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
        if not isinstance(goal, Chosen):
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
            same = _elsewhere(taken, goal, way)
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
        elif isinstance(node, Collected):
            found = ids.collected
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
            bounds
            for bounds in owner.ranges
            if all(isinstance(b, int | str) or _is_fixed(b, self._top) for b in bounds)
        )
        return Taken(branches, frozenset(ranges), Taken(steady_branches, frozenset(steady_ranges)))


def _elsewhere(taken: Taken, node: Id, way: int) -> Taken:
    """What is known where ``node`` came from on ``way``.

    What is known here was so before the loop, and is so in a branch; in other iterations only some of it.
    """
    return taken if way == 0 or isinstance(node, Choice) else taken.steady or taken


def _apply(hypotheses: Iterable[_Hypothesis], known: int) -> int:
    for one in hypotheses:
        if known & one.needs == one.needs:
            known |= one.gives
    return known


def _is_inside(construct: Construct, loop: Construct) -> bool:
    """Whether ``construct`` is in a body of ``loop``: looked at from there, the iteration of ``loop`` is the same."""
    around = construct.parent.owner
    while around is not None and around is not loop:
        around = around.parent.owner
    return around is loop


def _is_fixed(value: object, top: Body) -> bool:
    """Whether ``value`` is defined in the function's own body, and so only once."""
    if isinstance(value, ir.OpResult):
        return bool(value.owner.operation.block == top.block)
    return value in top.arguments
