"""``expand-manual-phase-fence``: one barrier instead of N times M edges between two phases of a MANUAL scope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.task.dialect import LOOPS, Barrier, Submit, is_id_tensor, walk
from neuron_ctrldep.task.loops import trip_count
from neuron_ctrldep.task.program import Scope, TaskModule

_READERS = frozenset({Submit.op_name, Barrier.op_name, "tensor.extract", "tensor.dim"})
"""Ops that use an id tensor without making a changed one of it."""


@dataclass
class _Phase:
    """The consumers of one id tensor in one loop."""

    loop: ir.Operation
    tensor: ir.Value
    consumers: list[Submit]
    instances: int = 0

    @property
    def pays(self) -> bool:
        producers: int = self.tensor.type.shape[0]
        return producers * self.instances > producers + self.instances


def expand_manual_phase_fence(module: ir.Operation | ir.Module) -> int:
    """In MANUAL scopes, let consumers in a loop wait for one barrier of an id tensor where that takes fewer edges.

    Returns:
        How many barriers were made.
    """
    made = 0
    for function in TaskModule.of(module).orchestrations.values():
        phases: dict[tuple[ir.Block, ir.Value], _Phase] = {}
        updating: dict[ir.Value, set[ir.Block]] = {}
        for op in walk(function.operation):
            if op.name == Submit.op_name:
                _collect(Submit(op), phases, updating)
        for phase in phases.values():
            if phase.pays:
                _expand(phase)
                made += 1
    return made


def _collect(
    consumer: Submit,
    phases: dict[tuple[ir.Block, ir.Value], _Phase],
    updating: dict[ir.Value, set[ir.Block]],
) -> None:
    tensor = _only_dependency(consumer)
    if tensor is None:
        return
    if tensor not in updating:
        updating[tensor] = _updating(tensor)
    loop, instances = _outermost_loop(consumer.operation, _block_of(tensor), updating[tensor])
    if loop is not None:
        phase = phases.setdefault((loop.regions[0].blocks[0], tensor), _Phase(loop, tensor, []))
        phase.consumers.append(consumer)
        phase.instances += instances


def _only_dependency(consumer: Submit) -> ir.Value | None:
    """The id tensor of constant size that is all the consumer waits for."""
    dependencies = [*consumer.deps, *consumer.compiler_deps]
    if len(dependencies) != 1 or not is_id_tensor(dependencies[0].type):
        return None
    tensor = dependencies[0]
    return None if tensor.type.is_dynamic_dim(0) else tensor


def _outermost_loop(consumer: ir.Operation, home: ir.Block, updating: set[ir.Block]) -> tuple[ir.Operation | None, int]:
    """The outermost loop before which the barrier can stand, and how often the consumer runs in it.

    Args:
        consumer: what waits for the tensor.
        home: the block that the tensor is defined in.
        updating: the blocks in which it is changed.
    """
    found: tuple[ir.Operation | None, int] = (None, 0)
    instances = 1
    op = consumer
    while op.block != home:
        parent = op.parent.operation
        scope = Scope.of(parent)
        if scope is not None:
            if scope.mode != "manual":
                break
        elif parent.name not in LOOPS:
            break  # a branch: whether the consumer runs at all is not known
        else:
            count = trip_count(parent)
            if not count or parent.regions[0].blocks[0] in updating:
                break
            instances *= count
            if _in_manual_scope(parent):
                found = (parent, instances)
        op = parent
    return found


def _block_of(value: ir.Value) -> ir.Block:
    return value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block


def _in_manual_scope(op: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None:
        scope = Scope.of(parent)
        if scope is not None:
            return scope.mode == "manual"
        parent = parent.operation.parent
    return False


def _updating(tensor: ir.Value) -> set[ir.Block]:
    """The bodies of ops that carry the tensor, and all blocks around ops that make a changed one of it."""
    found: set[ir.Block] = set()
    for use in tensor.uses:
        user = use.owner.operation
        if user.name in _READERS:
            continue
        found.update(block for region in user.regions for block in region.blocks)
        while user.parent is not None and user.block not in found:
            found.add(user.block)
            user = user.parent.operation
    return found


def _expand(phase: _Phase) -> None:
    barrier = Barrier.build([phase.tensor], location=phase.loop.location, ip=ir.InsertionPoint(phase.loop))
    for consumer in phase.consumers:
        if consumer.deps:
            consumer.rebuild(deps=[barrier.id])
        else:
            consumer.rebuild(compiler_deps=[barrier.id], hazards=consumer.compiler_dep_hazards)


@dataclass(frozen=True)
class ExpandManualPhaseFence(Pass):
    """The pass; see :func:`expand_manual_phase_fence`."""

    name: ClassVar[str] = "expand-manual-phase-fence"
    summary: ClassVar[str] = "Put one barrier between two phases of a MANUAL scope where it saves edges"
    description: ClassVar[str] = """\
In MANUAL scopes: when an id tensor of N producers is what M consumers in a loop wait for (N and M constant) and
N * M > N + M, one `task.barrier` before the loop takes the N edges and the consumers wait for it. Left alone: consumers
that wait for something else too, tensors that the loop carries or updates, loops that run zero times.

```mlir
// Before: 8 producers, 4 consumers, 32 edges
scf.for %j = %c0 to %c4 step %c1 {
  %r, %q = "task.submit"(%t, %ids) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<64xf32>, tensor<8x!task.id>) -> (tensor<64xf32>, !task.id)
}
// After: 12 edges
%b = "task.barrier"(%ids) : (tensor<8x!task.id>) -> !task.id
scf.for %j = %c0 to %c4 step %c1 {
  %r, %q = "task.submit"(%t, %b) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
}
```
"""
    counters: ClassVar[dict[str, str]] = {"barriers": "barriers made"}

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Expand the fences in ``op``, a module."""
        with op.context:
            statistics.add("barriers", expand_manual_phase_fence(op))
