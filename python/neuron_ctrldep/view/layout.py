"""Where everything stands: boxes for nodes and clusters, and a curve for each edge.

Clusters nest: a region's cluster stands below the header of the op that owns it, and both are one item of the cluster
around them. Each cluster is placed by :func:`~neuron_ctrldep.view.layered.place`, or by Graphviz where it is installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from neuron_ctrldep.view.graph import Graph, Node
from neuron_ctrldep.view.graphviz import find_dot, place_with_dot
from neuron_ctrldep.view.layered import Placed, Point, place

Engine = Literal["auto", "builtin", "graphviz"]
"""``builtin`` gives the same picture on every machine; ``auto`` takes Graphviz for small graphs where it is found."""

CHAR = 6.9
"""Width of a character in the font of node labels (11.5 px monospace)."""
NODE_HEIGHT = 40.0
PADDING = 16.0
FRAME = 8.0
"""Between an op's frame and the clusters of its regions."""
TITLE = 22.0
"""Height of a cluster's title."""
WIDE = 260.0
"""From this width on, edges need not gather in the middle of a box."""
SMALL = 300
"""Nodes that ``auto`` gives to Graphviz, which places them in about a second; beyond, its time grows steeply."""
LABEL_LIMIT = 30
"""Characters of a label line that are shown."""


@dataclass(frozen=True, slots=True)
class Box:
    """Top left corner and size, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """The y of the lower side."""
        return self.y + self.height


@dataclass(slots=True)
class Layout:
    """Boxes by node and by cluster; for each edge the control points of its cubic Bézier curve (3 k + 1 of them)."""

    width: float
    height: float
    nodes: list[Box]
    clusters: list[Box]
    routes: list[list[Point]]
    frames: dict[int, Box] = field(default_factory=dict)
    """By node: around an op that owns regions and these. Its edges leave at the bottom of its frame."""


def boxes(graph: Graph, placed: Layout) -> list[tuple[str | None, Box]]:
    """All frames (title ``None``) and clusters, outer ones first: in this order they are drawn."""
    found: list[tuple[str | None, Box]] = []
    drawn: set[int] = set()
    for cluster, box in zip(graph.clusters, placed.clusters, strict=True):
        if cluster.owner in placed.frames and cluster.owner not in drawn:
            drawn.add(cluster.owner)
            found.append((None, placed.frames[cluster.owner]))
        found.append((shortened(cluster.title), box))
    return found


def label_lines(node: Node) -> tuple[str, str]:
    """The two lines of a node's label: what it does, and what it is called (an input: its name and its type)."""
    if node.role == "argument":
        return shortened(node.name), shortened(node.op)
    return shortened(node.op), shortened(node.detail or node.name)


def shortened(text: str) -> str:
    """At most :data:`LABEL_LIMIT` characters, the middle left out; control characters are blanks."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    if len(clean) <= LABEL_LIMIT:
        return clean
    return f"{clean[: LABEL_LIMIT - 11]}…{clean[-10:]}"


def node_width(node: Node) -> float:
    """Wide enough for both lines of the label."""
    return max(64.0, max(len(line) for line in label_lines(node)) * CHAR + 20)


def curve(points: Sequence[Point]) -> list[Point]:
    """Control points of a Bézier curve through ``points`` that is vertical at each of them."""
    control = [points[0]]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        # Two points of one dummy are already joined by a vertical line; else half the way, and enough to look round.
        reach = max((y1 - y0) / 2, 14.0) if x0 != x1 else (y1 - y0) / 2
        control += [(x0, y0 + reach), (x1, y1 - reach), (x1, y1)]
    return control


def lay_out(graph: Graph, engine: Engine = "auto") -> Layout:
    """Place ``graph``.

    Raises:
        ValueError: there is no such engine.
    """
    if engine not in get_args(Engine):
        raise ValueError(f"layout must be one of {', '.join(get_args(Engine))}, not {engine!r}")
    dot = None
    if engine == "graphviz" or (engine == "auto" and len(graph.nodes) <= SMALL):
        dot = find_dot()
    return _Builder(graph, dot).layout()


class _Builder:
    def __init__(self, graph: Graph, dot: str | None) -> None:
        self.graph = graph
        self.dot = dot
        self.in_cluster = graph.members()
        self.owned: dict[int, list[int]] = {}
        for index, cluster in enumerate(graph.clusters):
            if cluster.owner is not None:
                self.owned.setdefault(cluster.owner, []).append(index)
        self.sizes: dict[int, Point] = {}
        self.corner_in_cluster: dict[int, Point] = {}
        self.bends: dict[int, list[Point]] = {}
        self.curves: dict[int, list[Point]] = {}
        self.item_sizes: dict[int, Point] = {}
        self.nodes: list[Box] = [Box(0, 0, 0, 0)] * len(graph.nodes)
        self.items: list[Box] = [Box(0, 0, 0, 0)] * len(graph.nodes)
        self.clusters: list[Box] = [Box(0, 0, 0, 0)] * len(graph.clusters)
        self.inner = self._inner_edges()

    def _inner_edges(self) -> list[list[tuple[int, int, int]]]:
        """By cluster: the edges between its items (edge, source item, target item); ends inside an item count as it."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in self.graph.clusters]
        for index, edge in enumerate(self.graph.edges):
            src_chain, dst_chain = self._chain(edge.src), self._chain(edge.dst)
            for cluster, src in src_chain.items():
                if cluster in dst_chain:
                    if src != dst_chain[cluster]:
                        found[cluster].append((index, src, dst_chain[cluster]))
                    break
        return found

    def _chain(self, node: int) -> dict[int, int]:
        """For every cluster around ``node``, innermost first: the item of it that holds the node."""
        chain: dict[int, int] = {}
        current: int | None = node
        while current is not None:
            cluster = self.graph.nodes[current].cluster
            chain[cluster] = current
            current = self.graph.clusters[cluster].owner
        return chain

    def layout(self) -> Layout:
        # Children come after their parents, so the reverse order goes bottom up; no recursion, however deep they nest.
        for cluster in range(len(self.graph.clusters) - 1, -1, -1):
            self._measure(cluster)
        width, height = self._place_roots()
        for cluster in range(len(self.graph.clusters)):
            self._settle(cluster)
        frames = {node: self.items[node] for node in self.owned}
        return Layout(width, height, self.nodes, self.clusters, self._routes(), frames)

    def _measure(self, cluster: int) -> None:
        members = self.in_cluster[cluster]
        at = {node: position for position, node in enumerate(members)}
        for node in members:
            self.item_sizes[node] = self._item_size(node)
        edges = self.inner[cluster]
        placed = self._place([self.item_sizes[node] for node in members], [(at[src], at[dst]) for _, src, dst in edges])
        for node, corner in zip(members, placed.corners, strict=True):
            self.corner_in_cluster[node] = corner
        for number, (index, src, dst) in enumerate(edges):
            edge = self.graph.edges[index]
            # An edge with an end inside an item is drawn to that end, not to the item.
            if (src, dst) == (edge.src, edge.dst):
                self.bends[index] = placed.bends[number]
                if placed.curves:
                    self.curves[index] = placed.curves[number]
        title = len(shortened(self.graph.clusters[cluster].title)) * CHAR
        self.sizes[cluster] = (max(placed.width, title) + 2 * PADDING, placed.height + 2 * PADDING + TITLE)

    def _place(self, sizes: list[Point], edges: list[tuple[int, int]]) -> Placed:
        # Starting dot costs more than it gives where there is nothing to untangle.
        if self.dot is not None and len(edges) >= 3:
            placed = place_with_dot(self.dot, sizes, edges)
            if placed is not None:
                return placed
        return place(sizes, edges)

    def _item_size(self, node: int) -> Point:
        width, height = node_width(self.graph.nodes[node]), NODE_HEIGHT
        children = [self.sizes[child] for child in self.owned.get(node, [])]
        if not children:
            return width, height
        inner = sum(w for w, _ in children) + PADDING * (len(children) - 1)
        return max(width, inner + 2 * FRAME), height + 2 * FRAME + max(h for _, h in children)

    def _place_roots(self) -> Point:
        """Functions side by side, main first, in rows about as wide as they are high."""
        roots = [c for c, cluster in enumerate(self.graph.clusters) if cluster.owner is None and cluster.parent is None]
        area = sum(self.sizes[root][0] * self.sizes[root][1] for root in roots)
        limit = max([area**0.5 * 1.6, *(self.sizes[root][0] for root in roots)], default=0.0)
        x = y = row_height = width = 0.0
        for root in roots:
            w, h = self.sizes[root]
            if x and x + w > limit:
                x, y, row_height = 0.0, y + row_height + 2 * PADDING, 0.0
            self.clusters[root] = Box(x, y, w, h)
            width, row_height, x = max(width, x + w), max(row_height, h), x + w + 2 * PADDING
        return width, y + row_height

    def _settle(self, cluster: int) -> None:
        """Give the members of a cluster whose own box is known theirs, and the clusters they own."""
        box = self.clusters[cluster]
        for node in self.in_cluster[cluster]:
            x, y = self.corner_in_cluster[node]
            width, height = self.item_sizes[node]
            item = Box(box.x + PADDING + x, box.y + PADDING + TITLE + y, width, height)
            self.items[node] = item
            self.nodes[node] = Box(item.x, item.y, item.width, NODE_HEIGHT)
            left = item.x + FRAME
            for child in self.owned.get(node, []):
                w, h = self.sizes[child]
                self.clusters[child] = Box(left, item.y + NODE_HEIGHT + FRAME, w, h)
                left += w + PADDING

    def _routes(self) -> list[list[Point]]:
        """Edges leave at the bottom and arrive at the top, spread over the side by where their other end stands."""
        starts = self._ports([edge.src for edge in self.graph.edges], [edge.dst for edge in self.graph.edges])
        ends = self._ports([edge.dst for edge in self.graph.edges], [edge.src for edge in self.graph.edges])
        routes = []
        for index, edge in enumerate(self.graph.edges):
            box = self.clusters[self.graph.nodes[edge.src].cluster]
            left, top = box.x + PADDING, box.y + PADDING + TITLE
            if index in self.curves:
                routes.append([(left + x, top + y) for x, y in self.curves[index]])
                continue
            moved = [(left + x, top + y) for x, y in self.bends.get(index, [])]
            inside = edge.src in self._chain(edge.dst).values()
            bottom = (self.nodes if inside else self.items)[edge.src].bottom
            routes.append(curve([(starts[index], bottom), *moved, (ends[index], self.items[edge.dst].y)]))
        return routes

    def _ports(self, here: Sequence[int], there: Sequence[int]) -> list[float]:
        by_node: dict[int, list[int]] = {}
        for index, node in enumerate(here):
            by_node.setdefault(node, []).append(index)
        ports = [0.0] * len(here)
        for node, indices in by_node.items():
            box = self.items[node]
            centres = {i: self.items[there[i]].x + self.items[there[i]].width / 2 for i in indices}
            indices.sort(key=lambda i: (centres[i], i))
            if box.width > WIDE and len({*centres.values()}) == len(indices):
                # A wide frame is met where the other end stands.
                for index in indices:
                    ports[index] = min(max(centres[index], box.x + 16), box.x + box.width - 16)
                continue
            span = min(box.width - 16, 26.0 * (len(indices) - 1))
            for at, index in enumerate(indices):
                share = at / (len(indices) - 1) - 0.5 if len(indices) > 1 else 0.0
                ports[index] = box.x + box.width / 2 + span * share
        return ports
