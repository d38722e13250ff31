"""Dependency lines: each is due when the later of its two ends has been printed."""

from __future__ import annotations

from typing import TypeAlias

from neuron_ctrldep.control_dep import ControlEdge, instruction_name, read_edges
from neuron_ctrldep.control_dep.cycles import find_cycle
from neuron_ctrldep.control_dep.structure import key_of
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.penguin import text
from neuron_ctrldep.wire import AFTER, ID

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
        self._control_edges = read_edges(module).edges
        self._edges = [(key_of(edge.src), key_of(edge.dst), edge.kind) for edge in self._control_edges]
        self._backward: list[ControlEdge] = []
        """Those whose successor is printed before the predecessor."""
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
                if key == src_key:
                    self._backward.append(self._control_edges[index])
                lines += [text.dependency(src[-1], end, kind) for end in dst]
        self.lines += lines
        return lines

    def check(self) -> None:
        """Refuse edges that no order of the program fulfils, once all is printed.

        Raises:
            InputError: ops wait for each other.
        """
        # Data goes forward: without an edge that goes backward there is no cycle.
        cycle = find_cycle(self._control_edges, dict.fromkeys(edge.dst.block for edge in self._backward))
        if cycle:
            names = [f"'{instruction_name(op)}'" for op in cycle]
            raise InputError(
                f"control dependencies make a cycle: {' waits for '.join([*names[::-1], names[-1]])}; "
                f"take {AFTER} or {ID} from one of them",
                location=source_location(cycle[0].location),
            )
