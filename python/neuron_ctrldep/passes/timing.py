"""``--mlir-timing`` and ``--mlir-pass-statistics``: reports in the form mlir-opt gives them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.passes.execute import Observer
from neuron_ctrldep.passes.model import PassCall, Pipeline

_RULE = "===" + "-" * 73 + "==="


def _header(title: str) -> str:
    title = f"... {title} ..."
    return f"{_RULE}\n{' ' * ((80 - len(title)) // 2)}{title}\n{_RULE}\n"


@dataclass
class _Timer:
    name: str
    seconds: float = 0.0
    inner: dict[object, _Timer] = field(default_factory=dict)

    def child(self, key: object, name: str) -> _Timer:
        return self.inner.setdefault(key, _Timer(name))


class Timing(Observer):
    """Wall times of the parts of a run."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._stack = [_Timer("root")]
        self._begun: list[float] = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the block under ``name``."""
        self._begin(name, name)
        try:
            yield
        finally:
            self._end()

    def _begin(self, key: object, name: str) -> None:
        self._stack.append(self._stack[-1].child(key, name))
        self._begun.append(time.perf_counter())

    def _end(self) -> None:
        self._stack.pop().seconds += time.perf_counter() - self._begun.pop()

    def before(self, call: PassCall, op: ir.Operation) -> None:
        """Start."""
        self._begin(id(call), call.class_name)

    def after(self, call: PassCall, op: ir.Operation, statistics: Statistics) -> None:
        """Stop."""
        self._end()

    def failed(self, call: PassCall, op: ir.Operation) -> None:
        """Stop."""
        self._end()

    def enter(self, pipeline: Pipeline, op: ir.Operation) -> None:
        """Start."""
        self._begin(id(pipeline), f"'{pipeline.anchor}' Pipeline")

    def leave(self, pipeline: Pipeline, op: ir.Operation) -> None:
        """Stop."""
        self._end()

    def report(self, *, display: str = "tree", form: str = "text") -> str:
        """The report: ``display`` is ``tree`` or ``list``, ``form`` is ``text`` or ``json``."""
        total = time.perf_counter() - self._started
        root = self._stack[0]
        rest = _Timer("Rest", max(0.0, total - sum(timer.seconds for timer in root.inner.values())))
        rows = list(_tree_rows(root, 0)) if display == "tree" else [(0, timer) for timer in _list_rows(root)]
        rows += [(0, rest), (0, _Timer("Total", total))]
        if form == "json":
            return _as_json(rows, total)
        lines = [
            _header("Execution time report") + f"  Total Execution Time: {total:.4f} seconds\n",
            "  ----Wall Time----  ----Name----",
        ]
        for depth, timer in rows:
            share = 100 * timer.seconds / total if total else 0.0
            lines.append(f"  {timer.seconds:8.4f} ({share:5.1f}%)  {'  ' * depth}{timer.name}")
        return "\n".join(lines) + "\n"


def _tree_rows(timer: _Timer, depth: int) -> Iterator[tuple[int, _Timer]]:
    for inner in timer.inner.values():
        yield depth, inner
        yield from _tree_rows(inner, depth + 1)


def _list_rows(root: _Timer) -> list[_Timer]:
    merged: dict[str, _Timer] = {}
    for _, timer in _tree_rows(root, 0):
        merged.setdefault(timer.name, _Timer(timer.name)).seconds += timer.seconds
    return sorted(merged.values(), key=lambda timer: -timer.seconds)


def _as_json(rows: list[tuple[int, _Timer]], total: float) -> str:
    objects: list[dict[str, object]] = []
    stack: list[list[dict[str, object]]] = [objects]
    for depth, timer in rows:
        share = round(100 * timer.seconds / total, 1) if total else 0.0
        passes: list[dict[str, object]] = []
        wall = {"duration": round(timer.seconds, 4), "percentage": share}
        del stack[depth + 1 :]
        stack[depth].append({"wall": wall, "name": timer.name, "passes": passes})
        stack.append(passes)
    return json.dumps(objects, indent=2) + "\n"


class StatisticsReport(Observer):
    """The counters of all passes of a pipeline, summed over the ops each ran on."""

    def __init__(self) -> None:
        self._counts: dict[int, dict[str, int]] = {}

    def after(self, call: PassCall, op: ir.Operation, statistics: Statistics) -> None:
        """Add."""
        counts = self._counts.setdefault(id(call), {})
        for name, amount in statistics.as_dict().items():
            counts[name] = counts.get(name, 0) + amount

    def report(self, pipeline: Pipeline, *, display: str = "pipeline") -> str:
        """The report: ``display`` is ``pipeline`` (in order) or ``list`` (by pass)."""
        if display == "list":
            calls = sorted(pipeline.calls(), key=lambda call: call.class_name)
            merged: dict[str, list[PassCall]] = {}
            for call in calls:
                merged.setdefault(call.class_name, []).append(call)
            lines = [line for same in merged.values() for line in self._of(same, "  ") if self._known(same)]
        else:
            lines = list(self._nested(pipeline, ""))
        return _header("Pass statistics report") + "".join(line + "\n" for line in lines) + "\n"

    def _known(self, calls: list[PassCall]) -> bool:
        return any(call.instance is not None and call.instance.counters for call in calls)

    def _nested(self, pipeline: Pipeline, indent: str) -> Iterator[str]:
        for element in pipeline.elements:
            if isinstance(element, Pipeline):
                yield f"{indent}'{element.anchor}' Pipeline"
                yield from self._nested(element, indent + "  ")
            else:
                yield from self._of([element], indent)

    def _of(self, calls: list[PassCall], indent: str) -> Iterator[str]:
        yield indent + calls[0].class_name
        instance = calls[0].instance
        if instance is None:
            return  # the bindings keep the counters of C++ passes to themselves
        counts: dict[str, int] = {}
        for call in calls:
            for name, amount in self._counts.get(id(call), {}).items():
                counts[name] = counts.get(name, 0) + amount
        for name in sorted({*instance.counters, *counts}):
            words = instance.counters.get(name)
            yield f"{indent}  (S) {counts.get(name, 0)} {name}" + (f" - {words}" if words else "")
