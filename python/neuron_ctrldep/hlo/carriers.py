"""Which carrier holds a control edge: the table of ``control-dep.md`` section 2, and nothing else. It edits nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from neuron_ctrldep.hlo.graph import (
    ASYNC_SUCCESSORS,
    NOT_PLAIN,
    START_OF_DONE,
    Graph,
    Instruction,
    is_leafless,
    is_wire_op,
)
from neuron_ctrldep.hlo.report import EdgeClass
from neuron_ctrldep.wire import AFTER, DONE_AFTER, DONE_ID, ID, parse_ids

CarrierChoice = Literal["any", "operand"]
RewireChoice = Literal["first", "all"]

Mark = tuple[Instruction, str]
"""A frontend attribute: the instruction it is for (see :meth:`Graph.attributes_of`), and its key."""

_VALUES = frozenset({"parameter", "constant", "iota", "partition-id", "replica-id", "after-all"})
"""Opcodes that without operands have no side effect: what they give may be pinned in their place."""

_CALLERS = frozenset({"call", "while", "conditional"})
"""What ``rewire=all`` puts a wire op on every operand of."""

_SPECIAL = _CALLERS | ASYNC_SUCCESSORS | START_OF_DONE.keys() | {"tuple"}
_FIRST = (0,)

FORBIDDEN = "carrier=operand forbids pins and attributes"


@dataclass(slots=True)
class EdgePlan:
    """How one edge will be carried.

    Attributes:
        edge_class: ``operand`` is by wire ops in front of the successor.
        pin: by a wire op behind the successor.
        sources: where its id goes; with ``targets``, where the id is listed.
    """

    predecessor: Instruction
    edge_class: EdgeClass
    reason: str = ""
    pin: bool = False
    sources: Sequence[Mark] = ()
    targets: Sequence[Mark] = ()


@dataclass(slots=True)
class SuccessorPlan:
    """All edges into one instruction.

    Attributes:
        positions: the operands that get a wire op.
        is_partial: whether there are operands that should have one and cannot.
    """

    successor: Instruction
    positions: Sequence[int]
    is_partial: bool
    edges: list[EdgePlan]


@dataclass(frozen=True)
class Planner:
    """Plans the edges of one computation."""

    graph: Graph
    carrier: CarrierChoice
    rewire: RewireChoice
    _found: dict[tuple[str, int, int], Any] = field(default_factory=dict, repr=False)
    """What was found out about a successor, for its next edge: a successor may have thousands."""

    def plan(self, successor: Instruction, predecessors: Iterable[int]) -> SuccessorPlan:
        """Choose a carrier for each of ``predecessors``, the ids of the control predecessors of ``successor``."""
        positions, is_partial = self._positions(successor)
        graph = self.graph
        self._found.clear()
        edges = [self._edge(graph[one], successor, positions, is_partial) for one in predecessors]
        return SuccessorPlan(successor, positions, is_partial, edges)

    def _positions(self, successor: Instruction) -> tuple[Sequence[int], bool]:
        """The operands of ``successor`` that a wire op can forward; empty when its edges need another carrier.

        Also whether these are a part only of the operands that should have one.
        """
        operands = successor.operand_ids
        if not operands:
            return (), False
        graph = self.graph
        opcode = successor.opcode
        if opcode not in _SPECIAL:
            return (_FIRST if graph.can_be_data(graph[operands[0]]) else ()), False
        if opcode in START_OF_DONE or opcode in ASYNC_SUCCESSORS:
            return (), False
        # Readers of the other elements of a tuple would run free of a wire op on one.
        wanted = range(len(operands)) if opcode == "tuple" or self.rewire == "all" else _FIRST
        positions = [number for number in wanted if graph.can_be_data(graph.operand(successor, number))]
        return positions, len(positions) < len(wanted)

    def _edge(
        self, predecessor: Instruction, successor: Instruction, positions: Sequence[int], is_partial: bool
    ) -> EdgePlan:
        opcode = predecessor.opcode
        if opcode == "parameter":
            return EdgePlan(predecessor, "dropped", "the predecessor is a parameter: it is there before anything runs")
        graph = self.graph
        if graph.facts.may_be_carried and self._is_carried(predecessor, successor, positions):
            return EdgePlan(predecessor, "already")
        is_operand = opcode not in NOT_PLAIN or graph.can_be_operand(predecessor, successor)
        if positions and is_operand:
            edge = EdgePlan(predecessor, "operand")
            if is_partial and successor.opcode == "tuple" and self.carrier == "any":
                # Readers of the elements that no wire op can forward are told by attributes.
                self._mark(edge, successor)
            return edge
        return self._other_carrier(predecessor, successor, is_operand)

    def _other_carrier(self, predecessor: Instruction, successor: Instruction, is_operand: bool) -> EdgePlan:
        """A pin or attributes, where no operand of ``successor`` can carry the edge."""
        why = self._why_not(predecessor, successor, is_operand)
        if self.carrier == "operand":
            return EdgePlan(predecessor, "unreifiable", f"{why}; {FORBIDDEN}")
        edge = EdgePlan(predecessor, "attribute", why)
        edge.pin = is_operand and self._is_pinnable(successor)
        if edge.pin:
            if self.graph.takes_attributes(successor):
                self._mark(edge, successor)
            return edge
        self._mark(edge, successor)
        if not edge.sources:
            return EdgePlan(predecessor, "dropped", "the predecessor stands for parameters only: nothing to wait for")
        if not edge.targets:
            return EdgePlan(predecessor, "dropped", "nothing in the computation comes after the successor")
        return edge

    def _is_pinnable(self, successor: Instruction) -> bool:
        return not successor.operand_ids and successor.opcode in _VALUES and not is_leafless(successor.shape)

    def _why_not(self, predecessor: Instruction, successor: Instruction, is_operand: bool) -> str:
        """Why no operand of ``successor`` carries the edge."""
        opcode = successor.opcode
        if opcode in START_OF_DONE or opcode in ASYNC_SUCCESSORS:
            return f"the operand of {opcode} must be its start"
        if not successor.operand_ids:
            return "the successor has no operands"
        if not is_operand:
            return f"a wire op cannot take {predecessor.opcode} as an operand"
        data = self.graph.operand(successor, 0)
        if is_leafless(data.shape):
            return "operand 0 of the successor is an empty tuple"
        return f"a wire op cannot forward {data.opcode}"

    # --- attributes ---------------------------------------------------------------------------------------------------

    def _mark(self, edge: EdgePlan, successor: Instruction) -> None:
        edge.sources = self._sources(edge.predecessor)
        edge.targets = self._targets(successor)

    def _sources(self, predecessor: Instruction) -> list[Mark]:
        marks: list[Mark] = []
        for one in self.graph.producers(predecessor):
            start = self.graph.start_of(one)
            marks.append((one, ID) if start is None else (start, DONE_ID))
        return marks

    def _targets(self, successor: Instruction) -> list[Mark]:
        key = ("targets", successor.id, 0)
        if key not in self._found:
            self._found[key] = self._find_targets(successor)
        return self._found[key]

    def _find_targets(self, successor: Instruction) -> list[Mark]:
        """``successor`` where it takes attributes, else what waits for it in its place."""
        graph = self.graph
        found: dict[tuple[int, str], Mark] = {}
        seen = {successor.id}
        stack = [successor]
        while stack:
            current = stack.pop()
            start = graph.start_of(current)
            if start is not None:
                found[graph.place[start.id], DONE_AFTER] = (start, DONE_AFTER)
            elif graph.takes_attributes(current):
                found[graph.place[current.id], AFTER] = (current, AFTER)
            else:
                waiters = [one for one in graph.waiters(current) if one.id not in seen]
                seen.update(one.id for one in waiters)
                stack += waiters
        if not found and successor.opcode == "get-tuple-element":
            return [(successor, AFTER)]  # of an opaque tuple: on import the element is an op, and keeps it
        return [found[key] for key in sorted(found)]

    # --- what is carried already --------------------------------------------------------------------------------------

    def _is_carried(self, predecessor: Instruction, successor: Instruction, positions: Sequence[int]) -> bool:
        facts = self.graph.facts
        if facts.may_have_wire_ops and self._is_wired(predecessor, successor, positions):
            return True
        return facts.may_have_marks and self._is_marked(predecessor, successor)

    def _is_wired(self, predecessor: Instruction, successor: Instruction, positions: Sequence[int]) -> bool:
        if is_wire_op(successor) and predecessor.id in self._held(successor):
            return True
        if successor.operand_ids:
            if len(positions) > 1:
                return all(predecessor.id in self._held_in_front(successor, number) for number in positions)
            numbers = range(len(successor.operand_ids))
            return any(predecessor.id in self._held_in_front(successor, number) for number in numbers)
        pins = self._pins(successor)
        return bool(pins) and all(predecessor.id in self._held(pin) for pin in pins)

    def _pins(self, successor: Instruction) -> Sequence[Instruction]:
        """The wire ops that pin ``successor``; none when something else reads it too."""
        key = ("pins", successor.id, 0)
        if key not in self._found:
            graph = self.graph
            users = graph.users[successor.id]
            is_pinned = graph.computation.root_id != successor.id and all(graph.is_pin(one, successor) for one in users)
            self._found[key] = users if is_pinned else ()
        return self._found[key]

    def _held(self, wire: Instruction) -> set[int]:
        key = ("held", wire.id, 0)
        if key not in self._found:
            self._found[key] = self.graph.held(wire)
        return self._found[key]

    def _held_in_front(self, successor: Instruction, number: int) -> set[int]:
        key = ("in front", successor.id, number)
        if key not in self._found:
            self._found[key] = self.graph.held_in_front(successor, number)
        return self._found[key]

    def _listed(self, mark: Mark) -> frozenset[str]:
        instruction, name = mark
        key = (name, instruction.id, 0)
        if key not in self._found:
            self._found[key] = frozenset(parse_ids(self.graph.attributes_of(instruction).get(name, "")))
        return self._found[key]

    def _is_marked(self, predecessor: Instruction, successor: Instruction) -> bool:
        # An edge without sources or targets is carried by nothing, nor need it be.
        sources, targets = self._sources(predecessor), self._targets(successor)
        ids = [self.graph.attributes_of(one).get(key, "") for one, key in sources]
        return bool(ids) and bool(targets) and all(one in self._listed(mark) for one in ids for mark in targets)
