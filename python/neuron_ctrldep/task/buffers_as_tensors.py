"""Ops on buffers as ops on tensors: the names of storage change, not what they denote."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.dialect import replace_op

_SAME_FORM = {
    "memref.cast": "tensor.cast",
    "memref.collapse_shape": "tensor.collapse_shape",
    "memref.dim": "tensor.dim",
    "memref.expand_shape": "tensor.expand_shape",
    "memref.load": "tensor.extract",
    "memref.memory_space_cast": "tensor.cast",
    "memref.subview": "tensor.extract_slice",
}
"""Ops whose operands and needed attributes are those of the op on tensors."""

_KEPT = (
    "reassociation",
    "static_output_shape",
    "static_offsets",
    "static_sizes",
    "static_strides",
)


def tensor_of(type_: ir.Type) -> ir.Type:
    """The tensor for a buffer: its shape and element type, without layout and space; any other type as it is."""
    if isinstance(type_, ir.MemRefType):
        return ir.RankedTensorType.get(type_.shape, type_.element_type)
    return type_


def touches_buffers(op: ir.Operation) -> bool:
    """Whether ``op`` has an operand or result that is a buffer."""
    return any(isinstance(value.type, ir.MemRefType | ir.UnrankedMemRefType) for value in (*op.operands, *op.results))


def has_tensor_form(op: ir.Operation) -> bool:
    """Whether ``op``, which is on buffers, is control flow, a task, or an op that :func:`to_tensor_form` knows."""
    if any(isinstance(value.type, ir.UnrankedMemRefType) for value in (*op.operands, *op.results)):
        return False
    if op.name in ("memref.alloc", "memref.alloca"):
        return op.attributes[SEGMENT_SIZES][1] == 0
    dialect = op.name.partition(".")[0]
    return op.name in _SAME_FORM or op.name == "memref.dealloc" or dialect in ("arith", "func", "scf", "task")


def to_tensor_form(op: ir.Operation) -> None:
    """Replace ``op``, one of the memref dialect, when its operands and results have the types of tensors already."""
    if op.name == "memref.dealloc":
        op.erase()
    elif op.name in ("memref.alloc", "memref.alloca"):
        _replace(op, "tensor.empty", ())
    elif op.name in _SAME_FORM:
        if _SAME_FORM[op.name] == "tensor.cast" and op.operands[0].type == op.results[0].type:
            replace_op(op, [op.operands[0]])
        else:
            _replace(op, _SAME_FORM[op.name], (*_KEPT, *((SEGMENT_SIZES,) if op.name == "memref.subview" else ())))


def _replace(op: ir.Operation, name: str, kept: Sequence[str]) -> None:
    new = ir.Operation.create(
        name,
        results=[result.type for result in op.results],
        operands=list(op.operands),
        attributes={key: op.attributes[key] for key in kept if key in op.attributes},
        loc=op.location,
        ip=ir.InsertionPoint(op),
    ).operation
    replace_op(op, list(new.results))
