"""``neuron-ctrldep-hlo-opt``: HLO in, passes, HLO out."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neuron_ctrldep.tools.common import EXIT_OK, run_guarded, version_text

if TYPE_CHECKING:
    from neuron_ctrldep.hlo.module import HloModule
    from neuron_ctrldep.hlo.passes import HloPass
    from neuron_ctrldep.hlo.report import PreserveReport

NAME = "neuron-ctrldep-hlo-opt"


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=NAME,
        description="Run passes on an HLO module: HLO text, HloModuleProto or HloProto in, text or HloModuleProto out.",
        epilog="exit status: 0 done; 1 the input or the passes are at fault; 2 wrong command line",
    )
    parser.add_argument("input", nargs="?", default="-", help="the module; '-' (the default) is stdin")
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="where to write; '-' (the default) is stdout"
    )
    parser.add_argument(
        "--passes",
        action="append",
        default=[],
        metavar="LIST",
        help="the passes to run, in order: 'name{option=value ...},...'; several --passes run one after the other",
    )
    parser.add_argument("--emit", choices=("text", "proto"), default="text", help="what to write (default: text)")
    parser.add_argument("--stats", action="store_true", help="print each pass's report on stderr")
    parser.add_argument("--stats-json", metavar="FILE", help="write the report as JSON; of several passes, a list")
    parser.add_argument("-v", "--debug-log", action="store_true", help="log what the passes do on stderr")
    parser.add_argument("--list-passes", action="store_true", help="list the passes with their options")
    parser.add_argument("--debug", action="store_true", help="show tracebacks of faults")
    parser.add_argument("--version", action="store_true", help="show the versions of this package and its bindings")
    return parser


def main(args: Sequence[str]) -> int:
    """Run the tool on a command line (without the program's name) and return its exit status."""
    options = build_parser().parse_args(args)
    if options.version:
        print(version_text())
        return EXIT_OK
    # Imported here, not above: --help and --version need no protobuf.
    from neuron_ctrldep.files import read_bytes, write_output
    from neuron_ctrldep.hlo.module import load_hlo
    from neuron_ctrldep.hlo.passes import parse_passes

    if options.list_passes:
        print(_listing(), end="")
        return EXIT_OK
    if options.debug_log:
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
        logging.getLogger("neuron_ctrldep.hlo").setLevel(logging.DEBUG)
    passes = [one for text in options.passes for one in parse_passes(text)]
    module = load_hlo(read_bytes(options.input), options.input)
    reports = [_run(one, module) for one in passes]
    # The reports first: XLA cannot print every module that the passes can edit.
    if options.stats_json is not None:
        found = [report.as_json() for report in reports]
        write_output(options.stats_json, json.dumps(found[0] if len(found) == 1 else found, indent=2) + "\n")
    if options.stats:
        for one, report in zip(passes, reports, strict=True):
            print(f"{one.name}: {report.render()}", file=sys.stderr)
    write_output(options.output, module.to_bytes() if options.emit == "proto" else module.to_text())
    return EXIT_OK


def _run(one: HloPass, module: HloModule) -> PreserveReport:
    report = one.apply(module)
    for warning in report.warnings(module.file):
        print(warning.render(), file=sys.stderr)
    return report


def _listing() -> str:
    from neuron_ctrldep.hlo.passes import HLO_PASSES

    lines = []
    for name, cls in HLO_PASSES.items():
        lines.append(f"{name}: {cls.summary}")
        for key, option in cls.options().items():
            default = str(option.default).lower() if isinstance(option.default, bool) else option.default
            lines.append(f"  {key}={default}: {option.metadata['help']}")
    return "\n".join(lines) + "\n"


def entry() -> None:
    """The console script."""
    sys.exit(run_guarded(NAME, main))


if __name__ == "__main__":
    entry()
