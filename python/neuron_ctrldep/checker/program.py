"""What the checker knows of an emitted program: its functions as graphs of data and dependency edges."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class EmittedFunction:
    """One function of the emitted program: named nodes, and its edges by node."""

    nodes: dict[str, list[int]] = field(default_factory=dict)
    """Instruction name to nodes; distinct nodes may have one name. Tuples and their elements are not among them."""
    packaging: set[str] = field(default_factory=set)
    """The names of the tuples and elements."""
    successors: dict[int, set[int]] = field(default_factory=dict)
    """Data and dependency edges."""
    explicit: set[tuple[int, int]] = field(default_factory=set)
    """The dependency edges alone."""
    owners: list[EmittedFunction] = field(default_factory=list)
    """The functions that hold an operation which runs this one: as a region of its own, or as its callee."""
    _ranks: dict[int, int] | None = None

    def ranks(self) -> dict[int, int]:
        """A place for each node that has an edge, after those of all nodes before it; nodes on cycles have none."""
        if self._ranks is None:
            missing: dict[int, int] = {}
            for node, following in self.successors.items():
                missing.setdefault(node, 0)
                for one in following:
                    missing[one] = missing.get(one, 0) + 1
            ready = [node for node, count in missing.items() if count == 0]
            self._ranks = {}
            while ready:
                node = ready.pop()
                self._ranks[node] = len(self._ranks)
                for one in self.successors.get(node, ()):
                    missing[one] -= 1
                    if missing[one] == 0:
                        ready.append(one)
        return self._ranks

    def cycle(self) -> list[str]:
        """The names of nodes that each come before the next, the last before the first; empty when there are none."""
        ranks = self.ranks()
        before: dict[int, int] = {}
        for node in sorted(self.successors):
            if node not in ranks:
                for one in self.successors[node]:
                    if one not in ranks:
                        before.setdefault(one, node)
        # Every node without a rank has one before it: the walk back comes to where it was.
        steps: dict[int, None] = {}
        node = min(before, default=-1)
        while node in before and node not in steps:
            steps[node] = None
            node = before[node]
        path = list(steps)
        names = {node: name for name, nodes in self.nodes.items() for node in nodes}
        circle = path[path.index(node) :][::-1] if node in steps else []
        return [names[node] for node in circle if node in names]

    def reaches(self, start: int, goal: int) -> bool:
        """Whether there is a path from ``start`` to ``goal``, which is another node."""
        return self.orders([start], [goal])

    def orders(self, sources: Iterable[int], targets: Iterable[int]) -> bool:
        """Whether there is a path from every one of ``sources`` to every other of ``targets``.

        The function has no cycle. One sweep in order of rank, with a bit for each source, serves all pairs.
        """
        ranks = self.ranks()
        bits = {node: 1 << number for number, node in enumerate(dict.fromkeys(sources))}
        goals = set(targets)
        every = (1 << len(bits)) - 1
        last = max((ranks.get(goal, -1) for goal in goals), default=-1)
        before = dict(bits)
        waiting = [(ranks[node], node) for node in bits if node in ranks]
        heapq.heapify(waiting)
        while waiting:
            rank, node = heapq.heappop(waiting)
            if rank >= last:
                break
            for one in self.successors.get(node, ()):
                if one not in before:
                    heapq.heappush(waiting, (ranks[one], one))
                before[one] = before.get(one, 0) | before[node]
        return all(before.get(goal, 0) | bits.get(goal, 0) == every for goal in goals)
