"""Async ops: where the importer puts what was said of a start, and which ops are its dones."""

from __future__ import annotations

from neuron_ctrldep.mlir import ir, parent_of

_DONES = frozenset({"stablehlo.async_done", "mhlo.async_done"})
_UPDATES = frozenset({"mhlo.async_update"})


def lifted(op: ir.Operation) -> ir.Operation:
    """The async op around ``op``, if it stands in the region of one: the importer puts a start's attributes inside."""
    current = op
    while (parent := parent_of(current)) is not None and parent.name == "stablehlo.async_start":
        current = parent
    return current


def dones_of(op: ir.Operation) -> list[ir.Operation]:
    """The dones of a start; empty when start and done became one op."""
    found: list[ir.Operation] = []
    stack = [op]
    while stack:
        for result in stack.pop().results:
            for use in result.uses:
                user = use.owner.operation
                if user.name in _DONES:
                    found.append(user)
                elif user.name in _UPDATES:
                    stack.append(user)
    return found
