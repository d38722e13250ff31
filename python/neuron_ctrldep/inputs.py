"""Inputs by content: MLIR text, MLIR bytecode, a StableHLO portable artifact, a serialized ``jax.export.Exported``.

Bytecode is read in a child process (:mod:`neuron_ctrldep.bytecode_guard`): MLIR's reader can crash on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from neuron_ctrldep import mlir
from neuron_ctrldep.bytecode_guard import read_in_child
from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation
from neuron_ctrldep.exported import read_exported
from neuron_ctrldep.files import refuse_packed, without_mark
from neuron_ctrldep.mlir import BYTECODE_MAGIC, ir
from neuron_ctrldep.protobuf_wire import first_field

_HLO_TEXT = re.compile(rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*+HloModule\b", re.DOTALL)

_FLATBUFFER = re.compile(rb"(?!\0)[\0-\xff]{2}\0\0", re.DOTALL)
"""What a flatbuffer starts with: the offset of its root table, which is small. No text has two NULs there."""


@dataclass(frozen=True, slots=True)
class MlirInput:
    """What an input is."""

    kind: Literal["text", "bytecode", "portable", "exported"]
    payload: bytes
    """The text, or the bytecode."""
    producer: str = ""
    """What wrote the bytecode, as it says itself: ``MLIR22.1.8``, ``StableHLO_v1.18.0``."""

    @property
    def is_portable(self) -> bool:
        """Whether the payload is a StableHLO portable artifact."""
        return self.producer.startswith("StableHLO_v")


def recognise(data: bytes, *, file: str = "-") -> MlirInput:
    """Tell what ``data`` is.

    Raises:
        InputError: it is none of these: packed, a serialized HLO module, a damaged ``Exported``, other binary data.
    """
    data = without_mark(data)
    refuse_packed(data, file)
    if data.startswith(BYTECODE_MAGIC):
        producer = _producer(data)
        return MlirInput("portable" if producer.startswith("StableHLO_v") else "bytecode", data, producer)
    module = read_exported(data, file=file)
    if module is not None:
        return MlirInput("exported", module, _producer(module))
    if _is_hlo_proto(data):
        raise InputError(
            "this is a serialized HLO module (HloModuleProto or HloProto), expected MLIR; "
            "neuron-ctrldep-translate --hlo-to-stablehlo imports it, and neuron-ctrldep lower reads it",
            location=SourceLocation(file),
        )
    if _FLATBUFFER.match(data):
        raise InputError(
            "this looks like a serialized jax.export.Exported that is cut off or damaged, or is binary data of another "
            "kind; expected MLIR text, MLIR bytecode, a StableHLO portable artifact or an Exported",
            location=SourceLocation(file),
        )
    return MlirInput("text", data)


def _is_hlo_proto(data: bytes, *, inner: bool = False) -> bool:
    """Whether ``data`` starts as a ``HloModuleProto`` or a ``HloProto`` with one does, as XLA writes them.

    The first field is the name of the module, behind which comes field 2 or 3 (the entry computation, all of them); of
    a ``HloProto`` it is the module (``xla/service/hlo.proto``).
    """
    field = first_field(data)
    if field is None:
        return False
    content, behind = field
    if not inner and _is_hlo_proto(content, inner=True):
        return True
    return content.isascii() and behind[:1] in (b"\x12", b"\x1a")


def _producer(bytecode: bytes) -> str:
    # Magic number, version (a varint of one byte up to version 127), then a string that ends with a NUL.
    return bytecode[5:].split(b"\0", 1)[0][:100].decode("utf-8", "replace")


def _verify_tasks(module: ir.Operation, payload: bytes) -> None:
    """Check the rules of the task dialect, which MLIR does not know, where there may be tasks."""
    if module.name == "builtin.module" and mlir.has_own_dialect(payload):
        from neuron_ctrldep.task.verify import verify_task_module

        is_text = not payload.startswith(BYTECODE_MAGIC)
        verify_task_module(module, source=payload.decode("utf-8", "replace") if is_text else None)


def load_mlir(
    data: bytes,
    *,
    file: str = "-",
    context: ir.Context | None = None,
    implicit_module: bool = True,
    report: Callable[[Diagnostic], None] | None = None,
) -> ir.Operation:
    """The module that ``data`` holds, parsed and verified; the kind is recognised by content.

    Args:
        data: the content of the file.
        file: what locations and messages call it.
        context: the context to parse into; a new one by default.
        implicit_module: as in :func:`neuron_ctrldep.mlir.parse_module`.
        report: takes the warnings of the parser.

    Raises:
        InputError: it is none of these kinds, does not parse or verify, or was written by a version that cannot be
            read; the message says by which, which can be read, and what to do.
    """
    found = recognise(data, file=file)
    if found.kind == "text" and _HLO_TEXT.match(data):
        raise InputError(
            "this is HLO text, expected MLIR; neuron-ctrldep-translate --hlo-to-stablehlo imports it",
            location=SourceLocation(file),
        )
    context = context if context is not None else mlir.make_context()
    if found.kind == "text":
        module = mlir.parse_module(
            found.payload, file=file, context=context, implicit_module=implicit_module, report=report
        )
        _verify_tasks(module, found.payload)
        return module
    module = read_in_child(
        found.payload,
        portable=found.is_portable,
        file=file,
        allow_unregistered=context.allow_unregistered_dialects,
    )
    operation = mlir.parse_module(module, file=file, context=context)
    _verify_tasks(operation, module)
    return operation
