"""The task dialect: its ops, types and attributes, as definitions that are typed views at the same time.

Definitions stand here once. They drive the verifier (:mod:`~neuron_ctrldep.task.verify`) and the IRDL file
(:mod:`~neuron_ctrldep.task.irdl`). Views of the functions, scopes and modules around the ops:
:mod:`~neuron_ctrldep.task.program`. What each word means: ``dialects/README.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.constraints import (
    AnyType,
    FlatSymbol,
    Slots,
    TaskIdOrTensor,
    TaskIdType,
    Text,
    TextArray,
    Unit,
)
from neuron_ctrldep.task.ext import Attr, OpDefinition, Operands, Results

# --- names ------------------------------------------------------------------------------------------------------------

KIND = "task.kind"
"""On a function: ``"kernel"`` or ``"orchestration"``."""
DIRECTION = "task.direction"
"""On a parameter: ``"in"``, ``"out"`` or ``"inout"``."""
ALIASES = "task.aliases"
"""On a result of a kernel: the index of the parameter it hands back."""
GROUP = "task.group"
"""Unit attribute of a kernel that only forwards its parameters to other kernels."""
AUTO_SCOPE = "task.auto_scope"
"""Bool on an orchestration function: scopes are still to be placed by the compiler (the default)."""
SCOPE = "task.scope"
"""On a ``scf.execute_region``: ``"auto"`` or ``"manual"``."""
OWNER = "task.owner"
"""On a scope: ``"compiler"`` when a pass made it."""
NAME = "task.name"
"""On a task: its name."""

AUTO_MANUAL = "task.auto_manual"
"""Mark of ``auto-derive-task-dependencies`` for ``materialize-runtime-scopes``: every hazard here is explicit.

A unit attribute on the function (its whole body) and on a loop (its body); on an op with several branches (``scf.if``,
``scf.index_switch``) ``array<i1: …>``, one entry per region.
"""
FALLBACK = "task.fallback"
"""String on a scope, or on the function for its virtual region: why ``auto-derive-task-dependencies`` left it AUTO."""

Direction = Literal["in", "out", "inout"]
"""What a kernel does with a parameter."""
ScopeMode = Literal["auto", "manual"]

DIRECTIONS: tuple[Direction, ...] = ("in", "out", "inout")
"""From the least to the greatest: effective directions of wrappers are joined in this order."""

SCALAR, INPUT, OUTPUT, INOUT = "Scalar", "Input", "Output", "InOut"
OUTPUT_EXISTING, NO_DEP = "OutputExisting", "NoDep"
ARG_DIRECTIONS = (SCALAR, INPUT, OUTPUT, INOUT, OUTPUT_EXISTING, NO_DEP)
"""What a call site may say of an argument."""
LEGAL_ARG_DIRECTIONS: dict[Direction, tuple[str, ...]] = {
    "in": (INPUT, NO_DEP),
    "inout": (INOUT, OUTPUT_EXISTING, NO_DEP),
    "out": (OUTPUT, OUTPUT_EXISTING, INOUT, NO_DEP),
}
"""Which of them fit a storage parameter of each direction; an argument that is not storage is :data:`SCALAR`."""

HAZARDS = ("raw", "war", "waw")
"""The hazards an edge may stand for; an entry of ``compiler_dep_hazards`` joins them with ``+`` in this order."""

SEQUENTIAL_LOOPS = frozenset({"scf.for", "scf.while"})
PARALLEL_LOOPS = frozenset({"scf.parallel", "scf.forall"})
LOOPS = SEQUENTIAL_LOOPS | PARALLEL_LOOPS
BRANCHES = frozenset({"scf.if", "scf.index_switch"})


# --- types ------------------------------------------------------------------------------------------------------------


def task_id_type(context: ir.Context) -> ir.Type:
    """``!task.id``."""
    return ir.OpaqueType.get("task", "id", context)


def is_task_id(type_: ir.Type) -> bool:
    """Whether ``type_`` is ``!task.id``."""
    return TaskIdType().accepts(type_)


def is_id_tensor(type_: ir.Type) -> bool:
    """Whether ``type_`` is ``tensor<N x !task.id>``."""
    return isinstance(type_, ir.RankedTensorType) and TaskIdOrTensor().accepts(type_)


def is_storage(type_: ir.Type) -> bool:
    """Whether a value of ``type_`` denotes storage: a tensor or memref of anything but task ids."""
    if isinstance(type_, ir.RankedTensorType | ir.UnrankedTensorType):
        return not is_task_id(type_.element_type)
    return isinstance(type_, ir.MemRefType | ir.UnrankedMemRefType)


# --- ops --------------------------------------------------------------------------------------------------------------


class Task(OpDefinition):
    """What a submit and a plain call to a kernel have in common."""

    callee: Annotated[str, Attr(FlatSymbol())]
    arg_directions: Annotated[tuple[str, ...] | None, Attr(TextArray(ARG_DIRECTIONS), optional=True)]
    arg_direction_overrides: Annotated[tuple[int, ...] | None, Attr(Slots(), optional=True)]
    allow_early_resolve: Annotated[bool, Attr(Unit(), optional=True)]
    name: Annotated[str | None, Attr(Text(), optional=True, key=NAME)]

    @property
    def args(self) -> list[ir.Value]:
        """The arguments of the kernel."""
        raise NotImplementedError

    @property
    def outputs(self) -> list[ir.Value]:
        """The results of the kernel."""
        raise NotImplementedError

    @property
    def deps(self) -> list[ir.Value]:
        """The ids and id tensors the user made it wait for."""
        return []

    @property
    def compiler_deps(self) -> list[ir.Value]:
        """The ids and id tensors a pass made it wait for."""
        return []

    @property
    def compiler_dep_hazards(self) -> tuple[str, ...] | None:
        """The hazards of each of ``compiler_deps``, such as ``"war+waw"``."""
        return None

    @property
    def id(self) -> ir.Value | None:
        """The task id it yields; ``None`` for a plain call."""
        return None

    # The hash of an operation is MLIR's, over operands and attributes: it changes when they do. So no task, nor any
    # operation, may be a key of a set or dictionary that is in use while that operation is rewritten.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and self.operation == other.operation

    def __hash__(self) -> int:
        return hash(self.operation)


class Submit(Task, name="task.submit"):
    """``task.submit``: run a kernel once; yields its results and the id of the run."""

    args: Annotated[list[ir.Value], Operands(AnyType())]
    deps: Annotated[list[ir.Value], Operands(TaskIdOrTensor())]
    compiler_deps: Annotated[list[ir.Value], Operands(TaskIdOrTensor())]
    outputs: Annotated[list[ir.Value], Results(AnyType())]
    id: Annotated[ir.Value, Results(TaskIdType(), variadic=False)]
    compiler_dep_hazards: Annotated[tuple[str, ...] | None, Attr(TextArray(), optional=True)]

    def rebuild(
        self,
        *,
        args: Sequence[ir.Value] | None = None,
        deps: Sequence[ir.Value] | None = None,
        compiler_deps: Sequence[ir.Value] | None = None,
        hazards: Sequence[str] | None = None,
    ) -> Submit:
        """Replace the op by one with other operands; attributes, location and uses are kept; ``self`` is dead then.

        Args:
            args: the new arguments; as before by default.
            deps: the new user edges; as before by default.
            compiler_deps: the new compiler edges; as before by default.
            hazards: what ``compiler_dep_hazards`` shall be, aligned with ``compiler_deps``; dropped when new compiler
                edges come without it.
        """
        old = self.operation
        attributes = {entry: old.attributes[entry] for entry in attribute_names(old)}
        new = Submit.create(
            {
                "args": self.args if args is None else args,
                "deps": self.deps if deps is None else deps,
                "compiler_deps": self.compiler_deps if compiler_deps is None else compiler_deps,
            },
            [result.type for result in old.results],
            attributes,
            location=old.location,
            ip=ir.InsertionPoint(old),
        )
        if compiler_deps is not None or hazards is not None:
            new.compiler_dep_hazards = tuple(hazards) if hazards else None
        replace_op(old, list(new.operation.results))
        return new


class Barrier(OpDefinition, name="task.barrier"):
    """``task.barrier``: an id that is complete when all the given ones are."""

    ids: Annotated[list[ir.Value], Operands(TaskIdOrTensor())]
    id: Annotated[ir.Value, Results(TaskIdType(), variadic=False)]

    @classmethod
    def build(cls, ids: Sequence[ir.Value], *, location: ir.Location, ip: ir.InsertionPoint | None = None) -> Barrier:
        """Create a barrier of ``ids`` (ids and id tensors)."""
        return cls.create({"ids": ids}, [task_id_type(location.context)], {}, location=location, ip=ip)


class Invalid(OpDefinition, name="task.invalid"):
    """``task.invalid``: the id of no task; always complete."""

    id: Annotated[ir.Value, Results(TaskIdType(), variadic=False)]

    @classmethod
    def build(cls, *, location: ir.Location, ip: ir.InsertionPoint | None = None) -> Invalid:
        """Create the id of no task."""
        return cls.create({}, [task_id_type(location.context)], {}, location=location, ip=ip)


class PlainTask(Task, name="func.call"):
    """A ``func.call`` to a kernel: a task without an id. Whether a call is one, ``TaskModule`` knows."""

    args: Annotated[list[ir.Value], Operands(AnyType())]
    outputs: Annotated[list[ir.Value], Results(AnyType())]

    def to_submit(
        self,
        *,
        deps: Sequence[ir.Value] = (),
        compiler_deps: Sequence[ir.Value] = (),
        hazards: Sequence[str] = (),
    ) -> Submit:
        """Replace the call by a submit; attributes, location and uses are kept. ``self`` is dead afterwards."""
        old = self.operation
        new = Submit.create(
            {"args": self.args, "deps": deps, "compiler_deps": compiler_deps},
            [*(result.type for result in old.results), task_id_type(old.context)],
            {entry: old.attributes[entry] for entry in attribute_names(old)},
            location=old.location,
            ip=ir.InsertionPoint(old),
        )
        if hazards:
            new.compiler_dep_hazards = tuple(hazards)
        replace_op(old, new.outputs)
        return new


OPS: dict[str, type[OpDefinition]] = {op.op_name: op for op in (Submit, Barrier, Invalid)}
"""The ops of the dialect by name."""


# --- helpers ----------------------------------------------------------------------------------------------------------


def attribute_names(op: ir.Operation) -> list[str]:
    """The names in the attribute dictionary; the versions of the bindings differ in what iterating over it yields."""
    return [entry if isinstance(entry, str) else entry.name for entry in op.attributes]


def constant_int(value: ir.Value) -> int | None:
    """The value of an ``arith.constant`` of integer or index type; ``None`` for any other value."""
    if isinstance(value, ir.OpResult) and value.owner.operation.name == "arith.constant":
        attribute = value.owner.operation.attributes["value"]
        if isinstance(attribute, ir.IntegerAttr):
            return attribute.value
    return None


def replace_op(old: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Let ``values`` take over the uses of ``old``'s results, one for one, and erase ``old``."""
    for result, value in zip(list(old.results), values, strict=True):
        result.replace_all_uses_with(value)
    old.erase()


def ops_of(block: ir.Block) -> list[ir.Operation]:
    """The operations of ``block``, as a list that stays valid when the block changes."""
    return [op.operation for op in block.operations]


def terminator_of(region: ir.Region) -> ir.Operation:
    """The terminator of the first block of ``region``, in constant time."""
    return ir.InsertionPoint.at_block_terminator(region.blocks[0]).ref_operation.operation


def walk(root: ir.Operation) -> Iterator[ir.Operation]:
    """All operations below ``root`` in program order, an op before what it holds. ``root`` itself is left out.

    The op last yielded may be replaced or erased, and ops may be inserted before it.
    """
    stack: list[Iterator[Any]] = [iter([op for region in root.regions for block in region for op in ops_of(block)])]
    while stack:
        op = next(stack[-1], None)
        if op is None:
            stack.pop()
            continue
        # Looked at before the caller gets the op: it may be gone afterwards.
        regions = list(op.regions)
        yield op
        if regions:
            stack.append(iter([inner for region in regions for block in region for inner in ops_of(block)]))
