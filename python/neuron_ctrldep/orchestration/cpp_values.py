"""Types, literals and operators of MLIR scalars in C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.dialect import is_id_tensor, is_storage, is_task_id


def reject(op: ir.Operation, why: str = "") -> NoReturn:
    """Raise that ``op`` cannot be printed."""
    raise InputError(
        f"'{op.name}' op has no counterpart in the run-time API{f': {why}' if why else ''}",
        location=source_location(op.location),
    )


_INTEGERS = {1: "bool", 8: "int8_t", 16: "int16_t", 32: "int32_t", 64: "int64_t"}

SCALARS = frozenset({*_INTEGERS.values(), "float", "double"})
"""The C++ types that the run time takes as scalars."""

_DATA_TYPES = {
    "f32": "FLOAT32",
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "i1": "UINT8",
    "i8": "INT8",
    "si8": "INT8",
    "ui8": "UINT8",
    "i16": "INT16",
    "si16": "INT16",
    "ui16": "UINT16",
    "i32": "INT32",
    "si32": "INT32",
    "ui32": "UINT32",
    "i64": "INT64",
    "si64": "INT64",
    "ui64": "UINT64",
}
"""Element types by PTO's ``DataType``."""


def cpp_type(type_: ir.Type, op: ir.Operation) -> str:
    """The C++ type for a value of ``type_``; ``op`` is to blame when there is none."""
    if is_storage(type_):
        return "Tensor"
    if is_task_id(type_):
        return "PTO2TaskId"
    if is_id_tensor(type_):
        return "std::vector<PTO2TaskId>"
    if isinstance(type_, ir.IndexType):
        return "int64_t"
    if isinstance(type_, ir.IntegerType) and type_.width in _INTEGERS:
        return _INTEGERS[type_.width]
    if isinstance(type_, ir.F32Type):
        return "float"
    if isinstance(type_, ir.F64Type):
        return "double"
    return reject(op, f"no C++ type for {type_}")


def data_type(type_: ir.Type, op: ir.Operation) -> str:
    """The name of the element type in PTO's ``DataType``."""
    name = _DATA_TYPES.get(str(type_))
    return name if name is not None else reject(op, f"no DataType for {type_}")


def literal(op: ir.Operation) -> str:
    """The C++ literal of an ``arith.constant``."""
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.IntegerAttr):
        if cpp_type(attribute.type, op) == "bool":
            return "true" if attribute.value else "false"
        value = attribute.value
        # -2^63 is no literal in C++: the minus sign is an operator on a number that is too big.
        return f"({value + 1} - 1)" if value == -(2**63) else f"({value})" if value < 0 else str(value)
    if isinstance(attribute, ir.FloatAttr):
        return _float_literal(attribute.value, cpp_type(attribute.type, op))
    return reject(op, "only numbers can be constants here")


def is_literal(name: str) -> bool:
    """Whether a name is one that :func:`literal` made of a number."""
    return name.isdigit() or name.startswith("(")


def _float_literal(value: float, type_: str) -> str:
    if value != value:
        return f"std::numeric_limits<{type_}>::quiet_NaN()"
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}std::numeric_limits<{type_}>::infinity()"
    return f"({value.hex()}{'f' if type_ == 'float' else ''})"


BINARY = {
    "arith.addf": "{} + {}",
    "arith.addi": "{} + {}",
    "arith.andi": "{} & {}",
    "arith.divf": "{} / {}",
    "arith.divsi": "{} / {}",
    "arith.maxsi": "{0} > {1} ? {0} : {1}",
    "arith.minsi": "{0} < {1} ? {0} : {1}",
    "arith.mulf": "{} * {}",
    "arith.muli": "{} * {}",
    "arith.ori": "{} | {}",
    "arith.remsi": "{} % {}",
    "arith.shli": "{} << {}",
    "arith.shrsi": "{} >> {}",
    "arith.subf": "{} - {}",
    "arith.subi": "{} - {}",
    "arith.xori": "{} ^ {}",
}
"""Binary ops with the C++ expression for two operands, each a name or a literal in parentheses where it needs them."""

UNSIGNED = {
    "arith.divui": "/",
    "arith.remui": "%",
    "arith.shrui": ">>",
}
"""Binary ops on unsigned numbers, which MLIR keeps in types without a sign."""

SCALAR_CASTS = frozenset(
    {
        "arith.extf",
        "arith.extsi",
        "arith.fptosi",
        "arith.index_cast",
        "arith.sitofp",
        "arith.truncf",
        "arith.trunci",
    }
)
"""Ops that a ``static_cast`` does."""

_COMPARE_INTEGERS = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">="}
_COMPARE_UNSIGNED = {6: "<", 7: "<=", 8: ">", 9: ">="}
_COMPARE_FLOATS = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
"""Predicates of ``arith.cmpi`` and ``arith.cmpf`` by their numbers (MLIR, ``ArithBase.td``)."""


def comparison(op: ir.Operation) -> str:
    """The C++ expression for a comparison of two operands."""
    predicate = op.attributes["predicate"].value
    signed = _COMPARE_INTEGERS if op.name == "arith.cmpi" else _COMPARE_FLOATS
    if predicate in signed:
        return f"{{}} {signed[predicate]} {{}}"
    if op.name == "arith.cmpi":
        return unsigned(op, _COMPARE_UNSIGNED[predicate])
    return reject(op, "this predicate")


def unsigned(op: ir.Operation, operator: str) -> str:
    """The C++ expression for ``operator`` on two operands taken as unsigned numbers."""
    type_ = op.operands[0].type
    bits = type_.width if isinstance(type_, ir.IntegerType) else 64
    if bits not in _INTEGERS or bits == 1:
        return reject(op, f"unsigned arithmetic on {type_}")
    cast = f"static_cast<uint{bits}_t>"
    return f"{cast}({{}}) {operator} {cast}({{}})"


def mixed_list(op: ir.Operation, part: str, name_of: Callable[[ir.Value], str], *, first: int) -> list[str]:
    """The offsets, sizes or strides of a slice op: static ones as numbers, dynamic ones as names.

    Args:
        op: the op.
        part: ``"offsets"``, ``"sizes"`` or ``"strides"``.
        name_of: the name of a value.
        first: the operand group that holds the dynamic offsets; sizes and strides follow.
    """
    sizes = list(op.attributes[SEGMENT_SIZES])
    group = first + ("offsets", "sizes", "strides").index(part)
    start = sum(sizes[:group])
    dynamic = iter(list(op.operands)[start : start + sizes[group]])
    marker = ir.ShapedType.get_dynamic_stride_or_offset() if part != "sizes" else ir.ShapedType.get_dynamic_size()
    return [name_of(next(dynamic)) if static == marker else str(static) for static in op.attributes[f"static_{part}"]]
