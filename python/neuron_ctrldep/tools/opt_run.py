"""What ``neuron-ctrldep-opt`` does with an input: split it, process the parts, show or compare diagnostics."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, PipelineError, SourceLocation
from neuron_ctrldep.files import decode_utf8, write_output
from neuron_ctrldep.inputs import recognise
from neuron_ctrldep.mlir.diagnostics import is_current_operation
from neuron_ctrldep.passes import registry
from neuron_ctrldep.passes.cpp_names import CANDIDATES
from neuron_ctrldep.passes.model import Pipeline
from neuron_ctrldep.passes.pipeline import is_pass, parse_pipeline, pipeline_from_flags
from neuron_ctrldep.passes.printing import IRPrinter, PrintFlags
from neuron_ctrldep.tools import verify_diagnostics
from neuron_ctrldep.tools.common import print_traceback, render_diagnostic
from neuron_ctrldep.tools.opt_chunk import Chunk, Job, Place
from neuron_ctrldep.tools.opt_flags import PassFlag
from neuron_ctrldep.tools.split import near_misses, padded, split_with_places

_LARGEST_SOURCE = 10_000_000
"""Bytes of a file that is read to show a line of it, where locations in the input name it."""


class Session:
    """One run of the tool.

    Args:
        options: the parsed flags.
        pass_flags: the passes given as flags.
        usage_error: reports a fault of the command line and ends the process.
        flag_names: the flags there are, to tell what an unknown one may have meant.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        pass_flags: Sequence[PassFlag],
        usage_error: Callable[[str], NoReturn],
        flag_names: Collection[str] = (),
    ) -> None:
        self._options = options
        self._usage_error = usage_error
        self._flag_names = flag_names
        self._sources: dict[str, str | None] = dict.fromkeys(["pass-pipeline", "reproducer", "command-line"])
        flags = PrintFlags(
            generic=options.mlir_print_op_generic,
            debug_info=options.mlir_print_debuginfo,
            pretty_debug_info=options.mlir_pretty_debuginfo,
            local_scope=options.mlir_print_local_scope,
            skip_regions=options.mlir_print_skip_regions,
            nameloc_as_prefix=options.mlir_use_nameloc_as_prefix,
            assume_verified=options.mlir_print_assume_verified,
            elide_elements=options.mlir_elide_elementsattrs_if_larger,
            elide_resources=options.mlir_elide_resource_strings_if_larger,
        )
        calls = [(flag.name, flag.options) for flag in pass_flags]
        self._job = Job(
            options,
            file="<stdin>" if options.input == "-" else str(options.input),
            flags=flags,
            printers=self._make_printers(flags),
            pipeline=self._make_pipeline(calls),
            pass_flags=calls,
        )

    # --- what to do ---

    def _make_pipeline(self, calls: Sequence[tuple[str, str]]) -> Pipeline:
        text = self._options.pass_pipeline
        for name, _ in calls:
            if not is_pass(name):
                self._usage_error(f"Unknown command line argument '--{name}'{self._did_you_mean(name)}")
            if text is not None:
                self._usage_error(f"'--pass-pipeline' option can't be used with individual pass options: '--{name}'")
        return parse_pipeline(text) if text is not None else pipeline_from_flags(calls)

    def _did_you_mean(self, name: str) -> str:
        import difflib

        known = [*self._flag_names, *(f"--{known}" for known in (*registry.names(), *CANDIDATES))]
        close = difflib.get_close_matches(f"--{name}", known, n=1)
        return f"; did you mean '{close[0]}'?" if close else ": neither an option nor a pass"

    def _make_printers(self, flags: PrintFlags) -> list[IRPrinter]:
        options = self._options
        before = self._pass_names("before")
        after = self._pass_names("after")
        if before == set() and after == set() and not options.mlir_print_ir_after_failure:
            return []
        return [
            IRPrinter(
                write=self._print_ir,
                flags=flags,
                before_passes=before,
                after_passes=after,
                only_change=options.mlir_print_ir_after_change,
                only_failure=options.mlir_print_ir_after_failure,
                module_scope=options.mlir_print_ir_module_scope,
                tree_dir=options.mlir_print_ir_tree_dir,
            )
        ]

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
        if recognise(data, file=self._job.file).kind == "text":
            source = decode_utf8(data, self._job.file)
            self._sources[self._job.file] = source
            results = [self._run_chunk(chunk.encode(), place) for chunk, place in self._chunks(source)]
        else:
            if self._options.run_reproducer:
                raise InputError(
                    "a reproducer is read from text; this is bytecode", location=SourceLocation(self._job.file)
                )
            self._sources[self._job.file] = None
            results = [self._run_chunk(data, (1, 1))]
        ok = all(ok for _, ok in results)
        if ok or self._options.output == "-":
            marker = f"{self._options.output_split_marker}\n".encode()
            write_output(self._options.output, marker.join(output for output, _ in results))
        return ok

    def _chunks(self, source: str) -> Iterator[tuple[str, Place]]:
        """The chunks to process, padded in front, each with the line and column where it starts."""
        marker = self._options.split_input_file
        if marker and not source:
            return  # mlir-opt makes no module of nothing here
        if not marker:
            yield source, (1, 1)
            return
        for line, column in near_misses(source, marker):
            where = SourceLocation(self._job.file, line, column)
            self._show(Diagnostic("warning", "near miss with file split marker", where))
        for line, column, chunk in split_with_places(source, marker):
            yield padded(line, column, chunk), (line, column)

    def _run_chunk(self, data: bytes, place: Place) -> tuple[bytes, bool]:
        """The output for one chunk, which starts at ``place``, and whether it went well."""
        verifying = self._options.verify_diagnostics
        emitted: list[Diagnostic] = []

        def report(diagnostic: Diagnostic) -> None:
            emitted.append(diagnostic)
            if not verifying:
                self._show(self._without_unwanted(diagnostic))

        output, ok = b"", False
        try:
            output = Chunk(self._job, data, place, report, self._show).run()
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
            data.decode() if self._sources[self._job.file] is not None else "",
            self._job.file,
            map(self._without_unwanted, emitted),
            only_expected=verifying == "only-expected",
            notes=not self._options.mlir_disable_diagnostic_notes,
        )
        for fault in faults:
            self._show(fault)
        return output, not faults

    def _without_unwanted(self, diagnostic: Diagnostic) -> Diagnostic:
        """``diagnostic`` with the notes that the user wants."""
        notes = diagnostic.notes
        if self._options.mlir_disable_diagnostic_notes:
            notes = ()
        elif not self._options.mlir_print_op_on_diagnostic:
            notes = tuple(note for note in notes if not is_current_operation(note))
        return dataclasses.replace(diagnostic, notes=notes)

    def _show(self, diagnostic: Diagnostic) -> None:
        print(render_diagnostic(diagnostic, self._source_of), file=sys.stderr, flush=True)

    def _source_of(self, file: str) -> str | None:
        """The text of a file that a location names, as mlir-opt shows it; ``None`` where there is none to read."""
        if file not in self._sources:
            self._sources[file] = None
            try:
                path = Path(file)
                if path.is_file() and path.stat().st_size <= _LARGEST_SOURCE:
                    self._sources[file] = path.read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError):  # no permission; a NUL in the name
                pass
        return self._sources[file]
