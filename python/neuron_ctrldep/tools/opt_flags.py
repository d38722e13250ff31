"""The command line of ``neuron-ctrldep-opt``: flags of its own, and one flag for each pass, in the order given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

from neuron_ctrldep.tools.split import DEFAULT_MARKER

_TRUE = ("", "true", "TRUE", "True", "1")
_FALSE = ("false", "FALSE", "False", "0")


@dataclass(frozen=True, slots=True)
class PassFlag:
    """``--name`` or ``--name=options``, as it stands on the command line."""

    name: str
    options: str


@dataclass
class CommandLine:
    """The flags of the tool, and reading a command line with them."""

    parser: argparse.ArgumentParser
    actions: dict[str, argparse.Action] = field(default_factory=dict)

    def add(self, group: argparse._ActionsContainer, *names: str, **how: object) -> None:
        """Declare one flag."""
        action = group.add_argument(*names, **how)  # type: ignore[arg-type]
        self.actions.update(dict.fromkeys(action.option_strings, action))

    def parse(self, args: Sequence[str]) -> tuple[argparse.Namespace, list[PassFlag]]:
        """The values of the flags, and what looks like a flag and is none of them: the passes.

        LLVM takes one dash or two before a long name, an optional value only behind ``=``, and ``--flag=false``.
        """
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
            flag = f"-{name}" if f"-{name}" in self.actions else f"--{name}"
            action = self.actions.get(flag)
            if action is None:
                passes.append(PassFlag(name, value))
            elif action.nargs == 0 and equals:
                own += self._switch(flag, value)
            elif equals:
                own += [flag, value] if len(flag) == 2 else [f"{flag}={value}"]
            elif action.nargs == "?":
                # Without "=", argparse would take the next word, the input file, for the value.
                own.append(f"{flag}={action.const}")
            elif action.nargs is None:
                own += [flag, *([word] if (word := next(rest, None)) is not None else [])]
            else:
                own.append(flag)
        return self.parser.parse_args(own), passes

    def _switch(self, flag: str, value: str) -> list[str]:
        if value not in _TRUE + _FALSE:
            self.parser.error(f"argument {flag}: '{value}' is invalid value for boolean argument! Try 0 or 1")
        return [flag] if value in _TRUE else []


def _boolean(text: str) -> bool:
    if text not in _TRUE + _FALSE:
        raise argparse.ArgumentTypeError(f"'{text}' is invalid value for boolean argument! Try 0 or 1")
    return text in _TRUE


def _version(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' value invalid for integer argument!") from None


def _limit(text: str) -> int:
    digits, radix = text.lower(), 10
    for prefix, radix_of_prefix in _RADIXES:
        if digits.startswith(prefix) and digits != prefix:
            digits, radix = digits.removeprefix(prefix), radix_of_prefix
            break
    try:
        if digits.isascii() and digits.isalnum():  # int() takes more
            return int(digits, radix)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"'{text}' value invalid for uint argument!")


_RADIXES = (("0x", 16), ("0b", 2), ("0o", 8), ("0", 8))
"""How LLVM tells the radix of a number."""


def _names(text: str) -> list[str]:
    return text.split(",")


def _diagnostics_mode(text: str) -> str:
    return text or "all"


def build_command_line(prog: str) -> CommandLine:
    """All flags but those of the passes."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [options] [--PASS[=OPTIONS] ...] [input]",
        add_help=False,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Run MLIR passes on a module. Flags behave as those of LLVM's mlir-opt.",
        epilog="Every pass is a flag, too: --cse --canonicalize=top-down=false runs the two in this order, each\n"
        "nested in the op it works on. --list-passes shows all.\n"
        "Exit status: 0 done, 1 fault of input or pipeline, 2 usage.",
    )
    line = CommandLine(parser)
    _general(line)
    _passes(line)
    _input(line)
    _output(line)
    _around_passes(line)
    return line


def _general(line: CommandLine) -> None:
    add, top = line.add, line.parser
    what = "MLIR text, bytecode, a StableHLO portable artifact or a serialized jax export; - is stdin"
    add(top, "input", nargs="?", default="-", help=what)
    add(top, "-o", dest="output", metavar="FILE", default="-", help="where the result goes; - is stdout")
    add(top, "-h", "--help", action="help", help="print this and exit")
    add(top, "--version", action="store_true", help="print versions and exit")
    add(top, "--debug", action="store_true", help="show Python tracebacks of faults")
    add(top, "--completion", choices=["bash", "zsh"], help="print a completion script for the shell and exit")


def _passes(line: CommandLine) -> None:
    add, group = line.add, line.parser.add_argument_group("passes")
    add(group, "--pass-pipeline", metavar="TEXT", help="e.g. 'builtin.module(func.func(cse),verify-control-deps)'")
    add(group, "--dump-pass-pipeline", action="store_true", help="print the pipeline that runs to stderr")
    add(group, "--list-passes", action="store_true", help="print all passes with their options and exit")
    add(
        group,
        "--verify-each",
        nargs="?",
        const="true",
        default=True,
        type=_boolean,
        metavar="BOOL",
        help="run the verifier after each pass (default: true)",
    )
    add(group, "--mlir-disable-threading", action="store_true", help="run passes in one thread")
    add(group, "--run-reproducer", action="store_true", help="run the pipeline stored in the input")
    add(
        group,
        "--mlir-generate-reproducer",
        metavar="FILE",
        help="write the input module and the pipeline to FILE before the pipeline runs",
    )
    add(
        group,
        "--mlir-pass-pipeline-crash-reproducer",
        metavar="FILE",
        help="write the input module and the pipeline to FILE if a pass fails, or ends the process",
    )
    add(
        group,
        "--mlir-pass-pipeline-local-reproducer",
        action="store_true",
        help="let the crash reproducer hold the failing pass only, and the module as it was before it",
    )


def _input(line: CommandLine) -> None:
    add, group = line.add, line.parser.add_argument_group("input")
    add(
        group,
        "--split-input-file",
        nargs="?",
        const=DEFAULT_MARKER,
        metavar="MARKER",
        help=f"process the parts between markers (default: '{DEFAULT_MARKER}') each by itself",
    )
    add(
        group,
        "--output-split-marker",
        default=DEFAULT_MARKER,
        metavar="MARKER",
        help="what stands between the parts in the output",
    )
    add(
        group,
        "--verify-diagnostics",
        nargs="?",
        const="all",
        type=_diagnostics_mode,
        choices=["all", "only-expected"],
        help="compare diagnostics with the expected-error {{text}} comments of the input",
    )
    add(
        group,
        "--verify-roundtrip",
        action="store_true",
        help="check that printing the input and reading it back changes nothing",
    )
    add(group, "--mlir-disable-diagnostic-notes", action="store_true", help="print diagnostics without their notes")
    add(
        group,
        "--mlir-print-op-on-diagnostic",
        nargs="?",
        const="true",
        default=True,
        type=_boolean,
        metavar="BOOL",
        help="print the op that a diagnostic is about as a note (default: true)",
    )
    add(group, "--allow-unregistered-dialect", action="store_true", help="accept ops of unknown dialects")
    add(group, "--no-implicit-module", action="store_true", help="the input is one op; no module is put around it")
    add(group, "--show-dialects", action="store_true", help="print the names of all dialects and exit")


def _output(line: CommandLine) -> None:
    add, group = line.add, line.parser.add_argument_group("output")
    add(group, "--emit-bytecode", action="store_true", help="write MLIR bytecode")
    add(group, "--emit-bytecode-version", type=_version, metavar="N", help="write this version of bytecode")
    add(group, "--mlir-print-op-generic", action="store_true", help="print the generic form of ops")
    add(group, "--mlir-print-debuginfo", action="store_true", help="print locations")
    add(
        group,
        "--mlir-pretty-debuginfo",
        action="store_true",
        help="with --mlir-print-debuginfo: print locations for people; does not parse back",
    )
    add(group, "--mlir-print-local-scope", action="store_true", help="print without aliases")
    add(group, "--mlir-print-skip-regions", action="store_true", help="print ops without their regions")
    add(group, "--mlir-use-nameloc-as-prefix", action="store_true", help="name values after their named locations")
    add(
        group,
        "--mlir-print-assume-verified",
        action="store_true",
        help="print the custom form of ops that do not verify, too",
    )
    add(
        group,
        "--mlir-elide-elementsattrs-if-larger",
        type=_limit,
        metavar="N",
        help="print ... for constants of more than N elements",
    )
    add(
        group,
        "--mlir-elide-resource-strings-if-larger",
        type=_limit,
        metavar="N",
        help="print no resource of more than N characters",
    )


def _around_passes(line: CommandLine) -> None:
    add, group = line.add, line.parser.add_argument_group("reports on passes (to stderr)")
    for when in ("before", "after"):
        add(
            group,
            f"--mlir-print-ir-{when}",
            nargs="?",  # the names stand behind "=" only, as for mlir-opt
            const="",
            type=_names,
            action="append",
            metavar="PASS",
            help=f"print the IR {when} these passes",
        )
        add(group, f"--mlir-print-ir-{when}-all", action="store_true", help=f"print the IR {when} each pass")
    add(group, "--mlir-print-ir-after-change", action="store_true", help="print after a pass only if the IR changed")
    add(group, "--mlir-print-ir-after-failure", action="store_true", help="print after a pass only if it failed")
    add(group, "--mlir-print-ir-module-scope", action="store_true", help="always print the whole module")
    add(group, "--mlir-print-ir-tree-dir", metavar="DIR", help="print into a tree of files in DIR")
    add(group, "--mlir-timing", action="store_true", help="print how long each pass took")
    add(group, "--mlir-timing-display", choices=["tree", "list"], default="tree", help="form of the timing report")
    add(group, "--mlir-output-format", choices=["text", "json"], default="text", help="form of the timing report")
    add(group, "--mlir-pass-statistics", action="store_true", help="print the counters of each pass")
    add(
        group,
        "--mlir-pass-statistics-display",
        choices=["pipeline", "list"],
        default="pipeline",
        help="form of the counter report",
    )
