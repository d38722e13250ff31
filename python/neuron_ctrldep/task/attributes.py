"""Reading the attributes of ops."""

from __future__ import annotations

from typing import Any

from neuron_ctrldep.mlir import ir

SEGMENT_SIZES = "operandSegmentSizes"
"""The attribute that says how many operands each group has, where an op has several variadic groups (MLIR)."""


def get_attribute(op: ir.Operation, name: str) -> ir.Attribute | None:
    """The attribute ``name`` of ``op``; ``None`` when it has none."""
    return op.attributes.get(name)


def text_of(attribute: Any) -> str:
    """The text of a string or a flat symbol; one that is not UTF-8 stays as MLIR prints it, quoted and escaped."""
    try:
        return attribute.value
    except (RuntimeError, UnicodeDecodeError):  # which one depends on the version of the bindings
        return str(attribute).removeprefix("@")
