"""A layered drawing of one box of items: ranks from the edges, few crossings, straight lines.

Pure Python, and the same on every machine.

The method of Sugiyama, Tagawa and Toda (1981): longest-path ranks, dummy items on edges that skip a rank, barycentre
sweeps for the order within a rank, and x coordinates by least squares under the order (pool adjacent violators).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]

RANK_GAP = 46.0
"""Between ranks: room for the curves."""
ITEM_GAP = 22.0
DUMMY_WIDTH = 8.0
LARGE = 400
"""From this many items on, edges that skip more than :data:`MAX_SKIP` ranks are drawn straight, without dummies."""
MAX_SKIP = 10


@dataclass(slots=True)
class Placed:
    """Top left corners of the items, the points each edge passes between its ends, and the size of it all.

    ``curves`` is for methods that draw whole edges: the control points of a Bézier curve for each.
    """

    corners: list[Point]
    bends: list[list[Point]]
    width: float
    height: float
    curves: list[list[Point]] = field(default_factory=list)


def place(sizes: Sequence[Point], edges: Sequence[tuple[int, int]]) -> Placed:
    """Place items of the given (width, height), numbered in program order, joined by ``edges``."""
    if not sizes:
        return Placed([], [[] for _ in edges], 0.0, 0.0)
    ranks = _ranks(len(sizes), edges)
    level = _Level(sizes, edges, ranks)
    level.order()
    level.place_x()
    return level.result()


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The rank of each item: below all its predecessors; edges that would close a cycle are ignored."""
    successors: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    has_predecessor = [False] * count
    for src, dst in edges:
        successors[src].append(dst)
        waiting[dst] += 1
        has_predecessor[dst] = True
    rank = [0] * count
    ready = [item for item in range(count) if not waiting[item]]
    done = [False] * count
    left = count
    next_forced = 0
    while left:
        if not ready:  # a cycle: go on with its first item in program order
            while done[next_forced]:
                next_forced += 1
            ready = [next_forced]
        item = heapq.heappop(ready)
        if done[item]:
            continue
        done[item] = True
        left -= 1
        for dst in successors[item]:
            if not done[dst]:
                rank[dst] = max(rank[dst], rank[item] + 1)
                waiting[dst] -= 1
                if waiting[dst] <= 0:
                    heapq.heappush(ready, dst)
    # Constants and inputs stand right above their first reader, not all at the top.
    for item in range(count):
        if not has_predecessor[item] and successors[item]:
            rank[item] = max(0, min(rank[dst] for dst in successors[item]) - 1)
    return _limited(rank)


def _limited(rank: list[int]) -> list[int]:
    """Break ranks that hold very many items into rows, so that the picture does not become one line."""
    limit = max(10, math.ceil(1.2 * math.sqrt(len(rank))))
    members: dict[int, list[int]] = {}
    for item, at in enumerate(rank):
        members.setdefault(at, []).append(item)
    result = [0] * len(rank)
    row = 0
    for at in sorted(members):
        for start in range(0, len(members[at]), limit):
            for item in members[at][start : start + limit]:
                result[item] = row
            row += 1
    return result


class _Level:
    def __init__(self, sizes: Sequence[Point], edges: Sequence[tuple[int, int]], ranks: list[int]) -> None:
        self.count = len(sizes)
        self.widths = [width for width, _ in sizes]
        self.heights = [height for _, height in sizes]
        self.rank = list(ranks)
        self.above: list[list[int]] = [[] for _ in sizes]
        self.below: list[list[int]] = [[] for _ in sizes]
        self.chains: list[list[int]] = []
        self.rows: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
        for src, dst in edges:
            self.chains.append(self._chain(src, dst))
        for item, row in enumerate(self.rank):
            self.rows[row].append(item)
        self.x = [0.0] * len(self.widths)

    def _chain(self, src: int, dst: int) -> list[int]:
        """Dummy items between the two ends of an edge, from the source on."""
        low, high = sorted((self.rank[src], self.rank[dst]))
        if self.rank[src] > self.rank[dst] or high == low:
            return []
        if high - low - 1 > MAX_SKIP and self.count > LARGE:
            return []
        chain = []
        last = src
        for row in range(low + 1, high):
            dummy = len(self.widths)
            self.widths.append(DUMMY_WIDTH)
            self.heights.append(0.0)
            self.rank.append(row)
            self.above.append([last])
            self.below.append([])
            self.below[last].append(dummy)
            chain.append(dummy)
            last = dummy
        self.below[last].append(dst)
        self.above[dst].append(last)
        return chain

    def order(self) -> None:
        """Order each row by the mean position of the neighbours, down and up in turns."""
        position = [0.0] * len(self.widths)
        for row in self.rows:
            self._number(row, position)
        sweeps = 10 if self.count <= LARGE else 4
        for sweep in range(sweeps):
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            for row in self.rows[1:] if down else self.rows[-2::-1]:
                key = {
                    item: (sum(position[n] for n in neighbours[item]) / len(neighbours[item]), position[item])
                    if neighbours[item]
                    else (position[item], position[item])
                    for item in row
                }
                row.sort(key=lambda item: (key[item], item))
                self._number(row, position)

    def _number(self, row: list[int], position: list[float]) -> None:
        # Centred, so that rows of different lengths are compared fairly.
        for at, item in enumerate(row):
            position[item] = at - (len(row) - 1) / 2

    def place_x(self) -> None:
        """Centre x of each item: near its neighbours, in the order of its row, without overlap."""
        for row in self.rows:
            self._spread(row, [0.0] * len(row), [1.0] * len(row))
        for sweep in range(12 if self.count <= LARGE else 6):
            down = sweep % 2 == 0
            last = sweep >= (10 if self.count <= LARGE else 4)
            for row in self.rows if down else reversed(self.rows):
                wanted, weights = [], []
                for item in row:
                    near = self.above[item] + self.below[item] if last else (self.above if down else self.below)[item]
                    near = near or self.above[item] + self.below[item]
                    wanted.append(sum(self.x[n] for n in near) / len(near) if near else self.x[item])
                    weights.append(6.0 if item >= self.count else 1.0 if near else 0.2)
                self._spread(row, wanted, weights)

    def _spread(self, row: list[int], wanted: list[float], weights: list[float]) -> None:
        """The least-squares nearest places to ``wanted`` that keep order and distances (pool adjacent violators)."""
        offsets = [0.0]
        for left, right in itertools.pairwise(row):
            offsets.append(offsets[-1] + (self.widths[left] + self.widths[right]) / 2 + ITEM_GAP)
        pools: list[list[float]] = []  # weighted sum, weight, members
        for want, offset, weight in zip(wanted, offsets, weights, strict=True):
            pools.append([(want - offset) * weight, weight, 1])
            while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
                total, weight_sum, members = pools.pop()
                pools[-1][0] += total
                pools[-1][1] += weight_sum
                pools[-1][2] += members
        at = 0
        for total, weight_sum, members in pools:
            for _ in range(int(members)):
                self.x[row[at]] = total / weight_sum + offsets[at]
                at += 1

    def result(self) -> Placed:
        """Corners and bends, moved so that the drawing starts at (0, 0)."""
        left = min(self.x[i] - self.widths[i] / 2 for i in range(len(self.widths)))
        right = max(self.x[i] + self.widths[i] / 2 for i in range(len(self.widths)))
        tops, heights = [], []
        y = 0.0
        for row in self.rows:
            tops.append(y)
            heights.append(max((self.heights[item] for item in row), default=0.0))
            y += heights[-1] + RANK_GAP
        corners = [(self.x[i] - self.widths[i] / 2 - left, tops[self.rank[i]]) for i in range(self.count)]
        bends = [
            [
                point
                for dummy in chain
                for point in (
                    (self.x[dummy] - left, tops[self.rank[dummy]]),
                    (self.x[dummy] - left, tops[self.rank[dummy]] + heights[self.rank[dummy]]),
                )
            ]
            for chain in self.chains
        ]
        return Placed(corners, bends, right - left, y - RANK_GAP)
