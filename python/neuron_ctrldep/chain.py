"""The whole chain as functions: reify, import, canonicalize, flatten, print; and the proof that nothing was lost."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from neuron_ctrldep import mlir
from neuron_ctrldep.checker import CheckedEdge, Checker, of_hlo, of_mlir, of_program, render, summary
from neuron_ctrldep.checker.source import SourceBlock
from neuron_ctrldep.control_dep import control_edges
from neuron_ctrldep.control_dep.barriers import restore_wire_ops
from neuron_ctrldep.control_dep.edges import DONE_MERGED
from neuron_ctrldep.control_dep.marks import remove_marks
from neuron_ctrldep.errors import CtrlDepError, PassError, SourceLocation
from neuron_ctrldep.files import read_bytes, without_mark
from neuron_ctrldep.hlo.child import Child, or_new
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.hlo.order import sort_where_needed
from neuron_ctrldep.legalize import LEGALIZATIONS, legalize
from neuron_ctrldep.loading import input_file, load
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.penguin.weights import WeightNames

if TYPE_CHECKING:
    from neuron_ctrldep.hlo.report import PreserveReport
    from neuron_ctrldep.mlir import ir
    from neuron_ctrldep.penguin.model import Program
    from neuron_ctrldep.penguin.weights import WeightSink
    from neuron_ctrldep.task.check import TaskCheckResult

Stage = Literal["hlo", "stablehlo", "mhlo", "flat"]
"""``hlo``: reified; ``stablehlo`` / ``mhlo``: imported; ``flat``: after the pipeline, as it is printed."""

PIPELINE = (
    "builtin.module(canonicalize,cse,flatten-control-dep-tuple-operands,stablehlo-flatten-control-dep-tuple-operands,"
    "verify-control-deps{require-flat=true})"
)
"""What runs between import and print."""


UNNAMED = "-"
"""What ``check`` calls an end of an edge that is no instruction: an argument, or one that is not there."""


@dataclass(frozen=True, slots=True)
class Options:
    """What ``lower`` and ``check`` can be told: options of reading, of ``preserve-control-deps`` and of the import."""

    dialect: Literal["stablehlo", "mhlo"] = "stablehlo"
    reify: bool = True
    on_unreifiable: Literal["error", "warn"] = "error"
    carrier: Literal["any", "operand"] = "any"
    rewire: Literal["first", "all"] = "first"
    strip_control_edges: bool = False
    allow_unregistered_dialect: bool = False
    """Accept MLIR ops of dialects that are not known; they are printed as generic statements."""


@dataclass(slots=True)
class Lowered:
    """The result of :func:`lower`.

    ``module`` is the flat module (or the imported one, if that was the last stage asked for), ``hlo`` the reified HLO
    and ``report`` its account. These two are ``None`` for MLIR input; ``module`` is, when ``hlo`` was the last stage.
    """

    file: str
    module: ir.Operation | None
    hlo: HloModule | None
    report: PreserveReport | None

    def penguin(self, *, strict: bool = False, edges_only: bool = False, weights: WeightSink | None = None) -> str:
        """The module as Penguin Python; see :func:`neuron_ctrldep.penguin.printer.print_penguin`."""
        from neuron_ctrldep.penguin.printer import print_penguin

        assert self.module is not None, "lower(until='hlo') has no module to print"
        with _faults_in(self.file):
            return print_penguin(self.module, strict=strict, edges_only=edges_only, weights=weights)


@contextlib.contextmanager
def _faults_in(file: str) -> Iterator[None]:
    """Name the file in the faults that know no place: an op made from a protobuf has no line."""
    try:
        yield
    except CtrlDepError as error:
        if all(one.location is not None for one in error.diagnostics):
            raise
        place = SourceLocation(file)
        located = [dataclasses.replace(one, location=one.location or place) for one in error.diagnostics]
        raise type(error)(diagnostics=located, source=error.source) from error


def lower(
    source: Any,
    *,
    options: Options | None = None,
    until: Stage = "flat",
    on_stage: Callable[[Stage, HloModule | ir.Operation], None] | None = None,
    file: str | None = None,
    child: Child | None = None,
) -> Lowered:
    """Run the chain on one input.

    Args:
        source: whatever :func:`neuron_ctrldep.loading.load` takes: a path, bytes, a module, a JAX object.
        options: of the passes; the defaults are those of the tools.
        until: the last stage to make. ``flat`` is the end of the pipeline.
        on_stage: told of each stage when it is made; the object changes afterwards, so print it at once.
        file: what messages call the input.
        child: the process that runs XLA; a new one by default. Callers that lower several inputs share one.

    Raises:
        InputError: the input is malformed, or XLA's importer cannot take it.
        PassError: an edge is unreifiable, or a wire op is illegal.
    """
    name = file or (os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else "-")
    with or_new(child) as process, _faults_in(name):
        return _lower(source, options or Options(), until, on_stage or (lambda stage, made: None), file, process)


def _lower(
    source: Any,
    options: Options,
    until: Stage,
    tell: Callable[[Stage, HloModule | ir.Operation], None],
    file: str | None,
    child: Child,
) -> Lowered:
    from neuron_ctrldep.passes.pipeline import run_pipeline

    loaded = load(source, file=file, child=child, allow_unregistered_dialect=options.allow_unregistered_dialect)
    hlo: HloModule | None = None
    report: PreserveReport | None = None
    if isinstance(loaded, HloModule):
        from neuron_ctrldep.hlo.importer import import_hlo
        from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps

        name = loaded.file
        hlo = loaded.copy()
        if options.reify:
            report = preserve_control_deps(
                hlo,
                on_unreifiable=options.on_unreifiable,
                carrier=options.carrier,
                rewire=options.rewire,
                strip_control_edges=options.strip_control_edges,
            )
        else:
            sort_where_needed(hlo.proto)
        tell("hlo", hlo)
        if until == "hlo":
            return Lowered(name, None, hlo, report)
        dialect = "mhlo" if until == "mhlo" else options.dialect
        module = import_hlo(hlo, dialect=dialect, original=loaded, child=child)
        restore_wire_ops(module)  # HLO of a JAX program for CPU holds the barriers that load() finds in MLIR
        tell(dialect, module)
    else:
        name = file or "-"
        if until == "hlo":
            raise PassError("this input is MLIR; only HLO input has an HLO stage", location=SourceLocation(name))
        # What the caller holds stays as it is; what was loaded here is ours.
        module = mlir.copy_module(loaded, file=name) if hasattr(source, "operation") else loaded
        if not options.reify:
            run_pipeline(module, "builtin.module(strip-control-deps)")
            remove_marks(module)
        # The default of --dialect is no wish to have MHLO input as StableHLO.
        wanted = until if until in LEGALIZATIONS else options.dialect
        if (until == wanted or wanted == "mhlo") and legalize(module, wanted, name):
            tell(wanted, module)
    if until == "flat":
        run_pipeline(module, PIPELINE)
        tell("flat", module)
    return Lowered(name, module, hlo, report)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What :func:`check` found: every edge with and without reification."""

    file: str
    edges: list[CheckedEdge]
    without_reification: list[CheckedEdge]

    @property
    def lost(self) -> list[CheckedEdge]:
        """The edges that the emitted program does not hold, and that nothing excuses."""
        return [edge for edge in self.edges if edge.verdict == "lost"]

    def as_json(self) -> dict[str, Any]:
        """``{"edges": [...], "summary": {...}, "without_reification": {...}}`` (``spec/tools.md``)."""
        return {
            "edges": [edge.as_json() for edge in self.edges],
            "summary": summary(self.edges),
            "without_reification": summary(self.without_reification),
        }

    def render(self) -> str:
        """The same as a table for people."""
        return render(self.file, self.edges, self.without_reification)


def check(
    source: Any,
    *,
    options: Options | None = None,
    trips: Sequence[int] | None = None,
    file: str | None = None,
    child: Child | None = None,
) -> CheckResult | TaskCheckResult:
    """Lower an input twice, reified and not, and compare every control edge with what each emitted program keeps.

    A task program is not lowered: it is replayed, and each pair of conflicting tasks that nothing orders is reported.

    Args:
        source: as :func:`lower`.
        options: as :func:`lower`; ``reify`` is ignored.
        trips: how often the run-time loops of a task program run, each number in turn.
        file: what messages call the input.
        child: as :func:`lower`.

    Raises:
        InputError: as :func:`lower`.
        PassError: as :func:`lower`.
    """
    options = options or Options()
    with or_new(child) as process:
        loaded = load(source, file=file, child=process, allow_unregistered_dialect=options.allow_unregistered_dialect)
        none: list[CheckedEdge] = []
        if isinstance(loaded, HloModule):
            blocks = of_hlo(loaded)
            name = file or loaded.file
        else:
            name = file or "-"
            loaded = mlir.copy_module(loaded, file=name)
            if _has_tasks(loaded):
                return _check_tasks(loaded, trips, name, _text_of(source))
            blocks = of_mlir(loaded, name)
            # What is written as an edge and is none has its reason in the source already.
            none = [
                CheckedEdge("", edge.src or UNNAMED, edge.dst or UNNAMED, "dropped", edge.reason)
                for edge in control_edges(loaded).uncounted
            ]
        results = []
        for reify in (True, False):
            chosen = dataclasses.replace(options, reify=reify)
            lowered = lower(loaded, options=chosen, file=name, child=process)
            program = read_penguin(lowered.penguin(weights=WeightNames()), name)
            results.append(_judge(blocks, lowered, program, reified=reify) + none)
    return CheckResult(name, *results)


def _has_tasks(module: ir.Operation) -> bool:
    from neuron_ctrldep.task.program import TaskModule

    return bool(TaskModule.of(module).orchestrations)


def _text_of(source: Any) -> str | None:
    """The text of a source that is a file or bytes, for the lines in messages."""
    if isinstance(source, (str, os.PathLike)):
        source = read_bytes(input_file(source)) if os.fsdecode(source) != "-" else b""
    return without_mark(source).decode("utf-8", "replace") if isinstance(source, bytes) and source else None


def _check_tasks(module: ir.Operation, trips: Sequence[int] | None, file: str, text: str | None) -> TaskCheckResult:
    from neuron_ctrldep.passes.pipeline import run_pipeline
    from neuron_ctrldep.task.check import check_tasks

    # What the run time looks up depends on the directions; this pass fills in only those that are not written.
    run_pipeline(module, "builtin.module(derive-call-directions)")
    return check_tasks(module, trips=trips, file=file, source=text)


def _judge(blocks: dict[str, SourceBlock], lowered: Lowered, program: Program, *, reified: bool) -> list[CheckedEdge]:
    module = lowered.module
    assert module is not None

    def excuses() -> dict[tuple[str, str], str]:
        found = control_edges(module).uncounted
        return {(edge.src, edge.dst): edge.reason for edge in found if edge.reason == DONE_MERGED}

    functions = of_program(program)
    for function in functions:
        if cycle := function.cycle():
            path = " -> ".join(f"'{name}'" for name in [*cycle, cycle[0]])
            message = f"the emitted program has a cycle, so its operations have no order: {path}"
            raise PassError(message, location=SourceLocation(lowered.file, name=cycle[0]))
    return Checker(blocks, functions, excuses, dead_is_lost=not reified).run()
