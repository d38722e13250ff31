"""Dependency lines: each is due when the later of its two ends has been printed."""

from __future__ import annotations

from typing import TypeAlias

from neuron_ctrldep.control_dep import read_edges
from neuron_ctrldep.control_dep.structure import key_of
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.penguin import text

Key: TypeAlias = ir.Value | ir.Operation
"""What an op is found by; see :func:`key_of`."""

Ends: TypeAlias = tuple[str, ...]
"""Where an edge into a printed op ends; an edge from it starts at the last.

An op of one statement has one end; an op of several has two: the first statement that reads an operand, and the last.
The others follow the first by data, so that no part of the op runs before a predecessor.
"""


class DependencyLines:
    """The dependency lines of one program."""

    def __init__(self, module: ir.Operation) -> None:
        self.lines: list[str] = []
        """Those that were due so far."""
        self._edges = [(key_of(edge.src), key_of(edge.dst), edge.kind) for edge in read_edges(module).edges]
        self._printed: dict[Key, Ends] = {}
        self.at: dict[Key, list[int]] = {}
        """The numbers of the edges of each op that has one, in order."""
        for index, (src, dst, _) in enumerate(self._edges):
            self.at.setdefault(src, []).append(index)
            self.at.setdefault(dst, []).append(index)

    def due(self, key: Key, ends: Ends) -> list[str]:
        """The lines of the edges of which the op of ``key``, just printed, is the later end."""
        self._printed[key] = ends
        lines: list[str] = []
        for index in self.at[key]:
            src_key, dst_key, kind = self._edges[index]
            src, dst = self._printed.get(src_key), self._printed.get(dst_key)
            if src is not None and dst is not None:
                lines += [text.dependency(src[-1], end, kind) for end in dst]
        self.lines += lines
        return lines
