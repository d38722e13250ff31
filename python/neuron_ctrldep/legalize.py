"""StableHLO as MHLO and back, with the passes that jaxlib has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_ctrldep.control_dep import is_control_dep
from neuron_ctrldep.errors import PassError, SourceLocation

if TYPE_CHECKING:
    from neuron_ctrldep.mlir import ir

LEGALIZATIONS = {"mhlo": "stablehlo-legalize-to-hlo", "stablehlo": "hlo-legalize-to-stablehlo"}
"""By the dialect that is wanted, the pass that makes it of the other."""


def legalize(module: ir.Operation, dialect: str, file: str = "-") -> bool:
    """Turn the ops of the other dialect into those of ``dialect``, in place. Wire ops stay wire ops.

    Args:
        module: the ``builtin.module``.
        dialect: ``mhlo`` or ``stablehlo``.
        file: what messages call the module.

    Returns:
        Whether there were any.

    Raises:
        PassError: an op has no form in ``dialect``.
    """
    from neuron_ctrldep.passes.pipeline import run_pipeline

    other = "stablehlo" if dialect == "mhlo" else "mhlo"
    found, wire_ops = _count(module, other)
    if not found:
        return False
    try:
        run_pipeline(module, f"builtin.module({LEGALIZATIONS[dialect]})")
    except PassError as error:
        message = f"this module has no {'MHLO' if dialect == 'mhlo' else 'StableHLO'} form"
        raise PassError(message, location=SourceLocation(file), notes=error.diagnostics) from error
    if _count(module, other)[1] != wire_ops:
        message = f"'{LEGALIZATIONS[dialect]}' lost a control dependency; please report it"
        raise PassError(message, location=SourceLocation(file))
    return True


def _count(module: ir.Operation, dialect: str) -> tuple[int, int]:
    """How many ops are of ``dialect``, and how many wire ops there are in any."""
    from neuron_ctrldep.mlir import ir

    found = wire_ops = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found, wire_ops
        found += op.name.startswith(f"{dialect}.")
        wire_ops += is_control_dep(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found, wire_ops
