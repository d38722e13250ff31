"""StableHLO portable artifacts, and what to say when versions do not fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation
from neuron_ctrldep.mlir.bindings import ir
from neuron_ctrldep.mlir.contexts import make_context
from neuron_ctrldep.mlir.diagnostics import collect_diagnostics, location_names, source_location
from neuron_ctrldep.mlir.modules import BYTECODE_MAGIC, to_bytecode, verify

_PORTABLE_DIALECTS = frozenset({"builtin", "func", "stablehlo", "vhlo", "sdy"})
"""What an artifact can hold; JAX stores Shardy's ops in it as they are."""

_PRODUCER = re.compile(rb"StableHLO_v(\d+\.\d+\.\d+)\0")


def stablehlo_version() -> str:
    """The version of StableHLO in the installed jaxlib, as ``1.17.0``."""
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    return str(stablehlo.get_current_version())


def deserialize_portable(data: bytes, *, file: str = "-", context: ir.Context | None = None) -> ir.Operation:
    """The module in a StableHLO portable artifact (VHLO bytecode).

    Raises:
        InputError: it is not one, or a newer StableHLO wrote it; the message says which and what to do.
    """
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    context = context if context is not None else make_context()
    if not data.startswith(BYTECODE_MAGIC):
        raise InputError("not a StableHLO portable artifact: it is not MLIR bytecode", location=SourceLocation(file))
    with collect_diagnostics(context) as found:
        try:
            module = stablehlo.deserialize_portable_artifact(context, data)
        except (ValueError, ir.MLIRError) as error:
            raise InputError(diagnostics=[artifact_fault(data, file, found)]) from error
    operation = module.operation
    verify(operation)
    return operation


_UNKNOWN_OP = re.compile(r"unregistered operation '([^']+)'")


def artifact_fault(data: bytes, file: str, found: Sequence[Diagnostic]) -> Diagnostic:
    """Why a portable artifact cannot be read: by which version it was written, which are read, which op is in the way.

    Args:
        data: the artifact.
        file: what the message calls it.
        found: what StableHLO said; it becomes notes.
    """
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    notes = tuple(Diagnostic("note", d.message, d.location) for d in found)
    producer = _PRODUCER.search(data[:64])
    written = producer[1].decode() if producer else None
    current, minimum = stablehlo_version(), str(stablehlo.get_minimum_version())
    if written is None:
        message = "not a StableHLO portable artifact"
    elif _version(written) > _version(current):
        op = next((match[1] for d in found if (match := _UNKNOWN_OP.search(d.message))), None)
        in_the_way = f", and does not know '{op}'" if op else ""
        message = (
            f"this portable artifact was written by StableHLO {written}; "
            f"the installed jaxlib reads {minimum} to {current}{in_the_way}. "
            f"Install a newer jaxlib, or write it again with --serialize-portable={current} "
            f'(serialize_portable(module, "{current}")) where it was made, or pass the program as text'
        )
    elif _version(written) < _version(minimum):
        message = (
            f"this portable artifact was written by StableHLO {written}; "
            f"the installed jaxlib reads {minimum} to {current}. Install an older jaxlib, or pass the program as text"
        )
    else:
        message = f"this portable artifact (StableHLO {written}) cannot be read"
    return Diagnostic("error", message, SourceLocation(file), notes)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def serialize_portable(operation: ir.Operation, target_version: str | None = None) -> bytes:
    """``operation`` as a StableHLO portable artifact.

    Args:
        operation: a ``builtin.module`` of StableHLO.
        target_version: the oldest StableHLO that must read it, as ``1.17.0``; the installed version by default.

    Raises:
        InputError: the module holds an op that no artifact can hold, or the version is malformed or out of range.
    """
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    target = target_version if target_version is not None else stablehlo_version()
    minimum, current = str(stablehlo.get_minimum_version()), stablehlo_version()
    if not re.fullmatch(r"\d{1,6}\.\d{1,6}\.\d{1,6}", target):
        raise InputError(f"'{target}' is not a StableHLO version; expected three numbers, as {current}")
    if not _version(minimum) <= _version(target) <= _version(current):
        raise InputError(f"cannot write for StableHLO {target}; the installed jaxlib writes {minimum} to {current}")
    _check_portable(operation)
    bytecode = to_bytecode(operation)
    with collect_diagnostics(operation.context) as found:
        try:
            # A copy: the conversion to VHLO works in place.
            copy = ir.Module.parse(bytecode, context=operation.context)
            return bytes(stablehlo.serialize_portable_artifact(copy, target, allow_other_dialects=b"sdy" in bytecode))
        except (ValueError, ir.MLIRError) as error:
            message = f"the module cannot be written for StableHLO {target}"
            notes = tuple(Diagnostic("note", d.message, d.location) for d in found)
            raise InputError(diagnostics=[Diagnostic("error", message, None, notes)]) from error


def _check_portable(operation: ir.Operation) -> None:
    foreign: list[Diagnostic] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.partition(".")[0] in _PORTABLE_DIALECTS:
            return ir.WalkResult.ADVANCE
        names = location_names(op.location)
        which = f"'{op.name}' ('{names[0]}')" if names else f"'{op.name}'"
        message = f"a portable artifact cannot hold {which}; legalize it to StableHLO first"
        foreign.append(Diagnostic("error", message, source_location(op.location)))
        return ir.WalkResult.INTERRUPT

    # From the outside in: of an op and what stands in it, the op is what a user knows.
    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    if foreign:
        raise InputError(diagnostics=foreign)
