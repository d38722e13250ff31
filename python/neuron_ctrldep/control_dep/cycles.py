"""Edges that no order of the program fulfils: attributes may say anything."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from neuron_ctrldep.control_dep.edges import ControlEdge
from neuron_ctrldep.control_dep.order import ancestor_in
from neuron_ctrldep.control_dep.structure import defining_op, key_of
from neuron_ctrldep.mlir import ir


def find_cycle(edges: Iterable[ControlEdge], blocks: Iterable[ir.Block]) -> list[ir.Operation]:
    """Ops of one of ``blocks`` that wait for each other by data and edges; empty when there are none.

    Each waits for the one before it, and the first for the last.

    Args:
        edges: all edges whose ends lie in ``blocks``; others do no harm.
        blocks: where to look.
    """
    by_block: dict[ir.Block, list[ControlEdge]] = {}
    for edge in edges:
        by_block.setdefault(edge.dst.block, []).append(edge)
    for block in blocks:
        ops = {key_of(op.operation): op.operation for op in block.operations}
        graph: TopologicalSorter[ir.Value | ir.Operation] = TopologicalSorter()
        for key, op in ops.items():
            graph.add(key, *_read_by(op, block))
        for edge in by_block.get(block, ()):
            graph.add(key_of(edge.dst), key_of(edge.src))
        try:
            graph.prepare()
        except CycleError as error:
            return [ops[key] for key in error.args[1][1:]]
    return []


def _read_by(op: ir.Operation, block: ir.Block) -> list[ir.Value | ir.Operation]:
    """The ops of ``block`` whose values ``op`` or what is inside it reads."""
    found: dict[ir.Value | ir.Operation, None] = {}

    def visit(inner: ir.Operation) -> ir.WalkResult:
        for value in inner.operands:
            source = defining_op(value)
            around = ancestor_in(source, block) if source is not None else None
            if around is not None and around != op:
                found[key_of(around)] = None
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return list(found)
