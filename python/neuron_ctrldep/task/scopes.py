"""``materialize-runtime-scopes``: give the function body, loop bodies and branches the scopes the run time will see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.task.attributes import get_attribute
from neuron_ctrldep.task.dialect import (
    AUTO_MANUAL,
    BRANCHES,
    LOOPS,
    OWNER,
    SCOPE,
    ScopeMode,
    ops_of,
    walk,
)
from neuron_ctrldep.task.program import Orchestration, Scope, TaskModule


@dataclass(frozen=True)
class _Placement:
    block: ir.Block
    mode: ScopeMode


def materialize_runtime_scopes(module: ir.Operation | ir.Module) -> dict[ScopeMode, int]:
    """Place the scopes of every orchestration function whose ``task.auto_scope`` is true, and set it to false.

    Returns:
        How many scopes of each mode were made.
    """
    tasks = TaskModule.of(module)
    made: dict[ScopeMode, int] = {"auto": 0, "manual": 0}
    for function in tasks.orchestrations.values():
        if not function.auto_scope:
            continue
        if function.has_body:
            for placement in _placements(function, tasks):
                wrap_block(placement.block, placement.mode)
                made[placement.mode] += 1
            for op in (function.operation, *walk(function.operation)):
                if AUTO_MANUAL in op.attributes:
                    del op.attributes[AUTO_MANUAL]
        function.auto_scope = False
    return made


def _placements(function: Orchestration, tasks: TaskModule) -> list[_Placement]:
    """Where scopes go, outer before inner."""
    holding = _blocks_with_tasks(function, tasks)
    if function.body not in holding:
        return []
    if get_attribute(function.operation, AUTO_MANUAL) is not None:
        return [_Placement(function.body, "manual")]
    placements = [_Placement(function.body, "auto")]
    open_blocks = [function.body]
    while open_blocks:
        for op in ops_of(open_blocks.pop()):
            scope = Scope.of(op)
            if scope is not None and scope.mode == "manual":
                continue
            for index, region in enumerate(op.regions):
                for block in region.blocks:
                    if block not in holding:
                        continue
                    mode = _mode(op, index)
                    if mode is not None:
                        placements.append(_Placement(block, mode))
                    if mode != "manual":
                        open_blocks.append(block)
    return placements


def _mode(op: ir.Operation, region: int) -> ScopeMode | None:
    """The mode of the scope around a region of ``op``; ``None`` when it gets none."""
    mark = get_attribute(op, AUTO_MANUAL)
    if op.name in BRANCHES:
        return "manual" if mark is not None and mark[region] else "auto"
    # The regions of scf.while hand values to each other, and the first one decides whether the loop goes on.
    if op.name in LOOPS and op.name != "scf.while":
        return "manual" if mark is not None else "auto"
    return None


def _blocks_with_tasks(function: Orchestration, tasks: TaskModule) -> set[ir.Block]:
    found: set[ir.Block] = set()
    for task in tasks.tasks(function):
        block = task.operation.block
        while block not in found:
            found.add(block)
            owner = block.owner.operation
            if owner == function.operation:
                break
            block = owner.block
    return found


def wrap_block(block: ir.Block, mode: ScopeMode) -> Scope:
    """Move all of ``block`` but its terminator into a new scope, which yields what the terminator uses."""
    *body, terminator = ops_of(block)
    owner = block.owner.operation
    escaping = list(dict.fromkeys(value for value in _used_values(terminator) if _defined_in(value, block)))
    context = owner.context
    operation = ir.Operation.create(
        "scf.execute_region",
        results=[value.type for value in escaping],
        attributes={
            "no_inline": ir.UnitAttr.get(context),
            SCOPE: ir.StringAttr.get(mode, context),
            OWNER: ir.StringAttr.get("compiler", context),
        },
        regions=1,
        loc=owner.location,
        ip=ir.InsertionPoint(terminator),
    ).operation
    inner = operation.regions[0].blocks.append()
    for op in body:
        inner.append(op)
    for value, result in zip(escaping, operation.results, strict=True):
        _replace_uses_in(terminator, value, result)
    ir.Operation.create("scf.yield", operands=escaping, loc=owner.location, ip=ir.InsertionPoint(inner))
    return Scope(operation)


def _used_values(terminator: ir.Operation) -> Iterator[ir.Value]:
    for op in (terminator, *walk(terminator)):
        yield from op.operands


def _defined_in(value: ir.Value, block: ir.Block) -> bool:
    return isinstance(value, ir.OpResult) and value.owner.operation.block == block


def _replace_uses_in(terminator: ir.Operation, old: ir.Value, new: ir.Value) -> None:
    for op in (terminator, *walk(terminator)):
        op.replace_uses_of_with(old, new)


@dataclass(frozen=True)
class MaterializeRuntimeScopes(Pass):
    """The pass; see :func:`materialize_runtime_scopes`."""

    name: ClassVar[str] = "materialize-runtime-scopes"
    summary: ClassVar[str] = "Place the run-time scopes of orchestration functions in default mode"
    description: ClassVar[str] = """\
Runs on functions whose `task.auto_scope` is true (the default). A body that `auto-derive-task-dependencies` marked
becomes one MANUAL scope. Otherwise the body becomes an AUTO scope, and each loop body and branch below it that holds a
task a scope of its own: MANUAL where marked, else AUTO. Nothing is put inside a MANUAL scope, and bodies of `scf.while`
are not wrapped. All scopes made have `task.owner = "compiler"`. Afterwards `task.auto_scope` is false and the marks are
gone, so a second run changes nothing.

```mlir
// Before
func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration", task.auto_manual} {
  %a = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>
  return
}
// After
func.func @main(%s: tensor<64xf32>) attributes {task.auto_scope = false, task.kind = "orchestration"} {
  scf.execute_region no_inline {
    %a = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield
  } {task.owner = "compiler", task.scope = "manual"}
  return
}
```
"""
    counters: ClassVar[dict[str, str]] = {
        "auto-scopes": "AUTO scopes made",
        "manual-scopes": "MANUAL scopes made",
    }

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Place the scopes in ``op``, a module."""
        with op.context:
            made = materialize_runtime_scopes(op)
        statistics.add("auto-scopes", made["auto"])
        statistics.add("manual-scopes", made["manual"])
