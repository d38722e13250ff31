"""What ``neuron-ctrldep-opt`` does with an input: split, parse, run, print, compare diagnostics."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NoReturn

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, PipelineError, SourceLocation
from neuron_ctrldep.files import decode_utf8, write_output
from neuron_ctrldep.inputs import load_mlir, recognise
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.execute import Observer
from neuron_ctrldep.passes.model import Pipeline
from neuron_ctrldep.passes.pipeline import is_pass, parse_pipeline, pipeline_from_flags, run_pipeline
from neuron_ctrldep.passes.printing import IRPrinter, PrintFlags
from neuron_ctrldep.passes.reproducer import Reproducer, read_reproducer
from neuron_ctrldep.passes.timing import StatisticsReport, Timing
from neuron_ctrldep.tools import verify_diagnostics
from neuron_ctrldep.tools.common import print_traceback, render_diagnostic
from neuron_ctrldep.tools.opt_flags import PassFlag
from neuron_ctrldep.tools.split import near_misses, split_input


class Session:
    """One run of the tool.

    Args:
        options: the parsed flags.
        pass_flags: the passes given as flags.
        usage_error: reports a fault of the command line and ends the process.
    """

    def __init__(
        self, options: argparse.Namespace, pass_flags: Sequence[PassFlag], usage_error: Callable[[str], NoReturn]
    ) -> None:
        self._options = options
        self._pass_flags = [(flag.name, flag.options) for flag in pass_flags]
        self._usage_error = usage_error
        self._file = "<stdin>" if options.input == "-" else str(options.input)
        self._flags = PrintFlags(
            generic=options.mlir_print_op_generic,
            debug_info=options.mlir_print_debuginfo,
            pretty_debug_info=options.mlir_pretty_debuginfo,
            local_scope=options.mlir_print_local_scope,
            skip_regions=options.mlir_print_skip_regions,
            nameloc_as_prefix=options.mlir_use_nameloc_as_prefix,
            elide_elements=options.mlir_elide_elementsattrs_if_larger,
            elide_resources=options.mlir_elide_resource_strings_if_larger,
        )
        self._timing = Timing() if options.mlir_timing else None
        self._statistics = StatisticsReport() if options.mlir_pass_statistics else None
        self._verify_each = bool(options.verify_each)
        self._disable_threading = bool(options.mlir_disable_threading)
        self._observers = self._make_observers()
        self._pipeline = self._make_pipeline()

    # --- what to do ---

    def _make_pipeline(self) -> Pipeline:
        text = self._options.pass_pipeline
        for name, _ in self._pass_flags:
            if not is_pass(name):
                self._usage_error(f"Unknown command line argument '--{name}': neither an option nor a pass")
            if text is not None or self._options.run_reproducer:
                other = "--pass-pipeline" if text is not None else "--run-reproducer"
                self._usage_error(f"'{other}' option can't be used with individual pass options: '--{name}'")
        if text is not None and self._options.run_reproducer:
            self._usage_error("'--run-reproducer' takes the pipeline from the input, not from '--pass-pipeline'")
        return parse_pipeline(text) if text is not None else pipeline_from_flags(self._pass_flags)

    def _make_observers(self) -> list[Observer]:
        options = self._options
        before = self._pass_names("before")
        after = self._pass_names("after")
        observers: list[Observer] = [o for o in (self._timing, self._statistics) if o is not None]
        if before or after or before is None or after is None or options.mlir_print_ir_after_failure:
            printer = IRPrinter(
                write=self._print_ir,
                flags=self._flags,
                before_passes=before,
                after_passes=after,
                only_change=options.mlir_print_ir_after_change,
                only_failure=options.mlir_print_ir_after_failure,
                module_scope=options.mlir_print_ir_module_scope,
                tree_dir=options.mlir_print_ir_tree_dir,
            )
            observers.append(printer)
        return observers

    def _pass_names(self, when: str) -> set[str] | None:
        """The passes around which to print; ``None`` is all."""
        if getattr(self._options, f"mlir_print_ir_{when}_all"):
            return None
        names = {name for group in getattr(self._options, f"mlir_print_ir_{when}") or [] for name in group}
        for name in sorted(names):
            if not is_pass(name):
                self._usage_error(f"for the --mlir-print-ir-{when} option: Cannot find option named '{name}'!")
        return names

    @staticmethod
    def _print_ir(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    # --- doing it ---

    def run(self, data: bytes) -> bool:
        """Process an input and write the output; whether all went well. Diagnostics go to stderr as they come."""
        if recognise(data, file=self._file).kind == "text":
            source = decode_utf8(data, self._file)
            outputs, ok = self._run_text(source)
        else:
            if self._options.verify_diagnostics or self._options.run_reproducer:
                raise InputError("expected MLIR text; this is bytecode", location=SourceLocation(self._file))
            output, ok = self._run_chunk(data, "")
            outputs = [output]
        if ok or self._options.output == "-":
            marker = f"{self._options.output_split_marker}\n".encode()
            write_output(self._options.output, marker.join(outputs))
        if self._statistics is not None:
            sys.stderr.write(
                self._statistics.report(self._pipeline, display=self._options.mlir_pass_statistics_display)
            )
        if self._timing is not None:
            form = {"display": self._options.mlir_timing_display, "form": self._options.mlir_output_format}
            sys.stderr.write(self._timing.report(**form))
        return ok

    def _run_text(self, source: str) -> tuple[list[bytes], bool]:
        if self._options.run_reproducer:
            self._take_reproducer(source)
        marker = self._options.split_input_file
        chunks: Iterable[str] = [source]
        if marker:
            chunks = split_input(source, marker)
            for line, column in near_misses(source, marker):
                where = SourceLocation(self._file, line, column)
                self._show(Diagnostic("warning", "near miss with file split marker", where), source)
        results = [self._run_chunk(chunk.encode(), source) for chunk in chunks]
        return [output for output, _ in results], all(ok for _, ok in results)

    def _take_reproducer(self, source: str) -> None:
        reproducer = read_reproducer(source, file=self._file)
        if reproducer is None:
            raise InputError(
                "the input holds no reproducer; --mlir-generate-reproducer writes one",
                location=SourceLocation(self._file),
            )
        self._pipeline = parse_pipeline(reproducer.pipeline, file="reproducer")
        self._verify_each &= reproducer.verify_each
        self._disable_threading |= reproducer.disable_threading

    def _run_chunk(self, data: bytes, source: str) -> tuple[bytes, bool]:
        """The output for one chunk, and whether it went well; ``source`` is the whole text, for the lines to show."""
        verifying = self._options.verify_diagnostics
        emitted: list[Diagnostic] = []

        def report(diagnostic: Diagnostic) -> None:
            emitted.append(diagnostic)
            if not verifying:
                self._show(diagnostic, source)

        output, ok = b"", False
        context = mlir.make_context(allow_unregistered=self._options.allow_unregistered_dialect)
        if self._disable_threading:
            context.enable_multithreading(False)
        try:
            operation = self._parse(data, context, report)
            self._run_passes(operation, report)
            with self._part("Output"):
                output = self._print(operation)
            ok = True
        except PipelineError:
            raise  # not a fault of this chunk
        except CtrlDepError as error:
            if self._options.debug:
                print_traceback()
            for diagnostic in error.diagnostics:
                # What came through MLIR was reported when it was emitted.
                if not any(diagnostic is known for known in emitted):
                    report(diagnostic)
        if not verifying:
            return output, ok
        faults = verify_diagnostics.check(
            data.decode(), self._file, emitted, only_expected=verifying == "only-expected"
        )
        for fault in faults:
            self._show(fault, source)
        return output, not faults

    def _parse(self, data: bytes, context: ir.Context, report: Callable[[Diagnostic], None]) -> ir.Operation:
        with self._part("Parser"):
            return load_mlir(
                data,
                file=self._file,
                context=context,
                implicit_module=not self._options.no_implicit_module,
                report=report,
            )

    def _run_passes(self, operation: ir.Operation, report: Callable[[Diagnostic], None]) -> None:
        options, pipeline = self._options, self._pipeline
        if options.no_implicit_module and options.pass_pipeline is None and not options.run_reproducer:
            self._pipeline = pipeline = pipeline_from_flags(self._pass_flags, anchor=operation.name)
        if options.dump_pass_pipeline:
            print(pipeline.dump(), file=sys.stderr)
        crash_file = options.mlir_pass_pipeline_crash_reproducer
        reproducer = ""
        if crash_file or options.mlir_generate_reproducer:
            how = Reproducer(str(pipeline), self._disable_threading, self._verify_each)
            reproducer = how.render(PrintFlags().render(operation))
        if options.mlir_generate_reproducer:
            # Before the run: a pass that fails, or ends the process, is what one wants to reproduce.
            write_output(options.mlir_generate_reproducer, reproducer)
        try:
            run_pipeline(
                operation,
                pipeline,
                verify_each=self._verify_each,
                observers=self._observers,
                report=report,
                warn=lambda warning: self._show(warning, None),
            )
        except CtrlDepError:
            if crash_file:
                write_output(crash_file, reproducer)
                self._show(Diagnostic("note", f"reproducer generated at `{crash_file}`"), None)
            raise

    def _print(self, operation: ir.Operation) -> bytes:
        if not (self._options.emit_bytecode or self._options.emit_bytecode_version is not None):
            return self._flags.render(operation).encode() + b"\n\n"
        return mlir.to_bytecode(operation, version=self._options.emit_bytecode_version)

    def _part(self, name: str) -> AbstractContextManager[None]:
        return self._timing.part(name) if self._timing is not None else contextlib.nullcontext()

    def _show(self, diagnostic: Diagnostic, source: str | None) -> None:
        print(render_diagnostic(diagnostic, self._file, source), file=sys.stderr, flush=True)
