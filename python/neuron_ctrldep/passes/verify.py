"""``verify-control-deps``: every wire op is legal and, where asked, flat (``control-dep.md`` sections 1 and 7)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

from neuron_ctrldep.control_dep import fault_of
from neuron_ctrldep.errors import Diagnostic, PassError
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.tuples import Tuples, defining_op
from neuron_ctrldep.passes.wire_ops import DIALECTS, fault_at, find_wire_ops


def verify_control_deps(
    module: ir.Operation | ir.Module, *, require_flat: bool = False, statistics: Statistics | None = None
) -> None:
    """Check the wire ops of both dialects.

    Args:
        module: what to look through.
        require_flat: refuse what the flatten passes would change.
        statistics: takes the counters.

    Raises:
        PassError: with every fault, at its op, in program order.
    """
    ops = find_wire_ops(module.operation)
    if statistics is not None:
        statistics.add("ops-seen", len(ops))
    faults: list[Diagnostic] = []
    for op in ops:
        illegal = fault_of(op)
        if illegal is not None:
            faults.append(fault_at(op, illegal))
        elif require_flat:
            faults += [fault_at(op, message) for message in _not_flat(op)]
    if faults:
        raise PassError(diagnostics=faults)


def _not_flat(op: ir.Operation) -> Iterator[str]:
    """Why ``op`` is not flat; the same table as the flatten passes have."""
    dialect = op.name.partition(".")[0]
    tuples = Tuples(dialect)
    advice = f"run {_FLATTEN[dialect]}"
    operands = list(op.operands)
    last = len(operands) - 1
    if isinstance(operands[last].type, ir.TupleType):
        yield f"not flat: it forwards a tuple, {operands[last].type}; {advice}"
    elif tuples.resolve(operands[last]) == (operands[last], ()):
        pass
    elif not tuples.resolve(operands[last])[1]:
        yield f"not flat: the data, operand {last}, is an element of a known tuple; {advice}"
    for number, operand in enumerate(operands[:-1]):
        maker = defining_op(operand)
        if maker is None or maker.name not in tuples.names:
            continue
        if maker.name == tuples.tuple_name:
            yield f"not flat: predecessor {number} is a tuple; {advice}"
        elif "operand_layouts" not in op.attributes or not tuples.resolve(operand)[1]:
            yield f"not flat: predecessor {number} is an element of a tuple; {advice}"


_FLATTEN = {
    dialect: f"{'' if dialect == 'mhlo' else dialect + '-'}flatten-control-dep-tuple-operands" for dialect in DIALECTS
}


@dataclasses.dataclass(frozen=True)
class VerifyControlDeps(Pass):
    """``verify-control-deps``."""

    name: ClassVar[str] = "verify-control-deps"
    summary: ClassVar[str] = "Check that control dependencies are legal, and flat where asked"
    description: ClassVar[str] = """\
Reports every illegal wire op of StableHLO and MHLO: one without operands, with a number of results other than one, or
whose result type differs from its last operand's. With `require-flat=true` also those that the flatten passes would
change. The module is not changed.

An error:

```mlir
%w = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
```

None:

```mlir
%w = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
```
"""
    counters: ClassVar = {"ops-seen": "wire ops of both dialects"}

    require_flat: bool = dataclasses.field(
        default=False, metadata={"help": "refuse tuples and their elements among the operands, too"}
    )

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Run on ``op`` as :class:`Pass` says."""
        verify_control_deps(op, require_flat=self.require_flat, statistics=statistics)
