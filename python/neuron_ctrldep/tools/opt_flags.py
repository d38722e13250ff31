"""The command line of ``neuron-ctrldep-opt``: flags of its own, and one flag for each pass, in the order given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from neuron_ctrldep.tools.split import DEFAULT_MARKER


@dataclass(frozen=True, slots=True)
class PassFlag:
    """``--name`` or ``--name=options``, as it stands on the command line."""

    name: str
    options: str


def build_parser(prog: str) -> argparse.ArgumentParser:
    """The parser of everything but the pass flags."""
    parser = argparse.ArgumentParser(
        prog=prog,
        allow_abbrev=False,
        description="Run MLIR passes on a module. Flags behave as those of LLVM's mlir-opt. Every pass is a flag, too: "
        "--cse --canonicalize=top-down=false runs the two in this order.",
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", help="MLIR text, bytecode, portable artifact or jax export; - is stdin")
    add("-o", dest="output", metavar="FILE", default="-", help="where the result goes; - is stdout")
    add("--version", action="store_true", help="print versions and exit")
    add("--debug", action="store_true", help="show Python tracebacks of faults")
    group = parser.add_argument_group("passes")
    add = group.add_argument
    add("--pass-pipeline", metavar="TEXT", help="e.g. 'builtin.module(func.func(cse),verify-control-deps)'")
    add("--dump-pass-pipeline", action="store_true", help="print the pipeline that runs to stderr")
    add("--list-passes", action="store_true", help="print all passes and exit")
    add(
        "--verify-each",
        type=_boolean,
        nargs="?",
        const=True,
        default=True,
        metavar="BOOL",
        help="verify after each pass",
    )
    group = parser.add_argument_group("input")
    add = group.add_argument
    add("--split-input-file", nargs="?", const=DEFAULT_MARKER, metavar="MARKER", help="process the chunks one by one")
    add("--output-split-marker", default=DEFAULT_MARKER, metavar="MARKER", help="between the chunks of the output")
    add(
        "--verify-diagnostics",
        nargs="?",
        const="all",
        choices=["all", "only-expected"],
        help="check expected-* comments",
    )
    add("--allow-unregistered-dialect", action="store_true", help="accept ops of unknown dialects")
    add("--no-implicit-module", action="store_true", help="the input is one op and stays it")
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--mlir-print-op-generic", action="store_true", help="print the generic form")
    add("--mlir-print-debuginfo", action="store_true", help="print locations")
    return parser


def _boolean(text: str) -> bool:
    if text in ("", "true", "TRUE", "True", "1"):
        return True
    if text in ("false", "FALSE", "False", "0"):
        return False
    raise argparse.ArgumentTypeError(f"'{text}' is invalid value for boolean argument! Try 0 or 1")


def split_command_line(args: Sequence[str], parser: argparse.ArgumentParser) -> tuple[list[str], list[PassFlag]]:
    """The arguments ``parser`` knows, spelled with two dashes, and the others that look like flags: the passes.

    LLVM takes one dash or two before a long name, and an optional value only behind ``=``.
    """
    actions = {name: action for action in parser._actions for name in action.option_strings}
    own: list[str] = []
    passes: list[PassFlag] = []
    rest = iter(args)
    for argument in rest:
        if argument == "--":
            own += ["--", *rest]
            break
        if not argument.startswith("-") or argument == "-":
            own.append(argument)
            continue
        name, equals, value = argument.lstrip("-").partition("=")
        short = f"-{name}"
        flag = short if short in actions else f"--{name}"
        action = actions.get(flag)
        if action is None:
            passes.append(PassFlag(name, value))
        elif equals:
            own.append(f"--{name}={value}" if flag != short else f"{short}{value}")
        elif action.nargs == "?":
            # Without "=", argparse would take the next word, the input file, for the value.
            own.append(f"{flag}={action.const}")
        else:
            own.append(flag)
            if action.nargs is None:
                own += [value for value in [next(rest, None)] if value is not None]
    return own, passes
