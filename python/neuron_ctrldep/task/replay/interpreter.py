"""The interpreter: one way through an orchestration function, on the run-time model of ``task.md`` section 1."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task import dialect
from neuron_ctrldep.task.dialect import Task, is_id_tensor, is_storage, is_task_id
from neuron_ctrldep.task.program import TaskModule
from neuron_ctrldep.task.replay.control_flow import CONTROL_FLOW
from neuron_ctrldep.task.replay.handlers import VALUES, Unsupported, anything, is_open, mask_of, slots_of
from neuron_ctrldep.task.replay.model import Access, Instance, Run, Step
from neuron_ctrldep.task.replay.numbers import ARITHMETIC, Arithmetic, Free, Number
from neuron_ctrldep.task.replay.storage import Root, View, beyond, dense, extent, item_size

Choose: TypeAlias = Callable[[int], int]
"""Decides between that many ways to go on."""


def run(
    module: TaskModule,
    function: str,
    *,
    choose: Choose,
    trips: Sequence[int],
    tracking: bool = True,
    correlated: bool = True,
    limit: int = 20_000,
) -> Run:
    """Replay one way through an orchestration function.

    Args:
        module: what holds it.
        function: its symbol.
        choose: decides conditions and counts that are not known: branches, run-time loops, arguments.
        trips: the numbers that run-time loops and integer arguments are tried with.
        tracking: whether the run time looks up writers for AUTO tasks; without it only explicit dependencies order.
        correlated: whether two branches on one argument go the same way, and two loops up to one argument run as often.
            Without it each decides anew: what a reader of the program alone can rely on.
        limit: the most instances that one run may have.

    Raises:
        Unsupported: control flow other than ``scf`` and ``func``.
    """
    interpreter = Interpreter(module, choose, tuple(trips), tracking, correlated, limit)
    interpreter.call(module.functions[function], None)
    return interpreter.result


class Interpreter:
    """The state of one run. The handlers of ops work on it."""

    def __init__(
        self,
        module: TaskModule,
        choose: Choose,
        trips: tuple[int, ...],
        tracking: bool,
        correlated: bool,
        limit: int,
    ) -> None:
        self.result = Run()
        self.module = module
        self.choose = choose
        self.trips = trips
        self._tracking = tracking
        self.is_correlated = correlated
        self._limit = limit
        self._values: dict[ir.Value, Any] = {}
        self.arithmetic = Arithmetic()
        self.roots = 0
        self.globals: dict[str, Root] = {}
        self._executions = 0
        self._steps: tuple[Step, ...] = ()
        self.is_manual = False
        self._writers: list[tuple[Instance, View]] = []
        """What the run time has registered."""

    # --- functions and blocks ---

    def call(self, function: ir.Operation, arguments: Sequence[Any] | None) -> list[Any]:
        """Run a function; without ``arguments`` it gets storage of its own and numbers to try."""
        block = function.regions[0].blocks[0]
        if arguments is None:
            arguments = [self._argument(value, number) for number, value in enumerate(block.arguments)]
        return self.block(block, arguments)

    def _argument(self, value: ir.Value, number: int) -> Any:
        if is_storage(value.type):
            return self.allocate(value.type, (), f"argument {number}")
        if is_id_tensor(value.type):
            return (0,) * slots_of(value.type)
        if is_task_id(value.type):
            return 0
        if isinstance(value.type, ir.IndexType):
            return Free(self.trips[self.choose(len(self.trips))])
        if isinstance(value.type, ir.IntegerType):
            options = (0, 1) if value.type.width == 1 else self.trips
            return Free(options[self.choose(len(options))])
        return None

    def block(self, block: ir.Block, arguments: Sequence[Any]) -> list[Any]:
        """Run a block; the values that its terminator hands on."""
        for argument, value in zip(block.arguments, arguments, strict=True):
            self._values[argument] = value
        for op in block.operations:
            operation = op.operation
            name = operation.name
            if name in TERMINATORS:
                return self.read(operation)
            self._execute(operation, name)
        return []

    def read(self, op: ir.Operation) -> list[Any]:
        """The values of the operands."""
        return [self._values[operand] for operand in op.operands]

    def _execute(self, op: ir.Operation, name: str) -> None:
        task = self.module.task(op)
        if task is not None:
            results = self._submit(task)
        elif name in ARITHMETIC:
            results = [self.arithmetic.compute(name, self.read(op), op.results[0].type)]
        else:
            handler = VALUES.get(name) or CONTROL_FLOW.get(name)
            results = handler(self, op) if handler is not None else self.unknown(op)
        for result, value in zip(op.results, results, strict=True):
            self._values[result] = value

    def unknown(self, op: ir.Operation) -> list[Any]:
        """An op the model says nothing about: numbers nobody knows, storage that could be any."""
        if op.regions and any(self.module.task(inner) is not None for inner in dialect.walk(op)):
            raise Unsupported(f"cannot follow the tasks inside '{op.name}'")
        return [anything(result.type) for result in op.results]

    # --- tasks ---

    def _submit(self, task: Task) -> list[Any]:
        kernel = self.module.kernel(task)
        directions = task.arg_directions
        overrides = set(task.arg_direction_overrides or ())
        explicit = [*task.deps, *task.compiler_deps]
        waits = [mask_of(self._values[dep]) for dep in explicit]
        completed = functools.reduce(operator.or_, waits, 0)
        number = len(self.result.instances)
        if number >= self._limit:
            raise Unsupported(f"more than {self._limit} task instances in one run; try smaller --trip counts")
        values = [self._values[argument] for argument in task.args]
        accesses: list[Access] = []
        registered: list[View] = []
        for slot, value in enumerate(values):
            declared = kernel.directions[slot]
            if not isinstance(value, View) or declared is None:
                continue
            site = directions[slot] if directions else _DEFAULT_DIRECTIONS[declared]
            # A pass writes NoDep only on a task that has explicit edges: without any it is the user's word.
            promised = slot in overrides or (site == dialect.NO_DEP and not explicit)
            accesses.append(Access(slot, value, declared != "out", declared != "in", promised))
            if self.is_manual or not self._tracking or slot in overrides:
                continue
            if site in (dialect.INPUT, dialect.INOUT):
                for writer, view in self._writers:
                    if view.overlaps(value):
                        completed |= writer.completed | 1 << writer.number
            if site in (dialect.INOUT, dialect.OUTPUT, dialect.OUTPUT_EXISTING):
                registered.append(value)
        instance = Instance(number, task, self._steps, accesses, completed, waits, self.is_manual)
        self.result.instances.append(instance)
        self._writers += [(instance, view) for view in registered]
        outputs: list[Any] = [
            values[alias] if alias is not None else anything(result.type)
            for alias, result in zip(kernel.aliases, task.outputs, strict=True)
        ]
        return outputs if task.id is None else [*outputs, completed | 1 << number]

    # --- storage ---

    def allocate(self, type_: Any, sizes: Sequence[Number], name: str) -> View:
        """A new root, as an array of ``type_`` with ``sizes`` for its dynamic dimensions."""
        root = Root(self.roots, name)
        self.roots += 1
        return self.whole(root, type_, sizes)

    @staticmethod
    def whole(root: Root, type_: Any, sizes: Sequence[Number]) -> View:
        """All of ``root`` as an array of ``type_``."""
        if not getattr(type_, "has_rank", False):
            return View.anywhere_in(root)
        shape, item = extent(type_, sizes, beyond(type_)), item_size(type_)
        strides = dense(shape, item)
        offset = 0
        if isinstance(type_, ir.MemRefType):
            found, start = type_.get_strides_and_offset()
            dynamic = ir.MemRefType.get_dynamic_stride_or_offset()
            strides = tuple(s if f == dynamic else f * item for f, s in zip(found, strides, strict=True))
            offset = 0 if start == dynamic else start * item
        return View(root, offset, shape, strides, item)

    # --- control flow ---

    def turn(self, execution: int, iteration: int, block: ir.Block, arguments: Sequence[Any], parallel: bool) -> Any:
        """Run the body of a loop once."""
        around = self._steps
        self._steps = (*around, Step(execution, iteration, parallel))
        try:
            return self.block(block, arguments)
        finally:
            self._steps = around

    def new_execution(self) -> int:
        """A number for one execution of a loop."""
        self._executions += 1
        return self._executions

    def count(self, lower: Number, upper: Number, step: Number) -> int:
        """How often a loop runs; a number to try where the bounds do not say."""
        is_open_bound = any(is_open(self, bound) for bound in (lower, upper, step))
        if lower is None or upper is None or step is None or step < 1 or is_open_bound:
            return self.trips[self.choose(len(self.trips))]
        return max(0, -(-(upper - lower) // step))


TERMINATORS = frozenset(
    {"func.return", "scf.yield", "scf.condition", "scf.reduce", "scf.reduce.return", "scf.forall.in_parallel"}
)

_DEFAULT_DIRECTIONS = {"in": dialect.INPUT, "inout": dialect.INOUT, "out": dialect.OUTPUT_EXISTING}
"""What a call site means before ``derive-call-directions`` ran."""
