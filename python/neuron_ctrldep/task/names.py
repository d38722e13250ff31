"""The names of tasks in outputs."""

from __future__ import annotations

from neuron_ctrldep.task.dialect import Task
from neuron_ctrldep.task.program import Orchestration, TaskModule


def task_names(function: Orchestration, tasks: TaskModule) -> dict[Task, str]:
    """A name for each task of ``function``, in program order: its ``task.name``, made unique, or ``task_<n>``."""
    found = list(tasks.tasks(function))
    taken = {task.name for task in found}
    names: dict[Task, str] = {}
    claimed: set[str] = set()
    counters: dict[str, int] = {}
    for index, task in enumerate(found):
        base = name = task.name if task.name is not None else f"task_{index}"
        if task.name in claimed or (task.name is None and name in taken):
            while name in taken:
                counters[base] = counters.get(base, 0) + 1
                name = f"{base}_{counters[base]}"
        taken.add(name)
        claimed.add(name)
        names[task] = name
    return names
