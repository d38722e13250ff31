"""``control-deps-to-optimization-barrier``: the same order in an op that every XLA backend knows."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from neuron_ctrldep.errors import Diagnostic, PassError
from neuron_ctrldep.mlir import ir, parent_of
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.leftovers import Leftovers, has_uses
from neuron_ctrldep.passes.tuples import Tuples, is_no_tuple, op_name
from neuron_ctrldep.passes.wire_ops import (
    check_tuple_data,
    fault_at,
    find_wire_ops,
    forwarded_types,
    is_empty_wire,
    through_empty_wires,
)
from neuron_ctrldep.wire import BARRIER, FRONTEND_ATTRIBUTES

COUNTERS = {
    "ops-converted": "wire ops replaced",
    "edges-dropped": "edges to or from empty tuples: a barrier has no value for them",
    "edges-in-fusions": "edges inside a fusion, which runs as one: XLA takes no barrier there",
}


def control_deps_to_optimization_barrier(
    module: ir.Operation | ir.Module, *, mark: bool = False, statistics: Statistics | None = None
) -> None:
    """Replace every wire op by an ``optimization_barrier`` of its dialect over the same values, in place.

    Args:
        module: whose wire ops.
        mark: mark each barrier for :func:`~neuron_ctrldep.control_dep.barriers.restore_wire_ops`, which makes a wire op
            of it again. One whose data is a tuple is not marked: the barrier has its leaves.
        statistics: takes the counters.

    Raises:
        PassError: wire ops are illegal, or hold values that a barrier cannot; the module is unchanged.
    """
    statistics = statistics if statistics is not None else Statistics()
    for counter in COUNTERS:
        statistics.add(counter, 0)
    ops = find_wire_ops(module.operation)
    types = forwarded_types(ops)
    check_tuple_data(ops, types)
    faults = [fault for op in ops for fault in _foreign_operands(op)]
    if faults:
        raise PassError(diagnostics=faults)
    # What forwards nothing goes last: until then it tells what its readers were ordered after.
    for op in sorted(ops, key=lambda op: _forwards_nothing(op)):
        statistics.add("ops-converted")
        if _in_fusion(op):
            statistics.add("edges-in-fusions", len(op.operands) - 1)
            _forward_data(op)
            continue
        statistics.add("edges-dropped", _convert(op, mark=mark))


def _in_fusion(op: ir.Operation) -> bool:
    """Whether ``op`` is in the body of a fusion.

    A barrier's results are elements of a tuple there, and XLA's verifier wants a reader for each instruction of a
    fusion; what is ordered before the data has none.
    """
    parent = parent_of(op)
    while parent is not None:
        if parent.name == "mhlo.fusion":
            return True
        parent = parent_of(parent)
    return False


def _forward_data(op: ir.Operation) -> None:
    """Replace a wire op by its data."""
    operands = list(op.operands)
    leftovers = Leftovers(Tuples(op.name.partition(".")[0]).names)
    op.results[0].replace_all_uses_with(operands[-1])
    op.erase()
    for operand in operands:
        leftovers.lost_use(operand)
    leftovers.erase()


def _forwards_nothing(op: ir.Operation) -> bool:
    return is_empty_wire(op.results[0])


def _convert(op: ir.Operation, *, mark: bool) -> int:
    """Replace one wire op. Returns how many of its edges nothing can hold."""
    dialect = op.name.partition(".")[0]
    tuples = Tuples(dialect)
    location, ip = op.location, ir.InsertionPoint(op)
    operands = list(op.operands)
    result, data = op.results[0], operands[-1]
    dropped = 0
    leftovers = Leftovers(tuples.names)
    if _forwards_nothing(op):
        if data == result:  # a circle in unreachable code
            return 0
        new, dropped = data, len(operands) - 1 if has_uses(result) else 0
    else:
        # A barrier takes no tuples: their leaves go through it, and those of the data are packed again behind it.
        values: list[ir.Value] = []
        for predecessor in (value for operand in operands[:-1] for value in through_empty_wires(operand)):
            for leaf in tuples.take_apart(predecessor, location=location, ip=ip).values():
                found = [leaf] if is_no_tuple(leaf) else _instead_of_empty(leaf, tuples, location, ip)
                dropped += found is None
                values += found or []
                leftovers.lost_use(leaf)
        parts = tuples.take_apart(data, location=location, ip=ip)
        filled = [path for path, leaf in parts.items() if is_no_tuple(leaf)]
        values += [parts[path] for path in filled]
        barrier = ir.Operation.create(
            f"{dialect}.optimization_barrier",
            results=[value.type for value in values],
            operands=values,
            attributes=_attributes(op, mark=mark and is_no_tuple(data)),
            loc=location,
            ip=ip,
        )
        parts |= zip(filled, list(barrier.results)[len(values) - len(filled) :], strict=True)
        new = tuples.put_together(data.type, parts, location=location, ip=ip)
    result.replace_all_uses_with(new)
    op.erase()
    for operand in operands:
        leftovers.lost_use(operand)
    leftovers.erase()
    return dropped


def _attributes(op: ir.Operation, *, mark: bool) -> dict[str, ir.Attribute]:
    """The frontend attributes of the barrier: those of the wire op, and the mark."""
    entries: dict[str, ir.Attribute] = {}
    if FRONTEND_ATTRIBUTES in op.attributes:
        entries = {entry.name: entry.attr for entry in op.attributes[FRONTEND_ATTRIBUTES]}
    if mark:
        entries |= {BARRIER: ir.StringAttr.get("1", op.context)}
    return {FRONTEND_ATTRIBUTES: ir.DictAttr.get(entries, op.context)} if entries else {}


def _instead_of_empty(
    leaf: ir.Value, tuples: Tuples, location: ir.Location, ip: ir.InsertionPoint
) -> list[ir.Value] | None:
    """Values of the op that ``leaf``, an empty tuple, comes from; ``None`` when it has no others.

    What a ``tuple`` op packs of nothing comes from nowhere: nothing is ordered after it. What it packs of empty tuples
    comes from where they come from.
    """
    source, path = tuples.resolve(leaf)
    if not path:
        if op_name(source.owner) != tuples.tuple_name:
            return None
        packed = [_instead_of_empty(operand, tuples, location, ip) for operand in source.owner.operands]
        return None if None in packed else [value for values in packed for value in values or ()]
    return [
        value for value in tuples.take_apart(source, location=location, ip=ip).values() if is_no_tuple(value)
    ] or None


def _foreign_operands(op: ir.Operation) -> list[Diagnostic]:
    """What a barrier refuses: buffers and asynchronous handles."""
    faults = []
    for number, operand in enumerate(op.operands):
        foreign = next((kind for kind in _leaf_types(operand.type) if not _fits(kind)), None)
        if foreign is not None:
            faults.append(
                fault_at(op, f"operand {number} holds {foreign}, and an optimization barrier takes tensors and tokens")
            )
    return faults


def _leaf_types(kind: ir.Type) -> set[ir.Type]:
    seen: set[ir.Type] = set()
    stack = [kind]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            if isinstance(current, ir.TupleType):
                stack += [current.get_type(i) for i in range(current.num_types)]
    return {kind for kind in seen if not isinstance(kind, ir.TupleType)}


def _fits(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) or str(kind) in ("!stablehlo.token", "!mhlo.token")


@dataclasses.dataclass(frozen=True)
class ControlDepsToOptimizationBarrier(Pass):
    """``control-deps-to-optimization-barrier``."""

    name: ClassVar[str] = "control-deps-to-optimization-barrier"
    summary: ClassVar[str] = "Replace control dependencies by optimization barriers, which every XLA backend keeps"
    description: ClassVar[str] = """\
The program then runs on any XLA backend and still holds the order. A wire op becomes an `optimization_barrier` of its
dialect over the same values; its result is the barrier's last. Tokens go through; a tuple goes through leaf by leaf and
is packed again. Put this pass last in a pipeline: MLIR's `cse` merges equal barriers. The body of an `mhlo.fusion` runs
as one kernel and XLA takes no barrier in it: a wire op there is replaced by its data. With `mark` each barrier gets the
frontend attribute `ctrldep.barrier`, by which the tools that read programs know it and make a wire op of it again.

Before:

```mlir
%w = stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {has_side_effect = true}
       : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
```

After:

```mlir
%b:2 = stablehlo.optimization_barrier %p, %d : tensor<f32>, tensor<4xf32>
```

with `%b#1` in place of `%w`.
"""
    counters: ClassVar = COUNTERS

    mark: bool = dataclasses.field(
        default=False, metadata={"help": "mark the barriers, so that who reads the program finds wire ops"}
    )

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Run on ``op`` as :class:`Pass` says."""
        control_deps_to_optimization_barrier(op, mark=self.mark, statistics=statistics)
