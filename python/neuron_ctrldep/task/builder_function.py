"""The body of an orchestration function being written: submits, calls, scopes, loops and branches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.builder_regions import Branch, Forall, Loop, Region, While, expect, with_results
from neuron_ctrldep.task.builder_values import (
    DYNAMIC,
    Condition,
    IdTensor,
    Index,
    Storage,
    TaskId,
    Value,
    constant,
    emit,
    fail,
    here,
    memref,
    tensor,
    wrap,
)
from neuron_ctrldep.task.dialect import (
    SCOPE,
    Barrier,
    Invalid,
    PlainTask,
    ScopeMode,
    Submit,
    task_id_type,
)


@dataclass(frozen=True)
class Kernel:
    """A declared kernel, to be submitted or called."""

    name: str
    parameters: tuple[ir.Type, ...]
    results: tuple[ir.Type, ...]


@dataclass(frozen=True)
class Submitted:
    """What a submit gives: the kernel's results, and the id of the task."""

    outputs: tuple[Value, ...]
    id: TaskId

    @property
    def output(self) -> Storage:
        """The only result."""
        return _only(self.outputs)


def _only(outputs: Sequence[Value]) -> Storage:
    if len(outputs) != 1 or not isinstance(outputs[0], Storage):
        fail(f"the kernel has {len(outputs)} results, not one that is storage")
    return outputs[0]


class Function:
    """An orchestration function being written; its methods add to the innermost open ``with`` block."""

    def __init__(self, context: ir.Context, parameters: dict[str, Value]) -> None:
        self._context = context
        self.parameters = parameters
        """The parameters by name."""

    def storage(self, name: str) -> Storage:
        """The parameter ``name``, which is storage."""
        return expect(self.parameters[name], Storage)

    def index(self, name: str) -> Index:
        """The parameter ``name``, which is an index."""
        return expect(self.parameters[name], Index)

    # --- tasks --------------------------------------------------------------------------------------------------------

    def submit(
        self,
        kernel: Kernel,
        *args: Value | int,
        deps: Sequence[TaskId | IdTensor] = (),
        name: str | None = None,
        no_dep: Sequence[int] = (),
        directions: Sequence[str] | None = None,
        allow_early_resolve: bool = False,
    ) -> Submitted:
        """Submit a task.

        Args:
            kernel: what it runs.
            args: one for each parameter; integers where it takes an index.
            deps: what it waits for, besides what the run time finds.
            name: what outputs call it.
            no_dep: the arguments for which the run time shall neither look up nor register anything.
            directions: the direction of each argument; derived when left out.
            allow_early_resolve: as the run time understands it.
        """
        operands = {"args": self._arguments(kernel, args), "deps": [dep.value for dep in deps]}
        callee = {"callee": ir.FlatSymbolRefAttr.get(kernel.name, self._context)}
        types = [*kernel.results, task_id_type(self._context)]
        submit = Submit.create(operands, types, callee, location=here(self._context))
        self._describe(submit, name, no_dep, directions, allow_early_resolve)
        return Submitted(tuple(wrap(output) for output in submit.outputs), TaskId(submit.id))

    def call(
        self,
        kernel: Kernel,
        *args: Value | int,
        name: str | None = None,
        no_dep: Sequence[int] = (),
        directions: Sequence[str] | None = None,
        allow_early_resolve: bool = False,
    ) -> tuple[Value, ...]:
        """Run a kernel as a plain task, without an id; the arguments are those of :meth:`submit`."""
        operands = {"args": self._arguments(kernel, args)}
        callee = {"callee": ir.FlatSymbolRefAttr.get(kernel.name, self._context)}
        call = PlainTask.create(operands, kernel.results, callee, location=here(self._context))
        self._describe(call, name, no_dep, directions, allow_early_resolve)
        return tuple(wrap(output) for output in call.outputs)

    def _arguments(self, kernel: Kernel, args: Sequence[Value | int]) -> list[ir.Value]:
        if len(args) != len(kernel.parameters):
            fail(f"kernel '{kernel.name}' takes {len(kernel.parameters)} arguments; found {len(args)}")
        return [self._value(arg) for arg in args]

    def _value(self, value: Value | int) -> ir.Value:
        return constant(value, self._context) if isinstance(value, int) else value.value

    def _describe(
        self,
        task: Submit | PlainTask,
        name: str | None,
        no_dep: Sequence[int],
        directions: Sequence[str] | None,
        allow_early_resolve: bool,
    ) -> None:
        task.name = name
        task.arg_direction_overrides = tuple(no_dep) or None
        task.arg_directions = tuple(directions) if directions is not None else None
        task.allow_early_resolve = allow_early_resolve

    def barrier(self, *ids: TaskId | IdTensor) -> TaskId:
        """An id that is complete when all of ``ids`` are."""
        return TaskId(Barrier.build([value.value for value in ids], location=here(self._context)).id)

    def no_task(self) -> TaskId:
        """The id of no task."""
        return TaskId(Invalid.build(location=here(self._context)).id)

    def id_tensor(self, size: int | Index) -> IdTensor:
        """A tensor of ids, all of no task."""
        shape = [size if isinstance(size, int) else DYNAMIC]
        type_ = ir.RankedTensorType.get(shape, task_id_type(self._context), loc=here(self._context))
        operands = [] if isinstance(size, int) else [size.value]
        return IdTensor(emit(self._context, "tensor.empty", operands, [type_]).results[0])

    def ids(self, *ids: TaskId) -> IdTensor:
        """A tensor of the given ids."""
        type_ = ir.RankedTensorType.get([len(ids)], task_id_type(self._context), loc=here(self._context))
        operands = [value.value for value in ids]
        return IdTensor(emit(self._context, "tensor.from_elements", operands, [type_]).results[0])

    def empty(self, *shape: int, dtype: str = "f32") -> Storage:
        """New storage, as a tensor."""
        type_ = ir.Type.parse(tensor(*shape, dtype=dtype).text, self._context)
        return Storage(emit(self._context, "tensor.empty", [], [type_]).results[0])

    def alloc(self, *shape: int, dtype: str = "f32") -> Storage:
        """New storage, as a buffer."""
        type_ = ir.Type.parse(memref(*shape, dtype=dtype).text, self._context)
        segments = ir.DenseI32ArrayAttr.get([0, 0], self._context)
        return Storage(emit(self._context, "memref.alloc", [], [type_], {SEGMENT_SIZES: segments}).results[0])

    # --- scopes -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def auto_scope(self) -> Iterator[Region]:
        """A scope in which the run time tracks what tasks read and write."""
        with self._scope("auto") as region:
            yield region

    @contextlib.contextmanager
    def manual_scope(self) -> Iterator[Region]:
        """A scope in which only explicit dependencies order tasks."""
        with self._scope("manual") as region:
            yield region

    @contextlib.contextmanager
    def _scope(self, mode: ScopeMode) -> Iterator[Region]:
        attributes = {"no_inline": ir.UnitAttr.get(self._context), SCOPE: ir.StringAttr.get(mode, self._context)}
        operation = emit(self._context, "scf.execute_region", [], [], attributes, regions=1)
        region = Region()
        with ir.InsertionPoint(operation.regions[0].blocks.append()):
            yield region
            self._end(region._yielded)
        region.results = with_results(operation, region._yielded)

    def _end(self, values: Sequence[Value], terminator: str = "scf.yield") -> None:
        emit(self._context, terminator, [value.value for value in values], [])

    # --- control flow -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def for_(
        self, lower: int | Index, upper: int | Index, step: int | Index = 1, *, carry: Sequence[Value] = ()
    ) -> Iterator[Loop]:
        """A sequential loop from ``lower`` to below ``upper``; ``carry`` is what the first iteration is given."""
        operands = [self._value(bound) for bound in (lower, upper, step)]
        initial = [value.value for value in carry]
        types = [value.type for value in initial]
        operation = emit(self._context, "scf.for", [*operands, *initial], types, regions=1)
        location = here(self._context)
        arguments = [ir.IndexType.get(self._context), *types]
        block = ir.Block.create_at_start(operation.regions[0], arguments, [location] * len(arguments))
        counter, *carried = block.arguments
        loop = Loop(Index(counter), tuple(wrap(value) for value in carried))
        with ir.InsertionPoint(block):
            yield loop
            if len(loop._yielded) != len(carry):
                fail(f"the loop carries {len(carry)} values; its body yields {len(loop._yielded)}")
            self._end(loop._yielded)
        loop.results = tuple(wrap(result) for result in operation.results)

    @contextlib.contextmanager
    def while_(self, carry: Sequence[Value]) -> Iterator[While]:
        """A loop with a condition; ``carry`` is what its test is given first."""
        initial = [value.value for value in carry]
        operation = emit(self._context, "scf.while", initial, [], regions=2)
        types = [value.type for value in initial]
        ir.Block.create_at_start(operation.regions[0], types, [here(self._context)] * len(types))
        loop = While(operation)
        yield loop
        loop._close()

    @contextlib.contextmanager
    def parallel(self, lower: int | Index, upper: int | Index, step: int | Index = 1) -> Iterator[Index]:
        """A loop whose iterations the programmer claims to be independent (``scf.parallel``)."""
        operands = [self._value(bound) for bound in (lower, upper, step)]
        segments = {SEGMENT_SIZES: ir.DenseI32ArrayAttr.get([1, 1, 1, 0], self._context)}
        operation = emit(self._context, "scf.parallel", operands, [], segments, regions=1)
        block = ir.Block.create_at_start(operation.regions[0], [ir.IndexType.get(self._context)], [here(self._context)])
        with ir.InsertionPoint(block):
            yield Index(block.arguments[0])
            self._end((), "scf.reduce")

    @contextlib.contextmanager
    def forall(self, size: int) -> Iterator[Forall]:
        """A parallel loop over ``0 … size - 1`` that collects the id of a task of each iteration (``scf.forall``)."""
        initial = self.id_tensor(size)
        arrays = {"staticLowerBound": [0], "staticUpperBound": [size], "staticStep": [1]}
        attributes: dict[str, Any] = {k: ir.DenseI64ArrayAttr.get(v, self._context) for k, v in arrays.items()}
        attributes[SEGMENT_SIZES] = ir.DenseI32ArrayAttr.get([0, 0, 0, 1], self._context)
        type_ = initial.value.type
        operation = emit(self._context, "scf.forall", [initial.value], [type_], attributes, regions=1)
        location = here(self._context)
        block = ir.Block.create_at_start(
            operation.regions[0], [ir.IndexType.get(self._context), type_], [location, location]
        )
        loop = Forall(Index(block.arguments[0]))
        with ir.InsertionPoint(block):
            yield loop
            one = self.ids(loop._collected if loop._collected is not None else self.no_task())
            end = emit(self._context, "scf.forall.in_parallel", [], [], regions=1)
        with ir.InsertionPoint(end.regions[0].blocks.append()):
            arrays = {"static_offsets": [DYNAMIC], "static_sizes": [1], "static_strides": [1]}
            attributes = {k: ir.DenseI64ArrayAttr.get(v, self._context) for k, v in arrays.items()}
            attributes[SEGMENT_SIZES] = ir.DenseI32ArrayAttr.get([1, 1, 1, 0, 0], self._context)
            operands = [one.value, block.arguments[1], block.arguments[0]]
            emit(self._context, "tensor.parallel_insert_slice", operands, [], attributes)
        loop.collected = IdTensor(operation.results[0])

    @contextlib.contextmanager
    def if_(self, condition: Condition) -> Iterator[Branch]:
        """A branch; write its sides in ``with`` blocks of :meth:`Branch.then` and :meth:`Branch.otherwise`."""
        operation = emit(self._context, "scf.if", [condition.value], [], regions=2)
        branch = Branch(operation)
        yield branch
        branch._close()
