"""The ``with`` blocks of a program being written: what they are given, and what they hand out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.builder_values import (
    Condition,
    IdTensor,
    Index,
    Storage,
    TaskId,
    Value,
    emit,
    fail,
    here,
    wrap,
)
from neuron_ctrldep.task.dialect import attribute_names

_V = TypeVar("_V", bound=Value)


def with_results(operation: ir.Operation, yielded: Sequence[Value]) -> tuple[Value, ...]:
    """The results of an op for what its blocks yield; they are known when these are closed, so the op is remade."""
    if not yielded:
        return ()
    new = ir.Operation.create(
        operation.name,
        results=[value.value.type for value in yielded],
        operands=list(operation.operands),
        attributes={name: operation.attributes[name] for name in attribute_names(operation)},
        regions=len(operation.regions),
        loc=operation.location,
        ip=ir.InsertionPoint(operation),
    ).operation
    for old_region, new_region in zip(operation.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(new_region)
    operation.erase()
    return tuple(wrap(result) for result in new.results)


class Region:
    """A ``with`` block of the program that may hand values out: a scope, or a side of a branch."""

    def __init__(self) -> None:
        self._yielded: tuple[Value, ...] = ()
        self.results: tuple[Value, ...] = ()
        """What the block handed out; there when it is closed."""

    def yield_(self, *values: Value) -> None:
        """Hand values out of the block; the last thing in it."""
        self._yielded = values


class Loop(Region):
    """A sequential loop: the counter, and what one iteration hands to the next."""

    def __init__(self, counter: Index, carried: tuple[Value, ...]) -> None:
        super().__init__()
        self.index = counter
        """The counter."""
        self.carried = carried
        """What the iteration before handed on; in the first, what the loop was given."""
        self._yielded = carried

    def storage(self, position: int) -> Storage:
        """A carried value that is storage."""
        return expect(self.carried[position], Storage)

    def id(self, position: int) -> TaskId:
        """A carried value that is a task id."""
        return expect(self.carried[position], TaskId)

    def ids(self, position: int) -> IdTensor:
        """A carried value that is a tensor of task ids."""
        return expect(self.carried[position], IdTensor)


def expect(value: Value, kind: type[_V]) -> _V:
    """``value``, which is of the given kind."""
    if not isinstance(value, kind):
        fail(f"expected a {kind.__name__}, found a {type(value).__name__} ({value.value.type})")
    return value


class While:
    """A loop with a condition: write :meth:`test`, then :meth:`body`, each a ``with`` block."""

    def __init__(self, operation: ir.Operation) -> None:
        self._operation = operation
        self._handed_on: tuple[Value, ...] = ()
        self._has_condition = False
        self._yielded: tuple[Value, ...] = ()
        self.results: tuple[Value, ...] = ()
        """What the condition handed on when it was false; there when the loop is closed."""

    @contextlib.contextmanager
    def test(self) -> Iterator[tuple[Value, ...]]:
        """The block that ends in :meth:`condition`; given what the loop carries."""
        block = self._operation.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            yield tuple(wrap(argument) for argument in block.arguments)
        if not self._has_condition:
            fail("the test of a loop ends in its condition")

    def condition(self, condition: Condition, *values: Value) -> None:
        """Go on while ``condition`` holds; ``values`` go to the body, and to the results when it does not."""
        self._has_condition = True
        self._handed_on = values
        context = condition.value.context
        emit(context, "scf.condition", [condition.value, *(value.value for value in values)], [])

    @contextlib.contextmanager
    def body(self) -> Iterator[tuple[Value, ...]]:
        """The block that runs while the condition holds; given what the condition handed on."""
        if not self._has_condition:
            fail("the test of a loop is written before its body")
        context = self._operation.context
        types = [value.value.type for value in self._handed_on]
        block = ir.Block.create_at_start(self._operation.regions[1], types, [here(context)] * len(types))
        with ir.InsertionPoint(block):
            yield tuple(wrap(argument) for argument in block.arguments)
            carried = len(self._operation.operands)
            if len(self._yielded) != carried:
                fail(f"the loop carries {carried} values; its body yields {len(self._yielded)}")
            emit(context, "scf.yield", [value.value for value in self._yielded], [])

    def yield_(self, *values: Value) -> None:
        """Hand values to the next iteration; the last thing in the body."""
        self._yielded = values

    def _close(self) -> None:
        if not len(self._operation.regions[1].blocks):
            fail("a loop needs a test and a body")
        self.results = with_results(self._operation, self._handed_on)


class Forall:
    """A loop whose iterations may run in any order, and that collects one task id of each."""

    def __init__(self, counter: Index) -> None:
        self.index = counter
        """The counter."""
        self._collected: TaskId | None = None
        self.collected: IdTensor | None = None
        """The ids, by iteration; there when the loop is closed."""

    def collect(self, task: TaskId) -> None:
        """Make ``task`` the id of this iteration."""
        self._collected = task


class Branch:
    """The two sides of an ``if_``, and what they hand out."""

    def __init__(self, operation: ir.Operation) -> None:
        self._operation = operation
        self._sides: list[Region] = [Region(), Region()]
        self.results: tuple[Value, ...] = ()
        """What the side that was taken handed out; there when the branch is closed."""

    @contextlib.contextmanager
    def then(self) -> Iterator[Region]:
        """The side for a true condition."""
        with self._side(0) as side:
            yield side

    @contextlib.contextmanager
    def otherwise(self) -> Iterator[Region]:
        """The side for a false condition."""
        with self._side(1) as side:
            yield side

    @contextlib.contextmanager
    def _side(self, position: int) -> Iterator[Region]:
        region = self._operation.regions[position]
        block = region.blocks[0] if len(region.blocks) else region.blocks.append()
        with ir.InsertionPoint(block):
            yield self._sides[position]

    def _close(self) -> None:
        yielded = [side._yielded for side in self._sides]
        if [v.value.type for v in yielded[0]] != [v.value.type for v in yielded[1]]:
            fail("both sides of a branch hand out values of the same types")
        for position, (region, values) in enumerate(zip(self._operation.regions, yielded, strict=True)):
            if not len(region.blocks):
                if position == 1 and not values:
                    continue
                region.blocks.append()
            with ir.InsertionPoint(region.blocks[0]):
                emit(self._operation.context, "scf.yield", [value.value for value in values], [])
        self.results = with_results(self._operation, yielded[0])
