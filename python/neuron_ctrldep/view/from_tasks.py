"""The graph of a task program: its tasks, and the explicit edges between them by the hazards they order."""

from __future__ import annotations

from neuron_ctrldep.control_dep import instruction_name
from neuron_ctrldep.edges import EdgeKind
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.orchestration.task_edges import edges_of, task_names
from neuron_ctrldep.task.dialect import is_id_tensor, is_task_id
from neuron_ctrldep.task.program import TaskModule
from neuron_ctrldep.view.from_mlir import Builder
from neuron_ctrldep.view.graph import Graph, label_of

_KINDS = {"raw": EdgeKind.FLOW, "war": EdgeKind.ANTI, "waw": EdgeKind.OUTPUT}
"""The dependency kind that orders each hazard (``spec``: RAW is FLOW, WAR is ANTI, WAW is OUTPUT)."""


def graph_of_tasks(module: ir.Operation) -> Graph:
    """The graph of all orchestration functions of ``module``.

    Ids are no nodes and no data: an edge goes from task to task through barriers, id tensors and loops. The user's
    edges are ``ordered``; the compiler's have the kinds of their hazards.
    """
    tasks = TaskModule.of(module)
    names = {
        task.operation: (name, task)
        for function in tasks.orchestrations.values()
        for task, name in task_names(function, tasks).items()
    }

    def name_of(op: ir.Operation) -> str:
        return names[op][0] if op in names else instruction_name(op)

    builder = Builder(
        module, is_hidden=_handles_ids_only, is_data=lambda value: not _is_id(value.type), name_of=name_of
    )
    for function in tasks.orchestrations.values():
        builder.add_function(function.operation)
        by_task = task_names(function, tasks)
        by_name = {name: builder.index[task.operation] for task, name in by_task.items()}
        for task, name in by_task.items():
            for edge in edges_of(task, by_task):
                kinds = [_KINDS[hazard] for hazard in edge["hazards"]] or [EdgeKind.ORDERED]
                for kind in kinds:
                    builder.graph.add_edge(by_name[edge["task"]], by_name[name], label_of(kind))
    builder.graph.unique_edges()
    return builder.graph


def _handles_ids_only(op: ir.Operation) -> bool:
    if len(op.results) == 0 or len(op.regions):
        return False
    return all(_is_id(result.type) for result in op.results)


def _is_id(kind: ir.Type) -> bool:
    return is_task_id(kind) or is_id_tensor(kind)
