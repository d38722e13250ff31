"""C++ for the ops of an orchestration function that compute: numbers, views of storage, id tensors."""

from __future__ import annotations

from collections.abc import Callable

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.orchestration.cpp_values import (
    BINARY,
    SCALAR_CASTS,
    UNSIGNED,
    comparison,
    data_type,
    is_literal,
    literal,
    mixed_list,
    reject,
    unsigned,
)
from neuron_ctrldep.orchestration.cpp_writer import NO_TASK, Writer
from neuron_ctrldep.task.dialect import is_id_tensor


def _constant(writer: Writer, op: ir.Operation) -> None:
    writer.names[op.results[0]] = literal(op)


def _binary(writer: Writer, op: ir.Operation) -> None:
    left, right = (writer.of(operand) for operand in op.operands)
    result = op.results[0]
    # A literal is an int in C++, so an operation on two of them could overflow where the result's type does not.
    typed = f"{writer.type_of(result)}{{{left}}}" if is_literal(left) else left
    writer.define(result, BINARY[op.name].format(typed, right))


def _unsigned(writer: Writer, op: ir.Operation) -> None:
    result = op.results[0]
    expression = unsigned(op, UNSIGNED[op.name]).format(*(writer.of(operand) for operand in op.operands))
    writer.define(result, f"static_cast<{writer.type_of(result)}>({expression})")


def _cast(writer: Writer, op: ir.Operation) -> None:
    result = op.results[0]
    writer.define(result, f"static_cast<{writer.type_of(result)}>({writer.of(op.operands[0])})")


def _same(writer: Writer, op: ir.Operation) -> None:
    writer.alias(op.results[0], op.operands[0])


def _compare(writer: Writer, op: ir.Operation) -> None:
    template = comparison(op)
    writer.define(op.results[0], template.format(writer.of(op.operands[0]), writer.of(op.operands[1])))


def _select(writer: Writer, op: ir.Operation) -> None:
    condition, yes, no = (writer.of(operand) for operand in op.operands)
    writer.define(op.results[0], f"{condition} ? {yes} : {no}")


def _empty(writer: Writer, op: ir.Operation) -> None:
    result = op.results[0]
    dynamic = iter(op.operands)
    shape = [
        writer.of(next(dynamic)) if result.type.is_dynamic_dim(i) else str(result.type.get_dim_size(i))
        for i in range(result.type.rank)
    ]
    if is_id_tensor(result.type):
        writer.define(result, f"std::vector<PTO2TaskId>({shape[0]}, {NO_TASK})")
        return
    name = writer.fresh()
    writer.array(f"{name}_shapes", shape)
    type_ = data_type(result.type.element_type, op)
    writer.line(f"TensorCreateInfo {name}_info({name}_shapes, {len(shape)}, DataType::{type_});")
    writer.line(f"TaskOutputTensors {name}_outs = alloc_tensors({name}_info);")
    writer.define(result, f"{name}_outs.get_ref(0)")


def _slice(writer: Writer, op: ir.Operation) -> None:
    source, result = op.operands[0], op.results[0]
    offsets, sizes, strides = (mixed_list(op, part, writer.of, first=1) for part in ("offsets", "sizes", "strides"))
    if is_id_tensor(source.type):
        name = writer.define(result, f"std::vector<PTO2TaskId>({sizes[0]})")
        index = writer.fresh()
        writer.open(f"for (size_t {index} = 0; {index} < {name}.size(); ++{index}) {{")
        writer.line(f"{name}[{index}] = {writer.of(source)}[{offsets[0]} + {index} * {strides[0]}];")
        writer.close("}")
        return
    if any(stride != "1" for stride in strides):
        reject(op, "the run time has no view with strides")
    name = writer.fresh()
    writer.array(f"{name}_shapes", sizes)
    writer.array(f"{name}_offsets", offsets)
    view = f"{writer.of(source)}.view({name}_shapes, {name}_offsets)"
    if result.type.rank != source.type.rank:
        kept = _kept_sizes(op, sizes)
        writer.array(f"{name}_kept", kept)
        view += f".reshape({name}_kept, {len(kept)})"
    writer.define(result, view)


def _kept_sizes(op: ir.Operation, sizes: list[str]) -> list[str]:
    """The sizes of the result of a slice that drops unit dimensions."""
    shape = list(op.results[0].type.shape)
    surplus = len(sizes) - len(shape)
    kept: list[str] = []
    for size in sizes:
        if surplus and size == "1" and (len(kept) == len(shape) or shape[len(kept)] != 1):
            surplus -= 1
        else:
            kept.append(size)
    return kept if len(kept) == len(shape) else reject(op, "which dimensions it drops is not known")


def _reshape(writer: Writer, op: ir.Operation) -> None:
    result = op.results[0]
    if not result.type.has_static_shape:
        reject(op, "its shape is known at run time only")
    name = writer.fresh()
    writer.array(f"{name}_shapes", [str(size) for size in result.type.shape])
    writer.define(result, f"{writer.of(op.operands[0])}.reshape({name}_shapes, {result.type.rank})")


def _dim(writer: Writer, op: ir.Operation) -> None:
    source, index = op.operands
    name = writer.of(index)
    type_ = source.type
    if is_id_tensor(type_):
        writer.define(op.results[0], f"static_cast<int64_t>({writer.of(source)}.size())")
    elif name.isdigit() and int(name) < type_.rank and not type_.is_dynamic_dim(int(name)):
        writer.names[op.results[0]] = str(type_.get_dim_size(int(name)))
    else:
        writer.define(op.results[0], f"static_cast<int64_t>({writer.of(source)}.shapes[{name}])")


def _extract(writer: Writer, op: ir.Operation) -> None:
    source, *indices = op.operands
    if is_id_tensor(source.type):
        writer.define(op.results[0], f"{writer.of(source)}[{writer.of(indices[0])}]")
        return
    name = writer.fresh()
    writer.array(f"{name}_index", [writer.of(index) for index in indices])
    type_ = writer.type_of(op.results[0])
    writer.define(op.results[0], f"get_tensor_data<{type_}>({writer.of(source)}, {len(indices)}, {name}_index)")


def _insert(writer: Writer, op: ir.Operation) -> None:
    value, destination, *indices = op.operands
    if not is_id_tensor(destination.type):
        reject(op)
    name = writer.define(op.results[0], writer.of(destination))
    writer.line(f"{name}[{writer.of(indices[0])}] = {writer.of(value)};")


def _insert_slice(writer: Writer, op: ir.Operation) -> None:
    source, destination = op.operands[0], op.operands[1]
    if is_id_tensor(destination.type):
        copy_slice(writer, writer.define(op.results[0], writer.of(destination)), op, writer.of(source))
    else:
        writer.alias(op.results[0], destination)  # the source lies there already (destination passing)


def _from_elements(writer: Writer, op: ir.Operation) -> None:
    if not is_id_tensor(op.results[0].type):
        reject(op)
    elements = ", ".join(writer.of(operand) for operand in op.operands)
    writer.define(op.results[0], f"std::vector<PTO2TaskId>{{{elements}}}")


def _splat(writer: Writer, op: ir.Operation) -> None:
    result = op.results[0]
    if not is_id_tensor(result.type):
        reject(op)
    value, *dynamic = (writer.of(operand) for operand in op.operands)
    size = dynamic[0] if dynamic else str(result.type.get_dim_size(0))
    writer.define(result, f"std::vector<PTO2TaskId>({size}, {value})")


def copy_slice(writer: Writer, target: str, insert: ir.Operation, source: str) -> None:
    """Copy the ids of ``source`` to where ``insert`` says in ``target``."""
    offset, _, stride = (mixed_list(insert, part, writer.of, first=2)[0] for part in ("offsets", "sizes", "strides"))
    index = writer.fresh()
    writer.open(f"for (size_t {index} = 0; {index} < {source}.size(); ++{index}) {{")
    writer.line(f"{target}[{offset} + {index} * {stride}] = {source}[{index}];")
    writer.close("}")


def _nothing(writer: Writer, op: ir.Operation) -> None:
    """An op without a counterpart that needs none."""


VALUE_OPS: dict[str, Callable[[Writer, ir.Operation], None]] = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(SCALAR_CASTS, _cast),
    **dict.fromkeys(UNSIGNED, _unsigned),
    "arith.cmpf": _compare,
    "arith.cmpi": _compare,
    "arith.constant": _constant,
    "arith.select": _select,
    "memref.alloc": _empty,
    "memref.alloca": _empty,
    "memref.cast": _same,
    "memref.collapse_shape": _reshape,
    "memref.dealloc": _nothing,
    "memref.dim": _dim,
    "memref.expand_shape": _reshape,
    "memref.load": _extract,
    "memref.memory_space_cast": _same,
    "memref.subview": _slice,
    "tensor.cast": _same,
    "tensor.collapse_shape": _reshape,
    "tensor.dim": _dim,
    "tensor.empty": _empty,
    "tensor.expand_shape": _reshape,
    "tensor.extract": _extract,
    "tensor.extract_slice": _slice,
    "tensor.from_elements": _from_elements,
    "tensor.insert": _insert,
    "tensor.insert_slice": _insert_slice,
    "tensor.splat": _splat,
}
"""How each op is printed, by its name."""
