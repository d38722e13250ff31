"""A tensor of ids beside an ``scf.forall``: one slot for each iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.loops import Bound, Dimension, dimensions


@dataclass
class GatheredIds:
    """How the ids of the iterations of one loop are laid out in a tensor."""

    type: ir.Type
    """The type of the tensor."""
    loop_location: ir.Location
    _sizes: list[ir.Value]
    """The size of the tensor, where only run time knows it."""
    _dimensions: list[Dimension]
    _before: ir.InsertionPoint
    _trips: list[ir.Value | int]

    def empty(self) -> ir.Value:
        """A tensor in which no slot holds a task, made before the loop."""
        return ir.Operation.create(
            "tensor.empty", results=[self.type], operands=self._sizes, loc=self.loop_location, ip=self._before
        ).results[0]

    def insert(self, value: ir.Value, into: ir.Value, terminator: ir.Operation) -> None:
        """Let each iteration put ``value`` into its slot of the shared tensor ``into``."""
        math = _Math(ir.InsertionPoint(terminator), self.loop_location)
        place: ir.Value | None = None
        for dimension, trips in zip(self._dimensions, self._trips, strict=True):
            number = dimension.index
            if dimension.lower.constant != 0:
                number = math.op("arith.subi", number, math.bound(dimension.lower))
            if dimension.step.constant != 1:
                number = math.op("arith.divui", number, math.bound(dimension.step))
            if place is not None:
                place = math.op("arith.muli", place, math.constant(trips) if isinstance(trips, int) else trips)
                number = math.op("arith.addi", place, number)
            place = number
        assert place is not None
        one = ir.RankedTensorType.get([1], value.type)
        source = ir.Operation.create(
            "tensor.from_elements", results=[one], operands=[value], loc=self.loop_location, ip=math.ip
        ).results[0]
        dynamic = ir.ShapedType.get_dynamic_size()
        ir.Operation.create(
            "tensor.parallel_insert_slice",
            operands=[source, into, place],
            attributes={
                "static_offsets": ir.DenseI64ArrayAttr.get([dynamic]),
                "static_sizes": ir.DenseI64ArrayAttr.get([1]),
                "static_strides": ir.DenseI64ArrayAttr.get([1]),
                SEGMENT_SIZES: ir.DenseI32ArrayAttr.get([1, 1, 1, 0, 0]),
            },
            loc=self.loop_location,
            ip=ir.InsertionPoint(terminator.regions[0].blocks[0]),
        )


def gather_ids(loop: ir.Operation, id_type: ir.Type) -> GatheredIds:
    """Plan the tensor for ``loop``, an ``scf.forall``; its size is computed before the loop."""
    ip = ir.InsertionPoint(loop)
    math = _Math(ip, loop.location)
    found = dimensions(loop)
    trips: list[ir.Value | int] = [
        dimension.trip_count if dimension.trip_count is not None else math.trips(dimension) for dimension in found
    ]
    static = [count for count in trips if isinstance(count, int)]
    if len(static) == len(trips):
        return GatheredIds(ir.RankedTensorType.get([prod(static)], id_type), loop.location, [], found, ip, trips)
    size = math.product([math.constant(count) if isinstance(count, int) else count for count in trips])
    dynamic = ir.RankedTensorType.get([ir.ShapedType.get_dynamic_size()], id_type)
    return GatheredIds(dynamic, loop.location, [size], found, ip, trips)


class _Math:
    """Index arithmetic at one place."""

    def __init__(self, ip: ir.InsertionPoint, location: ir.Location) -> None:
        self.ip = ip
        self._location = location
        self._index = ir.IndexType.get(location.context)

    def constant(self, value: int) -> ir.Value:
        attribute = ir.IntegerAttr.get(self._index, value)
        return ir.Operation.create(
            "arith.constant", results=[self._index], attributes={"value": attribute}, loc=self._location, ip=self.ip
        ).results[0]

    def bound(self, bound: Bound) -> ir.Value:
        return bound.value if bound.value is not None else self.constant(bound.constant or 0)

    def op(self, name: str, left: ir.Value, right: ir.Value) -> ir.Value:
        return ir.Operation.create(
            name, results=[self._index], operands=[left, right], loc=self._location, ip=self.ip
        ).results[0]

    def product(self, values: Sequence[ir.Value]) -> ir.Value:
        result = values[0]
        for value in values[1:]:
            result = self.op("arith.muli", result, value)
        return result

    def trips(self, dimension: Dimension) -> ir.Value:
        length = self.op("arith.subi", self.bound(dimension.upper), self.bound(dimension.lower))
        length = self.op("arith.maxsi", length, self.constant(0))
        return self.op("arith.ceildivui", length, self.bound(dimension.step))
