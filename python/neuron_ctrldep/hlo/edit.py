"""Carries out the plans of one module: inserts and extends wire ops, moves uses to pins, writes attributes.

What XLA's proto reader insists on is kept: ids are a computation's maximum + 1, names are unique over the module,
``instructions`` is topological with control edges, and a schedule holds every instruction.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from functools import cached_property, partial

from neuron_ctrldep.hlo.carriers import EdgePlan, Mark, SuccessorPlan
from neuron_ctrldep.hlo.graph import Graph, Instruction, ModuleFacts, buffer_leaves, is_wire_op
from neuron_ctrldep.hlo.schema import BUFFER, TUPLE
from neuron_ctrldep.wire import API_VERSION, DONE_ID, ID, TARGET, format_ids, parse_ids

_MAY_HOLD_BUFFERS = frozenset({BUFFER, TUPLE})

_LOCAL_BITS = 0xFFFFFFFF


def _highest_id(ids: Collection[int]) -> int:
    """An id whose successors are free: XLA tells the instructions of a computation apart by their low 32 bits alone."""
    highest = max(ids)
    if min(ids) >> 32 != highest >> 32:
        highest = (highest & ~_LOCAL_BITS) + max(one & _LOCAL_BITS for one in ids)
    return highest


class ModuleEdit:
    """What the edits of all computations of a module share: names and ids that must not repeat in it."""

    def __init__(self, facts: ModuleFacts) -> None:
        self.proto = facts.proto
        self._facts = facts
        self.wire_ops = 0
        self.changed = False
        self._name_numbers = itertools.count(1)
        self._mark_numbers = itertools.count(1)

    @cached_property
    def _names(self) -> set[str]:
        """The names that a new one may hit."""
        if not self._facts.may_have_wire_ops:
            return set()
        return {instruction.name for computation in self.proto.computations for instruction in computation.instructions}

    def new_name(self) -> str:
        """The first of ``AwsNeuronControlDep``, ``AwsNeuronControlDep.1``, … that is free in the module."""
        name = TARGET
        while name in self._names:
            name = f"{TARGET}.{next(self._name_numbers)}"
        self._names.add(name)
        self.wire_ops += 1
        return name

    @cached_property
    def _used_marks(self) -> set[str]:
        used: set[str] = set()
        for computation in self.proto.computations:
            for instruction in computation.instructions:
                attributes = instruction.frontend_attributes.map
                if attributes:
                    used.update(attributes[key] for key in (ID, DONE_ID) if key in attributes)
        return used

    def new_mark(self) -> str:
        """An id that is free in the module."""
        new = next(text for text in map(str, self._mark_numbers) if text not in self._used_marks)
        self._used_marks.add(new)
        return new


class ComputationEdit:
    """Edits one computation. Nothing moves until :meth:`finish`."""

    def __init__(self, module: ModuleEdit, graph: Graph) -> None:
        self.module = module
        self.graph = graph
        self.computation = graph.computation
        self._next_id = _highest_id(graph.place) + 1
        self._before: dict[int, list[int]] = {}
        self._behind: dict[int, int] = {}
        self._moved: set[int] = set()
        self._made: list[Instruction] = []
        # As they are before anything moves. Only where wire ops are there already does it matter.
        self._users = graph.users if graph.facts.may_have_wire_ops else {}

    def apply(self, plan: SuccessorPlan) -> list[Instruction]:
        """Carry the edges of one successor; those of earlier instructions have been carried.

        Returns:
            The wire ops that were inserted or extended for it.
        """
        self._made = []
        front = [edge.predecessor for edge in plan.edges if edge.edge_class == "operand"]
        for number in plan.positions if front else ():
            self._wire(plan.successor, number, front)
        if plan.is_partial or len(front) < len(plan.edges):
            pinned = [edge.predecessor for edge in plan.edges if edge.pin]
            if pinned:
                self._pin(plan.successor, pinned)
            self._mark(plan.edges)
        return self._made

    def finish(self) -> None:
        """Bring ``instructions`` and the schedule in order."""
        # An instruction has an even rank; what stands right before or behind it the odd one next to it. Equal ranks
        # keep the order in which they were made: what is behind one was made before what is in front of the next.
        place, size = self.graph.place, self.graph.size
        ranks = [*range(0, 2 * size, 2), *[0] * (len(place) - size)]
        for one, wires in self._before.items():
            for wire in wires:
                ranks[place[wire]] = 2 * place[one] - 1
        for one, pin in self._behind.items():
            ranks[place[pin]] = 2 * place[one] + 1
        # The sort asks for the key of each instruction once, from the first to the last.
        self.graph.instructions.sort(key=partial(next, iter(ranks)))
        if self.module.proto.HasField("schedule"):
            sequences = self.module.proto.schedule.sequences
            if self.computation.id in sequences:
                ids = sequences[self.computation.id].instruction_ids
                ids[:] = self._scheduled(ids)

    def _scheduled(self, ids: Iterable[int]) -> list[int]:
        """``ids`` with the new wire ops in their places."""
        placed: list[int] = []
        for one in ids:
            placed += self._before.get(one, ())
            if one not in self._moved:
                placed.append(one)
            if one in self._behind:
                placed.append(self._behind[one])
        return placed

    # --- wire ops -----------------------------------------------------------------------------------------------------

    def _new_wire(self, predecessors: list[Instruction], data: Instruction, successor: Instruction) -> Instruction:
        wire = self.graph.instructions.add()
        wire.id = one = self._next_id
        self._next_id += 1
        wire.name = self.module.new_name()
        wire.opcode = "custom-call"
        shape = data.shape
        wire.shape.CopyFrom(shape)
        # Errors about the wire op should point at what it was made for.
        wire.metadata.CopyFrom(successor.metadata)
        wire.custom_call_target = TARGET
        wire.custom_call_has_side_effect = True
        wire.custom_call_api_version = API_VERSION
        wire.operand_ids.extend([*map(self._current, predecessors), data.id])
        if shape.element_type in _MAY_HOLD_BUFFERS:
            for index in buffer_leaves(shape):
                # A custom call may hand on a buffer only by saying that its result is that operand.
                wire.output_operand_aliasing.add(
                    output_shape_index=index, operand_index=len(predecessors), operand_shape_index=index
                )
        self.graph.place[one] = len(self.graph.place)
        self._record(wire)
        return wire

    def _record(self, wire: Instruction) -> None:
        self._made.append(wire)
        self.module.changed = True

    def _current(self, instruction: Instruction) -> int:
        """What a new use of ``instruction`` has to take: its pin, where it got one."""
        return self._behind.get(instruction.id, instruction.id)

    def _extend(self, wire: Instruction, predecessors: list[Instruction]) -> None:
        data = wire.operand_ids.pop()
        position = len(wire.operand_ids)
        wire.operand_ids.extend(self._current(one) for one in predecessors)
        for alias in wire.output_operand_aliasing:
            if alias.operand_index == position:
                alias.operand_index = len(wire.operand_ids)
        wire.operand_ids.append(data)
        self._record(wire)

    def _wire(self, successor: Instruction, number: int, predecessors: list[Instruction]) -> None:
        """Order operand ``number`` of ``successor`` after ``predecessors``."""
        operands = successor.operand_ids
        data = self.graph[operands[number]]
        if self.graph.facts.may_have_wire_ops and is_wire_op(data):
            held = self._held_before(data)
            predecessors = [one for one in predecessors if one.id not in held]
            if not predecessors:
                return
            if self.graph.is_original(data) and self._holds_some(data, successor):
                if self._can_extend(data, successor):
                    self._extend(data, predecessors)
                    # What it now waits for may stand behind it.
                    self._moved.add(data.id)
                    self._before.setdefault(successor.id, []).append(data.id)
                    return
                # Others would wait too if it were extended: the new one takes its place here, and holds what it holds.
                *held_here, inner = data.operand_ids
                predecessors = [*(self.graph[one] for one in held_here), *predecessors]
                data = self.graph[inner]
        wire = self._new_wire(predecessors, data, successor)
        operands[number] = one = wire.id
        self._before.setdefault(successor.id, []).append(one)

    def _held_before(self, data: Instruction) -> set[int]:
        """What wire ops that stood in front of an operand before the edit hold by now."""
        held: set[int] = set()
        while is_wire_op(data):
            if self.graph.is_original(data):
                held |= self.graph.held(data)
            data = self.graph.operand(data, len(data.operand_ids) - 1)
        return held

    def _can_extend(self, wire: Instruction, successor: Instruction) -> bool:
        """Whether nothing but ``successor`` would notice that ``wire``, in front of it, holds more."""
        graph = self.graph
        return (
            self._users[wire.id] == [successor]
            and graph.computation.root_id != wire.id
            and wire.id not in graph.control_successors
        )

    def _holds_some(self, wire: Instruction, successor: Instruction) -> bool:
        return not self.graph.held(wire).isdisjoint(successor.control_predecessor_ids)

    def _pin(self, successor: Instruction, predecessors: list[Instruction]) -> None:
        """Let nothing read ``successor`` before ``predecessors``."""
        graph = self.graph
        users = graph.users[successor.id]
        is_root = self.computation.root_id == successor.id
        if (
            len(users) == 1
            and not is_root
            and graph.is_pin(users[0], successor)
            and self._holds_some(users[0], successor)
        ):
            self._extend(users[0], predecessors)
            return
        pin = self._new_wire(predecessors, successor, successor)
        for user in users:
            user.operand_ids[:] = [pin.id if one == successor.id else one for one in user.operand_ids]
        if is_root:
            self.computation.root_id = pin.id
        self._behind[successor.id] = pin.id

    # --- attributes ---------------------------------------------------------------------------------------------------

    def _mark(self, edges: Iterable[EdgePlan]) -> None:
        """Write the attributes of all edges into one successor, each list once."""
        lists: dict[tuple[int, str], tuple[Mark, dict[str, None]]] = {}
        for edge in edges:
            ids = dict.fromkeys(self._id_of(source) for source in edge.sources) if edge.targets else {}
            for target in edge.targets if ids else ():
                instruction, key = target
                lists.setdefault((instruction.id, key), (target, {}))[1].update(ids)
        for target, ids in lists.values():
            instruction, key = target
            listed = self.graph.attributes_of(instruction).get(key, "")
            self._write(target, format_ids(dict.fromkeys([*parse_ids(listed), *ids])))

    def _id_of(self, source: Mark) -> str:
        """The id of a predecessor: the one it has, else a new one."""
        instruction, key = source
        given = str(self.graph.attributes_of(instruction).get(key, ""))
        if not given or parse_ids(given) != [given]:  # an id with a comma cannot be listed
            given = self.module.new_mark()
        self._write(source, given)
        return given

    def _write(self, mark: Mark, text: str) -> None:
        instruction, key = mark
        wrapped = self.graph.facts.wrapped
        holders = [instruction]
        inside = wrapped.of(instruction)
        if inside is not None:
            # A copy on the chain for XLA's text: on the done only if that has attributes, or it would win over the
            # start and take from the wrapped instruction what the start gives it.
            dones = [one for one in self.graph.readers(instruction) if one.opcode == "async-done"]
            holders += [one for one in dones if one.frontend_attributes.map]
            holders.append(wrapped.unshare(instruction) if wrapped.is_shared(instruction) else inside)
        for holder in holders:
            if holder.frontend_attributes.map.get(key) != text:
                holder.frontend_attributes.map[key] = text
                self.module.changed = True
