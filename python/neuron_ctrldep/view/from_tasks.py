"""The graph of a task program: its tasks, and the explicit edges between them by the hazards they order."""

from __future__ import annotations

from neuron_ctrldep.edges import EdgeKind
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.orchestration.task_edges import edges_of, task_names
from neuron_ctrldep.task.dialect import Task, is_id_tensor, is_task_id
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
    builder = _TaskBuilder(module)
    for function in tasks.orchestrations.values():
        names = task_names(function, tasks)
        builder.tasks.update({task.operation: (name, task) for task, name in names.items()})
        builder.add_function(function.operation)
        by_name = {name: builder.index[task.operation] for task, name in names.items()}
        for task, name in names.items():
            for edge in edges_of(task, names):
                kinds = [_KINDS[hazard] for hazard in edge["hazards"]] or [EdgeKind.ORDERED]
                for kind in kinds:
                    builder.graph.add_edge(by_name[edge["task"]], by_name[name], label_of(kind))
    builder.graph.unique_edges()
    return builder.graph


class _TaskBuilder(Builder):
    """Tasks go by their names and are what their kernels do."""

    def __init__(self, module: ir.Operation) -> None:
        super().__init__(module)
        self.tasks: dict[ir.Operation, tuple[str, Task]] = {}

    def is_hidden(self, op: ir.Operation) -> bool:
        # A task that hands nothing back has its id as its only result.
        if op in self.tasks or len(op.results) == 0 or len(op.regions):
            return False
        return all(_is_id(result.type) for result in op.results)

    def is_data(self, value: ir.Value) -> bool:
        return not _is_id(value.type)

    def name_of(self, op: ir.Operation) -> str:
        return self.tasks[op][0] if op in self.tasks else super().name_of(op)

    def kind_of(self, op: ir.Operation) -> str:
        return self.tasks[op][1].callee if op in self.tasks else super().kind_of(op)


def _is_id(kind: ir.Type) -> bool:
    return is_task_id(kind) or is_id_tensor(kind)
