"""What ``neuron-ctrldep-opt`` does with an input: split, parse, run, print, compare diagnostics."""

from __future__ import annotations

import argparse
import sys

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import CtrlDepError, Diagnostic
from neuron_ctrldep.files import decode_utf8
from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.pipeline import Pipeline, parse_pipeline, pipeline_from_flags, run_pipeline
from neuron_ctrldep.tools import verify_diagnostics
from neuron_ctrldep.tools.opt_flags import PassFlag
from neuron_ctrldep.tools.split import Chunk, split_input


def pipeline_of(parser: argparse.ArgumentParser, options: argparse.Namespace, pass_flags: list[PassFlag]) -> Pipeline:
    """The pipeline that the command line asks for."""
    if options.pass_pipeline is None:
        return pipeline_from_flags([(flag.name, flag.options) for flag in pass_flags])
    if pass_flags:
        parser.error(f"'--pass-pipeline' cannot be used with individual pass options: '--{pass_flags[0].name}'")
    return parse_pipeline(options.pass_pipeline)


class Session:
    """One run of the tool."""

    def __init__(self, options: argparse.Namespace, pipeline: Pipeline) -> None:
        self._options = options
        self._pipeline = pipeline
        self._file = "<stdin>" if options.input == "-" else str(options.input)

    def run(self, data: bytes) -> tuple[str | bytes, bool]:
        """The output for an input, and whether all went well. Diagnostics go to stderr as they come."""
        marker = self._options.split_input_file
        if data.startswith(mlir.BYTECODE_MAGIC) or marker is None:
            text = "" if data.startswith(mlir.BYTECODE_MAGIC) else decode_utf8(data, self._file)
            return self._chunk(Chunk(text, 1, 1), text, data if not text else None)
        text = decode_utf8(data, self._file)
        outputs: list[str] = []
        all_ok = True
        for chunk in split_input(text, marker):
            output, ok = self._chunk(chunk, text)
            all_ok &= ok
            outputs.append(str(output))
        return f"{self._options.output_split_marker}\n".join(outputs), all_ok

    def _chunk(self, chunk: Chunk, source: str, data: bytes | None = None) -> tuple[str | bytes, bool]:
        verifying = self._options.verify_diagnostics
        emitted: list[Diagnostic] = []

        def report(diagnostic: Diagnostic) -> None:
            emitted.append(diagnostic)
            if not verifying:
                print(diagnostic.render(source), file=sys.stderr)

        output: str | bytes = ""
        ok = True
        context = mlir.make_context(allow_unregistered=self._options.allow_unregistered_dialect)
        try:
            operation = self._parse(chunk, data, context, report)
            run_pipeline(operation, self._pipeline, verify_each=self._options.verify_each, report=report)
            output = self._print(operation)
        except CtrlDepError as error:
            ok = False
            for diagnostic in error.diagnostics:
                if diagnostic not in emitted:
                    report(diagnostic)
        if not verifying:
            return output, ok
        faults = verify_diagnostics.check(chunk.text, self._file, emitted, only_expected=verifying == "only-expected")
        for fault in faults:
            print(fault.render(source), file=sys.stderr)
        return output, not faults

    def _parse(self, chunk: Chunk, data: bytes | None, context: ir.Context, report: object) -> ir.Operation:
        del report
        return load_mlir(
            data if data is not None else chunk.text.encode(),
            file=self._file,
            context=context,
            implicit_module=not self._options.no_implicit_module,
        )

    def _print(self, operation: ir.Operation) -> str:
        text = operation.get_asm(
            print_generic_op_form=self._options.mlir_print_op_generic,
            enable_debug_info=self._options.mlir_print_debuginfo,
        )
        return str(text).rstrip("\n") + "\n\n"
