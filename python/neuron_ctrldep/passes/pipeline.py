"""Pass pipelines: from text to passes, and run on a module. Python and C++ passes mix freely and nest."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import Diagnostic, PipelineError
from neuron_ctrldep.mlir import ir, passmanager
from neuron_ctrldep.passes import registry
from neuron_ctrldep.passes.base import OptionValueError, Pass, Statistics
from neuron_ctrldep.passes.cpp import CppPasses, misplaced
from neuron_ctrldep.passes.execute import Executor, Observer, run_python_pass
from neuron_ctrldep.passes.model import ANY, PassCall, Pipeline
from neuron_ctrldep.passes.syntax import (
    Element,
    Option,
    Source,
    parse_element_text,
    parse_options,
    parse_pipeline_text,
)

__all__ = [
    "ANY",
    "Observer",
    "PassCall",
    "Pipeline",
    "add_to_pass_manager",
    "is_pass",
    "parse_pipeline",
    "pipeline_from_flags",
    "run_pipeline",
]

_log = logging.getLogger("neuron_ctrldep.passes")


def parse_pipeline(text: str, *, file: str = "pass-pipeline") -> Pipeline:
    """Read a pipeline text: ``builtin.module(func.func(cse),verify-control-deps{require-flat=true})``.

    Args:
        text: the pipeline.
        file: what messages call it.

    Raises:
        PipelineError: at the column of the fault: the grammar, an unknown pass, option or value, a pass that cannot run
            on the op it is nested in.
    """
    source = Source(text, file)
    return Resolver(source).pipeline(parse_pipeline_text(source))


def run_pipeline(
    op: ir.Operation | ir.Module,
    pipeline: str | Pipeline,
    *,
    verify_each: bool = True,
    observers: Sequence[Observer] = (),
    report: Callable[[Diagnostic], None] | None = None,
    warn: Callable[[Diagnostic], None] | None = None,
) -> list[tuple[str, Statistics]]:
    """Run ``pipeline`` on ``op`` in place.

    Args:
        op: usually the top-level ``builtin.module``.
        pipeline: a :class:`Pipeline` or its text.
        verify_each: run the verifier after each pass.
        observers: told before and after each pass.
        report: takes every diagnostic as it is emitted, errors too; by default what is not an error is logged.
        warn: takes warnings about the pipeline itself: a nested pipeline that found no op to run on. By default they
            are logged.

    Returns:
        The name and counters of each pass run, in order.

    Raises:
        PipelineError: the text is malformed, or a nested pipeline is anchored on an op that does not exist.
        PassError: a pass failed; the exception holds the diagnostics.
        InputError: MLIR could not work on ``op``; see :func:`mlir.entry`.
    """
    operation = mlir.entry(op)
    if not isinstance(pipeline, str | Pipeline):
        raise PipelineError(f"expected a pipeline or its text, not {type(pipeline).__name__}")
    parsed = parse_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
    executor = Executor(verify_each=verify_each, observers=observers, report=report or _log_diagnostic)
    executor.run(operation, parsed)
    for idle in executor.idle(parsed):
        wanted = "op that it can run on" if idle.anchor == ANY else f"'{idle.anchor}'"
        message = f"'{idle}' ran on nothing: no {wanted} is directly inside the op it is nested in"
        (warn or _log_diagnostic)(Diagnostic("warning", message, idle.location))
    return executor.results


_running: ContextVar[tuple[int, ...]] = ContextVar("running", default=())
"""The ids of the pass managers that run Python passes of ours right now, in this thread."""


def add_to_pass_manager(
    manager: passmanager.PassManager, spec: str | Pass, *, statistics: Statistics | None = None
) -> None:
    """Add a pass to a ``PassManager`` of the bindings, behind what it has.

    The pass runs on the op that the manager runs on; a nested pipeline needs :func:`run_pipeline`. Its
    :class:`~neuron_ctrldep.errors.PassError` comes out of ``manager.run`` as it is.

    Args:
        manager: the pass manager.
        spec: a pass, or ``name`` or ``name{options}`` of one of ours or in C++.
        statistics: takes the counters of a Python pass.

    Raises:
        PipelineError: there is no such pass or option, it does not run on the manager's op, or ``manager`` is running.
    """
    if id(manager) in _running.get():
        raise PipelineError("a pass cannot add passes to the pass manager that runs it; use a new one")
    # A manager prints as the pipeline it is, "builtin.module(…)", and has no other way to tell its op.
    anchor = str(manager).partition("(")[0]
    if isinstance(spec, Pass):
        call = PassCall(spec.name, spec, spec.anchor)
        if spec.anchor != ANY and anchor not in (ANY, spec.anchor):
            raise PipelineError(misplaced(spec.name, spec.anchor, anchor))
    else:
        source = Source(spec)
        call = Resolver(source).call(parse_element_text(source), anchor)
    instance = call.instance
    if instance is None:
        manager.add(str(call))
        return
    counters = statistics if statistics is not None else Statistics()

    def run(op: ir.Operation, _: object) -> None:
        token = _running.set((*_running.get(), id(manager)))
        try:
            run_python_pass(instance, op.operation, counters)
        finally:
            _running.reset(token)

    # No op_name: with it, the bindings end the process on an op of another name.
    manager.add(run, name=call.class_name, argument=str(call), description=instance.summary)


def _log_diagnostic(diagnostic: Diagnostic) -> None:
    if diagnostic.severity != "error":
        _log.warning("%s", diagnostic.render())


class Resolver:
    """Turns the names in a pipeline text into passes. Asks for C++ passes only when a name is not one of ours."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._cpp_passes: CppPasses | None = None

    @property
    def _cpp(self) -> CppPasses:
        if self._cpp_passes is None:
            self._cpp_passes = CppPasses()
        return self._cpp_passes

    def pipeline(self, element: Element) -> Pipeline:
        """The pipeline that ``element`` says; it must have an inner list."""
        elements = tuple(self._element(child, element.name) for child in element.inner or [])
        return Pipeline(element.name, elements, self._source.location(element.offset), self._source.text)

    def _element(self, element: Element, anchor: str) -> PassCall | Pipeline:
        return self.pipeline(element) if element.inner is not None else self.call(element, anchor)

    def call(self, element: Element, anchor: str | None) -> PassCall:
        """The pass that ``element`` names, on the op ``anchor``; ``None`` takes whatever the pass is restricted to."""
        # Other packages are asked last: finding their entry points reads the metadata of everything that is installed.
        if element.name in registry.BUILTIN or not self._cpp.exists(element.name):
            cls = registry.find(element.name)
            if cls is None:
                raise self._source.error(element.offset, _unknown(element.name))
            return self._python(element, cls, anchor or cls.anchor)
        restriction = self._cpp.anchor(element.name)
        options, spelled = self._cpp.check(element, anchor or restriction, self._source)
        return PassCall(element.name, None, restriction, options, spelled)

    def _python(self, element: Element, cls: type[Pass], anchor: str) -> PassCall:
        if cls.anchor != ANY and anchor not in (ANY, cls.anchor):
            raise self._source.error(element.offset, misplaced(element.name, cls.anchor, anchor))
        end = element.options_offset + len(element.options or "")
        options = parse_options(self._source, element.options_offset, end) if element.options else []
        values: dict[str, Any] = {}
        for option in options:
            name, value = self._value(cls, option)
            # A list that is given once more goes on, as in MLIR; of everything else the last counts.
            values[name] = (*values[name], *value) if isinstance(value, tuple) and name in values else value
        try:
            instance = cls(**values)
        except (TypeError, ValueError) as error:  # an option that must be given is not; or the pass checks them itself
            message = f"pass '{element.name}' does not take these options: {error}"
            raise self._source.error(element.offset, message) from error
        return PassCall(element.name, instance, cls.anchor)

    def _value(self, cls: type[Pass], option: Option) -> tuple[str, object]:
        try:
            return cls.parse_option(option.key, option.value)
        except PipelineError as error:
            raise self._source.error(option.offset, error.diagnostics[0].message) from error
        except OptionValueError as error:
            message = f"option '{option.key}' of pass '{cls.name}': {error}"
            raise self._source.error(option.value_offset + error.offset, message) from error


def _unknown(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, registry.names(), n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "; --list-passes shows all"
    return f"'{name}' does not refer to a registered pass or pass pipeline{hint}"


def is_pass(name: str) -> bool:
    """Whether a pass, ours or in C++, is called ``name``."""
    return name in registry.BUILTIN or CppPasses().exists(name) or registry.target(name) is not None


def pipeline_from_flags(flags: Sequence[tuple[str, str]], *, anchor: str = "builtin.module") -> Pipeline:
    """The pipeline of per-pass flags, in order; each pass is nested in the op it is restricted to.

    Args:
        flags: names and option texts: ``("canonicalize", "top-down=false")``.
        anchor: the op the pipeline runs on.

    Raises:
        PipelineError: an unknown pass, option or value; the location counts columns in ``--name=options``.
    """
    elements: list[PassCall | Pipeline] = []
    for name, options in flags:
        text = f"--{name}={options}" if options else f"--{name}"
        resolver = Resolver(Source(text, "command-line"))
        start = len(f"--{name}=")
        element = Element(name, 2, options or None, start)
        call = resolver.call(element, None)
        restriction = call.anchor
        if restriction in (ANY, anchor):
            elements.append(call)
        elif elements and isinstance(elements[-1], Pipeline) and elements[-1].anchor == restriction:
            elements[-1] = Pipeline(restriction, (*elements[-1].elements, call))
        else:
            elements.append(Pipeline(restriction, (call,)))
    return Pipeline(anchor, tuple(elements))
