"""``neuron-ctrldep-translate``: from one form of a program to another. One flag says which; nothing is optimised."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.tools.common import EXIT_OK, run_guarded, version_text
from neuron_ctrldep.tools.split import DEFAULT_MARKER, split_input

if TYPE_CHECKING:
    from neuron_ctrldep.mlir import ir

NAME = "neuron-ctrldep-translate"


class _UsageError(Exception):
    """The command line is wrong in a way that argparse does not know."""


@dataclass(frozen=True, slots=True)
class Request:
    """One translation: the input as bytes, what messages call it, where the output goes, and the flag's options."""

    data: bytes
    file: str
    output: str
    options: str = ""
    allow_unregistered: bool = False
    chunk: int | None = None
    """Its number, when the input was split."""

    def module(self) -> ir.Operation:
        """The input as an MLIR module."""
        from neuron_ctrldep.inputs import load_mlir
        from neuron_ctrldep.mlir import make_context

        if not self.data.strip():
            raise InputError("the input is empty; expected an MLIR module", location=SourceLocation(self.file))
        context = make_context(allow_unregistered=self.allow_unregistered)
        return load_mlir(self.data, file=self.file, context=context)


# --- translations -----------------------------------------------------------------------------------------------------


def _hlo_to_stablehlo(request: Request) -> str:
    return _import(request, "stablehlo")


def _hlo_to_mhlo(request: Request) -> str:
    return _import(request, "mhlo")


def _import(request: Request, dialect: str) -> str:
    from neuron_ctrldep.hlo.importer import import_hlo
    from neuron_ctrldep.hlo.module import load_hlo

    module = import_hlo(load_hlo(request.data, request.file), dialect="mhlo" if dialect == "mhlo" else "stablehlo")
    return _asm(module)


def _stablehlo_to_hlo(request: Request) -> str:
    from neuron_ctrldep.hlo.importer import export_hlo

    return export_hlo(request.module(), request.file).to_text()


def _asm(module: ir.Operation) -> str:
    # Locations stay: they hold the names of HLO instructions.
    text = str(module.get_asm(enable_debug_info=True))
    return text if text.endswith("\n") else text + "\n"


@dataclass(slots=True)
class PenguinOptions:
    """What stands behind ``--mlir-to-penguin=``."""

    strict: bool = False
    edges_only: bool = False
    weights_dir: str = ""

    @classmethod
    def parse(cls, text: str) -> PenguinOptions:
        """Read ``strict,edges-only,weights-dir=DIR``; a switch may say ``=true`` or ``=false``."""
        options = cls()
        switches = {"true": True, "": True, "false": False}
        for part in filter(None, text.split(",")):
            key, _, value = part.partition("=")
            if key == "strict" and value in switches:
                options.strict = switches[value]
            elif key == "edges-only" and value in switches:
                options.edges_only = switches[value]
            elif key == "weights-dir" and value:
                options.weights_dir = value
            else:
                raise _UsageError(
                    f"--mlir-to-penguin: wrong option '{part}'; expected strict, edges-only or weights-dir=DIR"
                )
        return options


def _mlir_to_penguin(request: Request) -> str:
    from neuron_ctrldep.penguin.printer import print_penguin
    from neuron_ctrldep.penguin.weights import WeightDirectory

    options = PenguinOptions.parse(request.options)
    stem = Path(request.file if request.output == "-" else request.output).stem
    if request.chunk is not None:
        stem += f"-{request.chunk}"
    beside = Path() if request.output == "-" else Path(request.output).parent
    directory = Path(options.weights_dir) if options.weights_dir else beside
    prefix = f"{options.weights_dir.rstrip('/')}/" if options.weights_dir else ""
    module = request.module()
    with WeightDirectory(directory, stem, prefix=prefix) as weights:
        return print_penguin(module, strict=options.strict, edges_only=options.edges_only, weights=weights)


def _mlir_to_edges(request: Request) -> str:
    from neuron_ctrldep.penguin.printer import edge_list

    return _json(edge_list(request.module()))


def _penguin_to_edges(request: Request) -> str:
    from neuron_ctrldep.files import decode_utf8
    from neuron_ctrldep.penguin.reader import read_penguin

    program = read_penguin(decode_utf8(request.data, request.file), request.file)
    return _json([edge.serialize() for edge in program.edges()])


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _mlir_to_dot(request: Request) -> str:
    from neuron_ctrldep.view import graph_of, to_dot

    return to_dot(graph_of(request.module()))


def _serialize_portable(request: Request) -> bytes:
    from neuron_ctrldep.mlir import serialize_portable

    return serialize_portable(request.module(), request.options or None)


def _deserialize_portable(request: Request) -> str:
    from neuron_ctrldep.inputs import recognise

    if not recognise(request.data, file=request.file).is_portable:
        raise InputError(
            "not a StableHLO portable artifact; expected what --serialize-portable or jax.export writes",
            location=SourceLocation(request.file),
        )
    return _asm(request.module())


def _task_to_orchestration(request: Request) -> str:
    from neuron_ctrldep.orchestration.cpp import print_orchestration

    return print_orchestration(request.module())


def _task_to_edges(request: Request) -> str:
    from neuron_ctrldep.orchestration.task_edges import task_edges

    return _json(task_edges(request.module()))


def _task_to_penguin(request: Request) -> str:
    from neuron_ctrldep.penguin.tasks import print_tasks

    return print_tasks(request.module())


@dataclass(frozen=True, slots=True)
class Translation:
    """One flag. ``options`` is how its value is shown in the help; empty when it takes none."""

    run: Callable[[Request], str | bytes]
    help: str
    options: str = ""
    can_split: bool = field(default=True, kw_only=True)
    """Whether it takes MLIR text and gives text."""


TRANSLATIONS = {
    "hlo-to-stablehlo": Translation(_hlo_to_stablehlo, "HLO (text or proto) to StableHLO", can_split=False),
    "hlo-to-mhlo": Translation(_hlo_to_mhlo, "HLO (text or proto) to MHLO", can_split=False),
    "stablehlo-to-hlo": Translation(_stablehlo_to_hlo, "StableHLO to HLO text"),
    "mlir-to-penguin": Translation(
        _mlir_to_penguin,
        "Penguin Python of the module as it is; big constants go to .npy files beside the output, or in DIR",
        "strict,edges-only,weights-dir=DIR",
    ),
    "mlir-to-edges": Translation(_mlir_to_edges, "the dependency edges as JSON"),
    "penguin-to-edges": Translation(_penguin_to_edges, "the edges of Penguin Python as JSON", can_split=False),
    "mlir-to-dot": Translation(_mlir_to_dot, "the graph for Graphviz"),
    "serialize-portable": Translation(_serialize_portable, "StableHLO to an artifact", "VERSION", can_split=False),
    "deserialize-portable": Translation(_deserialize_portable, "a portable artifact to StableHLO", can_split=False),
    "task-to-orchestration": Translation(_task_to_orchestration, "tasks to C++ against the run-time API"),
    "task-to-edges": Translation(_task_to_edges, "the dependencies of tasks as JSON"),
    "task-to-penguin": Translation(_task_to_penguin, "tasks to Penguin Python"),
}


# --- command line -----------------------------------------------------------------------------------------------------


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=NAME,
        allow_abbrev=False,
        description="Translate a program from one form to another.",
        epilog="exit status: 0 done; 1 the input is at fault; 2 wrong command line",
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", help="the program; '-' (the default) is stdin")
    add("-o", "--output", default="-", metavar="FILE", help="where to write; '-' (the default) is stdout")
    add(
        f"--{_SPLIT}",
        metavar="[MARKER]",
        help=f"translate the chunks between lines with MARKER (default: '{DEFAULT_MARKER}') one by one; MLIR text only",
    )
    add("--allow-unregistered-dialect", action="store_true", help="accept ops of unknown dialects")
    add("--debug", action="store_true", help="show tracebacks of faults")
    add("--version", action="store_true", help="show the versions of this package and its bindings")
    group = parser.add_argument_group("translations (exactly one)").add_mutually_exclusive_group()
    for name, translation in TRANSLATIONS.items():
        if translation.options:
            group.add_argument(f"--{name}", metavar=f"[{translation.options}]", help=translation.help)
        else:
            group.add_argument(f"--{name}", action="store_const", const="", help=translation.help)
    return parser


_SPLIT = "split-input-file"
_OPTIONAL_VALUE = {_SPLIT, *(name for name, translation in TRANSLATIONS.items() if translation.options)}


def _spelled_out(args: Sequence[str]) -> list[str]:
    """``args`` for argparse: an optional value stands only behind ``=`` (as in LLVM), so that a file never is one."""
    return [f"{arg}=" if arg.startswith("--") and arg[2:] in _OPTIONAL_VALUE else arg for arg in args]


def main(args: Sequence[str]) -> int:
    """Run the tool on a command line (without the program's name) and return its exit status."""
    parser = build_parser()
    options = parser.parse_args(_spelled_out(args))
    if options.version:
        print(version_text())
        return EXIT_OK
    name = next((name for name in TRANSLATIONS if _value(options, name) is not None), None)
    if name is None:
        parser.error("expected one translation, such as --mlir-to-penguin; --help lists them")
    translation = TRANSLATIONS[name]
    marker = options.split_input_file
    try:
        if name == "mlir-to-penguin":
            PenguinOptions.parse(_value(options, name) or "")
        if marker is not None and not translation.can_split:
            raise _UsageError(f"--{_SPLIT} and --{name} do not go together")
    except _UsageError as error:
        parser.error(str(error))
    # Imported here, not above: --help and --version need no bindings.
    from neuron_ctrldep.files import decode_utf8, read_bytes, write_output

    data = read_bytes(options.input)
    request = Request(
        data, options.input, options.output, _value(options, name) or "", options.allow_unregistered_dialect
    )
    if marker is None:
        write_output(options.output, translation.run(request))
        return EXIT_OK
    outputs = []
    for number, chunk in enumerate(split_input(decode_utf8(data, options.input), marker or DEFAULT_MARKER)):
        output = translation.run(replace(request, data=chunk.encode(), chunk=number))
        assert isinstance(output, str), "only translations to text can split their input"
        outputs.append(output)
    write_output(options.output, f"{DEFAULT_MARKER}\n".join(outputs))
    return EXIT_OK


def _value(options: argparse.Namespace, name: str) -> str | None:
    value: str | None = getattr(options, name.replace("-", "_"))
    return value


def entry() -> None:
    """The console script."""
    sys.exit(run_guarded(NAME, main))


if __name__ == "__main__":
    entry()
