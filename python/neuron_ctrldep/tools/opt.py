"""``neuron-ctrldep-opt``: MLIR in, passes, MLIR out. Its flags behave as those of LLVM's ``mlir-opt``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from neuron_ctrldep.tools.common import EXIT_FAULT, EXIT_OK, run_guarded
from neuron_ctrldep.tools.opt_flags import build_command_line

NAME = "neuron-ctrldep-opt"


def main(args: Sequence[str]) -> int:
    """Run the tool on a command line (without the program's name) and return its exit status."""
    line = build_command_line(NAME)
    options, pass_flags = line.parse(args)
    # Each import below is for one job: what is not asked for does not cost start-up time.
    if options.version:
        from neuron_ctrldep.tools.common import version_text

        print(version_text(NAME))
        return EXIT_OK
    if options.completion:
        from neuron_ctrldep.tools.completion import completion_script

        print(completion_script(NAME, line, options.completion), end="")
        return EXIT_OK
    if options.list_passes:
        from neuron_ctrldep.passes.listing import render_list

        print(render_list(), end="")
        return EXIT_OK
    if options.show_dialects:
        from neuron_ctrldep.mlir import dialect_names

        print(f"Available Dialects: {','.join(dialect_names())}")
        return EXIT_OK

    from neuron_ctrldep.files import read_bytes
    from neuron_ctrldep.tools.opt_run import Session

    session = Session(options, pass_flags, line.parser.error, line.actions)
    return EXIT_OK if session.run(read_bytes(options.input)) else EXIT_FAULT


def _save_crash_reproducer(process: int) -> str:
    """What ``process``, which has died, left for ``--mlir-pass-pipeline-crash-reproducer``, in words."""
    from neuron_ctrldep.passes.crash_reproducer import keep_pending

    path = build_command_line(NAME).parse(sys.argv[1:])[0].mlir_pass_pipeline_crash_reproducer
    return f"reproducer generated at `{path}`" if path and keep_pending(path, process) else ""


def entry() -> None:
    """The console script."""
    hint = "--mlir-print-ir-before-all shows which pass, --mlir-generate-reproducer=FILE writes a file that repeats it"
    sys.exit(run_guarded(NAME, main, hint=hint, on_death=_save_crash_reproducer))


if __name__ == "__main__":
    entry()
