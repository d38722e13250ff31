"""What a run of a task program yields: instances of tasks, what each touches, and what it waited for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from neuron_ctrldep.task import dialect
from neuron_ctrldep.task.dialect import Task
from neuron_ctrldep.task.replay.storage import Root, View

Mask: TypeAlias = int
"""A task id: the set of instances that have completed when it has, as bits. "No task" is 0."""


@dataclass(frozen=True, slots=True)
class Access:
    """One storage argument of an instance."""

    slot: int
    view: View
    reads: bool
    writes: bool
    is_promised: bool
    """The user said that this access needs no order."""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of one execution of a loop."""

    execution: int
    iteration: int
    is_parallel: bool


@dataclass(slots=True)
class Instance:
    """One run of a task."""

    number: int
    task: Task
    steps: tuple[Step, ...]
    accesses: list[Access]
    completed: Mask
    """The instances that have completed when it starts."""
    waits: list[Mask]
    """The same for each of its explicit dependencies alone, the user's first."""
    is_manual: bool
    """It stands in a MANUAL scope."""

    def key(self) -> tuple[str, tuple[int, ...]]:
        """What names it across versions of a program: the task's name and its place in the loops around it."""
        return self.task.name or self.task.callee, tuple(step.iteration for step in self.steps)


@dataclass(slots=True)
class Run:
    """One way through a program."""

    instances: list[Instance] = field(default_factory=list)

    def conflicts(self) -> Iterator[tuple[Instance, Instance, View, str]]:
        """Pairs of instances, the earlier first, with the storage and the hazards between them.

        Each pair comes once for each root. Iterations of one parallel loop claim to be independent, and are left out.
        """
        by_root: dict[Root | None, list[tuple[Instance, Access]]] = {}
        for instance in self.instances:
            for access in instance.accesses:
                if not access.is_promised:
                    by_root.setdefault(access.view.root, []).append((instance, access))
        anywhere = by_root.pop(None, [])
        for group in [*(known + anywhere for known in by_root.values()), anywhere]:
            found: dict[tuple[int, int], tuple[Instance, Instance, View, set[str]]] = {}
            ordered = sorted(group, key=lambda pair: pair[0].number)
            for position, (later, second) in enumerate(ordered):
                for earlier, first in ordered[:position]:
                    hazards = _hazards(first, second)
                    if earlier is later or not hazards or _in_parallel(earlier, later):
                        continue
                    if first.view.overlaps(second.view):
                        pair = (earlier.number, later.number)
                        found.setdefault(pair, (earlier, later, first.view, set()))[3].update(hazards)
            for earlier, later, view, kinds in found.values():
                yield earlier, later, view, "+".join(kind for kind in dialect.HAZARDS if kind in kinds)


def _hazards(first: Access, second: Access) -> list[str]:
    hazards = []
    if first.writes and second.reads:
        hazards.append("raw")
    if first.reads and second.writes:
        hazards.append("war")
    if first.writes and second.writes:
        hazards.append("waw")
    return hazards


def _in_parallel(a: Instance, b: Instance) -> bool:
    """Whether the two are in different iterations of one parallel loop."""
    for first, second in zip(a.steps, b.steps, strict=False):
        if first.execution != second.execution:
            return False
        if first.iteration != second.iteration:
            return first.is_parallel
    return False


def is_ordered(earlier: Instance, later: Instance) -> bool:
    """Whether ``earlier`` has completed when ``later`` starts."""
    return bool(later.completed >> earlier.number & 1)
