"""``neuron-ctrldep``: the whole chain for people. Arguments and reports only; the work is in ``chain``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuron_ctrldep.errors import CtrlDepError, InputError, SourceLocation
from neuron_ctrldep.files import write_output
from neuron_ctrldep.tools.common import EXIT_FAULT, EXIT_OK, run_guarded

if TYPE_CHECKING:
    from neuron_ctrldep.chain import CheckResult, Options, Stage
    from neuron_ctrldep.task.check import TaskCheckResult

EMITS = {
    "penguin": ".py",
    "hlo": ".hlo",
    "stablehlo": ".mlir",
    "mhlo": ".mlir",
    "flat": ".mlir",
    "edges": ".json",
    "dot": ".dot",
    "html": ".html",
}
"""What ``lower`` can print, and the suffix its files get in a directory."""

PICTURES = frozenset({"dot", "html"})
"""Those of them that ``view`` draws."""


# --- the command line -------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="neuron-ctrldep", description="Control dependencies that survive a compiler: from HLO to Penguin Python."
    )
    parser.add_argument("--version", action="store_true", help="print the versions of this package and its bindings")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show tracebacks")
    passes = argparse.ArgumentParser(add_help=False)
    passes.add_argument(
        "--on-unreifiable",
        choices=("error", "warn"),
        default="error",
        help="what to do when no carrier holds an edge (default: %(default)s)",
    )
    passes.add_argument(
        "--carrier", choices=("any", "operand"), default="any", help="operand: no pins, no attributes (the original)"
    )
    passes.add_argument(
        "--rewire", choices=("first", "all"), default="first", help="all: every operand of calls, loops, conditionals"
    )
    passes.add_argument(
        "--dialect",
        choices=("stablehlo", "mhlo"),
        default="stablehlo",
        help="what HLO is imported to; mhlo turns StableHLO input into MHLO too (default: %(default)s)",
    )
    passes.add_argument(
        "--allow-unregistered-dialect", action="store_true", help="accept MLIR ops of dialects that are not known"
    )

    lower = commands.add_parser("lower", parents=[common, passes], help="to Penguin Python, or to a stage before it")
    lower.add_argument("inputs", nargs="+", metavar="INPUT", help="HLO or MLIR in any form, a directory, or -")
    lower.add_argument("-o", "--output", default="-", help="a file; a directory for several inputs (default: stdout)")
    lower.add_argument("--emit", choices=list(EMITS), default="penguin", help="(default: %(default)s)")
    lower.add_argument("--print-stages", metavar="DIR", help="write every stage into DIR")
    lower.add_argument("--strict", action="store_true", help="an op outside Penguin's table is an error")
    lower.add_argument("--no-reify", action="store_true", help="leave control edges where they are: they get lost")
    lower.add_argument("--strip-control-edges", action="store_true", help="remove the edges from the reified HLO")
    lower.add_argument("--stats", action="store_true", help="print what became of each control edge, to stderr")

    check = commands.add_parser("check", parents=[common, passes], help="prove that no ordering was lost")
    check.add_argument("inputs", nargs="+", metavar="INPUT", help="as for lower; task programs are checked for races")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.add_argument("-o", "--output", default="-", help="where to print (default: stdout)")
    check.add_argument("--trip", type=int, nargs="+", metavar="N", help="trip counts to try for run-time loops")

    view = commands.add_parser("view", parents=[common, passes], help="a picture of the dependencies")
    view.add_argument("inputs", nargs=1, metavar="INPUT", help="as for lower")
    view.add_argument("-o", "--output", required=True, help="a .html, .svg or .dot file; - writes a page to stdout")

    demo = commands.add_parser("demo", parents=[common], help="the chain on a shipped example, explained")
    demo.add_argument("--json", action="store_true", help="print the check of the example as JSON")
    return parser


def main(args: Sequence[str]) -> int:
    """Run the tool; see ``neuron-ctrldep --help``."""
    parser = _parser()
    options = parser.parse_args(list(args))
    if options.version:
        from neuron_ctrldep.tools.common import version_text

        print(version_text("neuron-ctrldep"))
        return EXIT_OK
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "lower": _lower,
        "check": _check,
        "view": _view,
        "demo": _demo,
    }
    if options.command is None:
        parser.error("a command is missing: lower, check, view or demo")
    return commands[options.command](options)


def _options(args: argparse.Namespace) -> Options:
    from neuron_ctrldep.chain import Options

    return Options(
        dialect="mhlo" if getattr(args, "emit", "") == "mhlo" else args.dialect,
        reify=not getattr(args, "no_reify", False),
        on_unreifiable=args.on_unreifiable,
        carrier=args.carrier,
        rewire=args.rewire,
        strip_control_edges=getattr(args, "strip_control_edges", False),
        allow_unregistered_dialect=args.allow_unregistered_dialect,
    )


def _each_input(paths: Iterable[str], what: str) -> Iterator[str]:
    """Every input file, with progress on a terminal when there are several."""
    from neuron_ctrldep.loading import expand_inputs

    found = expand_inputs(paths)
    if len(found) == 1 or not sys.stderr.isatty():
        yield from found
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(found, description=what, console=Console(stderr=True), transient=True)


# --- lower ------------------------------------------------------------------------------------------------------------


def _lower(args: argparse.Namespace) -> int:
    from neuron_ctrldep.loading import expand_inputs

    paths = expand_inputs(args.inputs)
    several = len(args.inputs) > 1 or len(paths) > 1
    if several and args.output == "-":
        raise InputError("several inputs need a directory to write to; give one with -o DIR")
    first: dict[str, str] = {}
    for path in paths:
        if first.setdefault(_stem(path), path) != path:
            name = _stem(path) + EMITS[args.emit]
            raise InputError(f"'{first[_stem(path)]}' and '{path}' would both be written to '{name}'; lower them apart")
    status = EXIT_OK
    for path in _each_input(args.inputs, "lowering"):
        output = args.output
        if several:
            output = str(_made(Path(args.output)) / (_stem(path) + EMITS[args.emit]))
        try:
            _lower_one(path, output, args, several=several)
        except CtrlDepError as error:
            if not several:
                raise
            print(error.render(), file=sys.stderr)
            status = EXIT_FAULT
    return status


def _lower_one(path: str, output: str, args: argparse.Namespace, *, several: bool) -> None:
    from neuron_ctrldep.chain import lower
    from neuron_ctrldep.loading import load
    from neuron_ctrldep.penguin.weights import WeightDirectory

    stages = None
    if args.print_stages:
        directory = Path(args.print_stages) / _stem(path) if several else Path(args.print_stages)
        stages = _StageWriter(_made(directory))
    until: Stage = args.emit if args.emit in ("hlo", "stablehlo", "mhlo") else "flat"
    # A picture shows the source too; stdin can be read only once.
    source = load(path, allow_unregistered_dialect=args.allow_unregistered_dialect) if args.emit in PICTURES else path
    lowered = lower(source, options=_options(args), until=until, on_stage=stages, file=path)
    if lowered.report is not None:
        for warning in lowered.report.warnings(lowered.file):
            print(warning.render(), file=sys.stderr)
    if args.stats and lowered.report is not None:
        print(lowered.report.render(), file=sys.stderr)
    if args.emit == "hlo":
        assert lowered.hlo is not None
        write_output(output, lowered.hlo.to_text())
        return
    module = lowered.module
    assert module is not None
    if args.emit in ("stablehlo", "mhlo", "flat"):
        write_output(output, module.get_asm(enable_debug_info=True))
    elif args.emit == "edges":
        from neuron_ctrldep.penguin.printer import edge_list

        write_output(output, json.dumps(edge_list(module), indent=2) + "\n")
    elif args.emit in PICTURES:
        from neuron_ctrldep.view.picture import picture

        write_output(output, picture(source, args.emit, options=_options(args), file=path, lowered=lowered))
    else:
        beside = Path.cwd() if output == "-" else Path(output).parent
        with WeightDirectory(beside, _stem(path) if output == "-" else Path(output).stem) as weights:
            text = lowered.penguin(strict=args.strict, weights=weights)
            write_output(output, text)
        if stages is not None:
            stages.write("penguin.py", text)


class _StageWriter:
    """Writes each stage of a run into a directory, numbered in the order they were made."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._count = 0

    def __call__(self, stage: Stage, made: Any) -> None:
        if stage == "hlo":
            self.write("reified.hlo", made.to_text())
        else:
            name = "flat.mlir" if stage == "flat" else f"imported.{stage}.mlir"
            self.write(name, made.get_asm(enable_debug_info=True))

    def write(self, name: str, text: str) -> None:
        """Write the next stage."""
        self._count += 1
        write_output(str(self._directory / f"{self._count}-{name}"), text)


def _stem(path: str) -> str:
    return "stdin" if path == "-" else Path(path).stem


def _made(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot make the directory: {reason}", location=SourceLocation(str(directory))) from error
    return directory


# --- check ------------------------------------------------------------------------------------------------------------


def _check(args: argparse.Namespace) -> int:
    results: list[tuple[str, CheckResult | TaskCheckResult]] = []
    status = EXIT_OK
    paths = list(_each_input(args.inputs, "checking"))
    for path in paths:
        try:
            result = _check_one(path, args)
        except CtrlDepError as error:
            if len(paths) == 1:
                raise
            print(error.render(), file=sys.stderr)
            status = EXIT_FAULT
            continue
        results.append((path, result))
        if result.lost:
            status = EXIT_FAULT
    if args.json:
        documents = {path: result.as_json() for path, result in results}
        text = json.dumps(documents if len(paths) > 1 else next(iter(documents.values())), indent=2) + "\n"
    else:
        text = "\n".join(result.render() for _, result in results)
    write_output(args.output, text)
    return status


def _check_one(path: str, args: argparse.Namespace) -> CheckResult | TaskCheckResult:
    from neuron_ctrldep.chain import check

    return check(path, options=_options(args), trips=args.trip, file=path)


# --- view -------------------------------------------------------------------------------------------------------------


def _view(args: argparse.Namespace) -> int:
    from neuron_ctrldep.loading import input_file

    kind = "html" if args.output == "-" else Path(args.output).suffix.lstrip(".")
    if kind not in ("html", "svg", "dot"):
        raise InputError(f"cannot tell what to draw from the name '{args.output}'; expected .html, .svg or .dot")
    write_output(args.output, _picture(input_file(args.inputs[0]), kind, _options(args)))
    return EXIT_OK


def _picture(path: str, kind: Any, options: Options) -> str:
    from neuron_ctrldep.loading import load
    from neuron_ctrldep.view.picture import picture

    source = load(path, file=path, allow_unregistered_dialect=options.allow_unregistered_dialect)
    return picture(source, kind, options=options, file=path)


# --- demo -------------------------------------------------------------------------------------------------------------


def _demo(args: argparse.Namespace) -> int:
    from neuron_ctrldep.demo import run_demo

    write_output("-", run_demo(as_json=args.json))
    return EXIT_OK


def entry() -> None:
    """The console script."""
    sys.exit(run_guarded("neuron-ctrldep", main))


if __name__ == "__main__":
    entry()
