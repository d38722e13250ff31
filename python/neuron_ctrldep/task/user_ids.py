"""The ids the program itself handles: what is known of each SSA value of type ``!task.id`` or a tensor of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import is_id_tensor, is_task_id, ops_of
from neuron_ctrldep.task.flow import Body, Construct, PlainOp
from neuron_ctrldep.task.ids import Collected, Id, IdTensor, Insert, Join, Phi, Unknown, resolve
from neuron_ctrldep.task.indices import IndexValues
from neuron_ctrldep.task.regions import Affine, LoopIndex

_MAX_SLOTS = 512
"""Slots of larger tensors are not followed one by one."""


def is_id(type_: ir.Type) -> bool:
    """Whether a value of ``type_`` holds ids."""
    return is_task_id(type_) or is_id_tensor(type_)


class UserIds:
    """The ids of SSA values.

    Args:
        indices: for the slots of tensors.
        new: makes an id with the next serial number.
    """

    def __init__(self, indices: IndexValues, new: Callable[..., Id], no_task: Id) -> None:
        self._indices = indices
        self._new = new
        self._no_task = no_task
        self._ids: dict[ir.Value, Id] = {}
        self._positions: dict[Insert, Affine] = {}

    def __setitem__(self, value: ir.Value, node: Id) -> None:
        self._ids[value] = node

    def __getitem__(self, value: ir.Value) -> Id:
        node = self._ids.get(value)
        if node is None:
            node = self._ids[value] = self._new(Unknown)
        return node

    def plain(self, item: PlainOp) -> Id | None:
        """Follow an op; the id it makes, if it computes one from others."""
        name = item.name
        op = item.op
        if name == "task.barrier":
            node = self._new(Join, members=tuple(self[value] for value in op.operands))
        elif name == "task.invalid":
            self[op.results[0]] = self._no_task
            return None
        elif not name.startswith("tensor.") or not op.results or not is_id(op.results[0].type):
            return None
        elif name == "tensor.empty":
            node = self._new(IdTensor, slots={})
        elif name == "tensor.from_elements":
            node = self._new(IdTensor, slots={slot: self[value] for slot, value in enumerate(op.operands)})
        elif name in ("tensor.splat", "tensor.cast"):
            self[op.results[0]] = self[op.operands[0]]
            return None
        elif name == "tensor.insert":
            node = self._insert(op)
        elif name == "tensor.extract":
            self[op.results[0]] = self._extract(op)
            return None
        else:
            return None
        self[op.results[0]] = node
        return node

    def _insert(self, op: ir.Operation) -> Id:
        value, tensor, position = self[op.operands[0]], resolve(self[op.operands[1]]), op.operands[2]
        place = self._indices.affine(position)
        if place is not None and not place.terms and isinstance(tensor, IdTensor) and len(tensor.slots) < _MAX_SLOTS:
            return self._new(IdTensor, slots={**tensor.slots, place.constant: value})
        node = self._new(Insert, tensor=tensor, value=value)
        if place is not None and isinstance(node, Insert):
            self._positions[node] = place
        return node

    def _extract(self, op: ir.Operation) -> Id:
        tensor = resolve(self[op.operands[0]])
        place = self._indices.affine(op.operands[1])
        if isinstance(tensor, IdTensor) and place is not None and not place.terms:
            return tensor.slots.get(place.constant, self._no_task)
        return self._new(Unknown)

    def close_loop(self, phi: Phi) -> None:
        """``phi`` got its yielded id: see whether each iteration of its loop fills a slot of its own."""
        insert = phi.yielded
        initial = resolve(phi.initial)
        if not isinstance(insert, Insert) or insert.tensor is not phi:
            return
        place = self._positions.get(insert)
        own = phi.construct.indices
        if place is None or not isinstance(initial, IdTensor) or initial.slots:
            return
        insert.keeps = any(index in own for index, _ in place.terms)

    # --- parallel loops ---

    def reductions(self, construct: Construct) -> Iterable[tuple[ir.Value, Id, Id | None]]:
        """For each id result of a parallel loop: the value, its initial id, and the id of which all are awaited."""
        op = construct.op
        body = construct.bodies[0]
        count = len(op.results)
        initial = list(op.operands)[len(op.operands) - count :]
        for position, result in enumerate(op.results):
            if not is_id(result.type):
                continue
            if op.name == "scf.parallel":
                joined = self._reduced(body, position)
                yield result, self[initial[position]], joined
            else:
                joined = self._gathered(construct, body.arguments[len(construct.indices) + position])
                yield result, self._no_task, joined

    def _reduced(self, body: Body, position: int) -> Id | None:
        terminator = body.terminator
        assert terminator is not None
        block = terminator.regions[position].blocks[0]
        ops = ops_of(block)
        joins = (
            len(ops) == 2
            and ops[0].name == "task.barrier"
            and set(ops[0].operands) == set(block.arguments)
            and list(ops[1].operands) == list(ops[0].results)
        )
        return self[body.returned[position]] if joins else None

    def _gathered(self, construct: Construct, shared: ir.Value) -> Id | None:
        terminator = construct.bodies[0].terminator
        if terminator is None or terminator.name != "scf.forall.in_parallel":
            return None
        inserts = [op for op in ops_of(terminator.regions[0].blocks[0]) if op.operands[1] == shared]
        if len(inserts) != 1:
            return None
        op = inserts[0]
        source = resolve(self[op.operands[0]])
        if not isinstance(source, IdTensor) or list(source.slots) != [0] or list(op.attributes["static_sizes"]) != [1]:
            return None
        static = op.attributes["static_offsets"][0]
        place = Affine(static) if len(op.operands) == 2 else self._indices.affine(op.operands[2])
        if place is None or not is_injective(place, construct.indices):
            return None
        return source.slots[0]


def is_injective(place: Affine, indices: tuple[LoopIndex, ...]) -> bool:
    """Whether ``place`` differs in any two iterations of a loop with these ``indices``."""
    terms = dict(place.terms)
    steps: list[tuple[int, int | None]] = []
    for index in indices:
        if index.trips is not None and index.trips <= 1:
            continue
        coefficient = terms.get(index)
        if coefficient is None:
            return False
        steps.append((abs(coefficient) * (index.step or 1), index.trips))
    if len(steps) > 1 and any(index.step is None for index in indices):
        return False
    reach: int | None = 0
    for step, trips in sorted(steps, key=lambda pair: pair[0]):
        if reach is None or step <= reach:
            return False
        reach = None if trips is None else reach + step * (trips - 1)
    return True


def gathered(new: Callable[..., Id], construct: Construct, source: Id) -> Collected:
    """All of ``source`` in a parallel loop."""
    node = new(Collected, construct=construct, source=source)
    assert isinstance(node, Collected)
    return node
