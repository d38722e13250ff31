"""What each op of ``arith``, ``tensor``, ``memref`` and ``task`` does in a replay."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import is_id_tensor, is_storage, is_task_id
from neuron_ctrldep.task.replay.model import Mask
from neuron_ctrldep.task.replay.numbers import Free, Number, is_known, known
from neuron_ctrldep.task.replay.storage import Root, View, extent, item_size

if TYPE_CHECKING:
    from neuron_ctrldep.task.replay.interpreter import Interpreter


class Unsupported(Exception):  # noqa: N818 - it is no fault: the program is legal, the replay does not follow it
    """The replay meets control flow it cannot follow."""


def anything(type_: ir.Type) -> Any:
    """What is known of a value that the model says nothing about."""
    if is_task_id(type_):
        return 0
    if is_id_tensor(type_):
        return (0,) * slots_of(type_)
    return View(None) if is_storage(type_) else None


_ID_SLOTS = 64
"""How many slots an id tensor has whose size is not known."""


def slots_of(type_: Any, sizes: Sequence[Number] = ()) -> int:
    """The slots of an id tensor."""
    return extent(type_, [None if size is None else int(size) for size in sizes], _ID_SLOTS)[0] or _ID_SLOTS


def mask_of(value: Any) -> Mask:
    """What has completed when an id, or all ids of an id tensor, are complete."""
    return functools.reduce(operator.or_, value, 0) if isinstance(value, tuple) else value


# --- decisions --------------------------------------------------------------------------------------------------------

_PREDICATES = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
"""``arith.cmpi`` by the number of its predicate (MLIR, ``CmpIPredicate``); the unsigned ones meet positive values."""


Handler: TypeAlias = Callable[["Interpreter", ir.Operation], list[Any]]
VALUES: dict[str, Handler] = {}
"""What ops that compute numbers, ids and storage do."""


def handles(table: dict[str, Handler], *names: str) -> Callable[[Handler], Handler]:
    """Let the function below be what ``table`` says of the ops ``names``."""

    def register(handler: Handler) -> Handler:
        table.update(dict.fromkeys(names, handler))
        return handler

    return register


@handles(VALUES, "arith.constant")
def _constant(_: Interpreter, op: ir.Operation) -> list[Any]:
    value = op.attributes["value"]
    if isinstance(value, ir.BoolAttr):
        return [int(value.value)]
    return [value.value if isinstance(value, ir.IntegerAttr) else anything(op.results[0].type)]


@handles(VALUES, "arith.cmpi")
def _compare(run: Interpreter, op: ir.Operation) -> list[Any]:
    a, b = run.read(op)
    if a is None or b is None:
        return [None]
    holds = _PREDICATES[op.attributes["predicate"].value](a, b)
    return [Free(holds) if isinstance(a, Free) or isinstance(b, Free) else int(holds)]


@handles(VALUES, "affine.apply")
def _apply(run: Interpreter, op: ir.Operation) -> list[Any]:
    map_ = op.attributes["map"].value
    operands = run.read(op)
    return [_expression(run, result, operands[: map_.n_dims], operands[map_.n_dims :]) for result in map_.results]


_AFFINE = (
    (ir.AffineAddExpr, "arith.addi"),
    (ir.AffineMulExpr, "arith.muli"),
    (ir.AffineModExpr, "arith.remui"),
    (ir.AffineFloorDivExpr, "arith.floordivsi"),
    (ir.AffineCeilDivExpr, "arith.ceildivsi"),
)
"""The binary expressions of affine maps, with the op that computes the same (a modulus is that of Python)."""


def _expression(run: Interpreter, expression: Any, dims: Sequence[Any], symbols: Sequence[Any]) -> Number:
    if isinstance(expression, ir.AffineConstantExpr):
        return int(expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return dims[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[expression.position]
    for kind, name in _AFFINE:
        if isinstance(expression, kind):
            sides = [_expression(run, side, dims, symbols) for side in (expression.lhs, expression.rhs)]
            return run.arithmetic.compute(name, sides, ir.IndexType.get(expression.context))
    return None


@handles(VALUES, "arith.select")
def _select(run: Interpreter, op: ir.Operation) -> list[Any]:
    condition, first, second = run.read(op)
    return [first if decide(run, condition) else second]


def is_open(run: Interpreter, number: Number) -> bool:
    """Whether the run may decide what ``number`` is."""
    return number is None or (isinstance(number, Free) and not run.is_correlated)


def decide(run: Interpreter, condition: Number) -> bool:
    """Whether ``condition`` holds in this run."""
    if is_open(run, condition):
        return run.choose(2) == 0
    return bool(condition)


# --- task ids ---------------------------------------------------------------------------------------------------------


@handles(VALUES, "task.barrier")
def _barrier(run: Interpreter, op: ir.Operation) -> list[Any]:
    return [functools.reduce(operator.or_, map(mask_of, run.read(op)), 0)]


@handles(VALUES, "task.invalid")
def _invalid(_: Interpreter, op: ir.Operation) -> list[Any]:
    return [0]


@handles(VALUES, "tensor.from_elements")
def _from_elements(run: Interpreter, op: ir.Operation) -> list[Any]:
    return [tuple(run.read(op))] if is_id_tensor(op.results[0].type) else run.unknown(op)


@handles(VALUES, "tensor.splat")
def _splat(run: Interpreter, op: ir.Operation) -> list[Any]:
    if not is_id_tensor(op.results[0].type):
        return run.unknown(op)
    element, *sizes = run.read(op)
    return [(element,) * slots_of(op.results[0].type, sizes)]


@handles(VALUES, "tensor.insert")
def _insert(run: Interpreter, op: ir.Operation) -> list[Any]:
    element, into, *indices = run.read(op)
    if not is_id_tensor(op.results[0].type):
        return [into]  # the storage of the destination
    index = indices[0]
    if index is None:
        # Any slot may hold it now: what is certain is what every slot certainly holds.
        return [tuple(slot & element for slot in into)]
    return [tuple(element if number == index else slot for number, slot in enumerate(into))]


@handles(VALUES, "tensor.extract")
def _extract(run: Interpreter, op: ir.Operation) -> list[Any]:
    source, *indices = run.read(op)
    if not is_id_tensor(op.operands[0].type):
        return [None]
    index = indices[0]
    if index is None:
        return [functools.reduce(operator.and_, source) if source else 0]
    return [source[index] if 0 <= index < len(source) else 0]


# --- storage ----------------------------------------------------------------------------------------------------------


@handles(VALUES, "memref.alloc", "memref.alloca", "tensor.empty", "bufferization.alloc_tensor")
def _alloc(run: Interpreter, op: ir.Operation) -> list[Any]:
    type_ = op.results[0].type
    sizes = run.read(op)
    if is_id_tensor(type_):
        return [(0,) * slots_of(type_, sizes)]
    return [run.allocate(type_, sizes, f"{op.name} {run.roots}")]


@handles(VALUES, "memref.get_global")
def _get_global(run: Interpreter, op: ir.Operation) -> list[Any]:
    name = op.attributes["name"].value
    if name not in run.globals:
        run.globals[name] = Root(run.roots, f"@{name}")
        run.roots += 1
    return [run.whole(run.globals[name], op.results[0].type, ())]


@handles(VALUES, "tensor.cast", "memref.cast", "memref.memory_space_cast")
def _cast(run: Interpreter, op: ir.Operation) -> list[Any]:
    return run.read(op)


@handles(VALUES, "memref.dim", "tensor.dim")
def _dim(run: Interpreter, op: ir.Operation) -> list[Any]:
    source, axis = run.read(op)
    if isinstance(source, tuple):
        return [len(source)]
    type_ = op.operands[0].type
    if axis is None or source.root is None or type_.is_dynamic_dim(axis):
        return [None]
    return [type_.get_dim_size(axis)]


def mixed(op: ir.Operation, static: str, operands: Iterator[Number]) -> list[Number]:
    """Static and dynamic entries of an offset, size or stride list, as one list."""
    dynamic = ir.ShapedType.get_dynamic_size()
    return [next(operands) if entry == dynamic else entry for entry in op.attributes[static]]


def window(run: Interpreter, op: ir.Operation, before: int) -> tuple[list[Number], list[Number], list[Number]]:
    """The offsets, sizes and strides of a slice; ``before`` operands come first."""
    operands = iter(run.read(op)[before:])
    return (
        mixed(op, "static_offsets", operands),
        mixed(op, "static_sizes", operands),
        mixed(op, "static_strides", operands),
    )


@handles(VALUES, "memref.subview", "tensor.extract_slice")
def _slice(run: Interpreter, op: ir.Operation) -> list[Any]:
    source = run.read(op)[0]
    offsets, sizes, strides = window(run, op, 1)
    if isinstance(source, tuple):
        if not is_known(offsets, sizes, strides):
            certain = functools.reduce(operator.and_, source) if source else 0
            return [(certain,) * (sizes[0] or _ID_SLOTS)]
        start, size, step = known([offsets[0], sizes[0], strides[0]])
        return [source[start : start + size * step : step]]
    return [source.cut(offsets, sizes, strides, op.results[0].type.rank)]


@handles(VALUES, "tensor.insert_slice")
def _insert_slice(run: Interpreter, op: ir.Operation) -> list[Any]:
    source, into = run.read(op)[:2]
    return [insert_ids(source, into, *window(run, op, 2)) if isinstance(into, tuple) else into]


def insert_ids(
    source: tuple[Mask, ...],
    into: tuple[Mask, ...],
    offsets: Sequence[Number],
    sizes: Sequence[Number],
    strides: Sequence[Number],
) -> tuple[Mask, ...]:
    """``into`` with the ids of ``source`` put where the slice says."""
    if not is_known([o if not isinstance(o, Free) else int(o) for o in offsets], sizes, strides):
        certain = functools.reduce(operator.and_, source) if source else 0
        return tuple(slot & certain for slot in into)
    updated = list(into)
    start, step = known([offsets[0], strides[0]])
    for number, element in enumerate(source):
        index = start + number * step
        if 0 <= index < len(updated):
            updated[index] = element
    return tuple(updated)


@handles(VALUES, "memref.transpose")
def _transpose(run: Interpreter, op: ir.Operation) -> list[Any]:
    order = [ir.AffineDimExpr(result).position for result in op.attributes["permutation"].value.results]
    return [run.read(op)[0].transposed(order)]


def _groups(op: ir.Operation) -> list[list[int]]:
    return [[entry.value for entry in group] for group in op.attributes["reassociation"]]


@handles(VALUES, "memref.expand_shape", "tensor.expand_shape")
def _expand_shape(run: Interpreter, op: ir.Operation) -> list[Any]:
    source = run.read(op)[0]
    type_ = op.results[0].type
    if any(type_.is_dynamic_dim(axis) for axis in range(type_.rank)):
        return [source.some_part()]
    return [source.expanded(extent(type_, (), 1), _groups(op))]


@handles(VALUES, "memref.collapse_shape", "tensor.collapse_shape")
def _collapse_shape(run: Interpreter, op: ir.Operation) -> list[Any]:
    return [run.read(op)[0].collapsed(_groups(op))]


@handles(VALUES, "memref.reinterpret_cast")
def _reinterpret_cast(run: Interpreter, op: ir.Operation) -> list[Any]:
    offsets, sizes, strides = window(run, op, 1)
    return [run.read(op)[0].reinterpreted(offsets[0], sizes, strides)]


@handles(VALUES, "memref.view")
def _memref_view(run: Interpreter, op: ir.Operation) -> list[Any]:
    source, shift, *sizes = run.read(op)
    type_ = op.results[0].type
    if not is_known(sizes):
        return [source.some_part()]
    return [source.bytes_at(shift, extent(type_, sizes, 1), item_size(type_))]
