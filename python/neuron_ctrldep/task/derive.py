"""``auto-derive-task-dependencies``: memory hazards between tasks become explicit edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from neuron_ctrldep.errors import Diagnostic
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.task.accesses import AccessReader
from neuron_ctrldep.task.decisions import decide
from neuron_ctrldep.task.dialect import AUTO_MANUAL, FALLBACK
from neuron_ctrldep.task.directions import analysis_limits, write_call_directions
from neuron_ctrldep.task.emit import emit
from neuron_ctrldep.task.flow import AnalysisRegion, Body, Construct, Flow, PlainOp, TaskNode
from neuron_ctrldep.task.hazards import find_hazards
from neuron_ctrldep.task.lineage import Lineage, trace
from neuron_ctrldep.task.order import order
from neuron_ctrldep.task.program import TaskModule


@dataclass
class DerivedDependencies:
    """What :func:`auto_derive_task_dependencies` did."""

    edges: int = 0
    """How many operands were added to ``compiler_deps``."""
    slots: int = 0
    """How many directions were rewritten."""
    marks: int = 0
    """How many bodies may become MANUAL."""
    fallbacks: list[Diagnostic] = field(default_factory=list)
    """A remark for each region of analysis that is left to the run time."""


def auto_derive_task_dependencies(
    module: ir.Operation | ir.Module, *, may_alias_args: bool = False, keep_redundant: bool = False
) -> DerivedDependencies:
    """Add an edge wherever a hazard between two tasks is not ordered yet; see section 4 of the specification.

    Tasks without ``arg_directions`` get them first, as ``derive-call-directions`` does it.

    Args:
        module: a ``builtin.module`` that ``verify-task`` accepts.
        may_alias_args: whether different parameters of an orchestration function may overlap.
        keep_redundant: whether to list every conflicting predecessor, also where other edges imply it.

    Raises:
        PassError: an orchestration function has unstructured control flow; the module is unchanged.
    """
    tasks = TaskModule.of(module)
    result = DerivedDependencies()
    with analysis_limits():
        flows = [Flow(function, tasks) for function in tasks.orchestrations.values() if function.has_body]
        # Of the calls between functions, those from where tasks may be in flight already.
        called = set(tasks.reached(dict.fromkeys(name for flow in flows for name in flow.calls)))
        for flow in flows:
            if flow.function.name in called:
                _leave_alone(flow, result.fallbacks)
            _derive(flow, may_alias_args, keep_redundant, result)
            flow.release()
    return result


def _derive(flow: Flow, may_alias_args: bool, keep_redundant: bool, result: DerivedDependencies) -> None:
    lineage = trace(flow, may_alias_args=may_alias_args)
    write_call_directions(flow, lineage)
    reader = AccessReader(lineage)
    _find_fallbacks(flow, lineage, reader, result.fallbacks)
    _clear_marks(flow)
    analyzed = {region for region in flow.regions if region.is_analyzed}
    for task in flow.tasks:
        task.is_analyzed = task.body.region in analyzed
    if not any(task.is_analyzed for task in flow.tasks):
        return
    hazards = find_hazards(flow, lineage, reader, supersede=not keep_redundant)
    order(hazards, flow.top, keep_redundant=keep_redundant)
    decisions = decide(flow, lineage, hazards)
    result.edges += sum([len(task.edges) for task in hazards.tasks])
    result.slots += decisions.slots
    result.marks += len(decisions.manual)
    emit(flow, hazards, decisions)


# --- fallbacks --------------------------------------------------------------------------------------------------------


def _leave_alone(flow: Flow, remarks: list[Diagnostic]) -> None:
    """Let a function fall back that another one calls: it does not start with no task in flight."""
    for region in flow.regions:
        if region.is_analyzed:
            reason = "an orchestration function calls it, whose tasks may be in flight"
            _fall_back(region, region.op, reason, remarks)


def _find_fallbacks(flow: Flow, lineage: Lineage, reader: AccessReader, remarks: list[Diagnostic]) -> None:
    """Let regions fall back that hold an access that cannot be represented; the first one in program order says why."""
    for item in _items(flow.top):
        region = item.body.region
        if isinstance(item, PlainOp):
            for touch in lineage.touches.get(item.op, ()):
                if touch.submits:
                    if region is not None:
                        _fall_back(region, item.op, f"'{item.name}' may submit tasks", remarks)
                elif region is not None:
                    region.touched = True
        elif region is not None:
            _, unsupported = reader.read(item)
            for slot in unsupported:
                why = f"argument #{slot.slot} of the task is unsupported storage: {slot.reason}"
                _fall_back(region, item.op, why, remarks)


def _fall_back(region: AnalysisRegion, op: ir.Operation, reason: str, remarks: list[Diagnostic]) -> None:
    if region.fallback is not None:
        return
    region.fallback = reason
    what = "the function" if region.parent is None and region.op.name == "func.func" else "the AUTO scope"
    note = Diagnostic("note", f"{what} stays with the tracking of the run time", source_location(region.op.location))
    message = f"no task dependencies are derived: {reason}"
    remarks.append(Diagnostic("remark", message, source_location(op.location), (note,)))


def _items(top: Body) -> list[TaskNode | PlainOp]:
    """All tasks and plain ops in program order."""
    found: list[TaskNode | PlainOp] = []
    stack = [iter(top.items)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, Construct):
            stack += [iter(body.items) for body in reversed(item.bodies)]
        else:
            found.append(item)
    return found


def _clear_marks(flow: Flow) -> None:
    """Take away what an earlier run left, and say which regions fell back."""
    ops = [flow.function.operation]
    stack = [flow.top]
    while stack:
        for item in stack.pop().items:
            if isinstance(item, Construct):
                ops.append(item.op)
                stack += item.bodies
    for op in ops:
        for name in (AUTO_MANUAL, FALLBACK):
            if name in op.attributes:
                del op.attributes[name]
    for region in flow.regions:
        if region.fallback is not None:
            region.op.attributes[FALLBACK] = ir.StringAttr.get(region.fallback)


@dataclass(frozen=True)
class AutoDeriveTaskDependencies(Pass):
    """The pass; see :func:`auto_derive_task_dependencies`."""

    name: ClassVar[str] = "auto-derive-task-dependencies"
    summary: ClassVar[str] = "Turn memory hazards between tasks into explicit dependencies"
    description: ClassVar[str] = """\
Without `analyze-auto-scopes` it changes nothing. With it, every two tasks in AUTO scopes (and in functions in default
mode) that access storage that may overlap, one writing, are ordered: by what the user wrote, or by an operand added to
`compiler_deps`, directly or through others. `compiler_dep_hazards` says for each what it is for: `raw`, `war`, `waw`.

Iterations of sequential loops count as tasks of their own; ids flow from iteration to iteration, out of loops and out
of branches as SSA values, so that loops with any number of trips are ordinary. Iterations of one parallel loop are
never ordered. Statically disjoint parts of storage get no edge, and no edge is added that others imply.

Where all that a slot would look up at run time is ordered explicitly, `Input` becomes `NoDep` and `InOut` becomes
`OutputExisting`. Functions, loop bodies and branches whose every hazard is explicit are marked `task.auto_manual` for
`materialize-runtime-scopes`. A region with an access that cannot be represented is left as it was: a remark says why,
and `task.fallback` keeps the reason. MANUAL scopes are never touched.

```mlir
// Before
%a = func.call @W(%s) {task.name = "P"} : (tensor<64xf32>) -> tensor<64xf32>
func.call @R(%a) {task.name = "C"} : (tensor<64xf32>) -> ()
// After
%a, %p = "task.submit"(%s) {callee = @W, task.name = "P", …} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
%c = "task.submit"(%a, %p) {callee = @R, compiler_dep_hazards = ["raw"], arg_directions = ["NoDep"],
  operandSegmentSizes = array<i32: 1, 0, 1>, task.name = "C"} : (tensor<64xf32>, !task.id) -> !task.id
```
"""
    counters: ClassVar[dict[str, str]] = {
        "edges": "dependencies added",
        "slots": "directions rewritten",
        "marks": "bodies that may become MANUAL",
        "fallbacks": "regions left to the run time",
    }

    analyze_auto_scopes: bool = field(default=False, metadata={"help": "derive; without it nothing changes"})
    may_alias_args: bool = field(
        default=False, metadata={"help": "different parameters of an orchestration function may overlap"}
    )
    keep_redundant: bool = field(
        default=False, metadata={"help": "list every conflicting predecessor, also those that other edges imply"}
    )

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Derive the dependencies in ``op``, a module."""
        if not self.analyze_auto_scopes:
            return
        result = auto_derive_task_dependencies(
            op, may_alias_args=self.may_alias_args, keep_redundant=self.keep_redundant
        )
        statistics.add("edges", result.edges)
        statistics.add("slots", result.slots)
        statistics.add("marks", result.marks)
        statistics.add("fallbacks", len(result.fallbacks))
        for remark in result.fallbacks:
            statistics.remark(remark)
