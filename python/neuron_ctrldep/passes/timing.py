"""``--mlir-timing`` and ``--mlir-pass-statistics``: reports in the form mlir-opt gives them."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from neuron_ctrldep.mlir import ir, passmanager
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.passes.cpp import captured_stderr
from neuron_ctrldep.passes.execute import Observer
from neuron_ctrldep.passes.model import ANY, PassCall, Pipeline

_RULE = "===" + "-" * 73 + "==="


def _header(title: str) -> str:
    title = f"... {title} ..."
    return f"{_RULE}\n{' ' * ((80 - len(title)) // 2)}{title}\n{_RULE}\n"


@dataclass
class _Timer:
    name: str
    seconds: float = 0.0
    hidden: bool = False
    """Shown in lists only; a tree shows what is inside."""
    inner: dict[object, _Timer] = field(default_factory=dict)

    def child(self, key: object, name: str, *, hidden: bool = False) -> _Timer:
        return self.inner.setdefault(key, _Timer(name, hidden=hidden))


_ANALYSIS = re.compile(r"([\d.]+) +\( *[\d.]+%\) +(\(A\) .+)$")
"""A row of an analysis in MLIR's own report: its wall time stands right before its name."""


class Timing(Observer):
    """Wall times of the parts of a run on one module."""

    def __init__(self) -> None:
        self._collections: dict[int, tuple[object, str]] = {}
        self._started = time.perf_counter()
        self._stack = [_Timer("root")]
        self._begun: list[float] = []
        self._manager: passmanager.PassManager | None = None

    def expect(self, pipeline: Pipeline) -> None:
        """``pipeline`` is about to run."""
        self._collections = dict(_collections(pipeline))

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the block under ``name``."""
        self._begin(name, name)
        try:
            yield
        finally:
            self._end()

    def _begin(self, key: object, name: str, *, hidden: bool = False) -> None:
        self._stack.append(self._stack[-1].child(key, name, hidden=hidden))
        self._begun.append(time.perf_counter())

    def _end(self) -> None:
        self._stack.pop().seconds += time.perf_counter() - self._begun.pop()

    def before(self, call: PassCall, op: ir.Operation) -> None:
        """Start."""
        self._begin(id(call), call.class_name)

    def managed(self, manager: passmanager.PassManager) -> None:
        """Let MLIR take the times of analyses."""
        manager.enable_timing()
        self._manager = manager

    def after(self, call: PassCall, op: ir.Operation, statistics: Statistics) -> None:
        """Stop."""
        timer = self._stack[-1]
        self._end()
        self._take_analyses(timer)

    def failed(self, call: PassCall, op: ir.Operation) -> None:
        """Stop."""
        timer = self._stack[-1]
        self._end()
        self._take_analyses(timer)

    def _take_analyses(self, timer: _Timer) -> None:
        if self._manager is None:
            return
        lines: list[str] = []
        with captured_stderr(lines):
            self._manager = None  # it reports when it is freed
        for line in lines:
            if (row := _ANALYSIS.search(line)) is not None:
                timer.child(row[2], row[2]).seconds += float(row[1])

    def enter(self, pipeline: Pipeline, op: ir.Operation) -> None:
        """Start."""
        key, name = self._collections[id(pipeline)]
        self._begin(key, name, hidden=True)
        self._begin(id(pipeline), f"'{pipeline.anchor}' Pipeline")

    def leave(self, pipeline: Pipeline, op: ir.Operation) -> None:
        """Stop."""
        self._end()
        self._end()

    def report(self, *, display: str = "tree", form: str = "text") -> str:
        """The report: ``display`` is ``tree`` or ``list``, ``form`` is ``text`` or ``json``."""
        total = time.perf_counter() - self._started
        root = self._stack[0]
        root.seconds = total
        rest = _Timer("Rest", max(0.0, total - sum(timer.seconds for timer in root.inner.values())))
        rows = list(_tree_rows(root, 0)) if display == "tree" else [(0, timer) for timer in _list_rows(root)]
        ends = [rest, _Timer("Total", total)]
        if form == "json":
            parts = _json_tree(root, total, "") if display == "tree" else [_json(timer, total) for _, timer in rows]
            return "[\n" + ",\n".join([*parts, *(_json(timer, total) for timer in ends)]) + "\n]\n"
        lines = [
            _header("Execution time report") + f"  Total Execution Time: {total:.4f} seconds\n",
            "  ----Wall Time----  ----Name----",
        ]
        for depth, timer in [*rows, *((0, timer) for timer in ends)]:
            lines.append(f"  {timer.seconds:8.4f} ({_share(timer, total):5.1f}%)  {'  ' * depth}{timer.name}")
        return "\n".join(lines) + "\n"


def _collections(pipeline: Pipeline) -> Iterator[tuple[int, tuple[object, str]]]:
    """By nested pipeline: the key and the name of those that run together, op by op."""
    for kind, group in itertools.groupby(
        pipeline.elements, lambda element: element.anchor == ANY if isinstance(element, Pipeline) else None
    ):
        if kind is None:
            continue
        together = [element for element in group if isinstance(element, Pipeline)]
        anchors = ", ".join(f"'{anchor}'" for anchor in dict.fromkeys(element.anchor for element in together))
        for element in together:
            yield id(element), (("collection", id(together[0])), f"Pipeline Collection : [{anchors}]")
            yield from _collections(element)


def _share(timer: _Timer, total: float) -> float:
    return 100 * timer.seconds / total if total else 0.0


def _shown(timer: _Timer) -> Iterator[_Timer]:
    for inner in timer.inner.values():
        if inner.hidden:
            yield from _shown(inner)
        else:
            yield inner


def _tree_rows(timer: _Timer, depth: int) -> Iterator[tuple[int, _Timer]]:
    for inner in _shown(timer):
        yield depth, inner
        yield from _tree_rows(inner, depth + 1)


def _list_rows(root: _Timer) -> list[_Timer]:
    """The root, and below it all that have one name as one, the longest first."""
    merged: dict[str, _Timer] = {}
    left = list(root.inner.values())
    while left:
        timer = left.pop(0)
        merged.setdefault(timer.name, _Timer(timer.name)).seconds += timer.seconds
        left += timer.inner.values()
    return [root, *sorted(merged.values(), key=lambda timer: -timer.seconds)]


def _json(timer: _Timer, total: float, end: str = "}") -> str:
    wall = f'{{"duration": {timer.seconds:8.4f}, "percentage": {_share(timer, total):5.1f}}}'
    return f'{{"wall": {wall}, "name": {json.dumps(timer.name)}{end}'


def _json_tree(timer: _Timer, total: float, indent: str) -> list[str]:
    """As mlir-opt writes it: an empty object ends each list."""
    return [
        f'{indent}{_json(inner, total, ", ")}"passes": [\n'
        + "".join(part + ",\n" for part in _json_tree(inner, total, indent + "  "))
        + f"{indent}{{}}]}}"
        for inner in _shown(timer)
    ]


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
            return  # the bindings are built without the counters of C++ passes
        counts: dict[str, int] = {}
        for call in calls:
            for name, amount in self._counts.get(id(call), {}).items():
                counts[name] = counts.get(name, 0) + amount
        names = sorted({*instance.counters, *counts})
        digits = max((len(str(amount)) for amount in counts.values()), default=1)
        width = max(map(len, names), default=0)
        for name in names:
            row = f"{indent}  (S) {counts.get(name, 0):{digits}} {name:{width}} - {instance.counters.get(name, '')}"
            yield row.removesuffix("- ").rstrip()
