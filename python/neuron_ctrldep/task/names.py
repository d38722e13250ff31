"""The names of tasks in outputs."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import Submit, Task
from neuron_ctrldep.task.program import Orchestration, TaskModule


class TaskNames:
    """The tasks of one function in program order, each with a name of its own.

    Tasks are found again by their ids, not as keys: equal calls without results have equal hashes in the bindings.
    """

    def __init__(self, pairs: list[tuple[Task, str]]) -> None:
        self._pairs = pairs
        self._by_id: dict[ir.Value, str] = {task.id: name for task, name in pairs if task.id is not None}

    def items(self) -> Iterator[tuple[Task, str]]:
        """Each task with its name, in program order."""
        return iter(self._pairs)

    def of(self, task: Submit) -> str | None:
        """The name of a submit; ``None`` when it is in another function."""
        return self._by_id.get(task.id)


def task_names(function: Orchestration, tasks: TaskModule) -> TaskNames:
    """Name each task of ``function``: its ``task.name``, made unique, or ``task_<n>``."""
    found = [(task, task.name) for task in tasks.tasks(function)]
    taken = {name for _, name in found}
    claimed: set[str] = set()
    counters: dict[str, int] = {}
    pairs: list[tuple[Task, str]] = []
    for index, (task, given) in enumerate(found):
        base = name = given if given is not None else f"task_{index}"
        if name in claimed or (given is None and name in taken):
            while name in taken:
                counters[base] = counters.get(base, 0) + 1
                name = f"{base}_{counters[base]}"
        taken.add(name)
        claimed.add(name)
        pairs.append((task, name))
    return TaskNames(pairs)
