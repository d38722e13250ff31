"""``strip-control-deps``: the program as a compiler sees it that knows nothing of control dependencies."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import ClassVar

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.leftovers import Leftovers, has_uses
from neuron_ctrldep.passes.tuples import Tuples, defining_op, element_index
from neuron_ctrldep.passes.wire_ops import DIALECTS, find_wire_ops, forwarded_types

COUNTERS = {
    "ops-stripped": "wire ops replaced by their data",
    "elements-folded": "tuples and elements of tuples that wire ops kept apart",
    "ops-erased": "tuple and get_tuple_element ops left without uses",
}


def strip_control_deps(module: ir.Operation | ir.Module, *, statistics: Statistics | None = None) -> None:
    """Replace every wire op of both dialects by the data it forwards, in place.

    Raises:
        PassError: wire ops are illegal; the module is unchanged.
    """
    statistics = statistics if statistics is not None else Statistics()
    for counter in COUNTERS:
        statistics.add(counter, 0)
    ops = find_wire_ops(module.operation)
    forwarded_types(ops)
    replace_by_data(ops, statistics)


def replace_by_data(ops: Iterable[ir.Operation], statistics: Statistics) -> None:
    """Replace ``ops``, legal wire ops, by their data, and fold the tuples that they kept apart."""
    dialects = {dialect: Tuples(dialect) for dialect in DIALECTS}
    leftovers = Leftovers(frozenset(name for tuples in dialects.values() for name in tuples.names))
    readers: list[ir.Operation] = []
    stripped = 0
    for op in ops:
        operands = list(op.operands)
        result = op.results[0]
        if operands[-1] == result:  # a circle in unreachable code
            continue
        readers += leftovers.readers(result)
        result.replace_all_uses_with(operands[-1])
        op.erase()
        stripped += 1
        for value in operands:
            leftovers.lost_use(value)
    # Only what read a wire op is folded: other pairs of tuple and element are the program's own.
    folded = 0
    while readers:
        user = readers.pop()
        result = user.results[0]
        same = _same(user, dialects[user.name.partition(".")[0]]) if has_uses(result) else None
        if same is None or same == result:
            continue
        readers += leftovers.readers(result)
        result.replace_all_uses_with(same)
        leftovers.lost_use(result)
        folded += 1
    leftovers.erase()
    statistics.add("ops-stripped", stripped)
    statistics.add("elements-folded", folded)
    statistics.add("ops-erased", leftovers.erased)


def _same(op: ir.Operation, tuples: Tuples) -> ir.Value | None:
    """The value that ``op`` has anyway: an element of a known tuple, or a tuple that it only packs again."""
    if op.name == tuples.tuple_name:
        return _taken_apart(op, tuples)
    maker = defining_op(op.operands[0])
    return maker.operands[element_index(op)] if maker is not None and maker.name == tuples.tuple_name else None


def _taken_apart(op: ir.Operation, tuples: Tuples) -> ir.Value | None:
    """The tuple whose elements the ``tuple`` op packs, all of them in order."""
    source: ir.Value | None = None
    for number, element in enumerate(op.operands):
        maker = defining_op(element)
        if maker is None or maker.name != tuples.element_name or element_index(maker) != number:
            return None
        if source is not None and maker.operands[0] != source:
            return None
        source = maker.operands[0]
    return source if source is not None and source.type == op.results[0].type else None


@dataclasses.dataclass(frozen=True)
class StripControlDeps(Pass):
    """``strip-control-deps``."""

    name: ClassVar[str] = "strip-control-deps"
    summary: ClassVar[str] = "Replace control dependencies by the data they forward"
    description: ClassVar[str] = """\
What a compiler that ignores control edges would see. `get_tuple_element` of a `tuple`, and a `tuple` of all elements of
one tuple, are folded where a wire op kept the two apart, so that the module is what it was before its edges were
reified. Values do not change.

Before:

```mlir
%t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<f32>>
%w = stablehlo.custom_call @AwsNeuronControlDep(%p, %t) {has_side_effect = true}
       : (tensor<f32>, tuple<tensor<f32>, tensor<f32>>) -> tuple<tensor<f32>, tensor<f32>>
%e = stablehlo.get_tuple_element %w[1] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
%r = stablehlo.negate %e : tensor<f32>
```

After:

```mlir
%r = stablehlo.negate %b : tensor<f32>
```
"""
    counters: ClassVar = COUNTERS

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Run on ``op`` as :class:`Pass` says."""
        strip_control_deps(op, statistics=statistics)
