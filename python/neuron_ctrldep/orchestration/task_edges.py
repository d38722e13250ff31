"""Task programs as JSON: the tasks, the explicit edges between them, the tree of scopes, and what fell back."""

from __future__ import annotations

from typing import Any

from neuron_ctrldep.mlir import entry, ir
from neuron_ctrldep.task.dialect import HAZARDS, Task, ops_of
from neuron_ctrldep.task.idflow import sources
from neuron_ctrldep.task.names import TaskNames, task_names
from neuron_ctrldep.task.program import Orchestration, Scope, TaskModule

__all__ = ["edges_of", "task_edges", "task_names"]


def task_edges(module: ir.Operation | ir.Module) -> dict[str, Any]:
    """The explicit edges of a module with tasks, as ``neuron-ctrldep-translate --task-to-edges`` prints them.

    Returns:
        ``{"functions": {name: {"tasks": {task: {"directions", "deps"}}, "scopes", "fallbacks"}}}``; a dep is
        ``{"task", "source", "hazards", "distance"}``. See ``docs/`` for each part.
    """
    tasks = TaskModule.of(entry(module))
    return {"functions": {name: _function(function, tasks) for name, function in tasks.orchestrations.items()}}


def edges_of(task: Task, names: TaskNames) -> list[dict[str, Any]]:
    """The explicit edges that end at ``task``: the user's first, then the compiler's, each once."""
    merged: dict[tuple[str, str, int | None], set[str]] = {}
    hazards = task.compiler_dep_hazards or ("",) * len(task.compiler_deps)
    for source, values, kinds in (
        ("user", task.deps, ("",) * len(task.deps)),
        ("compiler", task.compiler_deps, hazards),
    ):
        for value, kind in zip(values, kinds, strict=True):
            for producer in sources(task.operation, value):
                name = names.of(producer.task)
                if name is not None:
                    merged.setdefault((name, source, producer.distance), set()).update(kind.split("+") if kind else ())
    return [
        {
            "task": name,
            "source": source,
            "hazards": [hazard for hazard in HAZARDS if hazard in kinds],
            "distance": distance,
        }
        for (name, source, distance), kinds in merged.items()
    ]


def _function(function: Orchestration, tasks: TaskModule) -> dict[str, Any]:
    names = task_names(function, tasks)
    scopes, fallbacks = _scopes(function, tasks, names)
    return {
        "tasks": {
            name: {"directions": list(task.arg_directions or ()), "deps": edges_of(task, names)}
            for task, name in names.items()
        },
        "scopes": scopes,
        "fallbacks": fallbacks,
    }


def _scopes(
    function: Orchestration, tasks: TaskModule, names: TaskNames
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The tree of scopes, and the regions that fell back, each with the path of its scope in that tree.

    The root of the tree is the function; its mode is null, and it holds the tasks that lie in no scope.
    """
    in_order = (name for _, name in names.items())
    root: dict[str, Any] = {"mode": None, "owner": None, "tasks": [], "scopes": []}
    fallbacks: list[dict[str, Any]] = []
    if function.fallback is not None:
        fallbacks.append({"scope": [], "reason": function.fallback})
    path: list[int] = []
    stack = [(op, root, path) for op in reversed(_held_by(function.operation))]
    while stack:
        op, node, path = stack.pop()
        scope = Scope.of(op)
        if tasks.task(op) is not None:
            node["tasks"].append(next(in_order))
        elif scope is not None:
            path = [*path, len(node["scopes"])]
            owner = "compiler" if scope.by_compiler else "user"
            node["scopes"].append({"mode": scope.mode, "owner": owner, "tasks": [], "scopes": []})
            node = node["scopes"][-1]
            if scope.fallback is not None:
                fallbacks.append({"scope": path, "reason": scope.fallback})
        stack += [(inner, node, path) for inner in reversed(_held_by(op))]
    return root, fallbacks


def _held_by(op: ir.Operation) -> list[ir.Operation]:
    return [inner for region in op.regions for block in region for inner in ops_of(block)]
