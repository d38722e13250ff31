"""The shared words: what a dependency edge is. Pure Python; knows nothing of HLO, MLIR or Penguin."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


class EdgeKind(enum.IntEnum):
    """Why one instruction waits for another.

    The numbers are BIR's *(inferred for Penguin)*; a greater kind implies the lesser ones when edges are merged
    (``spec/penguin.md``, "The model").
    """

    ORDERED = 1
    """An order that somebody asked for; no storage is involved."""
    ANTI = 2
    """WAR: the successor writes what the predecessor reads."""
    OUTPUT = 3
    """WAW: both write the same storage."""
    FLOW = 4
    """RAW: the successor reads what the predecessor wrote."""


@dataclass(frozen=True, slots=True)
class DependencyEdge:
    """``dst`` runs after ``src``. Both are instruction names as the input spells them."""

    src: str
    dst: str
    kind: EdgeKind = EdgeKind.ORDERED

    def serialize(self) -> dict[str, str]:
        """``{"kind", "src", "dst"}``, the form every JSON output uses; the kind by its name."""
        return {"src": self.src, "dst": self.dst, "kind": self.kind.name}


@dataclass(slots=True)
class DependencyGraph:
    """Nodes in program order, and the edges between them.

    ``data`` holds def-use edges, ``dependencies`` the explicit ones. Node identity is any hashable key; the order in
    which nodes and edges are added is kept, so that all that is derived from a graph is deterministic.
    """

    successors: dict[str, dict[str, None]] = field(default_factory=dict)

    def add_node(self, node: str) -> None:
        """Add ``node`` if it is not there."""
        self.successors.setdefault(node, {})

    def add_edge(self, src: str, dst: str) -> None:
        """Add both nodes and the edge ``src -> dst``."""
        self.add_node(src)
        self.add_node(dst)
        self.successors[src][dst] = None

    def reachable(self, start: str) -> set[str]:
        """All nodes with a non-empty path from ``start``."""
        seen: set[str] = set()
        stack = list(self.successors.get(start, ()))
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(self.successors.get(node, ()))
        return seen

    def edges(self) -> Iterator[tuple[str, str]]:
        """All edges, by source in node order."""
        for src, targets in self.successors.items():
            for dst in targets:
                yield src, dst

    @classmethod
    def of(cls, nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> DependencyGraph:
        """A graph of ``nodes`` (their order is kept) and ``edges``."""
        graph = cls()
        for node in nodes:
            graph.add_node(node)
        for src, dst in edges:
            graph.add_edge(src, dst)
        return graph
