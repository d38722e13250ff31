"""``derive-call-directions``: what each call site says of its arguments."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.task.accesses import WRITES, Access, AccessReader, UnsupportedAccess, overrides
from neuron_ctrldep.task.dialect import DIRECTION, INOUT, INPUT, NO_DEP, OUTPUT_EXISTING, SCALAR
from neuron_ctrldep.task.flow import Body, Construct, Flow, TaskNode
from neuron_ctrldep.task.lineage import Lineage, trace
from neuron_ctrldep.task.program import Kernel, TaskModule
from neuron_ctrldep.task.region_index import RegionIndex
from neuron_ctrldep.task.regions import Region
from neuron_ctrldep.task.storage import Root, Unsupported, is_private


@contextmanager
def analysis_limits() -> Iterator[None]:
    """Set the interpreter up for an analysis, and back.

    The analyses recurse as deep as MLIR nests regions; calls between Python functions use no C stack. They make many
    objects that live as long as they do, which the garbage collector would look at again and again.
    """
    limit = sys.getrecursionlimit()
    collects = gc.isenabled()
    sys.setrecursionlimit(max(limit, 20_000))
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


def derive_call_directions(module: ir.Operation | ir.Module) -> dict[str, int]:
    """Give each task of the orchestration functions that has none its ``arg_directions``.

    The effective directions of wrappers (``task.group``) are written to their parameters.

    Args:
        module: a ``builtin.module`` that ``verify-task`` accepts.

    Returns:
        ``tasks``: how many tasks got directions; ``wrappers``: how many parameters of wrappers changed.

    Raises:
        PassError: an orchestration function has unstructured control flow.
    """
    tasks = TaskModule.of(module)
    flows = [Flow(function, tasks) for function in tasks.orchestrations.values() if function.has_body]
    counts = {"tasks": 0, "wrappers": sum(_write_directions(kernel) for kernel in tasks.kernels.values())}
    with analysis_limits():
        for flow in flows:
            counts["tasks"] += write_call_directions(flow, trace(flow))
            flow.release()
    return counts


def write_call_directions(flow: Flow, lineage: Lineage) -> int:
    """The same for one function; also records the directions in the tasks of ``flow``.

    Returns:
        How many tasks got directions.
    """
    missing = [task for task in flow.tasks if not task.directions and "arg_directions" not in task.op.attributes]
    if not missing:
        return 0
    derivation = _Derivation(flow, lineage)
    derivation.body(flow.top, sequential=False)
    for task in missing:
        task.directions = tuple(derivation.found[task])
        task.op.attributes["arg_directions"] = ir.ArrayAttr.get(
            [ir.StringAttr.get(text, task.op.context) for text in task.directions], task.op.context
        )
    return len(missing)


def _write_directions(kernel: Kernel) -> int:
    """Write the effective directions of a wrapper to its parameters; how many changed."""
    changed = [i for i, given in enumerate(kernel.directions) if given != kernel.declared_directions[i]]
    if not changed:
        return 0
    op = kernel.operation
    entries = []
    for index, attributes in enumerate(kernel.parameter_attributes):
        direction = kernel.directions[index]
        entry = dict(attributes)
        if direction is not None:
            entry[DIRECTION] = ir.StringAttr.get(direction, op.context)
        entries.append(ir.DictAttr.get(entry, op.context))
    op.attributes["arg_attrs"] = ir.ArrayAttr.get(entries, op.context)
    return len(changed)


@dataclass(eq=False, slots=True)
class _Write:
    region: Region


@dataclass
class _Written:
    """Storage that tasks met so far write, as seen from the body the walk is in."""

    parts: dict[object, RegionIndex[_Write]] = field(default_factory=dict)
    added: list[tuple[Root, _Write]] = field(default_factory=list)
    unknown: bool = False

    def add(self, root: Root, region: Region) -> None:
        index = self.parts.setdefault(root.key, RegionIndex())
        if not index.at(region):
            write = _Write(region)
            index.add(write)
            self.added.append((root, write))

    def meets(self, access: Access) -> bool:
        index = self.parts.get(access.root.key)
        return self.unknown or (index is not None and index.meets(access.region))


class _Derivation:
    """The table of section 3 of the specification, in one walk in program order."""

    def __init__(self, flow: Flow, lineage: Lineage) -> None:
        self.found: dict[TaskNode, list[str]] = {}
        self._lineage = lineage
        self._regions = lineage.roots.regions
        self._reader = AccessReader(lineage)
        self._written = _Written()
        self._parameters = flow.function.declared_directions

    def body(self, body: Body, *, sequential: bool) -> None:
        for item in body.items:
            if isinstance(item, TaskNode):
                self._task(item, sequential)
            elif isinstance(item, Construct):
                self._construct(item, sequential)
            else:
                for touch in self._lineage.touches.get(item.op, ()):
                    if touch.submits and isinstance(touch.storage, Unsupported):
                        self._written.unknown = True
                    elif touch.submits and not isinstance(touch.storage, Unsupported):
                        for root, region in self._lineage.regions(touch.storage):
                            self._written.add(root, region)

    def _construct(self, construct: Construct, sequential: bool) -> None:
        written = self._written
        sequential = sequential or construct.kind in ("for", "while")
        after: list[tuple[Root, Region]] = []
        start = len(written.added)
        before, unknown = written.unknown, False
        for body in construct.bodies:
            written.unknown = before
            self.body(body, sequential=sequential)
            unknown |= written.unknown
            if construct.kind == "while":
                continue  # the bodies follow each other
            after += self._take_back(start, body, construct)
        written.unknown = unknown or before
        if construct.kind == "while":
            after += self._take_back(start, construct.bodies[0], construct)
        for root, region in after:
            written.add(root, region)

    def _take_back(self, start: int, body: Body, construct: Construct) -> list[tuple[Root, Region]]:
        """Undo what ``body`` added: another branch does not see it. What it is seen from outside is returned."""
        written = self._written
        after = []
        for root, write in written.added[start:]:
            written.parts[root.key].remove(write)
            if not is_private(root, body):
                after.append((root, self._regions.freed(write.region, construct.indices)))
        del written.added[start:]
        return after

    def _task(self, task: TaskNode, sequential: bool) -> None:
        accesses, unsupported = self._reader.all(task)
        directions = [SCALAR] * task.segments[0]
        by_slot: dict[int, list[Access]] = {}
        for access in accesses:
            by_slot.setdefault(access.slot, []).append(access)
        for slot, _ in self._reader.storage_slots(task.kernel):
            directions[slot] = self._direction(task, slot, by_slot.get(slot, []), sequential)
        for slot in overrides(task.op):
            if 0 <= slot < len(directions):
                directions[slot] = NO_DEP
        self.found[task] = directions
        self._record(accesses, unsupported)

    def _direction(self, task: TaskNode, slot: int, accesses: list[Access], sequential: bool) -> str:
        declared = task.kernel.directions[slot]
        if declared == "in":
            return INPUT
        if declared != "out" or sequential or len(accesses) != 1:
            # No access means unknown storage, several mean several roots.
            return INOUT
        access = accesses[0]
        parameter = access.root.parameter
        if parameter is not None and self._parameters[parameter] == "inout":
            return INOUT
        return INOUT if self._written.meets(access) else OUTPUT_EXISTING

    def _record(self, accesses: Sequence[Access], unsupported: Sequence[UnsupportedAccess]) -> None:
        for access in accesses:
            if access.does & WRITES:
                self._written.add(access.root, access.region)
        if any(access.does & WRITES for access in unsupported):
            self._written.unknown = True


@dataclass(frozen=True)
class DeriveCallDirections(Pass):
    """The pass; see :func:`derive_call_directions`."""

    name: ClassVar[str] = "derive-call-directions"
    summary: ClassVar[str] = "Say at each call to a kernel what it does with its arguments"
    description: ClassVar[str] = """\
Each task of an orchestration function without `arg_directions` gets them; those that have them keep them. Slots in
`arg_direction_overrides` become `NoDep`.

| the kernel says | the argument | result |
|---|---|---|
| any | is not storage | `Scalar` |
| in | | `Input` |
| inout | | `InOut` |
| out | under a sequential loop | `InOut` |
| out | may denote several storage roots, or unknown storage | `InOut` |
| out | an earlier task, in no other branch, writes storage that may overlap | `InOut` |
| out | is a parameter of the function declared `inout` | `InOut` |
| out | otherwise | `OutputExisting` |

`Output` is never derived. Before that, the parameters of wrappers (`task.group`) get their effective directions: as
declared, joined with what the kernels they forward to do. Running the pass twice changes nothing.

```mlir
// Before
%a = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>
%b = func.call @W(%a) : (tensor<64xf32>) -> tensor<64xf32>
// After
%a = func.call @W(%s) {arg_directions = ["OutputExisting"]} : (tensor<64xf32>) -> tensor<64xf32>
%b = func.call @W(%a) {arg_directions = ["InOut"]} : (tensor<64xf32>) -> tensor<64xf32>
```
"""
    counters: ClassVar[dict[str, str]] = {
        "tasks": "tasks that got directions",
        "wrappers": "parameters of wrappers whose effective direction differs from the declared one",
    }

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Derive the directions in ``op``, a module."""
        for counter, count in derive_call_directions(op).items():
            statistics.add(counter, count)
