"""Program order of ops, and the blocks they lie in."""

from __future__ import annotations

from neuron_ctrldep.mlir import ir, parent_of


class ProgramOrder:
    """Program order of the ops of one function, as a walk in pre-order meets them."""

    def __init__(self) -> None:
        self._places: dict[ir.Block, tuple[int, int]] = {}

    def compare(self, one: ir.Operation, other: ir.Operation) -> int:
        """-1 when ``one`` comes first, 1 when ``other`` does, 0 when they are the same."""
        if one.block == other.block:
            return -1 if one.is_before_in_block(other) else int(one != other)
        inside = None  # what of ``around`` holds ``one``
        around: ir.Operation | None = one
        while around is not None:
            counterpart = ancestor_in(other, around.block)
            if counterpart is None:
                inside, around = around, parent_of(around)
            elif counterpart != around:
                return -1 if around.is_before_in_block(counterpart) else 1
            elif inside is None or counterpart == other:
                return -1 if inside is None else 1  # one is around the other
            else:
                return self._compare_places(inside.block, _child_of(around, other).block, around)
        raise AssertionError("two ops of one function have it around them")

    def _compare_places(self, one: ir.Block, other: ir.Block, owner: ir.Operation) -> int:
        if one not in self._places:
            for i, region in enumerate(owner.regions):
                self._places.update((block, (i, j)) for j, block in enumerate(region.blocks))
        return -1 if self._places[one] < self._places[other] else 1


def _child_of(owner: ir.Operation, op: ir.Operation) -> ir.Operation:
    """``op``, or the op around it, that ``owner`` holds directly."""
    current = op
    while (parent := parent_of(current)) is not None and parent != owner:
        current = parent
    return current


def ancestor_in(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """``op``, or the op around it, that lies in ``block``; ``None`` when none does."""
    current: ir.Operation | None = op
    while current is not None:
        parent = parent_of(current)
        if parent is not None and current.block == block:
            return current
        current = parent
    return None
