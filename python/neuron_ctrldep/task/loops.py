"""What is known before run time about the loops of ``scf``: bounds, steps and trip counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.dialect import constant_int

UNSIGNED = "unsignedCmp"
"""On ``scf.for``: its bounds are compared as unsigned numbers."""


@dataclass(frozen=True)
class Bound:
    """One bound or step of a loop: a value, and its constant where it is one (``scf.forall`` may hold only that)."""

    value: ir.Value | None
    constant: int | None


@dataclass(frozen=True)
class Dimension:
    """One induction variable of a loop: it runs over ``lower, lower + step, …`` below ``upper``."""

    index: ir.Value
    lower: Bound
    upper: Bound
    step: Bound
    is_unsigned: bool = False
    """Whether they are compared as unsigned numbers; then their constants are such numbers."""

    @property
    def is_plain(self) -> bool:
        """Whether the values it takes are the same as signed numbers, in arithmetic too."""
        if not self.is_unsigned:
            return True
        upper = self.upper.constant
        return upper is not None and upper <= 1 << (_width(self.index.type) - 1)

    @property
    def trip_count(self) -> int | None:
        """How many values it takes; ``None`` when that is known at run time only."""
        lower, upper, step = self.lower.constant, self.upper.constant, self.step.constant
        if lower is None or upper is None or step is None or step < 1:
            return None
        return max(0, -((lower - upper) // step))


def dimensions(loop: ir.Operation) -> list[Dimension]:
    """The induction variables of ``scf.for``, ``scf.parallel`` or ``scf.forall``; none for any other op."""
    operands = list(loop.operands)
    if loop.name == "scf.for":
        groups = [[_dynamic(operand)] for operand in operands[:3]]
    elif loop.name == "scf.parallel":
        count = loop.attributes[SEGMENT_SIZES][0]
        groups = [[_dynamic(v) for v in operands[start : start + count]] for start in (0, count, 2 * count)]
    elif loop.name == "scf.forall":
        rest = iter(operands)
        groups = [
            [_mixed(static, rest) for static in loop.attributes[name]]
            for name in ("staticLowerBound", "staticUpperBound", "staticStep")
        ]
    else:
        return []
    indices = list(loop.regions[0].blocks[0].arguments)
    is_unsigned = UNSIGNED in loop.attributes
    if is_unsigned:
        groups = [[_unsigned(bound, indices[0].type) for bound in group] for group in groups]
    return [
        Dimension(index, lower, upper, step, is_unsigned)
        for index, lower, upper, step in zip(indices, *groups, strict=False)
    ]


def trip_count(loop: ir.Operation) -> int | None:
    """How often the body runs; ``None`` when that is known at run time only."""
    counts = [dimension.trip_count for dimension in dimensions(loop)]
    if 0 in counts:
        return 0
    known = [count for count in counts if count is not None]
    return prod(known) if counts and len(known) == len(counts) else None


def _dynamic(value: ir.Value) -> Bound:
    return Bound(value, constant_int(value))


def _unsigned(bound: Bound, type_: ir.Type) -> Bound:
    return bound if bound.constant is None else Bound(bound.value, bound.constant % (1 << _width(type_)))


def _width(type_: ir.Type) -> int:
    return type_.width if isinstance(type_, ir.IntegerType) else 64


def _mixed(static: int, rest: Iterator[ir.Value]) -> Bound:
    if static != ir.ShapedType.get_dynamic_size():
        return Bound(None, static)
    return _dynamic(next(rest))
