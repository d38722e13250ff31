"""What a rewrite leaves behind: ``tuple`` and ``get_tuple_element`` ops that nothing reads any more.

Handles of the bindings die with the op they name: :class:`Leftovers` is told before an op goes.
"""

from __future__ import annotations

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.tuples import op_name


class Leftovers:
    """``tuple`` and ``get_tuple_element`` ops that a rewrite took uses from; at the end those without uses go.

    Ops that had no uses before are not among them, so dead code that was there stays.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        # By their results: the hash of an op follows its operands in some versions of jaxlib, that of a value does not.
        self._results: dict[ir.Value, None] = {}
        self.erased = 0
        """How many ops went so far."""

    def readers(self, value: ir.Value) -> list[ir.Operation]:
        """Those of these ops that read ``value``, once for each use."""
        users = (use.owner.operation for use in value.uses)
        return [user for user in users if user.name in self._names]

    def lost_use(self, value: ir.Value) -> None:
        """``value``, of any op, has lost a use."""
        if op_name(value.owner) in self._names:
            self._results[value] = None

    def erase_now(self, op: ir.Operation, *, is_simple: bool = False) -> None:
        """Erase ``op``, which has no uses; what it used may be left over, too.

        Args:
            op: one of these ops.
            is_simple: it is known to use none of the others.
        """
        # An erased op must not stay a key: a new op may get its address.
        if self._results:
            self._results.pop(op.result, None)
        operands = [] if is_simple else list(op.operands)
        op.erase()
        self.erased += 1
        for value in operands:
            self.lost_use(value)

    def erase(self) -> None:
        """Erase what is left over, transitively."""
        while self._results:
            value, _ = self._results.popitem()
            if not has_uses(value):
                self.erase_now(value.owner.operation)


def has_uses(value: ir.Value) -> bool:
    """Whether anything reads ``value``."""
    return next(iter(value.uses), None) is not None
