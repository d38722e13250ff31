"""HLO to StableHLO or MHLO with XLA's own importer, and back with its exporter, where neither can harm the caller.

XLA's importer ends the process on some modules and returns others that do not verify. Both are reported as an
:class:`InputError` that names the instruction at fault.
"""

from __future__ import annotations

import contextlib
import re
from typing import Literal

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.hlo.child import Child, RequestError, or_new
from neuron_ctrldep.hlo.faults import Culprit, locate, one_line
from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.names import keep_names
from neuron_ctrldep.hlo.schema import HloModuleProto, ShapeProto
from neuron_ctrldep.mlir import ir

__all__ = ["Child", "export_hlo", "import_hlo"]

Dialect = Literal["stablehlo", "mhlo"]


def import_hlo(
    module: HloModule,
    *,
    dialect: Dialect = "stablehlo",
    context: ir.Context | None = None,
    original: HloModule | None = None,
    child: Child | None = None,
) -> ir.Operation:
    """Import ``module``: a verified ``builtin.module`` of functions, unreached private functions removed.

    Frontend attributes become ``mhlo.frontend_attributes``; ``ctrldep.name`` among them is the name of an instruction
    whose location does not hold it. ``module`` is not changed.

    Args:
        module: what to import.
        dialect: ``stablehlo``, or ``mhlo`` by the ``stablehlo-legalize-to-hlo`` pass.
        context: what to parse the result into; a new one by default.
        original: the module before this package edited it; a message then says whose fault it is.
        child: the process to import in, for callers that import several modules; a new one by default.

    Raises:
        InputError: XLA's importer cannot take the module, or the module has no form in ``dialect``.
        TypeError: ``module`` is no HLO module.
        ValueError: ``dialect`` is neither.
    """
    if not isinstance(module, HloModule):
        raise TypeError(f"import_hlo takes an HloModule (load_hlo reads one), not {type(module).__name__}")
    if dialect not in ("stablehlo", "mhlo"):
        raise ValueError(f"dialect must be 'stablehlo' or 'mhlo', not {dialect!r}")
    with or_new(child) as process:
        proto = type(module.proto)()
        proto.CopyFrom(module.proto)
        keep_names(proto)
        try:
            bytecode = process.import_hlo(proto.SerializeToString(deterministic=True), dialect)
        except RequestError as failure:
            if failure.stage == "legalize":
                raise _no_mhlo_form(failure, module.file) from failure
            if failure.kind == "died" and not _works(process):
                message = f"XLA's importer cannot run here: {one_line(failure.message)}"
                raise InputError(message, location=SourceLocation(module.file)) from failure
            culprit = locate(proto, failure, process, dialect)
            raise _not_importable(failure, culprit, module.file, _blame(original, dialect, process)) from failure
    return mlir.parse_module(bytecode, file=module.file, context=context)


def export_hlo(module: ir.Operation | ir.Module, file: str = "-", *, child: Child | None = None) -> HloModule:
    """The way back: a StableHLO or MHLO module to HLO, with XLA's exporter. Wire ops keep their side effect.

    Args:
        module: the ``builtin.module``; it is not changed.
        file: what messages call it.
        child: as in :func:`import_hlo`.

    Raises:
        InputError: the module has no HLO form.
    """
    operation = mlir.entry(module)
    with or_new(child) as process:
        try:
            proto = process.export_hlo(mlir.to_bytecode(operation))
        except RequestError as failure:
            message = f"XLA cannot export this module to HLO: {one_line(failure.message)}"
            raise InputError(message, location=SourceLocation(file)) from failure
    return load_hlo(proto, file)


def _works(child: Child) -> bool:
    """Whether the importer takes the smallest module there is: a program that returns its replica's id."""
    shape = ShapeProto(element_type=8)  # PrimitiveType.U32
    proto = HloModuleProto(name="m", entry_computation_name="e")
    proto.host_program_shape.result.CopyFrom(shape)
    entry = proto.computations.add(name="e")
    entry.program_shape.result.CopyFrom(shape)
    entry.instructions.add(name="id", opcode="replica-id", shape=shape)
    with contextlib.suppress(RequestError):
        child.import_hlo(proto.SerializeToString(), "stablehlo")
        return True
    return False


# --- messages ---------------------------------------------------------------------------------------------------------


def _blame(original: HloModule | None, dialect: Dialect, child: Child) -> str:
    """Whether the untouched module imports; empty when there is none."""
    if original is None:
        return ""
    try:
        child.import_hlo(original.proto.SerializeToString(deterministic=True), dialect)
    except RequestError:
        return "; the untouched module fails as well: XLA's importer cannot take it"
    return "; the untouched module imports: this is a fault of preserve-control-deps, please report it"


def _not_importable(failure: RequestError, culprit: Culprit | None, file: str, blame: str) -> InputError:
    reason = one_line(failure.diagnostics[0]["message"] if failure.diagnostics else failure.message)
    what = {
        "refused": "XLA's importer refuses",
        "died": "XLA's importer ends the process on",
        "timeout": "XLA's importer does not end on",
    }[failure.kind]
    if failure.stage == "verify":
        what = "XLA's importer returns an invalid module for"
    name = ""
    if culprit is not None:
        name = culprit.name
        what += f" instruction '{culprit.name}' ({culprit.opcode}) of computation '{culprit.computation}'"
        if culprit.reason:
            reason = f"{culprit.reason}: {reason}"
    else:
        what += " this module"
    return InputError(f"{what}: {reason}{blame}", location=SourceLocation(file, name=name))


_ILLEGAL = re.compile(r"failed to legalize operation '([\w.]+)'")


def _no_mhlo_form(failure: RequestError, file: str) -> InputError:
    reason = one_line(failure.message)
    for diagnostic in failure.diagnostics:
        match = _ILLEGAL.search(diagnostic["message"])
        if match is not None:
            reason = f"'{match[1]}' at {diagnostic['location']} has none"
            break
    return InputError(f"this module has no MHLO form: {reason}", location=SourceLocation(file))
