"""The graph of an HLO module: its computations as they are, with XLA's control edges."""

from __future__ import annotations

import re
from typing import Any

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.view.graph import Graph, Node, Role, clipped


def graph_of_hlo(module: HloModule) -> Graph:
    """The graph of all computations that the entry reaches.

    A called computation is a cluster of the first instruction that calls it. Tuples are nodes: this is the source.
    """
    return _Builder(module).build()


class _Builder:
    def __init__(self, module: HloModule) -> None:
        self.graph = Graph(module.proto.name)
        self.computations: dict[int, Any] = {computation.id: computation for computation in module.proto.computations}
        self.entry = module.proto.entry_computation_id
        self.texts = _texts(module)

    def build(self) -> Graph:
        entry = self.computations[self.entry]
        waiting: list[tuple[Any, int | None, int | None]] = [(entry, None, None)]
        seen = {self.entry}
        while waiting:
            computation, parent, owner = waiting.pop(0)
            cluster = self.graph.add_cluster(computation.name, parent, owner)
            for index, callee in self._add(computation, cluster):
                if callee not in seen:
                    seen.add(callee)
                    waiting.append((self.computations[callee], cluster, index))
        self.graph.unique_edges()
        return self.graph

    def _add(self, computation: Any, cluster: int) -> list[tuple[int, int]]:
        """Add the instructions of a computation; which of them call which computation."""
        index: dict[int, int] = {}
        calls: list[tuple[int, int]] = []
        for instruction in computation.instructions:
            role: Role = {"parameter": "argument", "constant": "constant"}.get(instruction.opcode, "op")  # type: ignore[assignment]
            text, location = self.texts.get(instruction.name, ("", ""))
            op = instruction.opcode if role != "argument" else _shape(text) or instruction.opcode
            node = Node(instruction.name, op, cluster, role, text, location)
            index[instruction.id] = self.graph.add_node(node)
            calls += [(index[instruction.id], callee) for callee in instruction.called_computation_ids]
        for instruction in computation.instructions:
            for operand in instruction.operand_ids:
                self.graph.add_edge(index[operand], index[instruction.id])
            for predecessor in instruction.control_predecessor_ids:
                self.graph.add_edge(index[predecessor], index[instruction.id], "ordered")
        return calls


_INSTRUCTION = re.compile(r"\s*(?:ROOT )?%?([^\s=]+) = ")
_LAYOUT = re.compile(r"\{[^{}]*\}")
_SOURCE = re.compile(r'source_file="((?:[^"\\]|\\.)*)" source_line=(\d+)')


def _shape(text: str) -> str:
    """The shape in a parameter's line of HLO text, without layouts."""
    return _LAYOUT.sub("", text.partition(" = ")[2].partition(" parameter(")[0])


def _texts(module: HloModule) -> dict[str, tuple[str, str]]:
    """By instruction: its line of HLO text, and its place in the source where its metadata says one."""
    try:
        lines = module.to_text().split("\n")
    except InputError:
        return {}  # what XLA does not print can be looked at all the same
    found = {}
    for line in lines:
        match = _INSTRUCTION.match(line)
        if match is not None:
            source = _SOURCE.search(line)
            found[match[1]] = (clipped(line.strip()), f"{source[1]}:{source[2]}" if source else "")
    return found
