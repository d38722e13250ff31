"""Pass pipelines: from text to passes, and run on a module. Python and C++ passes mix freely and nest."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Sequence

from neuron_ctrldep.errors import Diagnostic, PipelineError
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes import registry
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.cpp import CppPasses
from neuron_ctrldep.passes.execute import Executor, Observer
from neuron_ctrldep.passes.model import ANY, PassCall, Pipeline
from neuron_ctrldep.passes.syntax import Element, Option, Source, parse_options, parse_pipeline_text

__all__ = ["ANY", "Observer", "PassCall", "Pipeline", "parse_pipeline", "run_pipeline"]

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
    """
    operation = op.operation
    parsed = parse_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
    executor = Executor(verify_each=verify_each, observers=observers, report=report or _log_diagnostic)
    executor.run(operation, parsed)
    for idle in executor.idle(parsed):
        message = f"'{idle}' ran on nothing: no '{idle.anchor}' is directly inside the op it is nested in"
        (warn or _log_diagnostic)(Diagnostic("warning", message, idle.location))
    return executor.results


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
        cls = registry.find(element.name)
        if cls is not None:
            return self._python(element, cls, anchor or cls.anchor)
        if not self._cpp.exists(element.name):
            raise self._source.error(element.offset, _unknown(element.name))
        spelled = self._cpp.check(element, anchor or self._cpp.anchor(element.name), self._source)
        return PassCall(element.name, options=(element.options or "").strip(), spelled=spelled)

    def restriction(self, call: PassCall) -> str:
        """The op that ``call`` is restricted to, or ``any``."""
        return call.instance.anchor if call.instance is not None else self._cpp.anchor(call.name)

    def _python(self, element: Element, cls: type[Pass], anchor: str) -> PassCall:
        if cls.anchor not in (ANY, anchor):
            nested = f"; nest it: '{cls.anchor}({element.name})'" if cls.anchor != "builtin.module" else ""
            raise self._source.error(
                element.offset, f"pass '{element.name}' runs on '{cls.anchor}', not on '{anchor}'{nested}"
            )
        end = element.options_offset + len(element.options or "")
        options = parse_options(self._source, element.options_offset, end) if element.options else []
        return PassCall(element.name, cls(**dict(self._value(cls, option) for option in options)))

    def _value(self, cls: type[Pass], option: Option) -> tuple[str, object]:
        try:
            return cls.parse_option(option.key, option.value)
        except PipelineError as error:
            offset = option.value_offset if option.key in cls.options() else option.offset
            raise self._source.error(offset, error.diagnostics[0].message) from error


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, registry.names(), n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "; --list-passes shows all"
    return f"'{name}' does not refer to a registered pass or pass pipeline{hint}"


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
        restriction = resolver.restriction(call)
        if restriction in (ANY, anchor):
            elements.append(call)
        elif elements and isinstance(elements[-1], Pipeline) and elements[-1].anchor == restriction:
            elements[-1] = Pipeline(restriction, (*elements[-1].elements, call))
        else:
            elements.append(Pipeline(restriction, (call,)))
    return Pipeline(anchor, tuple(elements))
