"""What programs written with :mod:`neuron_ctrldep.task.builder` hold: types, parameters, and values with operators."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NoReturn

from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.dialect import Direction, is_id_tensor, is_storage, is_task_id, task_id_type

DYNAMIC = ir.ShapedType.get_dynamic_size()
_DYNAMIC_OFFSET = ir.ShapedType.get_dynamic_stride_or_offset()


# --- types ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Type:
    """A type by its MLIR text; made by :func:`tensor`, :func:`memref` and :func:`scalar`, or :data:`index`."""

    text: str


index = Type("index")
"""Loop counters, offsets and sizes."""


def scalar(dtype: str) -> Type:
    """A number: ``"i32"``, ``"f32"``, ``"i1"`` …."""
    return Type(dtype)


def tensor(*shape: int | None, dtype: str = "f32") -> Type:
    """A tensor; ``None`` is a size that is known at run time only."""
    return Type(f"tensor<{_dimensions(shape)}{dtype}>")


def memref(*shape: int | None, dtype: str = "f32") -> Type:
    """A buffer in row-major layout; ``None`` is a size that is known at run time only."""
    return Type(f"memref<{_dimensions(shape)}{dtype}>")


def _dimensions(shape: Sequence[int | None]) -> str:
    return "".join(f"{'?' if size is None else size}x" for size in shape)


@dataclass(frozen=True)
class Parameter:
    """A parameter with a direction; made by :func:`In`, :func:`Out` and :func:`InOut`."""

    type: Type
    direction: Direction


def In(type: Type) -> Parameter:  # noqa: A002, N802 - reads as the direction it is
    """A parameter that the kernel reads."""
    return Parameter(type, "in")


def Out(type: Type) -> Parameter:  # noqa: A002, N802
    """A parameter that the kernel writes."""
    return Parameter(type, "out")


def InOut(type: Type) -> Parameter:  # noqa: A002, N802
    """A parameter that the kernel reads and writes."""
    return Parameter(type, "inout")


# --- faults and locations ---------------------------------------------------------------------------------------------


def caller() -> tuple[str, int]:
    """File and line of the innermost frame outside the builder: where an op comes from."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("neuron_ctrldep.task.builder"):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def here(context: ir.Context) -> ir.Location:
    """The location of the caller."""
    file, line = caller()
    return ir.Location.file(file, line, 1, context=context)


def fail(message: str) -> NoReturn:
    """Raise an :class:`InputError` at the caller."""
    file, line = caller()
    raise InputError(message, location=SourceLocation(file, line))


# --- values -----------------------------------------------------------------------------------------------------------


class Value:
    """A value of a program being built; made by the methods of its function, never directly."""

    def __init__(self, value: ir.Value) -> None:
        self.value = value
        """The MLIR value."""

    def _emit(self, name: str, operands: Sequence[ir.Value], result: ir.Type, **attributes: ir.Attribute) -> ir.Value:
        return emit(self.value.context, name, operands, [result], attributes).results[0]

    def __bool__(self) -> NoReturn:
        fail("a value of the program is not known while it is built; use if_ instead of if")


def emit(
    context: ir.Context,
    name: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, ir.Attribute] | None = None,
    regions: int = 0,
) -> ir.Operation:
    """Create an op where the program is being written, located at the caller."""
    return ir.Operation.create(
        name,
        results=list(results),
        operands=list(operands),
        attributes=dict(attributes or {}),
        regions=regions,
        loc=here(context),
    ).operation


def constant(value: int, context: ir.Context) -> ir.Value:
    """An index."""
    type_ = ir.IndexType.get(context)
    return emit(context, "arith.constant", [], [type_], {"value": ir.IntegerAttr.get(type_, value)}).results[0]


class Condition(Value):
    """A truth value."""


class Number(Value):
    """A number of any scalar type; arguments of kernels."""


class Index(Number):
    """An index, with ``+``, ``-``, ``*`` and comparisons with indices and integers."""

    def _other(self, other: int | Index) -> ir.Value:
        return other.value if isinstance(other, Index) else constant(other, self.value.context)

    def _arith(self, name: str, left: ir.Value, right: ir.Value) -> Index:
        return Index(self._emit(f"arith.{name}", [left, right], left.type))

    def __add__(self, other: int | Index) -> Index:
        return self._arith("addi", self.value, self._other(other))

    def __sub__(self, other: int | Index) -> Index:
        return self._arith("subi", self.value, self._other(other))

    def __mul__(self, other: int | Index) -> Index:
        return self._arith("muli", self.value, self._other(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: int) -> Index:
        return self._arith("subi", self._other(other), self.value)

    def _compare(self, predicate: int, other: int | Index) -> Condition:
        context = self.value.context
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), predicate)
        i1 = ir.IntegerType.get_signless(1, context)
        return Condition(self._emit("arith.cmpi", [self.value, self._other(other)], i1, predicate=number))

    # The numbers of the predicates are MLIR's (ArithBase.td).
    def equals(self, other: int | Index) -> Condition:
        """``self == other``."""
        return self._compare(0, other)

    def __lt__(self, other: int | Index) -> Condition:
        return self._compare(2, other)

    def __le__(self, other: int | Index) -> Condition:
        return self._compare(3, other)

    def __gt__(self, other: int | Index) -> Condition:
        return self._compare(4, other)

    def __ge__(self, other: int | Index) -> Condition:
        return self._compare(5, other)


class TaskId(Value):
    """The id of a task, of a barrier, or of no task."""


class IdTensor(Value):
    """A tensor of task ids. Like every value it never changes: :meth:`insert` makes a new one."""

    def insert(self, task: TaskId, at: int | Index) -> IdTensor:
        """The same ids, but ``task`` in the slot ``at``."""
        return IdTensor(self._emit("tensor.insert", [task.value, self.value, self._slot(at)], self.value.type))

    def extract(self, at: int | Index) -> TaskId:
        """The id in the slot ``at``."""
        type_ = task_id_type(self.value.context)
        return TaskId(self._emit("tensor.extract", [self.value, self._slot(at)], type_))

    def _slot(self, at: int | Index) -> ir.Value:
        return at.value if isinstance(at, Index) else constant(at, self.value.context)


class Storage(Value):
    """A tensor or a buffer: storage that kernels read and write."""

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes; ``None`` where one is known at run time only."""
        type_ = self.value.type
        return tuple(None if type_.is_dynamic_dim(i) else type_.get_dim_size(i) for i in range(type_.rank))

    def slice(
        self,
        offsets: Sequence[int | Index],
        sizes: Sequence[int | Index],
        strides: Sequence[int | Index] | None = None,
    ) -> Storage:
        """A window: ``sizes`` elements from ``offsets`` on, every ``strides``-th (all 1 by default)."""
        rank = self.value.type.rank
        parts = [list(offsets), list(sizes), list(strides) if strides is not None else [1] * rank]
        if any(len(part) != rank for part in parts):
            fail(f"a slice of {self.value.type} needs {rank} offsets, sizes and strides")
        statics: list[list[int]] = []
        operands: list[ir.Value] = []
        segments = [1]
        for part, marker in zip(parts, (_DYNAMIC_OFFSET, DYNAMIC, _DYNAMIC_OFFSET), strict=True):
            statics.append([entry if isinstance(entry, int) else marker for entry in part])
            dynamic = [entry.value for entry in part if isinstance(entry, Index)]
            operands += dynamic
            segments.append(len(dynamic))
        context = self.value.context
        keys = ("static_offsets", "static_sizes", "static_strides")
        attributes: dict[str, ir.Attribute] = {
            key: ir.DenseI64ArrayAttr.get(static, context) for key, static in zip(keys, statics, strict=True)
        }
        attributes[SEGMENT_SIZES] = ir.DenseI32ArrayAttr.get(segments, context)
        if isinstance(self.value.type, ir.RankedTensorType):
            name, result = "tensor.extract_slice", self._tensor_type(statics[1])
        else:
            name, result = "memref.subview", self._window_type(*statics)
        return Storage(self._emit(name, [self.value, *operands], result, **attributes))

    def _tensor_type(self, sizes: Sequence[int]) -> ir.Type:
        return ir.RankedTensorType.get(list(sizes), self.value.type.element_type, loc=here(self.value.context))

    def _window_type(self, offsets: list[int], sizes: list[int], strides: list[int]) -> ir.Type:
        """The type of a ``memref.subview``: strides and offset in elements of the buffer (MLIR, ``memref.subview``)."""
        type_ = self.value.type
        source_strides, source_offset = type_.get_strides_and_offset()
        new_strides = [_times(stride, step) for stride, step in zip(source_strides, strides, strict=True)]
        offset = source_offset
        for start, stride in zip(offsets, source_strides, strict=True):
            offset = _plus(offset, _times(start, stride))
        layout = ir.StridedLayoutAttr.get(offset, new_strides, type_.context)
        return ir.MemRefType.get(sizes, type_.element_type, layout, type_.memory_space, loc=here(type_.context))

    def reshape(self, *shape: int) -> Storage:
        """The same elements, row-major, in another shape. All sizes are constants."""
        type_ = self.value.type
        if not type_.has_static_shape or prod(shape) != prod(type_.shape):
            fail(f"{type_} cannot be reshaped to {shape}: the number of elements must be constant and the same")
        flat = self if type_.rank == 1 else self._regroup("collapse_shape", [prod(type_.shape)], type_.rank)
        return flat if len(shape) == 1 else flat._regroup("expand_shape", list(shape), len(shape))

    def _regroup(self, name: str, shape: list[int], rank: int) -> Storage:
        type_ = self.value.type
        context = type_.context
        i64 = ir.IntegerType.get_signless(64, context)
        group = ir.ArrayAttr.get([ir.IntegerAttr.get(i64, i) for i in range(rank)], context)
        attributes: dict[str, ir.Attribute] = {"reassociation": ir.ArrayAttr.get([group] if rank else [], context)}
        if name == "expand_shape":
            attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(shape, context)
        if isinstance(type_, ir.RankedTensorType):
            return Storage(self._emit(f"tensor.{name}", [self.value], self._tensor_type(shape), **attributes))
        if str(type_.layout) != f"affine_map<{_identity(type_.rank)}>":
            fail(f"{type_} cannot be reshaped: it is not laid out in row-major order")
        result = ir.MemRefType.get(shape, type_.element_type, None, type_.memory_space, loc=here(context))
        return Storage(self._emit(f"memref.{name}", [self.value], result, **attributes))


def _identity(rank: int) -> str:
    names = ", ".join(f"d{i}" for i in range(rank))
    return f"({names}) -> ({names})"


def _times(a: int, b: int) -> int:
    return _DYNAMIC_OFFSET if _DYNAMIC_OFFSET in (a, b) else a * b


def _plus(a: int, b: int) -> int:
    return _DYNAMIC_OFFSET if _DYNAMIC_OFFSET in (a, b) else a + b


def wrap(value: ir.Value) -> Value:
    """The value of the program for an MLIR value, by its type."""
    type_ = value.type
    if is_storage(type_):
        return Storage(value)
    if is_task_id(type_):
        return TaskId(value)
    if is_id_tensor(type_):
        return IdTensor(value)
    if isinstance(type_, ir.IndexType):
        return Index(value)
    if isinstance(type_, ir.IntegerType) and type_.width == 1:
        return Condition(value)
    return Number(value)
