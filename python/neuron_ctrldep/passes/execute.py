"""Running a pipeline on a module.

The executor is our own: the bindings' ``PassManager`` cannot nest Python passes and ends the process when asked to.
Neighbouring C++ passes still run in one ``PassManager``, nested pipelines of C++ passes too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import CtrlDepError, Diagnostic, PassError, PipelineError, SourceLocation
from neuron_ctrldep.mlir import ir, passmanager
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.model import ANY, PassCall, Pipeline


class Observer:
    """Told of each pass run on each op. With an observer, every pass runs by itself, C++ passes too."""

    def before(self, call: PassCall, op: ir.Operation) -> None:
        """``call`` is about to run on ``op``."""

    def managed(self, manager: passmanager.PassManager) -> None:
        """``manager`` is about to run a C++ pass; only the observers hold it afterwards."""

    def after(self, call: PassCall, op: ir.Operation, statistics: Statistics) -> None:
        """``call`` ran on ``op`` and the result verified."""

    def failed(self, call: PassCall, op: ir.Operation) -> None:
        """``call`` failed on ``op``, or its result did not verify."""

    def enter(self, pipeline: Pipeline, op: ir.Operation) -> None:
        """The nested ``pipeline`` starts on ``op``."""

    def leave(self, pipeline: Pipeline, op: ir.Operation) -> None:
        """The nested ``pipeline`` is through with ``op``, or failed on it."""


class Executor:
    """Runs one pipeline on one module.

    Args:
        verify_each: run the verifier after each pass.
        observers: told of each pass.
        report: takes each diagnostic when it is emitted; errors come with the exception, too.
    """

    def __init__(
        self, *, verify_each: bool, observers: Sequence[Observer] = (), report: Callable[[Diagnostic], None]
    ) -> None:
        self._verify_each = verify_each
        self._observers = observers
        self._report = report
        self._unfit: dict[str, Diagnostic | None] = {}
        self._reached: set[int] = set()
        self.results: list[tuple[str, Statistics]] = []

    def run(self, op: ir.Operation, pipeline: Pipeline) -> None:
        """Run ``pipeline`` on ``op``.

        Raises:
            PipelineError: a nested pipeline is anchored on an op that does not exist.
            PassError: a pass failed, or what it left does not verify.
        """
        if pipeline.anchor not in (ANY, op.name):
            self._fail(
                f"can't run '{pipeline.anchor}' pass manager on '{op.name}' op; "
                f"anchor the pipeline on the op it runs on: '{op.name}(...)'",
                op,
            )
        self._check_anchors(op.context, pipeline)
        self._run(op, pipeline)

    def idle(self, pipeline: Pipeline) -> Iterator[Pipeline]:
        """The nested pipelines that had no op to run on."""
        for element in pipeline.elements:
            if isinstance(element, Pipeline):
                if id(element) not in self._reached:
                    yield element
                else:
                    yield from self.idle(element)

    def _fail(self, message: str, op: ir.Operation, *, show: bool = False) -> None:
        place = mlir.source_location(op.location)
        fault = Diagnostic("error", message, place, (_current_operation(op, place),) if show else ())
        self._report(fault)
        raise PassError(diagnostics=[fault])

    # --- anchors ---

    def _check_anchors(self, context: ir.Context, pipeline: Pipeline) -> None:
        for element in pipeline.elements:
            if not isinstance(element, Pipeline):
                continue
            own = element.anchor.partition(".")[0] in mlir.OWN_DIALECTS
            known = element.anchor == ANY or own or context.is_registered_operation(element.anchor)
            if not known and not context.allow_unregistered_dialects:
                message = f"a pipeline is nested in '{element.anchor}', and there is no such operation"
                raise PipelineError(message, location=element.location, source=element.source)
            self._check_anchors(context, element)

    def _check_fit(self, op: ir.Operation) -> Diagnostic | None:
        """Why passes may not run on ops of this name; ``None`` when they may: it is registered and isolated from above.

        The bindings do not tell; an empty pass that is run on one does.
        """
        if op.name not in self._unfit:
            with mlir.collect_diagnostics(op.context) as found:
                manager = passmanager.PassManager(ANY, context=op.context)
                manager.enable_verifier(False)
                manager.add(lambda _op, _pass: None)
                try:
                    manager.run(op)
                    self._unfit[op.name] = None
                except ir.MLIRError as error:
                    self._unfit[op.name] = found[0] if found else Diagnostic("error", str(error))
        return self._unfit[op.name]

    # --- running ---

    def _run(self, op: ir.Operation, pipeline: Pipeline) -> None:
        for kind, group in itertools.groupby(pipeline.elements, self._kind):
            elements = list(group)
            if kind == "c++":
                self._run_cpp(op, pipeline.anchor, elements)
            elif kind == "nested":
                self._run_nested(op, [e for e in elements if isinstance(e, Pipeline)])
            else:
                for element in elements:
                    assert isinstance(element, PassCall)
                    self._run_one(op, pipeline.anchor, element)

    def _kind(self, element: PassCall | Pipeline) -> str:
        calls = [element] if isinstance(element, PassCall) else list(element.calls())
        if not self._observers and all(call.instance is None for call in calls):
            return "c++"
        return "nested" if isinstance(element, Pipeline) else "single"

    def _run_cpp(self, op: ir.Operation, anchor: str, elements: Sequence[PassCall | Pipeline]) -> None:
        pipelines = [element for element in elements if isinstance(element, Pipeline)]
        # What matches is looked for before and after: a pass may remove the ops, or make them.
        self._mark_reached(op, pipelines)
        self._run_pass_manager(op, f"{anchor}({','.join(map(str, _without_empty(elements)))})")
        self._mark_reached(op, pipelines)
        for element in elements:
            calls = [element] if isinstance(element, PassCall) else element.calls()
            self.results += [(call.name, Statistics()) for call in calls]

    def _mark_reached(self, op: ir.Operation, pipelines: Sequence[Pipeline]) -> None:
        wanted = [
            p for p in pipelines if id(p) not in self._reached or any(isinstance(e, Pipeline) for e in p.elements)
        ]
        if not wanted:
            return
        for child in _children(op):
            for pipeline in wanted:
                if pipeline.fits(child.name):
                    unfit = self._check_fit(child)
                    if unfit is not None and pipeline.anchor != ANY:
                        # MLIR says so too, from the thread that meets the op first, and then may die printing it.
                        self._fail(unfit.message, child, show=True)
                    self._reached.add(id(pipeline))
                    self._mark_reached(child, [e for e in pipeline.elements if isinstance(e, Pipeline)])

    def _run_pass_manager(self, op: ir.Operation, text: str) -> None:
        with self._diagnostics(op) as found:
            try:
                manager = passmanager.PassManager.parse(text, context=op.context)
            except ValueError as error:  # checked when the pipeline was parsed; a PassCall made by hand was not
                raise PipelineError(str(error).strip()) from error
            manager.enable_verifier(self._verify_each)
            for observer in self._observers:
                observer.managed(manager)
            try:
                manager.run(op)
            except ir.MLIRError as error:
                if not any(diagnostic.severity == "error" for diagnostic in found):
                    # A pass may fail without a word.
                    message = f"{error}: {text}"
                    raise self._failure([Diagnostic("error", message, mlir.source_location(op.location))]) from error
                raise PassError(diagnostics=found) from error
            finally:
                del manager  # an exception would keep it

    def _run_nested(self, op: ir.Operation, pipelines: Sequence[Pipeline]) -> None:
        """Run neighbouring nested pipelines as MLIR does: op by op, all pipelines of one anchor merged.

        One op that fails does not keep them from the next, so that every fault is told.
        """
        for agnostic, group in itertools.groupby(pipelines, lambda pipeline: pipeline.anchor == ANY):
            merged: dict[str, list[Pipeline]] = {}
            for pipeline in group:
                merged.setdefault(pipeline.anchor, []).append(pipeline)
            failures: list[PassError] = []
            for child in _children(op):
                matching = [p for p in merged.get(ANY if agnostic else child.name, ()) if p.fits(child.name)]
                try:
                    self._run_on_child(child, matching)
                except PassError as error:
                    failures.append(error)
            if failures:
                faults = [diagnostic for failure in failures for diagnostic in failure.diagnostics]
                raise PassError(diagnostics=faults, source=failures[0].source) from failures[0]

    def _run_on_child(self, child: ir.Operation, matching: Sequence[Pipeline]) -> None:
        if not matching:
            return
        first = matching[0]
        unfit = self._check_fit(child)
        if unfit is not None:
            if first.anchor == ANY:
                return
            self._fail(unfit.message, child, show=True)
        self._reached.update(map(id, matching))
        whole = Pipeline(first.anchor, tuple(element for pipeline in matching for element in pipeline.elements))
        for observer in self._observers:
            observer.enter(first, child)
        try:
            self._run(child, whole)
        finally:
            for observer in reversed(self._observers):
                observer.leave(first, child)

    def _run_one(self, op: ir.Operation, anchor: str, call: PassCall) -> None:
        statistics = Statistics()
        for observer in self._observers:
            observer.before(call, op)
        try:
            if call.instance is None:
                self._run_pass_manager(op, f"{anchor}({call})")
            else:
                self._run_python(op, call, statistics)
        except BaseException:
            for observer in reversed(self._observers):
                observer.failed(call, op)
            raise
        self.results.append((call.name, statistics))
        for observer in reversed(self._observers):
            observer.after(call, op, statistics)

    def _run_python(self, op: ir.Operation, call: PassCall, statistics: Statistics) -> None:
        assert call.instance is not None
        location = mlir.source_location(op.location)
        try:
            with self._diagnostics(op):
                run_python_pass(call.instance, op, statistics)
        except PassError as error:
            raise self._failure(error.diagnostics, error.source) from error
        for remark in statistics.remarks:
            self._report(remark)
        if self._verify_each:
            try:
                mlir.verify(op, error=PassError)
            except PassError as error:
                note = Diagnostic("note", f"found by the verifier after pass '{call.name}'", location)
                raise self._failure([*error.diagnostics, note]) from error

    def _failure(self, faults: Sequence[Diagnostic], source: str | None = None) -> PassError:
        for fault in faults:
            self._report(fault)
        return PassError(diagnostics=faults, source=source)

    def _diagnostics(self, op: ir.Operation) -> contextlib.AbstractContextManager[list[Diagnostic]]:
        return mlir.collect_diagnostics(op.context, report=self._report)


def _current_operation(op: ir.Operation, place: SourceLocation | None) -> Diagnostic:
    """The note that MLIR attaches to diagnostics of an op."""
    text = str(op.get_asm(print_generic_op_form=True, use_local_scope=True, large_elements_limit=16)).rstrip("\n")
    line_break = "\n" if "\n" in text else ""
    return Diagnostic("note", f"see current operation: {line_break}{text}", place)


def _without_empty(elements: Iterable[PassCall | Pipeline]) -> Iterator[PassCall | Pipeline]:
    """``elements`` without nested pipelines of no passes, which the bindings do not take."""
    for element in elements:
        if isinstance(element, PassCall):
            yield element
        elif any(True for _ in element.calls()):
            yield dataclasses.replace(element, elements=tuple(_without_empty(element.elements)))


def run_python_pass(instance: Pass, op: ir.Operation, statistics: Statistics) -> None:
    """Run one Python pass on ``op``.

    Passes of other packages are kept from what would end the process: see :func:`mlir.checked_edits`.

    Raises:
        PassError: the pass failed, raised whatever exception, does not run on such an op, or left it nested too deep.
    """
    location = mlir.source_location(op.location)

    def fault(message: str) -> PassError:
        return PassError(f"pass '{instance.name}' {message}", location=location)

    if instance.anchor not in (ANY, op.name):
        raise fault(f"runs on '{instance.anchor}', not on '{op.name}'")
    own = type(instance).__module__.partition(".")[0] == __name__.partition(".")[0]
    try:
        with op.context, op.location, contextlib.nullcontext() if own else mlir.checked_edits(op):
            instance.run(op, statistics)
    except PassError:
        raise
    except CtrlDepError as error:
        raise PassError(diagnostics=error.diagnostics, source=error.source) from error
    except SystemExit as error:  # the exit status is the tool's to give
        raise fault("tried to end the process") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise fault(f"raised {type(error).__name__}: {_words_of(error)}") from error
    if not own:
        mlir.check_nesting(op, error=PassError)


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # the exception of another package, whose own code failed
        return "it cannot say what"


def _children(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops directly inside ``op``, as they are now: a pass may put new ones beside the one it runs on."""
    for region in op.regions:
        for block in region.blocks:
            yield from [child.operation for child in block.operations]
