"""Storage lineage: which roots, and which elements of them, each value of a function may denote."""

from __future__ import annotations

from dataclasses import dataclass, field

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import is_storage, walk
from neuron_ctrldep.task.flow import Body, Construct, Flow, PlainOp, TaskNode
from neuron_ctrldep.task.indices import IndexValues
from neuron_ctrldep.task.regions import Region
from neuron_ctrldep.task.storage import Root, RootTable, Storage, Unsupported, View
from neuron_ctrldep.task.views import Views

_ALLOCATIONS = frozenset({"memref.alloc", "memref.alloca", "tensor.empty"})
_CALLS = frozenset({"func.call", "func.call_indirect"})
_HARMLESS = frozenset({"memref.dim", "tensor.dim", "memref.rank", "tensor.rank", "memref.assume_alignment"})
"""Ops that look at a value, not at its elements."""


@dataclass(frozen=True, slots=True)
class Touch:
    """An access by the orchestrator itself, or by something the analyses do not know."""

    op: ir.Operation
    body: Body
    storage: Storage
    submits: bool
    """Whether it may submit tasks, rather than read or write by itself."""


@dataclass
class Lineage:
    """The result of :func:`trace`."""

    roots: RootTable
    indices: IndexValues = field(default_factory=IndexValues)
    storage: dict[ir.Value, Storage] = field(default_factory=dict)
    touches: dict[ir.Operation, list[Touch]] = field(default_factory=dict)

    def of(self, value: ir.Value) -> Storage:
        """What ``value`` may denote."""
        found = self.storage.get(value)
        return found if found is not None else Unsupported("what it denotes is not known")

    def regions(self, storage: tuple[View, ...]) -> list[tuple[Root, Region]]:
        """The region in each root."""
        return [(view.root, self.roots.region(view)) for view in storage]


def trace(flow: Flow, *, may_alias_args: bool = False) -> Lineage:
    """Trace all storage of ``flow``.

    Args:
        flow: the function.
        may_alias_args: whether different parameters of the function may overlap.
    """
    tracer = _Tracer(flow, Lineage(RootTable(may_alias_args)))
    tracer.run()
    return tracer.lineage


class _Tracer:
    def __init__(self, flow: Flow, lineage: Lineage) -> None:
        self.flow = flow
        self.lineage = lineage
        self.roots = lineage.roots
        self.env = lineage.storage
        self.indices = lineage.indices
        self.views = Views(self.roots, self.indices)

    def run(self) -> None:
        for position, value in enumerate(self.flow.top.arguments):
            if is_storage(value.type):
                self.env[value] = (self.roots.add(value, parameter=position),)
        self._bind_indices(self.flow.top)
        self._body(self.flow.top)

    def _bind_indices(self, top: Body) -> None:
        stack = [top]
        while stack:
            for item in stack.pop().items:
                if isinstance(item, Construct):
                    if item.has_plain_indices and item.indices:
                        for value, index in zip(item.bodies[0].arguments, item.indices, strict=False):
                            self.indices.bind(value, index)
                    stack += item.bodies

    # --- bodies ---

    def _body(self, body: Body) -> None:
        for item in body.items:
            if isinstance(item, TaskNode):
                self._task(item)
            elif isinstance(item, Construct):
                self._construct(item)
            else:
                self._plain(item)

    def _task(self, task: TaskNode) -> None:
        if not task.kernel.aliases:
            return
        args = task.args
        for result, alias in zip(task.op.results, task.kernel.aliases, strict=False):
            if alias is not None and 0 <= alias < len(args):
                self.env[result] = self.lineage.of(args[alias])
            elif is_storage(result.type):
                self.env[result] = Unsupported(f"a result of @{task.kernel.name} that is none of its parameters")

    # --- control flow ---

    def _construct(self, construct: Construct) -> None:
        if construct.kind == "branch":
            self._branch(construct)
        elif construct.kind == "for":
            self._loop(construct)
        elif construct.kind == "while":
            self._while(construct)
        else:
            self._parallel(construct)

    def _branch(self, construct: Construct) -> None:
        for body in construct.bodies:
            self._body(body)
        for position, result in enumerate(construct.op.results):
            if is_storage(result.type):
                self._set(result, [self.lineage.of(body.returned[position]) for body in construct.bodies])

    def _loop(self, construct: Construct) -> None:
        body = construct.bodies[0]
        initial = list(construct.op.operands)[3:]
        carried = [
            (value, body.arguments[position + 1], body.returned[position], construct.op.results[position])
            for position, value in enumerate(initial)
            if is_storage(value.type)
        ]
        for value, argument, _, _ in carried:
            self._set(argument, [self.lineage.of(value), *self._known(argument)])
        changed = True
        while changed:
            self._body(body)
            changed = False
            for _, argument, yielded, _ in carried:
                before = self.env[argument]
                after = self._set(argument, [before, _freed(self.lineage.of(yielded), construct)])
                changed |= before != after
        for value, _, yielded, result in carried:
            self._set(result, [self.lineage.of(value), _freed(self.lineage.of(yielded), construct)])

    def _while(self, construct: Construct) -> None:
        before, after = construct.bodies
        initial = list(construct.op.operands)
        for value, argument in zip(initial, before.arguments, strict=True):
            if is_storage(value.type):
                self._set(argument, [self.lineage.of(value), *self._known(argument)])
        changed = True
        while changed:
            self._body(before)
            for value, argument, result in zip(before.returned, after.arguments, construct.op.results, strict=True):
                if is_storage(value.type):
                    self._set(argument, [self.lineage.of(value)])
                    self._set(result, [self.lineage.of(value)])
            self._body(after)
            changed = False
            for value, argument in zip(after.returned, before.arguments, strict=True):
                if is_storage(value.type):
                    old = self.env[argument]
                    changed |= old != self._set(argument, [old, self.lineage.of(value)])

    def _parallel(self, construct: Construct) -> None:
        body = construct.bodies[0]
        op = construct.op
        if op.name == "scf.forall":
            shared = body.arguments[len(construct.indices) :]
            outputs = list(op.operands)[len(op.operands) - len(shared) :]
            for argument, output in zip(shared, outputs, strict=True):
                if is_storage(output.type):
                    self._set(argument, [self.lineage.of(output)])
        self._body(body)
        if op.name == "scf.parallel":
            for result in op.results:
                if is_storage(result.type):
                    self.env[result] = Unsupported("a reduction of storage")
            return
        results: list[Storage] = [self.lineage.of(output) for output in outputs]
        for insert in _inserts(body):
            source, destination = insert.operands[0], insert.operands[1]
            if not is_storage(source.type):
                continue
            copied = self._insert(insert, body)
            if isinstance(copied, Unsupported) and destination in shared:
                results[shared.index(destination)] = copied
        for result, storage in zip(op.results, results, strict=True):
            if is_storage(result.type):
                self._set(result, [storage])

    def _known(self, value: ir.Value) -> list[Storage]:
        found = self.env.get(value)
        return [found] if found is not None else []

    def _set(self, value: ir.Value, alternatives: list[Storage]) -> Storage:
        """Let ``value`` denote any of ``alternatives``; allocations among them may leave the body they are made in."""
        united = alternatives[0]
        for other in alternatives[1:]:
            united = self.roots.unite(united, other)
        if not isinstance(united, Unsupported):
            for view in united:
                view.root.escapes = view.root.escapes or view.root.home is not None
        self.env[value] = united
        return united

    # --- ops ---

    def _plain(self, item: PlainOp) -> None:
        op, name = item.op, item.name
        if name in self.views:
            source = op.operands[0]
            if is_storage(source.type):
                self.env[op.results[0]] = self._view(op, self.lineage.of(source))
        elif name in _ALLOCATIONS:
            if is_storage(op.results[0].type) and op.results[0] not in self.env:
                self.env[op.results[0]] = (self.roots.add(op.results[0], home=item.body),)
        elif name == "arith.select":
            if is_storage(op.results[0].type):
                choices = [self.lineage.of(op.operands[1]), self.lineage.of(op.operands[2])]
                self.env[op.results[0]] = self.roots.unite(*choices)
        elif name == "tensor.insert_slice":
            if is_storage(op.results[0].type):
                self.env[op.results[0]] = self._insert(op, item.body)
        elif name not in _HARMLESS:
            self._unknown(item)

    def _view(self, op: ir.Operation, source: Storage) -> Storage:
        if isinstance(source, Unsupported):
            return source
        return tuple(self.views.apply(op, view) for view in source)

    def _insert(self, op: ir.Operation, body: Body) -> Storage:
        """What an insertion denotes: its destination, if its source lies there already."""
        source, destination = self.lineage.of(op.operands[0]), self.lineage.of(op.operands[1])
        if isinstance(source, Unsupported) or isinstance(destination, Unsupported):
            self._touch(op, body, [source, destination])
            return source if isinstance(source, Unsupported) else destination
        if self._cut_from_destination(op):
            return destination
        if len(source) == len(destination) == 1:
            window = self.views.destination(op, destination[0])
            if (
                source[0].root is window.root
                and not source[0].runtime
                and not window.runtime
                and not any(source[0].blur)
                and not any(window.blur)
                and source[0].base == window.base
                and _steps(source[0]) == _steps(window)
            ):
                return destination
        self._touch(op, body, [source, destination])
        return Unsupported("an insertion of a slice that does not lie in its destination yet, which is a copy")

    def _cut_from_destination(self, op: ir.Operation) -> bool:
        """Whether the source is, by name, the very slice of the destination that it is inserted as."""
        value = op.operands[0]
        while isinstance(value, ir.OpResult):
            owner = value.owner.operation
            if owner.name != "tensor.extract_slice":
                task = self.flow.module.task(owner)
                aliases = self.flow.module.kernel(task).aliases if task is not None else ()
                alias = aliases[value.result_number] if value.result_number < len(aliases) else None
                if task is None or alias is None:
                    return False
                value = task.args[alias]
                continue
            names = ("static_offsets", "static_sizes", "static_strides")
            return (
                self.lineage.of(owner.operands[0]) == self.lineage.of(op.operands[1])
                and list(owner.operands)[1:] == list(op.operands)[2:]
                and all(owner.attributes[name] == op.attributes[name] for name in names)
            )
        return False

    def _unknown(self, item: PlainOp) -> None:
        op = item.op
        for result in op.results:
            if is_storage(result.type):
                self.env[result] = Unsupported(f"'{item.name}' is no view the analysis understands")
        touched = [self.lineage.of(value) for value in op.operands if is_storage(value.type)]
        if len(op.regions):
            used = dict.fromkeys(value for inner in walk(op) for value in inner.operands if is_storage(value.type))
            touched += [self.lineage.of(value) for value in used]
        submits = item.holds_tasks or (item.name in _CALLS and bool(touched))
        if not touched and (submits or self._may_submit(op)):
            # On storage of its own, at least; but in a MANUAL scope its tasks would be untracked.
            submits, touched = True, [Unsupported("what the tasks of another function access")]
        if touched:
            self._touch(op, item.body, touched, submits=submits)

    def _may_submit(self, op: ir.Operation) -> bool:
        if op.name == "func.call":
            return self.flow.module.may_submit([op.attributes["callee"].value])
        return op.name == "func.call_indirect"

    def _touch(self, op: ir.Operation, body: Body, storage: list[Storage], *, submits: bool = False) -> None:
        self.lineage.touches[op] = [Touch(op, body, found, submits) for found in storage]


def _freed(storage: Storage, construct: Construct) -> Storage:
    if isinstance(storage, Unsupported) or not construct.indices:
        return storage
    return tuple(view.freed(construct.indices) for view in storage)


def _steps(view: View) -> list[tuple[int, int | None, int | None]]:
    return [(dim.axis, dim.multiplier, dim.size) for dim in view.dims if dim.size != 1]


def _inserts(body: Body) -> list[ir.Operation]:
    terminator = body.terminator
    if terminator is None or terminator.name != "scf.forall.in_parallel":
        return []
    return [op.operation for op in terminator.regions[0].blocks[0].operations]
