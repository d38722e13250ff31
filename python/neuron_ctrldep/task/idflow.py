"""Where task ids come from: the tasks that an id or id tensor may stand for, through barriers and control flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.dialect import (
    BRANCHES,
    SEQUENTIAL_LOOPS,
    Barrier,
    Invalid,
    Submit,
    is_id_tensor,
    is_task_id,
    terminator_of,
    walk,
)
from neuron_ctrldep.task.distances import Distances, Step


def steps(value: ir.Value) -> list[Step]:
    """All steps back from an id or id tensor; none from a submit, ``task.invalid``, ``tensor.empty`` or a parameter."""
    if isinstance(value, ir.BlockArgument):
        return list(_from_argument(value))
    op = value.owner.operation
    if op.name in (Submit.op_name, Invalid.op_name):
        return []
    return list(_from_result(op, value.result_number))


def _is_id(value: ir.Value) -> bool:
    return is_task_id(value.type) or is_id_tensor(value.type)


def _from_result(op: ir.Operation, index: int) -> Iterator[Step]:
    name = op.name
    if name == "scf.for":
        yield Step(op.operands[3 + index], "leave", op)
        yield Step(terminator_of(op.regions[0]).operands[index], "enter", op)
    elif name == "scf.while":
        yield Step(terminator_of(op.regions[0]).operands[1 + index], "enter", op)
    elif name == "scf.parallel":
        yield Step(_initial(op, index))
        reduce = terminator_of(op.regions[0])
        yield Step(terminator_of(reduce.regions[index]).operands[0], "enter", op)
    elif name == "scf.forall":
        yield Step(_initial(op, index))
        argument = op.regions[0].blocks[0].arguments[_rank(op) + index]
        for use in argument.uses:
            if use.owner.operation.name == "tensor.parallel_insert_slice" and use.operand_number == 1:
                yield Step(use.owner.operation.operands[0], "enter", op)
    elif name in BRANCHES or name == "scf.execute_region":
        for region in op.regions:
            for block in region.blocks:
                terminator = ir.InsertionPoint.at_block_terminator(block).ref_operation.operation
                if terminator.name == "scf.yield":
                    yield Step(terminator.operands[index])
    else:  # a barrier, an op on id tensors, arith.select: the result depends on each operand that is an id
        for operand in op.operands:
            if _is_id(operand):
                yield Step(operand)


def _from_argument(argument: ir.Value) -> Iterator[Step]:
    block = argument.owner
    op = block.owner.operation
    index = argument.arg_number
    if op.name == "scf.for":
        yield Step(op.operands[2 + index], "leave", op)
        yield Step(terminator_of(op.regions[0]).operands[index - 1], "previous", op)
    elif op.name == "scf.while" and block == op.regions[0].blocks[0]:
        yield Step(op.operands[index], "leave", op)
        yield Step(terminator_of(op.regions[1]).operands[index], "previous", op)
    elif op.name == "scf.while":
        yield Step(terminator_of(op.regions[0]).operands[1 + index])
    elif op.name == "scf.forall":
        yield Step(_initial(op, index - _rank(op)))
    elif op.name == "scf.reduce":
        reduced = _region_number(op, block)
        yield Step(op.operands[reduced])
        yield Step(_initial(op.parent.operation, reduced))


def _region_number(op: ir.Operation, block: ir.Block) -> int:
    return next(i for i, region in enumerate(op.regions) if region.blocks[0] == block)


def _initial(op: ir.Operation, index: int) -> ir.Value:
    """The initial value of result ``index`` of a parallel loop."""
    sizes = list(op.attributes[SEGMENT_SIZES])
    return op.operands[sum(sizes[:3]) + index]


def _rank(forall: ir.Operation) -> int:
    return len(list(forall.attributes["staticStep"]))


@dataclass(frozen=True, slots=True)
class Source:
    """A task that an id may stand for, seen from the op that uses the id."""

    task: Submit
    distance: int | None
    """How many iterations earlier, when that is known: 0 in the same one, or where no sequential loop holds both."""


def sources(user: ir.Operation, value: ir.Value) -> list[Source]:
    """The tasks that must be complete before ``value`` is, as ``user`` sees them, each once, in order of discovery.

    An id joined over many iterations stands for as many instances of a task: the distance is that of the nearest. It is
    known where it is the same on every way that control flow may have taken.
    """
    if isinstance(value, ir.OpResult) and value.owner.operation.name == Submit.op_name:
        return [Source(Submit(value.owner.operation), 0)]
    before: dict[ir.Value, list[Step]] = {}
    stack = [value]
    while stack:
        current = stack.pop()
        if current not in before:
            before[current] = steps(current)
            stack += [step.value for step in reversed(before[current])]
    distances = Distances(user, value, before)
    return [Source(Submit(task.owner.operation), distance) for task, distance in distances.found.items()]


_PASS_ON = BRANCHES | SEQUENTIAL_LOOPS | {"scf.parallel", "scf.execute_region", "arith.select"}
"""Ops whose result, where it is an id, is one of the ids they were given."""


def ids_of_no_task(function: ir.Operation) -> set[ir.Value]:
    """The ids and id tensors in ``function`` that may be, or hold, the id of no task. A barrier is a task here."""
    found: list[ir.Value] = []
    reached_from: dict[ir.Value, list[ir.Value]] = {}
    for value in _ids(function):
        made_by = value.owner.operation.name if isinstance(value, ir.OpResult) else ""
        if made_by in (Submit.op_name, Barrier.op_name):
            continue
        before = steps(value) if not made_by or made_by in _PASS_ON else []
        if not before:
            found.append(value)
        for step in before:
            reached_from.setdefault(step.value, []).append(value)
    seen = set(found)
    while found:
        for value in reached_from.get(found.pop(), ()):
            if value not in seen:
                seen.add(value)
                found.append(value)
    return seen


def _ids(function: ir.Operation) -> Iterator[ir.Value]:
    for op in (function, *walk(function)):
        for region in op.regions:
            for block in region.blocks:
                yield from (argument for argument in block.arguments if _is_id(argument))
        yield from (result for result in op.results if _is_id(result))
