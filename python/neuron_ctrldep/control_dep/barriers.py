"""Barriers that stand for wire ops: what ``control_dep`` of JAX lowers to where XLA knows no wire op."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_ctrldep.control_dep.op import build_control_dep, frontend_attributes
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.wire import BARRIER, FRONTEND_ATTRIBUTES

BARRIERS = {"stablehlo.optimization_barrier": "stablehlo", "mhlo.optimization_barrier": "mhlo"}
"""By name the dialect of the op that every XLA backend runs: it forwards all its operands, all at one time."""


def build_marked_barrier(operands: Sequence[ir.Value]) -> ir.Operation:
    """Create the barrier that stands for the wire op with these operands, at the current place and location."""
    attributes = ir.DictAttr.get({BARRIER: ir.StringAttr.get("1")})
    return ir.Operation.create(
        "stablehlo.optimization_barrier",
        results=[operand.type for operand in operands],
        operands=list(operands),
        attributes={FRONTEND_ATTRIBUTES: attributes},
    ).operation


def marked_barriers(module: ir.Operation) -> list[ir.Operation]:
    """Every barrier in ``module`` that stands for a wire op, in program order."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        # Without operands there is no data to forward; such a barrier was not made here.
        if op.name in BARRIERS and len(op.operands) and BARRIER in frontend_attributes(op):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def restore_wire_ops(module: ir.Operation) -> int:
    """Replace every barrier that stands for a wire op by it, in place: undo the lowering for CPU, GPU and TPU.

    Returns:
        How many there were.
    """
    barriers = marked_barriers(module)
    for barrier in barriers:
        *predecessors, data = barrier.operands
        wire_op = build_control_dep(
            predecessors,
            data,
            dialect=BARRIERS[barrier.name],
            location=barrier.location,
            ip=ir.InsertionPoint(barrier),
        )
        # All results forward their operands; only the data is ordered.
        *earlier, result = barrier.results
        for old, new in zip(earlier, predecessors, strict=True):
            old.replace_all_uses_with(new)
        kept = [entry for entry in barrier.attributes[FRONTEND_ATTRIBUTES] if entry.name != BARRIER]
        if kept:
            entries = {entry.name: entry.attr for entry in kept}
            wire_op.attributes[FRONTEND_ATTRIBUTES] = ir.DictAttr.get(entries, module.context)
        result.replace_all_uses_with(wire_op.results[0])
        barrier.erase()
    return len(barriers)
