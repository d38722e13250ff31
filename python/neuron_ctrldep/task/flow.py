"""An orchestration function as the analyses see it: tasks and structured control flow, in program order.

The bindings make a new Python object for each look at an op. So the function is read once into this tree, and the
analyses run on it; only the rewrite goes back to the ops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from neuron_ctrldep.errors import Diagnostic, PassError
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.dialect import walk
from neuron_ctrldep.task.loops import dimensions
from neuron_ctrldep.task.program import Kernel, Orchestration, Scope, TaskModule
from neuron_ctrldep.task.regions import LoopIndex

if TYPE_CHECKING:
    from neuron_ctrldep.task.accesses import Accesses

ConstructKind = Literal["branch", "for", "while", "parallel"]

_KINDS: dict[str, ConstructKind] = {
    "scf.if": "branch",
    "scf.index_switch": "branch",
    "scf.execute_region": "branch",
    "scf.for": "for",
    "scf.while": "while",
    "scf.parallel": "parallel",
    "scf.forall": "parallel",
}


@dataclass(eq=False)
class AnalysisRegion:
    """An AUTO scope, or the virtual region of a function; see section 4 of the specification."""

    op: ir.Operation
    """The scope, or the function."""
    parent: AnalysisRegion | None
    fallback: str | None = None
    """Why it is left to the run time."""
    touched: bool = False
    """Whether the orchestrator itself reads or copies storage in it."""

    @property
    def is_analyzed(self) -> bool:
        """Whether neither it nor a region around it fell back."""
        region: AnalysisRegion | None = self
        while region is not None:
            if region.fallback is not None:
                return False
            region = region.parent
        return True


@dataclass(eq=False, slots=True)
class TaskNode:
    """A submit, or a plain call to a kernel."""

    op: ir.Operation
    kernel: Kernel
    body: Body
    is_submit: bool
    segments: tuple[int, int, int]
    """How many arguments, dependencies of the user's and of the compiler's it has."""
    directions: tuple[str, ...] = ()
    is_analyzed: bool = False
    """Whether edges may be made to it and from it."""
    accesses: Accesses | None = None
    """What it does to storage, once that was read."""

    # Read anew each time: to hold a value for each argument of each task takes longer than to ask twice.

    @property
    def args(self) -> list[ir.Value]:
        """The arguments for the kernel."""
        operands = list(self.op.operands)
        return operands[: self.segments[0]] if self.is_submit else operands

    @property
    def deps(self) -> list[ir.Value]:
        """What it waits for already: the user's edges and those an earlier pass made."""
        args, user, compiler = self.segments
        return list(self.op.operands)[args:] if user or compiler else []


@dataclass(eq=False, slots=True)
class PlainOp:
    """An op that is no task but may make, view or touch storage, or handle ids."""

    op: ir.Operation
    name: str
    body: Body
    holds_tasks: bool = False
    """Whether it is an op the analyses do not know that has tasks inside."""


@dataclass(eq=False)
class Construct:
    """An ``scf`` op with bodies."""

    op: ir.Operation
    kind: ConstructKind
    parent: Body
    indices: tuple[LoopIndex, ...] = ()
    bodies: list[Body] = field(default_factory=list)
    holds_scope: bool = False
    """Whether a hand-placed scope lies in it (or it is one)."""
    condition: ir.Value | None = None
    """What ``scf.if`` decides by."""
    ranges: tuple[tuple[object, ...], ...] = ()
    """The bounds and steps of a loop, to compare: constants, or values, and how they are compared."""
    has_plain_indices: bool = True
    """Whether its induction variables take the values that ``indices`` say, and not those modulo a power of two."""

    @cached_property
    def runs_at_least_once(self) -> bool:
        """Whether it is known before run time that its body runs."""
        if self.kind == "branch":
            return True
        return bool(self.indices) and all(index.trips is not None and index.trips > 0 for index in self.indices)

    @cached_property
    def never_runs(self) -> bool:
        """Whether it is known before run time that its body does not run."""
        return any(index.trips == 0 for index in self.indices)

    @cached_property
    def runs_at_most_once(self) -> bool:
        """Whether it is known before run time that its body runs no second time."""
        return bool(self.indices) and all(index.trips is not None and index.trips <= 1 for index in self.indices)


Item = TaskNode | PlainOp | Construct


@dataclass(eq=False)
class Body:
    """The block of a construct, or of the function."""

    block: ir.Block
    owner: Construct | None
    region: AnalysisRegion | None
    """The region of analysis it lies in; ``None`` in MANUAL scopes and outside all regions."""
    items: list[Item] = field(default_factory=list)
    arguments: list[ir.Value] = field(default_factory=list)
    terminator: ir.Operation | None = None
    returned: list[ir.Value] = field(default_factory=list)
    """What the terminator hands on."""
    holds_tasks: bool = False

    @property
    def position(self) -> int:
        """Which body of its construct it is."""
        return self.owner.bodies.index(self) if self.owner is not None else 0


class Flow:
    """The tree of one orchestration function.

    Raises:
        PassError: it has control flow that is not structured around tasks.
    """

    def __init__(self, function: Orchestration, module: TaskModule) -> None:
        self.function = function
        self.module = module
        self.tasks: list[TaskNode] = []
        """All tasks, in program order."""
        self.regions: list[AnalysisRegion] = []
        """All regions of analysis, an outer one before the inner ones."""
        self.holds_scope = False
        """Whether there is a hand-placed scope."""
        self.calls: dict[str, None] = {}
        """The functions it calls that are no kernels."""
        self._indices = 0
        self._kernels: dict[ir.Attribute, Kernel | None] = {}
        self._segments: dict[ir.Attribute, tuple[int, int, int]] = {}
        self._directions: dict[ir.Attribute, tuple[str, ...]] = {}
        top = AnalysisRegion(function.operation, None) if function.auto_scope else None
        if top is not None:
            self.regions.append(top)
        self.top = Body(self._single_block(function.operation, 0), None, top)
        self._read(self.top)

    def release(self) -> None:
        """Let go of everything. Tasks and bodies know each other: else only the garbage collector could tell."""
        stack = [self.top]
        while stack:
            body = stack.pop()
            for item in body.items:
                if isinstance(item, Construct):
                    stack += item.bodies
            body.items.clear()
        self.tasks.clear()

    def _single_block(self, op: ir.Operation, region: int) -> ir.Block:
        blocks = list(op.regions[region].blocks)
        if len(blocks) != 1:
            raise PassError(
                diagnostics=[
                    Diagnostic(
                        "error",
                        f"'{op.name}' op has several blocks; an orchestration function is written with structured "
                        "control flow (scf) only",
                        source_location(op.location),
                    )
                ]
            )
        return blocks[0]

    def _read(self, top: Body) -> None:
        # Depth first without recursion: bodies may be nested up to the limit of MLIR itself.
        (ops_of_top,) = _ops_by_block(self.function.operation, 1)
        stack: list[tuple[Body, list[ir.Operation], int]] = [(top, ops_of_top, 0)]
        top.arguments = list(top.block.arguments)
        while stack:
            body, ops, position = stack.pop()
            while position < len(ops):
                op = ops[position]
                position += 1
                name = op.name
                if name == "task.submit" or name == "func.call":
                    item = self._task(op, name, body)
                    if item is not None:
                        body.items.append(item)
                        continue
                kind = _KINDS.get(name)
                if kind is not None:
                    construct = self._construct(op, name, kind, body)
                    body.items.append(construct)
                    stack.append((body, ops, position))
                    lists = _ops_by_block(op, len(construct.bodies))
                    stack += [(b, o, 0) for b, o in zip(reversed(construct.bodies), reversed(lists), strict=True)]
                    break
                if position == len(ops):
                    body.terminator = op
                    operands = list(op.operands)
                    body.returned = operands[1:] if name == "scf.condition" else operands
                    if self._holds_tasks(op):  # where a reduction says how to combine
                        body.items.append(PlainOp(op, name, body, True))
                elif not name.startswith("arith.") or name == "arith.select":
                    body.items.append(PlainOp(op, name, body, self._holds_tasks(op)))
                    if name == "func.call":
                        self.calls[op.attributes["callee"].value] = None

    def _holds_tasks(self, op: ir.Operation) -> bool:
        """Whether an op that is not looked into has tasks inside."""
        if not len(op.regions):
            return False
        calls = self.module.calls(op)
        self.calls.update(dict.fromkeys(calls))
        return self.module.may_submit(calls) or any(self.module.task(inner) is not None for inner in walk(op))

    def _task(self, op: ir.Operation, name: str, body: Body) -> TaskNode | None:
        attributes = op.attributes
        # Attributes are shared between ops: each is taken apart once.
        callee = attributes["callee"]
        try:
            kernel = self._kernels[callee]
        except KeyError:
            kernel = self._kernels[callee] = self.module.kernels.get(callee.value)
        if kernel is None:
            return None
        if name == "task.submit":
            sizes = attributes[SEGMENT_SIZES]
            segments = self._segments.get(sizes)
            if segments is None:
                args, deps, compiler_deps = sizes
                segments = self._segments[sizes] = (args, deps, compiler_deps)
            node = TaskNode(op, kernel, body, True, segments)
        else:
            node = TaskNode(op, kernel, body, False, (len(kernel.parameter_types), 0, 0))
        given = attributes.get("arg_directions")
        if given is not None:
            directions = self._directions.get(given)
            if directions is None:
                directions = self._directions[given] = tuple(entry.value for entry in given)
            node.directions = directions
        self.tasks.append(node)
        holder: Body | None = body
        while holder is not None and not holder.holds_tasks:
            holder.holds_tasks = True
            holder = holder.owner.parent if holder.owner is not None else None
        return node

    def _construct(self, op: ir.Operation, name: str, kind: ConstructKind, parent: Body) -> Construct:
        construct = Construct(op, kind, parent)
        if name == "scf.if":
            construct.condition = op.operands[0]
        region = parent.region
        scope = Scope.of(op) if name == "scf.execute_region" else None
        if scope is not None:
            self.holds_scope = True
            holder: Construct | None = construct
            while holder is not None and not holder.holds_scope:
                holder.holds_scope = True
                holder = holder.parent.owner
            if scope.mode == "manual":
                region = None
            else:
                region = AnalysisRegion(op, parent.region)
                self.regions.append(region)
        if kind in ("for", "parallel"):
            indices = []
            found = dimensions(op)
            construct.ranges = tuple(
                (
                    *(b.value if b.constant is None else b.constant for b in (d.lower, d.upper, d.step)),
                    "unsigned" if d.is_unsigned else "signed",
                )
                for d in found
            )
            for dimension in found:
                lower, step = dimension.lower.constant, dimension.step.constant
                indices.append(LoopIndex(self._indices, lower, step, dimension.trip_count))
                self._indices += 1
            construct.indices = tuple(indices)
            construct.has_plain_indices = all(dimension.is_plain for dimension in found)
        for number in range(len(op.regions)):
            if name == "scf.if" and not len(op.regions[number].blocks):
                continue  # no else branch
            block = self._single_block(op, number)
            body = Body(block, construct, region)
            body.arguments = list(block.arguments)
            construct.bodies.append(body)
        return construct


_TERMINATORS = frozenset({"func.return", "scf.yield", "scf.condition", "scf.reduce", "scf.forall.in_parallel"})


def _ops_by_block(op: ir.Operation, blocks: int) -> list[list[ir.Operation]]:
    """The ops of each block of ``op``, a function or an ``scf`` op.

    To iterate over a block takes the bindings some 14 µs for each op, for a typed view that nobody needs; to walk takes
    less than one. Blocks are told apart by their terminators, which stand nowhere else.
    """
    found: list[list[ir.Operation]] = [[]]
    inside = False

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal inside
        if not inside:
            inside = True
            return ir.WalkResult.ADVANCE
        found[-1].append(inner)
        if inner.name in _TERMINATORS:
            found.append([])
        return ir.WalkResult.SKIP

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    found.pop()
    assert len(found) == blocks
    return found
