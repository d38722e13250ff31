"""How many iterations lie between a task and the one that waits for it, through all that its id went through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import SEQUENTIAL_LOOPS, Barrier, Submit


@dataclass(frozen=True, slots=True)
class Step:
    """One step back from an id to one it may be equal to or complete after."""

    value: ir.Value
    how: Literal["same", "previous", "enter", "leave"] = "same"
    """``previous``: in the iteration of ``loop`` before; ``enter``: some iteration of ``loop``, seen from after it;
    ``leave``: before ``loop``."""
    loop: ir.Operation | None = None


_Away: TypeAlias = tuple[int, int]
"""In which of the loops around the user the iterations differ (1: the innermost one, 0: in none), and by how many.

The greater one is further away: where the iterations of an outer loop differ, those of an inner one say nothing.
"""

_HERE: _Away = (0, 0)

_MANY = 1 << 30
"""A number of iterations that is no one number."""

_Ways: TypeAlias = list[tuple[Step, _Away]]
"""The steps back from an id that lead to one task, with how far it is on each."""

_JOINS = frozenset({Barrier.op_name, "tensor.from_elements", "tensor.splat", "tensor.cast"})
"""Ops whose result stands for all that their operands stand for: of several instances of a task the nearest counts."""

_PICKS = frozenset({"tensor.extract", "tensor.extract_slice"})
"""Ops whose result is some of what their operand holds."""

_OVERWRITTEN = {"tensor.insert": 1, "tensor.insert_slice": 1, "scf.forall": 0}
"""Ops that may overwrite some of what an operand holds: the number of the step that leads to it."""


class Distances:
    """The distances of all tasks behind one id.

    Args:
        user: the op that uses it.
        value: the id.
        before: for each id reached from it, itself among them, the steps back from there.
    """

    def __init__(self, user: ir.Operation, value: ir.Value, before: Mapping[ir.Value, list[Step]]) -> None:
        self._before = before
        self._levels = {loop: level for level, loop in enumerate(_loops_around(user), 1)}
        tasks = [v for v in before if isinstance(v, ir.OpResult) and v.owner.operation.name == Submit.op_name]
        self._around = {task: set(_loops_around(task.owner.operation)) for task in tasks}
        self._order = _operands_first(value, before)
        # Who goes back further than that goes around a loop again.
        self._limit = sum(step.how == "previous" for steps in before.values() for step in steps)
        nearest = self._solve(lambda _value, _task, ways: min(away for _, away in ways), min)
        self._furthest = self._solve(lambda _value, _task, ways: max(away for _, away in ways), max)
        certain = self._solve(self._nearest_on_each_way, max)
        self.found: dict[ir.Value, int | None] = {}
        """For each task how many iterations earlier its nearest instance is; ``None`` where that is not one number."""
        for task in tasks:
            away = nearest[value][task]
            self.found[task] = away[1] if away == certain[value][task] and away[1] < _MANY else None

    def _solve(
        self, combine: Callable[[ir.Value, ir.Value, _Ways], _Away], settle: Callable[[_Away, _Away], _Away]
    ) -> dict[ir.Value, dict[ir.Value, _Away]]:
        """For each id and task behind it what ``combine`` makes of the steps back; loops move it one way only."""
        table: dict[ir.Value, dict[ir.Value, _Away]] = {value: {} for value in self._before}
        for task in self._around:
            table[task][task] = _HERE
        changed = True
        while changed:
            changed = False
            for value in self._order:
                ways: dict[ir.Value, _Ways] = {}
                for step in self._before[value]:
                    for task, away in table[step.value].items():
                        ways.setdefault(task, []).append((step, self._back(step, task, away)))
                found = table[value]
                for task, several in ways.items():
                    old = found.get(task)
                    new = combine(value, task, several)
                    found[task] = new if old is None else settle(old, new)
                    changed |= found[task] != old
        return table

    def _back(self, step: Step, task: ir.Value, away: _Away) -> _Away:
        """How far ``task`` is here, where it is ``away`` from where ``step`` leads to."""
        level = self._levels.get(step.loop, 0) if step.loop is not None else 0
        if not level or away[0] > level or step.how == "leave":
            return away
        if step.how == "enter":
            return _HERE
        if step.how == "previous" and step.loop in self._around[task]:
            further = away[1] + 1 if away[0] == level else 1
            return level, further if further <= self._limit else _MANY
        return away

    def _nearest_on_each_way(self, value: ir.Value, task: ir.Value, ways: _Ways) -> _Away:
        """The furthest that the nearest instance may be, whichever way control flow took."""
        op = value.owner.operation.name if isinstance(value, ir.OpResult) else ""
        if op in _JOINS:
            return min(away for _, away in ways)
        if op in _OVERWRITTEN:
            destination = self._before[value][_OVERWRITTEN[op]]
            surely = [away for step, away in ways if step is not destination]
            return max(surely) if surely else self._furthest_behind(destination, task)
        if op in _PICKS:
            return max(self._furthest_behind(step, task) for step, _ in ways)
        return max(away for _, away in ways)

    def _furthest_behind(self, step: Step, task: ir.Value) -> _Away:
        return self._back(step, task, self._furthest[step.value][task])


def _loops_around(op: ir.Operation) -> Iterator[ir.Operation]:
    """The sequential loops around ``op``, innermost first."""
    parent = op.parent
    while parent is not None:
        if parent.name in SEQUENTIAL_LOOPS:
            yield parent.operation
        parent = parent.operation.parent


def _operands_first(value: ir.Value, before: Mapping[ir.Value, list[Step]]) -> list[ir.Value]:
    """All ids behind ``value``, an id after those it is made of but for loops."""
    order: list[ir.Value] = []
    seen = {value}
    stack = [(value, iter(before[value]))]
    while stack:
        current, rest = stack[-1]
        step = next(rest, None)
        if step is None:
            stack.pop()
            order.append(current)
        elif step.value not in seen:
            seen.add(step.value)
            stack.append((step.value, iter(before[step.value])))
    return order
