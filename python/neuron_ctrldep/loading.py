"""Whatever a user holds in hand, as a module: HLO or MLIR, recognised by content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuron_ctrldep.dumps import latest_of_each_module
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.files import read_bytes, without_mark

if TYPE_CHECKING:
    from neuron_ctrldep.hlo.child import Child
    from neuron_ctrldep.hlo.module import HloModule
    from neuron_ctrldep.mlir import ir

_SKIPPED = rb"\A(?:\s|//[^\n]*\n|/\*.*?\*/)*+"  # possessive: a long run of spaces must not be tried in all ways
_HLO_HEADER = re.compile(_SKIPPED + rb"HloModule\b", re.DOTALL)
_MLIR_START = re.compile(
    _SKIPPED + rb"(?:module\b|func\.func\b|builtin\.module\b|[\"#!{]|%[\w.-]+(?::\d+)?\s*[=,])", re.DOTALL
)
_HLO_BODY = re.compile(rb"\bENTRY\b|\bROOT\s+%?[\w.-]+\s*=|=\s*\(?[a-z]\w*\[")
"""XLA reads text without the ``HloModule`` line too: a computation that is the entry, or instructions alone."""

_MLIR_MAGIC = b"ML\xefR"
_PROTO_FIRST_BYTE = 0x0A
"""Field 1, length-delimited: the name of a ``HloModuleProto``, the module of a ``HloProto``. No text of ours and no
flatbuffer (their first word is a multiple of 4) starts with it."""

SUFFIXES = frozenset({".hlo", ".mlir", ".pb", ".bin", ".mlirbc", ".exported"})
"""The files that count as inputs in a directory; ``.txt`` too, where the text is HLO (XLA dumps are called so)."""


def is_hlo(data: bytes) -> bool:
    """Whether ``data`` is HLO (text, ``HloModuleProto`` or ``HloProto``) rather than MLIR in any of its forms."""
    if data.startswith(_MLIR_MAGIC):
        return False
    if _HLO_HEADER.match(data):
        return True
    if not _is_binary(data) and not _MLIR_START.match(data) and _HLO_BODY.search(data):
        return True
    return data[:1] == bytes([_PROTO_FIRST_BYTE]) and _is_binary(data)


def _is_binary(data: bytes) -> bool:
    """Whether the start of ``data`` holds a byte that text does not have."""
    return any(byte < 0x20 and byte not in b"\t\n\r\f" for byte in data[:256])


def load(
    source: Any, *, file: str | None = None, child: Child | None = None, allow_unregistered_dialect: bool = False
) -> HloModule | ir.Operation:
    """Load a program.

    Barriers that stand for wire ops (what ``control_dep`` of JAX lowers to on CPU, GPU and TPU) come as wire ops,
    whatever form the MLIR has; a module in memory that holds some is copied, any other is returned itself.

    Args:
        source: a path (``"-"`` is stdin), also of a directory with one input in it; bytes (HLO text,
            ``HloModuleProto``, ``HloProto``, MLIR text or bytecode, a StableHLO portable artifact, a serialized
            ``jax.export.Exported``); a module already loaded; or a ``jax.stages.Lowered`` or ``Compiled``, a
            ``jax.export.Exported``, an ``ir.Module``.
        file: what messages call it; the path by default.
        child: the process that reads HLO text; a new one by default.
        allow_unregistered_dialect: accept MLIR ops of dialects that are not known.

    Returns:
        An :class:`~neuron_ctrldep.hlo.module.HloModule`, or the verified ``builtin.module`` operation.

    Raises:
        InputError: it cannot be read, or is none of these.
    """
    if isinstance(source, (str, os.PathLike)):
        name = input_file(source)
        return _load_bytes(read_bytes(name), file or name, child, allow_unregistered_dialect)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _load_bytes(without_mark(bytes(source)), file or "-", child, allow_unregistered_dialect)
    return _load_object(source)


def _load_bytes(
    data: bytes, file: str, child: Child | None, allow_unregistered_dialect: bool
) -> HloModule | ir.Operation:
    if not data.strip():
        raise InputError(
            "the input is empty; expected HLO (text or proto) or MLIR (text, bytecode, portable artifact, Exported)",
            location=SourceLocation(file),
        )
    if is_hlo(data):
        from neuron_ctrldep.hlo.module import load_hlo

        return load_hlo(data, file, child=child)
    from neuron_ctrldep.control_dep.barriers import restore_wire_ops
    from neuron_ctrldep.inputs import load_mlir
    from neuron_ctrldep.mlir import make_context

    module = load_mlir(data, file=file, context=make_context(allow_unregistered=allow_unregistered_dialect))
    restore_wire_ops(module)
    return module


def _load_object(source: Any) -> HloModule | ir.Operation:
    from neuron_ctrldep.hlo.module import HloModule
    from neuron_ctrldep.mlir import entry, ir

    if isinstance(source, HloModule):
        return source
    if isinstance(source, (ir.Module, ir.Operation, ir.OpView)):
        return _with_wire_ops(entry(source))
    # Only who holds a JAX object has paid for importing jax.
    if type(source).__module__.partition(".")[0] in ("jax", "jaxlib"):
        from neuron_ctrldep.jax import as_module

        return as_module(source)
    raise InputError(
        f"cannot load a {type(source).__module__}.{type(source).__qualname__}; expected a path, bytes, a module, or a "
        "jax.stages.Lowered, jax.stages.Compiled or jax.export.Exported"
    )


def _with_wire_ops(module: ir.Operation) -> ir.Operation:
    """``module`` itself, or a copy when barriers in it stand for wire ops: what the caller holds stays as it is."""
    from neuron_ctrldep import mlir
    from neuron_ctrldep.control_dep.barriers import marked_barriers, restore_wire_ops

    if not marked_barriers(module):
        return module
    copy = mlir.copy_module(module, file=mlir.module_name(module))
    restore_wire_ops(copy)
    return copy


def input_file(path: str | os.PathLike[str]) -> str:
    """The file that ``path`` names: itself, or the only input in the directory that it is.

    Raises:
        InputError: the directory holds no input, or several.
    """
    name = os.fsdecode(path)
    found = expand_inputs([name])
    if len(found) > 1:
        raise InputError(
            f"this is a directory with {len(found)} inputs; name one of them (neuron_ctrldep.loading.expand_inputs "
            "lists them), or take each: neuron-ctrldep lower DIR -o OUT, neuron-ctrldep check DIR",
            location=SourceLocation(name),
        )
    return found[0]


def expand_inputs(paths: Iterable[str]) -> list[str]:
    """The input files that ``paths`` name: a directory stands for the inputs in it and below, in name order.

    Of a module that XLA dumped there, only the last stage counts (:mod:`neuron_ctrldep.dumps`).

    Raises:
        InputError: a directory holds none.
    """
    found: list[str] = []
    for path in paths:
        if path == "-" or not os.path.isdir(path):  # noqa: PTH112 - it takes "" for no directory, and never raises
            found.append(path)
            continue
        files = latest_of_each_module(p for p in sorted(Path(path).rglob("*")) if p.is_file())
        inside = [str(p) for p in files if _is_input(p)]
        if not inside:
            raise InputError(
                f"the directory holds no input; looked for {', '.join(sorted(SUFFIXES))} and HLO dumps (.txt)",
                location=SourceLocation(path),
            )
        found += inside
    return found


def _is_input(path: Path) -> bool:
    if path.suffix == ".txt":
        with path.open("rb") as stream:
            return _HLO_HEADER.match(stream.read(4096)) is not None
    return path.suffix in SUFFIXES
