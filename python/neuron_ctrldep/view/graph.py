"""The one model that every picture is drawn from. Pure Python; knows nothing of HLO, MLIR or Penguin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from neuron_ctrldep.edges import EdgeKind

Role = Literal["op", "constant", "argument", "end"]
"""What a node is: an instruction, a constant, an input of its cluster, or the terminator that ends it."""

EdgeLabel = Literal["data", "ordered", "anti", "output", "flow"]
"""An edge's kind: ``data`` is def-use, the others are dependencies (:class:`~neuron_ctrldep.edges.EdgeKind`)."""

LABELS: tuple[EdgeLabel, ...] = ("data", "ordered", "flow", "anti", "output")
"""All kinds in the order legends show them."""

MEANINGS: dict[EdgeLabel, str] = {
    "data": "data",
    "ordered": "control (ORDERED)",
    "flow": "FLOW (read after write)",
    "anti": "ANTI (write after read)",
    "output": "OUTPUT (write after write)",
}
"""What legends call each kind."""

COLOURS: dict[EdgeLabel, str] = {
    "data": "#8a94a6",
    "ordered": "#d1242f",
    "flow": "#0969da",
    "anti": "#bf5af2",
    "output": "#d97706",
}
"""One colour for each kind; they are told apart by dash patterns too (:data:`DASHES`)."""

DASHES: dict[EdgeLabel, tuple[int, ...]] = {
    "data": (),
    "ordered": (7, 4),
    "flow": (10, 3, 2, 3),
    "anti": (2, 3),
    "output": (12, 4),
}
"""On and off lengths, so that kinds can be told apart without colour."""

TEXT_LIMIT = 2000
"""Characters of an op's text that a picture keeps."""


def label_of(kind: EdgeKind) -> EdgeLabel:
    """The edge label of a dependency kind."""
    labels: dict[EdgeKind, EdgeLabel] = {
        EdgeKind.ORDERED: "ordered",
        EdgeKind.ANTI: "anti",
        EdgeKind.OUTPUT: "output",
        EdgeKind.FLOW: "flow",
    }
    return labels[kind]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A box of nodes: a function, a computation, or a region of an op.

    ``parent`` is the index of the cluster around it; ``owner`` the index of the node whose region it is.
    """

    title: str
    parent: int | None = None
    owner: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """An instruction.

    ``name`` is what the input calls it, ``op`` what it does (of an input: its type), ``cluster`` an index; ``detail``
    stands in the picture instead of the name where that says nothing.
    """

    name: str
    op: str
    cluster: int
    role: Role = "op"
    text: str = ""
    location: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """``dst`` reads ``src`` (``data``) or is ordered after it; both are indices of nodes."""

    src: int
    dst: int
    label: EdgeLabel = "data"


@dataclass(slots=True)
class Graph:
    """Nodes in program order, their boxes, and the edges between them; parents come before what they hold."""

    title: str
    clusters: list[Cluster] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader should know besides: edges that are none, and why."""

    def add_cluster(self, title: str, parent: int | None = None, owner: int | None = None) -> int:
        """Add a cluster; its index."""
        self.clusters.append(Cluster(title, parent, owner))
        return len(self.clusters) - 1

    def add_node(self, node: Node) -> int:
        """Add a node; its index."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def add_edge(self, src: int, dst: int, label: EdgeLabel = "data") -> None:
        """Add an edge; call :meth:`unique_edges` when all are there."""
        self.edges.append(Edge(src, dst, label))

    def unique_edges(self) -> None:
        """Keep each edge once, first place, and none from a node to itself."""
        self.edges = [edge for edge in dict.fromkeys(self.edges) if edge.src != edge.dst]

    def dependencies(self) -> Iterator[Edge]:
        """The edges that are not data."""
        return (edge for edge in self.edges if edge.label != "data")

    def members(self) -> list[list[int]]:
        """By cluster: its nodes in program order."""
        found: list[list[int]] = [[] for _ in self.clusters]
        for index, node in enumerate(self.nodes):
            found[node.cluster].append(index)
        return found

    def nesting(self) -> Iterator[tuple[int, bool, int]]:
        """Each cluster twice, around those inside it: (cluster, whether it opens, depth). Depth counts from 0."""
        children: dict[int | None, list[int]] = {}
        for index, cluster in enumerate(self.clusters):
            children.setdefault(cluster.parent, []).append(index)
        stack = [(root, True, 0) for root in reversed(children.get(None, []))]
        while stack:
            at, opens, depth = stack.pop()
            yield at, opens, depth
            if opens:
                stack.append((at, False, depth))
                stack += [(child, True, depth + 1) for child in reversed(children.get(at, []))]


def clipped(text: str, limit: int = TEXT_LIMIT) -> str:
    """``text`` without its middle where it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} … {text[-half:]}"
