"""``neuron-ctrldep-opt``: MLIR in, passes, MLIR out. Its flags behave as those of LLVM's ``mlir-opt``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from neuron_ctrldep.tools.common import EXIT_FAULT, EXIT_OK, run_tool, version_text
from neuron_ctrldep.tools.opt_flags import PassFlag, build_parser, split_command_line

NAME = "neuron-ctrldep-opt"


def main(args: Sequence[str]) -> int:
    """Run the tool on a command line (without the program's name) and return its exit status."""
    parser = build_parser(NAME)
    own, pass_flags = split_command_line(args, parser)
    options = parser.parse_args(own)
    if options.version:
        print(version_text())
        return EXIT_OK
    if options.list_passes:
        from neuron_ctrldep.passes.listing import render_list

        print(render_list(), end="")
        return EXIT_OK
    return _run(parser, options, pass_flags)


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace, pass_flags: list[PassFlag]) -> int:
    # Imported here, not above: --help and --version need no bindings.
    from neuron_ctrldep.files import read_bytes, write_output
    from neuron_ctrldep.tools.opt_run import Session, pipeline_of

    pipeline = pipeline_of(parser, options, pass_flags)
    if options.dump_pass_pipeline:
        print(pipeline.dump(), file=sys.stderr)
    session = Session(options, pipeline)
    output, ok = session.run(read_bytes(options.input))
    if not ok:
        return EXIT_FAULT
    if not options.verify_diagnostics:
        write_output(options.output, output)
    return EXIT_OK


def entry() -> None:
    """The console script."""
    sys.exit(run_tool(NAME, main))
