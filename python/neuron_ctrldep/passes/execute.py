"""Running a pipeline on a module.

The executor is our own: the bindings' ``PassManager`` cannot nest Python passes and ends the process when asked to.
Neighbouring C++ passes still run in one ``PassManager``, nested pipelines of C++ passes too.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import CtrlDepError, Diagnostic, PassError
from neuron_ctrldep.mlir import ir, passmanager
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.passes.model import ANY, PassCall, Pipeline


class Observer:
    """Told of each pass run on each op. With an observer, every pass runs by itself."""

    def before(self, call: PassCall, op: ir.Operation) -> None:
        """``call`` is about to run on ``op``."""

    def after(self, call: PassCall, op: ir.Operation, statistics: Statistics) -> None:
        """``call`` ran on ``op`` and the result verified."""

    def failed(self, call: PassCall, op: ir.Operation) -> None:
        """``call`` failed on ``op``, or its result did not verify."""


class Executor:
    """Runs one pipeline on one module.

    Args:
        verify_each: run the verifier after each pass.
        observers: told of each pass.
        report: takes each diagnostic when it is emitted; errors come with the exception too.
    """

    def __init__(
        self, *, verify_each: bool, observers: Sequence[Observer] = (), report: Callable[[Diagnostic], None]
    ) -> None:
        self._verify_each = verify_each
        self._observers = observers
        self._report = report
        self._isolated: dict[str, bool] = {}
        self._matched: set[int] = set()
        self.results: list[tuple[str, Statistics]] = []

    def run(self, op: ir.Operation, pipeline: Pipeline) -> None:
        """Run ``pipeline`` on ``op``.

        Raises:
            PassError: a pass failed, or what it left does not verify.
        """
        if pipeline.anchor not in (ANY, op.name):
            raise PassError(
                f"can't run '{pipeline.anchor}' pass manager on '{op.name}' op; "
                f"start the pipeline with '{op.name}(...)' or 'any(...)'",
                location=mlir.source_location(op.location),
            )
        self._check_anchors(op.context, pipeline)
        self._run(op, pipeline)
        self._warn_of_nothing(pipeline)

    # --- anchors ---

    def _check_anchors(self, context: ir.Context, pipeline: Pipeline) -> None:
        for element in pipeline.elements:
            if not isinstance(element, Pipeline):
                continue
            own = element.anchor.partition(".")[0] in mlir.OWN_DIALECTS
            known = element.anchor == ANY or own or context.is_registered_operation(element.anchor)
            if not known and not context.allow_unregistered_dialects:
                raise PassError(f"'{element.anchor}(...)' in the pipeline: there is no operation '{element.anchor}'")
            self._check_anchors(context, element)

    def _warn_of_nothing(self, pipeline: Pipeline) -> None:
        for element in pipeline.elements:
            if isinstance(element, Pipeline):
                self._warn_of_nothing(element)

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
        text = f"{anchor}({','.join(map(str, elements))})"
        self._run_pass_manager(op, text)
        for element in elements:
            calls = [element] if isinstance(element, PassCall) else element.calls()
            self.results += [(call.name, Statistics()) for call in calls]

    def _run_pass_manager(self, op: ir.Operation, text: str) -> None:
        with self._diagnostics(op) as found:
            manager = passmanager.PassManager.parse(text, context=op.context)
            manager.enable_verifier(self._verify_each)
            try:
                manager.run(op)
            except ir.MLIRError as error:
                faults = list(found) or [Diagnostic("error", f"{error} ({text})", mlir.source_location(op.location))]
                if not found:
                    self._report(faults[0])
                raise PassError(diagnostics=faults) from error

    def _run_nested(self, op: ir.Operation, pipelines: Sequence[Pipeline]) -> None:
        """Run neighbouring nested pipelines as MLIR does: op by op, all pipelines of one anchor merged."""
        merged: dict[str, Pipeline] = {}
        for pipeline in pipelines:
            before = merged[pipeline.anchor].elements if pipeline.anchor in merged else ()
            merged[pipeline.anchor] = Pipeline(pipeline.anchor, (*before, *pipeline.elements))
        for child in self._children(op):
            pipeline = merged.get(child.name) or merged.get(ANY)  # type: ignore[assignment]
            if pipeline is not None and (pipeline.anchor != ANY or self._is_isolated(child)):
                self._run(child, pipeline)

    @staticmethod
    def _children(op: ir.Operation) -> Iterator[ir.Operation]:
        for region in op.regions:
            for block in region.blocks:
                # A copy: a pass may put new ops beside the one it runs on.
                for child in list(block.operations):
                    yield child.operation

    def _is_isolated(self, op: ir.Operation) -> bool:
        """Whether passes may run on ops of this name (they are isolated from above).

        The bindings do not tell; an empty pass that is run on one does.
        """
        if op.name not in self._isolated:
            with mlir.collect_diagnostics(op.context):
                manager = passmanager.PassManager(ANY, context=op.context)
                manager.enable_verifier(False)
                manager.add(lambda _op, _pass: None)
                try:
                    manager.run(op)
                    self._isolated[op.name] = True
                except ir.MLIRError:
                    self._isolated[op.name] = False
        return self._isolated[op.name]

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
        with self._diagnostics(op):
            try:
                with op.context, op.location:
                    call.instance.run(op, statistics)
            except CtrlDepError as error:
                faults = error.diagnostics
                for fault in faults:
                    self._report(fault)
                raise PassError(diagnostics=faults, source=error.source) from error
            except Exception as error:
                fault = Diagnostic(
                    "error",
                    f"pass '{call.name}' raised {type(error).__name__}: {error}",
                    mlir.source_location(op.location),
                )
                self._report(fault)
                raise PassError(diagnostics=[fault]) from error
        if self._verify_each:
            try:
                mlir.verify(op, error=PassError)
            except PassError as error:
                for fault in error.diagnostics:
                    self._report(fault)
                raise

    def _diagnostics(self, op: ir.Operation) -> contextlib.AbstractContextManager[list[Diagnostic]]:
        return mlir.collect_diagnostics(op.context, report=self._report)
