"""What ``neuron-ctrldep-opt`` does with one module: parse, check the round trip, run passes, print, report."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, SourceLocation
from neuron_ctrldep.files import write_output
from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.crash_reproducer import CrashReproducer
from neuron_ctrldep.passes.execute import Observer
from neuron_ctrldep.passes.metadata import external_resources
from neuron_ctrldep.passes.model import Pipeline
from neuron_ctrldep.passes.pipeline import parse_pipeline, pipeline_from_flags, run_pipeline
from neuron_ctrldep.passes.printing import PrintFlags
from neuron_ctrldep.passes.reproducer import OWNER, read_reproducer, reproducer_of
from neuron_ctrldep.passes.timing import StatisticsReport, Timing
from neuron_ctrldep.tools.round_trip import check_round_trip

Place = tuple[int, int]
"""Line and column in the file."""

_TOP: Place = (1, 1)


@dataclass(frozen=True)
class Job:
    """What to do with every chunk of an input.

    Args:
        options: the parsed flags.
        file: what locations call the input.
        flags: how to print.
        pipeline: the passes of the command line.
        pass_flags: the names and options of the passes that were given as flags.
        printers: told of each pass.
    """

    options: argparse.Namespace
    file: str
    flags: PrintFlags
    pipeline: Pipeline
    pass_flags: Sequence[tuple[str, str]]
    printers: Sequence[Observer]


class Chunk:
    """One module on its way through the tool.

    Args:
        job: what to do.
        data: the input; a text is padded so that its lines and columns are those of the file.
        place: where it starts in the file.
        report: takes each diagnostic about the module as it is emitted.
        warn: takes warnings about the command line.
    """

    def __init__(
        self,
        job: Job,
        data: bytes,
        place: Place,
        report: Callable[[Diagnostic], None],
        warn: Callable[[Diagnostic], None],
    ) -> None:
        self._job = job
        self._options = job.options
        self._data = data
        self._text = "" if data.startswith(mlir.BYTECODE_MAGIC) else data.decode("utf-8", "replace")
        self._place = place
        self._report = report
        self._warn = warn
        self._pipeline = job.pipeline
        self._verify_each = bool(job.options.verify_each)
        self._disable_threading = bool(job.options.mlir_disable_threading)
        self._resources = external_resources(self._text)
        self._timing: Timing | None = None

    def run(self) -> bytes:
        """The output.

        Raises:
            InputError: the input is at fault.
            PassError: a pass failed.
            PipelineError: the pipeline of a reproducer is malformed.
        """
        if self._options.run_reproducer:
            self._take_reproducer()
        context = mlir.make_context(
            allow_unregistered=self._options.allow_unregistered_dialect, multithreading=not self._disable_threading
        )
        if self._options.mlir_timing:
            self._timing = Timing()
        try:
            with self._part("Parser"):
                operation = self._parse(context)
            if self._options.verify_roundtrip:
                check_round_trip(operation, file=self._job.file)
            self._run_passes(operation)
            with self._part("Output"):
                return self._print(operation)
        finally:
            if self._timing is not None:
                form = {"display": self._options.mlir_timing_display, "form": self._options.mlir_output_format}
                sys.stderr.write(self._timing.report(**form))

    def _part(self, name: str) -> contextlib.AbstractContextManager[None]:
        return self._timing.part(name) if self._timing is not None else contextlib.nullcontext()

    def _take_reproducer(self) -> None:
        reproducer = read_reproducer(self._text, file=self._job.file)
        if reproducer is None:
            self._warn(Diagnostic("warning", "the input holds no reproducer; --mlir-generate-reproducer writes one"))
            return
        self._resources.pop(OWNER, None)
        self._verify_each &= reproducer.verify_each
        self._disable_threading |= reproducer.disable_threading
        if self._options.pass_pipeline is None:
            stored = Pipeline()
            if reproducer.pipeline:
                stored = parse_pipeline(reproducer.pipeline, file="reproducer")
            more = pipeline_from_flags(self._job.pass_flags, anchor=stored.anchor)
            self._pipeline = replace(stored, elements=(*stored.elements, *more.elements))

    def _parse(self, context: ir.Context) -> ir.Operation:
        operation = load_mlir(
            self._data,
            file=self._job.file,
            context=context,
            implicit_module=not self._options.no_implicit_module,
            report=self._report_parser,
        )
        is_implicit = mlir.source_location(operation.location) == SourceLocation(self._job.file)
        if self._place != _TOP and is_implicit:
            # The module that is put around the ops of a chunk is where the chunk starts.
            operation.location = ir.Location.file(self._job.file, *self._place, context=context)
        return operation

    def _report_parser(self, diagnostic: Diagnostic) -> None:
        # The bindings say of all external resources that they ignore them; here they are kept.
        if not diagnostic.message.startswith("ignoring unknown external resources"):
            self._report(diagnostic)

    # --- passes ---

    def _run_passes(self, operation: ir.Operation) -> None:
        options = self._options
        if options.no_implicit_module and options.pass_pipeline is None and self._pipeline is self._job.pipeline:
            self._pipeline = pipeline_from_flags(self._job.pass_flags, anchor=operation.name)
        if options.dump_pass_pipeline:
            print(self._pipeline.dump(), file=sys.stderr)
        self._check_threading()
        if options.mlir_generate_reproducer:
            # Before the run: a pass that fails, or ends the process, is what one wants to reproduce.
            text = reproducer_of(
                operation,
                self._pipeline,
                disable_threading=self._disable_threading,
                verify_each=self._verify_each,
            )
            write_output(options.mlir_generate_reproducer, text)
        if self._timing is not None:
            self._timing.expect(self._pipeline)
        statistics = StatisticsReport() if options.mlir_pass_statistics else None
        try:
            with self._crash_reproducer(operation) as crash:
                run_pipeline(
                    operation,
                    self._pipeline,
                    verify_each=self._verify_each,
                    observers=[o for o in (self._timing, statistics, *self._job.printers, crash) if o is not None],
                    report=self._report,
                    warn=self._warn,
                )
        finally:
            if statistics is not None:
                display = options.mlir_pass_statistics_display
                sys.stderr.write(statistics.report(self._pipeline, display=display))

    def _check_threading(self) -> None:
        """Refuse what mlir-opt refuses, in its words, although passes do not run side by side here."""
        options = self._options
        if self._disable_threading:
            return
        if options.mlir_print_ir_module_scope:
            raise InputError(
                "IR print for module scope can't be setup on a pass-manager without disabling multi-threading first."
            )
        if options.mlir_pass_pipeline_local_reproducer and options.mlir_pass_pipeline_crash_reproducer:
            raise InputError("Local crash reproduction may not be used without disabling mutli-threading first.")

    @contextlib.contextmanager
    def _crash_reproducer(self, operation: ir.Operation) -> Iterator[CrashReproducer | None]:
        path = self._options.mlir_pass_pipeline_crash_reproducer
        if not path:
            yield None
            return
        crash = CrashReproducer(
            path,
            local=self._options.mlir_pass_pipeline_local_reproducer,
            disable_threading=self._disable_threading,
            verify_each=self._verify_each,
        )
        crash.start(operation, self._pipeline)
        try:
            yield crash
        except CtrlDepError as error:
            raise type(error)(diagnostics=[*error.diagnostics, crash.write()], source=error.source) from error
        finally:
            crash.drop()

    def _print(self, operation: ir.Operation) -> bytes:
        version = self._options.emit_bytecode_version
        if self._options.emit_bytecode:
            return mlir.to_bytecode(operation, version=version)
        if version is not None:
            raise InputError("bytecode version while not emitting bytecode; --emit-bytecode writes it")
        return self._job.flags.render_file(operation, self._resources).encode()
