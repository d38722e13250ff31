"""Index values as affine functions of loop indices."""

from __future__ import annotations

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.regions import Affine, LoopIndex

_MAX_DEPTH = 200
"""Longer chains of arithmetic are given up, so that they cannot overflow Python's stack."""


class IndexValues:
    """Evaluates values of index type; ``None`` stands for what only run time knows.

    Only 64-bit arithmetic counts: narrower types may wrap around.
    """

    def __init__(self) -> None:
        self._known: dict[ir.Value, Affine | None] = {}

    def bind(self, value: ir.Value, index: LoopIndex) -> None:
        """Let ``value`` be the induction variable ``index``."""
        if index.trips == 1 and index.lower is not None:
            self._known[value] = Affine(index.lower)
        else:
            self._known[value] = Affine(0, ((index, 1),))

    def affine(self, value: ir.Value, depth: int = 0) -> Affine | None:
        """``value`` as an affine function, if it is one."""
        if value in self._known:
            return self._known[value]
        found = self._evaluate(value, depth) if depth < _MAX_DEPTH else None
        self._known[value] = found
        return found

    def _evaluate(self, value: ir.Value, depth: int) -> Affine | None:
        if not isinstance(value, ir.OpResult) or not _is_wide(value.type):
            return None
        op = value.owner.operation
        name = op.name
        if name == "arith.constant":
            attribute = op.attributes["value"]
            return Affine(attribute.value) if isinstance(attribute, ir.IntegerAttr) else None
        if name in ("arith.addi", "arith.subi", "arith.muli"):
            left = self.affine(op.operands[0], depth + 1)
            right = self.affine(op.operands[1], depth + 1)
            if left is None or right is None:
                return None
            if name == "arith.addi":
                return left.plus(right)
            if name == "arith.subi":
                return left.plus(right.times(-1))
            if not right.terms:
                return left.times(right.constant)
            return right.times(left.constant) if not left.terms else None
        if name == "arith.index_cast" or (name == "arith.index_castui" and _is_wide(op.operands[0].type)):
            return self.affine(op.operands[0], depth + 1)
        if name == "affine.apply":
            return self._apply(op, depth)
        return None

    def _apply(self, op: ir.Operation, depth: int) -> Affine | None:
        map_ = op.attributes["map"].value
        operands = [self.affine(operand, depth + 1) for operand in op.operands]
        results = list(map_.results)
        if len(results) != 1:
            return None
        return _expression(results[0], operands, map_.n_dims)


def _expression(expression: ir.AffineExpr, operands: list[Affine | None], dims: int) -> Affine | None:
    if isinstance(expression, ir.AffineConstantExpr):
        return Affine(ir.AffineConstantExpr(expression).value)
    if isinstance(expression, ir.AffineDimExpr):
        return operands[ir.AffineDimExpr(expression).position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return operands[dims + ir.AffineSymbolExpr(expression).position]
    for kind in (ir.AffineAddExpr, ir.AffineMulExpr):
        if isinstance(expression, kind):
            binary = kind(expression)
            left = _expression(binary.lhs, operands, dims)
            right = _expression(binary.rhs, operands, dims)
            if left is None or right is None:
                return None
            if kind is ir.AffineAddExpr:
                return left.plus(right)
            if not right.terms:
                return left.times(right.constant)
            return right.times(left.constant) if not left.terms else None
    return None


def _is_wide(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IndexType) or (isinstance(type_, ir.IntegerType) and type_.width == 64)
