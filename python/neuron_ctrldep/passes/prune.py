"""``prune-control-deps``: no predecessor that the program orders anyway (a transitive reduction).

See :mod:`neuron_ctrldep.passes.ordering_graph` for what "anyway" means and how it is found.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.leftovers import Leftovers
from neuron_ctrldep.passes.ordering_graph import OrderingGraph
from neuron_ctrldep.passes.rebuild import Rebuilder
from neuron_ctrldep.passes.tuples import Tuples
from neuron_ctrldep.passes.wire_ops import DIALECTS, find_wire_ops, forwarded_types

COUNTERS = {
    "ops-seen": "wire ops of both dialects",
    "predecessors-dropped": "predecessors whose order the program holds anyway",
    "ops-removed": "wire ops without predecessors, replaced by their data",
}


def prune_control_deps(module: ir.Operation | ir.Module, *, statistics: Statistics | None = None) -> None:
    """Drop superfluous predecessors from the wire ops of both dialects, in place.

    Raises:
        PassError: wire ops are illegal; the module is unchanged.
    """
    statistics = statistics if statistics is not None else Statistics()
    for counter in COUNTERS:
        statistics.add(counter, 0)
    operation = module.operation
    ops = find_wire_ops(operation)
    statistics.add("ops-seen", len(ops))
    forwarded_types(ops)
    if not ops:
        return
    superfluous = OrderingGraph(operation).superfluous()
    plan = [superfluous.get(op.results[0], frozenset()) for op in ops]
    rebuilders = {dialect: Rebuilder(dialect) for dialect in DIALECTS}
    leftovers = Leftovers(frozenset(name for dialect in DIALECTS for name in Tuples(dialect).names))
    for op, numbers in zip(ops, plan, strict=True):
        operands = list(op.operands)
        data = operands.pop()
        kept: dict[ir.Value, int] = {}
        for number, value in enumerate(operands):
            if number not in numbers:
                kept.setdefault(value, number)
        statistics.add("predecessors-dropped", len(operands) - len(kept))
        result = op.results[0]
        if not kept and data != result:  # data that is the result itself: a circle in unreachable code
            new = data
            statistics.add("ops-removed")
        elif kept and len(kept) < len(operands):
            new = rebuilders[op.name.partition(".")[0]].build(op, kept, data).results[0]
        else:
            continue
        result.replace_all_uses_with(new)
        op.erase()
        for value in (*operands, data):
            leftovers.lost_use(value)
    leftovers.erase()


@dataclasses.dataclass(frozen=True)
class PruneControlDeps(Pass):
    """``prune-control-deps``."""

    name: ClassVar[str] = "prune-control-deps"
    summary: ClassVar[str] = "Drop predecessors of control dependencies that the program orders anyway"
    description: ClassVar[str] = """\
A transitive reduction: drops a predecessor that already reaches each reader through data, or through another
predecessor. What reaches what does not change. A use in a nested region is a use by the enclosing op. A wire op left
without predecessors is replaced by its data; one that nothing reads is left alone.

Before:

```mlir
%q = stablehlo.negate %p : tensor<f32>
%w = stablehlo.custom_call @AwsNeuronControlDep(%p, %q, %d) {has_side_effect = true}
       : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
%s = stablehlo.abs %w : tensor<f32>
```

After:

```mlir
%q = stablehlo.negate %p : tensor<f32>
%w = stablehlo.custom_call @AwsNeuronControlDep(%q, %d) {has_side_effect = true}
       : (tensor<f32>, tensor<f32>) -> tensor<f32>
%s = stablehlo.abs %w : tensor<f32>
```
"""
    counters: ClassVar = COUNTERS

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Run on ``op`` as :class:`Pass` says."""
        prune_control_deps(op, statistics=statistics)
