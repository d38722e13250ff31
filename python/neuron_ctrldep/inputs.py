"""Inputs by content: MLIR text, MLIR bytecode, a StableHLO portable artifact, a serialized ``jax.export.Exported``."""

from __future__ import annotations

from neuron_ctrldep import mlir
from neuron_ctrldep.mlir import ir


def load_mlir(
    data: bytes, *, file: str = "-", context: ir.Context | None = None, implicit_module: bool = True
) -> ir.Operation:
    """The module that ``data`` holds, parsed and verified; the kind is recognised by content.

    Args:
        data: the content of the file.
        file: what locations and messages call it.
        context: the context to parse into; a new one by default.
        implicit_module: as in :func:`neuron_ctrldep.mlir.parse_module`.

    Raises:
        InputError: it is none of these kinds, or does not parse or verify.
    """
    return mlir.parse_module(data, file=file, context=context, implicit_module=implicit_module)
