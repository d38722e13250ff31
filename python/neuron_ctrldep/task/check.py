"""Find races: pairs of conflicting task instances that nothing orders (``task.md`` section 8).

The program is replayed (:mod:`~neuron_ctrldep.task.replay`) with loops unrolled and both sides of branches tried.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.task.dialect import Task
from neuron_ctrldep.task.program import TaskModule
from neuron_ctrldep.task.replay import Instance, Run, Unsupported, is_ordered, run

TRIPS = (0, 1, 2, 3)
"""How often a loop runs whose count is not known: three is what a buffer rotated among three needs."""

MAX_RUNS = 256
"""Ways through a program that are tried in order; of more than these some are drawn at random, with a fixed seed."""


@dataclass(frozen=True, slots=True)
class Race:
    """Two tasks that conflict and that nothing orders, the earlier in program order first."""

    function: str
    first: str
    second: str
    storage: str
    hazards: str
    """Such as ``"raw"`` or ``"war+waw"``."""
    distance: int
    """Iterations between the two, in the innermost loop around both in which they differ; 0: the same iteration."""
    first_location: SourceLocation | None
    second_location: SourceLocation | None

    def diagnostic(self) -> Diagnostic:
        """The race as a message at the later task."""
        when = f", {self.distance} iteration{'s' * (self.distance != 1)} later" if self.distance else ""
        message = (
            f"task '{self.second}' does not wait for task '{self.first}'{when}: {self.hazards.upper()} on "
            f"{self.storage}; add the id of '{self.first}' to its dependencies"
        )
        notes = (Diagnostic("note", f"'{self.first}' is here", self.first_location),)
        return Diagnostic("error", message, self.second_location, notes)

    def as_json(self) -> dict[str, Any]:
        """The race as plain data."""
        return {
            "function": self.function,
            "first": self.first,
            "second": self.second,
            "storage": self.storage,
            "hazards": self.hazards,
            "distance": self.distance,
            "first_location": str(self.first_location or ""),
            "second_location": str(self.second_location or ""),
        }


@dataclass(frozen=True, slots=True)
class TaskCheckResult:
    """What :func:`check_tasks` found."""

    file: str
    races: list[Race]
    functions: int
    runs: int
    conflicts: int
    """Pairs of conflicting instances, over all runs."""
    source: str | None = None

    @property
    def lost(self) -> list[Race]:
        """The orderings that are missing; the name is shared with the result of the other ``check``."""
        return self.races

    def as_json(self) -> dict[str, Any]:
        """``{"races": [...], "summary": {...}}``."""
        return {
            "races": [race.as_json() for race in self.races],
            "summary": {
                "functions": self.functions,
                "runs": self.runs,
                "conflicts": self.conflicts,
                "races": len(self.races),
            },
        }

    def render(self) -> str:
        """The races as diagnostics. Nothing when there is none: a clean program is silent."""
        return "".join(race.diagnostic().render(self.source) + "\n" for race in self.races)


def check_tasks(
    module: ir.Operation | ir.Module, *, trips: Sequence[int] | None = None, file: str = "-", source: str | None = None
) -> TaskCheckResult:
    """Replay every orchestration function and report each race once.

    Args:
        module: a module with tasks that verifies.
        trips: how often run-time loops run, and the values of integer arguments; :data:`TRIPS` by default.
        file: what messages call the input.
        source: its text, for the lines in messages.

    Raises:
        InputError: a program cannot be followed: unstructured control flow, or too many instances.
    """
    tasks = TaskModule.of(module)
    counts = tuple(dict.fromkeys(trips)) if trips is not None else TRIPS
    if not counts or min(counts) < 0:
        raise InputError("trip counts must be 0 or more", location=SourceLocation(file))
    races: dict[tuple[Any, ...], Race] = {}
    runs = conflicts = 0
    for name in tasks.orchestrations:
        try:
            for one in replays(tasks, name, trips=counts):
                runs += 1
                for earlier, later, view, hazards in one.conflicts():
                    conflicts += 1
                    if not is_ordered(earlier, later):
                        storage = view.root.name if view.root is not None else "storage that is not known"
                        race = _race(name, earlier, later, storage, hazards)
                        key = (race.function, race.first, race.second, race.storage, race.hazards, race.distance)
                        races.setdefault(key, race)
        except Unsupported as error:
            location = source_location(tasks.orchestrations[name].operation.location) or SourceLocation(file)
            raise InputError(f"@{name}: {error}", location=location) from error
    ordered = sorted(races.values(), key=_order)
    return TaskCheckResult(file, _nearest(ordered), len(tasks.orchestrations), runs, conflicts, source)


def replays(tasks: TaskModule, function: str, *, trips: Sequence[int] = TRIPS) -> Iterator[Run]:
    """The ways through a function: all of them up to :data:`MAX_RUNS`, then as many again drawn with a fixed seed."""
    decisions: list[int] = []
    for _ in range(MAX_RUNS):
        script = _Script(decisions)
        yield run(tasks, function, choose=script, trips=trips)
        following = script.following()
        if following is None:
            return
        decisions = following
    generator = random.Random(0)
    for _ in range(MAX_RUNS):
        yield run(tasks, function, choose=generator.randrange, trips=trips)


class _Script:
    """Plays decisions back and goes on with the first option; then says which decisions come next in order."""

    def __init__(self, decisions: Sequence[int]) -> None:
        self._given = list(decisions)
        self._made: list[tuple[int, int]] = []

    def __call__(self, options: int) -> int:
        position = len(self._made)
        taken = self._given[position] if position < len(self._given) else 0
        self._made.append((taken, options))
        return taken

    def following(self) -> list[int] | None:
        """The decisions of the next way; ``None`` after the last."""
        made = list(self._made)
        while made:
            taken, options = made.pop()
            if taken + 1 < options:
                return [*(one for one, _ in made), taken + 1]
        return None


def _race(function: str, earlier: Instance, later: Instance, storage: str, hazards: str) -> Race:
    return Race(
        function,
        _name(earlier.task),
        _name(later.task),
        storage,
        hazards,
        _distance(earlier, later),
        source_location(earlier.task.operation.location),
        source_location(later.task.operation.location),
    )


def _name(task: Task) -> str:
    return task.name or task.callee


def _distance(earlier: Instance, later: Instance) -> int:
    for first, second in itertools.takewhile(
        lambda pair: pair[0].execution == pair[1].execution, zip(earlier.steps, later.steps, strict=False)
    ):
        if first.iteration != second.iteration:
            return second.iteration - first.iteration
    return 0


def _order(race: Race) -> tuple[Any, ...]:
    second, first = race.second_location or SourceLocation(), race.first_location or SourceLocation()
    place = (second.line, second.column, first.line, first.column)
    return (race.function, *place, race.second, race.first, race.storage, race.hazards, race.distance)


def _nearest(races: Sequence[Race]) -> list[Race]:
    """Of races that differ in distance alone only the nearest: mend that one, and the others go or show."""
    nearest: dict[tuple[str, ...], Race] = {}
    for race in races:
        place = (str(race.first_location), str(race.second_location))
        key = (race.function, race.first, race.second, race.storage, race.hazards, *place)
        if key not in nearest or race.distance < nearest[key].distance:
            nearest[key] = race
    return list(nearest.values())
