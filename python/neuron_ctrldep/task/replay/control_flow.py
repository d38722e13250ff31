"""What calls, branches and loops do in a replay."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import ops_of
from neuron_ctrldep.task.loops import UNSIGNED
from neuron_ctrldep.task.program import Scope
from neuron_ctrldep.task.replay.handlers import (
    Handler,
    Unsupported,
    decide,
    handles,
    insert_ids,
    is_open,
    mixed,
    window,
)
from neuron_ctrldep.task.replay.numbers import Free, Number, is_known, known, note_step, turn_of

if TYPE_CHECKING:
    from neuron_ctrldep.task.replay.interpreter import Interpreter

CONTROL_FLOW: dict[str, Handler] = {}
"""What calls, branches and loops do."""

MAX_TURNS = 10_000
"""A ``scf.while`` whose condition is known and that turns more often is not followed."""


@handles(CONTROL_FLOW, "func.call")
def _call(run: Interpreter, op: ir.Operation) -> list[Any]:
    function = run.module.functions.get(op.attributes["callee"].value)
    if function is None or not function.regions[0].blocks:
        return run.unknown(op)
    return run.call(function, run.read(op))


@handles(CONTROL_FLOW, "scf.execute_region")
def _execute_region(run: Interpreter, op: ir.Operation) -> list[Any]:
    around = run.is_manual
    scope = Scope.of(op)
    if scope is not None:
        run.is_manual = scope.mode == "manual"
    if len(op.regions[0].blocks) != 1:
        raise Unsupported("cannot follow a scf.execute_region of several blocks")
    try:
        return run.block(op.regions[0].blocks[0], [])
    finally:
        run.is_manual = around


@handles(CONTROL_FLOW, "scf.if")
def _if(run: Interpreter, op: ir.Operation) -> list[Any]:
    taken = op.regions[0 if decide(run, run.read(op)[0]) else 1]
    return run.block(taken.blocks[0], []) if taken.blocks else []


@handles(CONTROL_FLOW, "scf.index_switch")
def _index_switch(run: Interpreter, op: ir.Operation) -> list[Any]:
    value = run.read(op)[0]
    cases = list(op.attributes["cases"])
    if value is None or isinstance(value, Free):
        number = run.choose(len(cases) + 1)
    else:
        number = cases.index(value) + 1 if value in cases else 0
    return run.block(op.regions[number].blocks[0], [])


@handles(CONTROL_FLOW, "scf.for")
def _for(run: Interpreter, op: ir.Operation) -> list[Any]:
    lower, upper, step, *carried = run.read(op)
    if UNSIGNED in op.attributes:
        lower, upper, step = (_as_unsigned(bound, op.operands[0].type) for bound in (lower, upper, step))
    execution = run.new_execution()
    count = run.count(lower, upper, step)
    if count > 1:
        note_step(step)
    for iteration in range(count):
        index = turn_of(lower, step, iteration)
        carried = run.turn(execution, iteration, op.regions[0].blocks[0], [index, *carried], False)
    return carried


def _as_unsigned(number: Number, type_: ir.Type) -> Number:
    """``number`` where it counts as an unsigned one; unknown, unless that makes no difference to arithmetic."""
    width = type_.width if isinstance(type_, ir.IntegerType) else 64
    return number if is_known([number]) and 0 <= known([number])[0] < 1 << (width - 1) else None


@handles(CONTROL_FLOW, "scf.while")
def _while(run: Interpreter, op: ir.Operation) -> list[Any]:
    carried = run.read(op)
    execution = run.new_execution()
    for iteration in itertools.count():
        if iteration == MAX_TURNS:
            raise Unsupported(f"a scf.while turns more than {MAX_TURNS} times")
        condition, *forwarded = run.turn(execution, iteration, op.regions[0].blocks[0], carried, False)
        # A condition that is known is followed; one that is not may end the loop at any time, and must in the end.
        if is_open(run, condition) and iteration >= max(run.trips):
            return forwarded
        if not decide(run, condition):
            return forwarded
        carried = run.turn(execution, iteration, op.regions[1].blocks[0], forwarded, False)
    raise AssertionError("the loop above ends by returning")


def _points(counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    yield from np.ndindex(*counts)


@handles(CONTROL_FLOW, "scf.parallel")
def _parallel(run: Interpreter, op: ir.Operation) -> list[Any]:
    values = run.read(op)
    rank = (len(values) - len(op.results)) // 3
    lower, upper, step = values[:rank], values[rank : 2 * rank], values[2 * rank : 3 * rank]
    reduced = values[3 * rank :]
    counts = [run.count(*bounds) for bounds in zip(lower, upper, step, strict=True)]
    execution = run.new_execution()
    block = op.regions[0].blocks[0]
    reduce = ops_of(block)[-1]
    for number, point in enumerate(_points(counts)):
        indices = [turn_of(low, by, at) for low, by, at in zip(lower, step, point, strict=True)]
        found = run.turn(execution, number, block, indices, True)
        reduced = [
            run.block(region.blocks[0], [old, new])[0]
            for region, old, new in zip(reduce.regions, reduced, found, strict=True)
        ]
    return reduced


@handles(CONTROL_FLOW, "scf.forall")
def _forall(run: Interpreter, op: ir.Operation) -> list[Any]:
    lists = ("staticLowerBound", "staticUpperBound", "staticStep")
    operands = iter(run.read(op))
    lower, upper, step = (mixed(op, name, operands) for name in lists)
    shared = list(operands)
    counts = [run.count(*bounds) for bounds in zip(lower, upper, step, strict=True)]
    execution = run.new_execution()
    block = op.regions[0].blocks[0]
    collect = ops_of(block)[-1]
    outputs = dict(zip(list(block.arguments)[len(counts) :], shared, strict=True))
    for number, point in enumerate(_points(counts)):
        indices = [turn_of(low, by, at) for low, by, at in zip(lower, step, point, strict=True)]
        run.turn(execution, number, block, [*indices, *shared], True)
        for insert in ops_of(collect.regions[0].blocks[0]) if collect.regions[0].blocks else []:
            destination = insert.operands[1]
            into = outputs[destination]
            if isinstance(into, tuple):
                outputs[destination] = insert_ids(run.read(insert)[0], into, *window(run, insert, 2))
    return list(outputs.values())
