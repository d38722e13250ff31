"""The frontend attributes that carry edges, taken off: what a compiler that ignores control edges would see."""

from __future__ import annotations

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.wire import AFTER, DONE_AFTER, DONE_ID, FRONTEND_ATTRIBUTES, ID

_MARKS = frozenset({ID, AFTER, DONE_ID, DONE_AFTER})


def remove_marks(module: ir.Operation) -> None:
    """Remove every attribute that carries an edge from the ops of ``module``, in place; other entries stay."""

    def visit(op: ir.Operation) -> ir.WalkResult:
        attributes = op.attributes
        held = attributes.get(FRONTEND_ATTRIBUTES, None)
        if isinstance(held, ir.DictAttr) and any(entry.name in _MARKS for entry in held):
            kept = {entry.name: entry.attr for entry in held if entry.name not in _MARKS}
            if kept:
                attributes[FRONTEND_ATTRIBUTES] = ir.DictAttr.get(kept, op.context)
            else:
                del attributes[FRONTEND_ATTRIBUTES]
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
