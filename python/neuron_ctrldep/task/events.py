"""What the hazard walk finds: for each body its tasks with their conflicts and its constructs with their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from neuron_ctrldep.task.accesses import READS, WRITES, Access, UnsupportedAccess
from neuron_ctrldep.task.flow import Body, Construct, TaskNode
from neuron_ctrldep.task.ids import Choice, Collected, Final, Handed, Id, Leaf, NoTask, Phi

RAW, WAR, WAW = 1, 2, 4
"""Bits of what a hazard is."""


def _hazard(earlier: int, later: int) -> int:
    return (
        (RAW if earlier & WRITES and later & READS else 0)
        | (WAR if earlier & READS and later & WRITES else 0)
        | (WAW if earlier & WRITES and later & WRITES else 0)
    )


HAZARD_OF = tuple(tuple(_hazard(earlier, later) for later in range(4)) for earlier in range(4))
"""The hazards between two overlapping accesses, by what the earlier and the later one do."""


Conflict = tuple[int, Id, int]
"""A slot meets an earlier access: the slot, the id of that access, and the hazards as bits."""


@dataclass(eq=False, slots=True)
class TaskHazards:
    """What the walks found at one task."""

    task: TaskNode
    leaf: Leaf
    accesses: Sequence[Access]
    unsupported: Sequence[UnsupportedAccess]
    user: list[Id]
    conflicts: Sequence[Conflict]
    """With entries of analyzed tasks."""
    outside: Sequence[Conflict] = ()
    """With entries of tasks that were not analyzed."""
    meets_unknown: bool = False
    """Whether a task on storage that is not known may be earlier."""
    # What :mod:`~neuron_ctrldep.task.order` makes of these, which it may let go, with all edges in place.
    edges: Sequence[tuple[Id, int]] = ()
    """The edges to add, with their hazards as bits: argument order, then program order."""
    conflicting: int = 0
    """The slots with a hazard with an earlier task, as bits."""
    raw: int = 0
    """The slots with a RAW hazard."""
    unordered: int = 0
    """The slots with a hazard that no explicit edge orders."""
    # What :mod:`~neuron_ctrldep.task.decisions` decides.
    directions: tuple[str, ...] | None = None
    """The new directions, if there are any."""


@dataclass(eq=False)
class ConstructIds:
    """The ids that enter and leave a construct."""

    construct: Construct
    start: int
    """The serial number of its first id: ids below are defined before it."""
    phis: list[Phi] = field(default_factory=list)
    finals: list[Final] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    handed_in: list[Handed] = field(default_factory=list)
    handed_out: list[Handed] = field(default_factory=list)
    collected: list[Collected] = field(default_factory=list)


Event = TaskHazards | ConstructIds | Id


@dataclass
class Hazards:
    """The result of :func:`find_hazards`."""

    events: dict[Body, list[Event]] = field(default_factory=dict)
    """For each body what happens in it, in program order."""
    ids: list[Id] = field(default_factory=list)
    """All ids, by serial number."""
    no_task: NoTask = field(default_factory=lambda: NoTask(-1))
    tasks: list[TaskHazards] = field(default_factory=list)
    """All tasks, in program order."""
    claimed: dict[TaskNode, int] = field(default_factory=dict)
    """The slots, as bits, that may conflict with another iteration of a parallel loop."""
    unknown_outside: bool = False
    """Whether a task that was not analyzed accesses storage that is not known."""
