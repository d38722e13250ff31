"""The rewrite: added edges become operands, and the ids they need flow through control flow as SSA values.

Only what an edge needs is built. Blocks are moved, never copied, so that ops inside stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES
from neuron_ctrldep.task.decisions import Decisions
from neuron_ctrldep.task.dialect import (
    AUTO_MANUAL,
    BRANCHES,
    Barrier,
    Invalid,
    replace_op,
    task_id_type,
)
from neuron_ctrldep.task.emit_forall import gather_ids
from neuron_ctrldep.task.emit_submit import SubmitWriter, attributes_of
from neuron_ctrldep.task.events import Hazards, TaskHazards
from neuron_ctrldep.task.flow import Body, Construct, Flow, TaskNode
from neuron_ctrldep.task.ids import (
    Choice,
    Collected,
    Fence,
    Final,
    Handed,
    Id,
    Join,
    Leaf,
    NoTask,
    Phi,
    flatten,
    resolve,
)


def emit(flow: Flow, hazards: Hazards, decisions: Decisions) -> None:
    """Rewrite the function of ``flow``.

    ``flow`` and ``hazards`` are used up: what belongs to a task is let go as soon as the task is rewritten, while it is
    still in the processor's caches.

    Args:
        flow: the function.
        hazards: its tasks with the edges to add and the directions to write.
        decisions: what may become MANUAL.
    """
    _Emitter(flow, hazards, decisions).run()


class _Emitter:
    def __init__(self, flow: Flow, hazards: Hazards, decisions: Decisions) -> None:
        self.flow = flow
        self.tasks = hazards.tasks
        """The tasks still to come, the next one last: bodies are rewritten in program order."""
        self.decisions = decisions
        self.id_type = task_id_type(flow.function.operation.context)
        self.values: dict[Id, ir.Value] = {}
        self.submits = SubmitWriter(self.id_type)
        self.no_task: ir.Value | None = None
        self.barriers: list[dict[tuple[Id, ...], ir.Value]] = []
        self.wanted: dict[Construct, list[Id]] = {}
        self.fences: dict[Construct, list[Fence]] = {}
        self.tails: dict[Construct, ir.Operation] = {}
        """The last op made for a construct, where that is not the construct itself."""
        self.kept: set[Id] = set()
        """The ids that others are made of."""
        self._want(hazards.tasks)
        self.tasks.reverse()
        hazards.events.clear()
        hazards.ids.clear()
        flow.tasks.clear()

    def _want(self, tasks: Iterable[TaskHazards]) -> None:
        """Note all ids that become values because edges need them."""
        stack: list[Id] = []
        for task in tasks:
            for node, _ in task.edges:
                node = resolve(node)
                node.uses += 1
                if not isinstance(node, Leaf):
                    stack.append(node)
        seen: set[Id] = set()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, Fence):
                self.fences.setdefault(node.construct, []).append(node)
            elif isinstance(node, Phi | Choice | Handed | Collected):
                self.wanted.setdefault(node.construct, []).append(node)
            elif isinstance(node, Final):
                self.wanted.setdefault(node.phi.construct, []).append(node)
            sources = [resolve(source) for source in node.sources()]
            self.kept.update(sources)
            stack += sources
        for fences in self.fences.values():
            fences.sort(key=lambda fence: fence.serial)
        for found in self.wanted.values():
            found.sort(key=lambda node: node.serial)

    def run(self) -> None:
        """Rewrite, then mark."""
        self._body(self.flow.top)
        if self.flow.top in self.decisions.manual:
            self.flow.function.operation.attributes[AUTO_MANUAL] = ir.UnitAttr.get()

    # --- values ---

    def value(self, node: Id, ip: ir.InsertionPoint, location: ir.Location) -> ir.Value:
        """The SSA value of ``node``; a join becomes a barrier at ``ip``."""
        node = resolve(node)
        if isinstance(node, NoTask):
            if self.no_task is None:
                function = self.flow.function
                start = ir.InsertionPoint.at_block_begin(function.body)
                self.no_task = Invalid.build(location=function.operation.location, ip=start).id
            return self.no_task
        if not isinstance(node, Join) or isinstance(node, Fence):
            return self.values[node]
        members = tuple(flatten([node]))
        if len(members) < 2:
            return self.value(members[0] if members else NoTask(-1), ip, location)
        for known in self.barriers:
            if members in known:
                return known[members]
        barrier = Barrier.build([self.values[member] for member in members], location=location, ip=ip).id
        self.barriers[-1][members] = barrier
        return barrier

    def before(self, op: ir.Operation, nodes: Iterable[Id]) -> list[ir.Value]:
        """The values of ``nodes``, made before ``op`` where need be."""
        ip = ir.InsertionPoint(op)
        return [self.value(node, ip, op.location) for node in nodes]

    # --- bodies ---

    def _body(self, body: Body) -> None:
        self.barriers.append({})
        items, body.items = body.items, []
        items.reverse()
        while items:
            item = items.pop()
            if isinstance(item, TaskNode):
                self._task(item)
            elif isinstance(item, Construct):
                self._construct(item)
        # The terminator is still to come: the caller pops.

    def _leave_body(self) -> None:
        self.barriers.pop()

    def _task(self, task: TaskNode) -> None:
        op = task.op
        found = self.tasks.pop()
        assert found.task is task
        leaf, edges, directions = found.leaf, found.edges, found.directions
        wanted = leaf.uses > 0 or leaf in self.kept
        if edges or (wanted and not task.is_submit):
            values = [self._used(resolve(node)) for node, _ in edges]
            op = self.submits.write(task, values, [kinds for _, kinds in edges], directions or task.directions)
        elif directions is not None:
            op.attributes["arg_directions"] = self.submits.texts(directions)
        if wanted:
            results = op.results
            self.values[leaf] = results[len(results) - 1]

    def _used(self, node: Id) -> ir.Value:
        """The value of ``node`` for an edge; after the last one it is let go, so that few are held at any time."""
        node.uses -= 1
        return self.values[node] if node.uses or node in self.kept else self.values.pop(node)

    # --- constructs ---

    def _construct(self, construct: Construct) -> None:
        wanted = self.wanted.get(construct, [])
        if not wanted:
            for body in construct.bodies:
                self._body(body)
                self._leave_body()
        elif construct.kind == "for":
            self._for(construct, wanted)
        elif construct.kind == "while":
            self._while(construct, wanted)
        elif construct.kind == "branch":
            self._branch(construct, [node for node in wanted if isinstance(node, Choice)])
        elif construct.op.name == "scf.forall":
            self._forall(construct, [node for node in wanted if isinstance(node, Collected)])
        else:
            self._parallel(construct, [node for node in wanted if isinstance(node, Collected)])
        self._mark(construct)
        ip = ir.InsertionPoint.after(self.tails.get(construct, construct.op))
        for fence in self.fences.get(construct, ()):
            members = [self.values[member] for member in flatten(fence.members)]
            barrier = Barrier.build(members, location=construct.op.location, ip=ip)
            ip = ir.InsertionPoint.after(barrier.operation)
            self.values[fence] = barrier.id

    def _mark(self, construct: Construct) -> None:
        op = construct.op
        manual = [body in self.decisions.manual for body in construct.bodies]
        if not any(manual):
            return
        if op.name in BRANCHES:
            manual += [False] * (len(op.regions) - len(manual))
            op.attributes[AUTO_MANUAL] = ir.DenseBoolArrayAttr.get(manual)
        else:
            op.attributes[AUTO_MANUAL] = ir.UnitAttr.get()

    def _rebuilt(
        self,
        construct: Construct,
        operands: Sequence[ir.Value],
        added: int,
        *,
        regions: int | None = None,
        segments: Sequence[int] | None = None,
        types: Sequence[ir.Type] | None = None,
    ) -> ir.Operation:
        """A new op beside the one of ``construct``, with its blocks and ``added`` results more."""
        old = construct.op
        attributes = attributes_of(old)
        if segments is not None:
            attributes[SEGMENT_SIZES] = ir.DenseI32ArrayAttr.get(list(segments))
        results = list(old.results)
        new = ir.Operation.create(
            old.name,
            results=[*(result.type for result in results), *(types or [self.id_type] * added)],
            operands=list(operands),
            attributes=attributes,
            regions=len(old.regions) if regions is None else regions,
            loc=old.location,
            ip=ir.InsertionPoint(old),
        ).operation
        for number, body in enumerate(construct.bodies):
            body.block.append_to(new.regions[number])
        replace_op(old, list(new.results)[: len(results)])
        construct.op = new
        return new

    def _terminate(self, body: Body, nodes: Sequence[Id]) -> None:
        """Let the terminator of ``body`` hand on ``nodes`` too, and leave the body."""
        old = body.terminator
        assert old is not None
        values = self.before(old, nodes)
        body.terminator = ir.Operation.create(
            old.name,
            operands=[*old.operands, *values],
            attributes=attributes_of(old),
            loc=old.location,
            ip=ir.InsertionPoint(old),
        ).operation
        old.erase()
        self._leave_body()

    def _for(self, construct: Construct, wanted: list[Id]) -> None:
        phis = [node for node in wanted if isinstance(node, Phi)]
        op = construct.op
        initial = self.before(op, [phi.initial for phi in phis])
        count = len(op.results)
        new = self._rebuilt(construct, [*op.operands, *initial], len(phis))
        body = construct.bodies[0]
        for phi in phis:
            self.values[phi] = body.block.add_argument(self.id_type, new.location)
        self._body(body)
        self._terminate(body, [_yielded(phi) for phi in phis])
        results = list(new.results)[count:]
        for node in wanted:
            if isinstance(node, Final):
                self.values[node] = results[phis.index(node.phi)]

    def _while(self, construct: Construct, wanted: list[Id]) -> None:
        phis = [node for node in wanted if isinstance(node, Phi)]
        handed = [node for node in wanted if isinstance(node, Handed)]
        sources = list(dict.fromkeys(resolve(node.source) for node in handed))
        op = construct.op
        count = len(op.results)
        initial = self.before(op, [phi.initial for phi in phis])
        new = self._rebuilt(construct, [*op.operands, *initial], len(sources))
        first, second = construct.bodies
        for phi in phis:
            self.values[phi] = first.block.add_argument(self.id_type, new.location)
        self._body(first)
        self._terminate(first, sources)
        arguments = [second.block.add_argument(self.id_type, new.location) for _ in sources]
        results = list(new.results)[count:]
        for node in handed:
            place = sources.index(resolve(node.source))
            self.values[node] = results[place] if node.outside else arguments[place]
        self._body(second)
        self._terminate(second, [_yielded(phi) for phi in phis])

    def _branch(self, construct: Construct, choices: list[Choice]) -> None:
        op = construct.op
        count = len(op.results)
        new = self._rebuilt(construct, list(op.operands), len(choices))
        for number, body in enumerate(construct.bodies):
            self._body(body)
            self._terminate(body, [choice.alternatives[number] for choice in choices])
        if len(construct.bodies) < len(new.regions):  # scf.if without an else branch
            block = new.regions[1].blocks.append()
            last = len(construct.bodies)
            ip = ir.InsertionPoint(block)
            # What is yielded here was defined before the op.
            values = [self.value(choice.alternatives[last], ir.InsertionPoint(new), new.location) for choice in choices]
            ir.Operation.create("scf.yield", operands=values, loc=new.location, ip=ip)
        for choice, result in zip(choices, list(new.results)[count:], strict=True):
            self.values[choice] = result

    def _parallel(self, construct: Construct, collected: list[Collected]) -> None:
        op = construct.op
        count = len(op.results)
        initial = self.before(op, [NoTask(-1)] * len(collected))
        *bounds, present = op.attributes[SEGMENT_SIZES]
        segments = [*bounds, present + len(collected)]
        new = self._rebuilt(construct, [*op.operands, *initial], len(collected), segments=segments)
        body = construct.bodies[0]
        self._body(body)
        old = body.terminator
        assert old is not None
        values = self.before(old, [node.source for node in collected])
        reduce = ir.Operation.create(
            "scf.reduce",
            operands=[*old.operands, *values],
            regions=len(old.regions) + len(values),
            loc=old.location,
            ip=ir.InsertionPoint(old),
        ).operation
        for number, region in enumerate(old.regions):
            region.blocks[0].append_to(reduce.regions[number])
        for number in range(len(old.regions), len(reduce.regions)):
            block = reduce.regions[number].blocks.append(
                self.id_type, self.id_type, arg_locs=[new.location, new.location]
            )
            ip = ir.InsertionPoint(block)
            both = Barrier.build(list(block.arguments), location=new.location, ip=ip).id
            ir.Operation.create("scf.reduce.return", operands=[both], loc=new.location, ip=ip)
        old.erase()
        body.terminator = reduce
        self._leave_body()
        for node, result in zip(collected, list(new.results)[count:], strict=True):
            self.values[node] = result

    def _forall(self, construct: Construct, collected: list[Collected]) -> None:
        op = construct.op
        count = len(op.results)
        plan = gather_ids(op, self.id_type)
        empties = [plan.empty() for _ in collected]
        *bounds, present = op.attributes[SEGMENT_SIZES]
        new = self._rebuilt(
            construct,
            [*op.operands, *empties],
            len(collected),
            segments=[*bounds, present + len(collected)],
            types=[plan.type] * len(collected),
        )
        body = construct.bodies[0]
        shared = [body.block.add_argument(plan.type, new.location) for _ in collected]
        self._body(body)
        terminator = body.terminator
        assert terminator is not None
        values = self.before(terminator, [node.source for node in collected])
        for value, into in zip(values, shared, strict=True):
            plan.insert(value, into, terminator)
        self._leave_body()
        after = ir.InsertionPoint.after(new)
        for node, result in zip(collected, list(new.results)[count:], strict=True):
            barrier = Barrier.build([result], location=new.location, ip=after)
            self.values[node] = barrier.id
            self.tails[construct] = barrier.operation


def _yielded(phi: Phi) -> Id:
    assert phi.yielded is not None
    return phi.yielded
