"""Which carrier holds a control edge: the table of ``control-dep.md`` section 2, and nothing else. It edits nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from neuron_ctrldep.hlo.graph import (
    ASYNC_SUCCESSORS,
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
"""A frontend attribute: the instruction it stands on, and its key."""

_VALUES = frozenset({"parameter", "constant", "iota", "partition-id", "replica-id", "after-all", "tuple"})
"""Opcodes that without operands have no side effect: what they give may be pinned in their place."""

_CALLERS = frozenset({"call", "while", "conditional"})
"""What ``rewire=all`` puts a wire op on every operand of."""

FORBIDDEN = "carrier=operand forbids pins and attributes"


@dataclass(slots=True)
class EdgePlan:
    """How one edge will be carried.

    Attributes:
        front: by a wire op in front of the successor.
        pin: by a wire op behind it.
        sources: where its id goes; with ``targets``, where the id is listed.
    """

    predecessor: Instruction
    edge_class: EdgeClass
    reason: str = ""
    front: bool = False
    pin: bool = False
    sources: list[Mark] = field(default_factory=list)
    targets: list[Mark] = field(default_factory=list)


@dataclass(slots=True)
class SuccessorPlan:
    """All edges into one instruction; ``positions`` are the operands that get a wire op."""

    successor: Instruction
    positions: list[int]
    edges: list[EdgePlan]


class UnmarkableError(Exception):
    """No instruction can hold the attribute; the message says why."""


@dataclass
class Planner:
    """Plans the edges of one computation."""

    graph: Graph
    carrier: CarrierChoice
    rewire: RewireChoice

    def plan(self, successor: Instruction) -> SuccessorPlan:
        """Choose a carrier for each control predecessor of ``successor``; repeated ones count once."""
        positions = self._positions(successor)
        edges = [
            self._edge(self.graph.by_id[one], successor, positions)
            for one in dict.fromkeys(successor.control_predecessor_ids)
        ]
        return SuccessorPlan(successor, positions, edges)

    def _positions(self, successor: Instruction) -> list[int]:
        """The operands of ``successor`` that a wire op can forward; empty when its edges need another carrier."""
        count = len(successor.operand_ids)
        opcode = successor.opcode
        if count == 0 or opcode in START_OF_DONE or opcode in ASYNC_SUCCESSORS:
            return []
        # Readers of the other elements of a tuple would run free of a wire op on one.
        every = opcode == "tuple" or (self.rewire == "all" and opcode in _CALLERS)
        graph = self.graph
        return [
            number for number in range(count if every else 1) if graph.can_be_data(graph.operand(successor, number))
        ]

    def _edge(self, predecessor: Instruction, successor: Instruction, positions: list[int]) -> EdgePlan:
        if predecessor.opcode == "parameter":
            return EdgePlan(predecessor, "dropped", "the predecessor is a parameter: it is there before anything runs")
        if self._is_carried(predecessor, successor, positions):
            return EdgePlan(predecessor, "already")
        is_operand = self.graph.can_be_operand(predecessor, successor)
        if positions and is_operand:
            edge = EdgePlan(predecessor, "operand", front=True)
            if successor.opcode == "tuple" and len(positions) < len(successor.operand_ids) and self.carrier == "any":
                # Readers of the elements that no wire op can forward are told by attributes.
                self._try_mark(edge, successor)
            return edge
        why = self._why_not(predecessor, successor, is_operand)
        if self.carrier == "operand":
            return EdgePlan(predecessor, "unreifiable", f"{why}; {FORBIDDEN}")
        edge = EdgePlan(predecessor, "attribute", why)
        edge.pin = is_operand and self._is_pinnable(successor)
        if edge.pin:
            if self.graph.takes_attributes(successor):
                self._try_mark(edge, successor)
            return edge
        try:
            self._mark(edge, successor)
        except UnmarkableError as error:
            return EdgePlan(predecessor, "unreifiable", f"{why}; {error}")
        if not edge.sources:
            edge.reason += "; the predecessor stands for parameters only: there is nothing to wait for"
        elif not edge.targets:
            edge.reason += "; nothing in the computation reads the successor"
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

    def _try_mark(self, edge: EdgePlan, successor: Instruction) -> None:
        """Marks that come on top of a wire op: fine without them."""
        try:
            self._mark(edge, successor)
        except UnmarkableError:
            edge.sources = edge.targets = []

    def _start(self, done: Instruction) -> Instruction:
        start = self.graph.start_of(done)
        if start is None:
            raise UnmarkableError(f"the start of {done.opcode} '{done.name}' is not in its computation")
        return start

    def _sources(self, predecessor: Instruction) -> list[Mark]:
        return [
            (self._start(one), DONE_ID) if one.opcode in START_OF_DONE else (one, ID)
            for one in self.graph.producers(predecessor)
        ]

    def _targets(self, successor: Instruction) -> list[Mark]:
        if successor.opcode in START_OF_DONE:
            return [(self._start(successor), DONE_AFTER)]
        if self.graph.takes_attributes(successor):
            return [(successor, AFTER)]
        return [mark for reader in self.graph.readers(successor) for mark in self._targets(reader)]

    # --- what is carried already --------------------------------------------------------------------------------------

    @cached_property
    def _has_marks(self) -> bool:
        return any(
            instruction.frontend_attributes.map
            and (AFTER in instruction.frontend_attributes.map or DONE_AFTER in instruction.frontend_attributes.map)
            for instruction in self.graph.order
        )

    @cached_property
    def _has_wire_ops(self) -> bool:
        return any(is_wire_op(instruction) for instruction in self.graph.order)

    def _is_carried(self, predecessor: Instruction, successor: Instruction, positions: list[int]) -> bool:
        if self._has_wire_ops and self._is_wired(predecessor, successor, positions):
            return True
        return self._has_marks and self._is_marked(predecessor, successor)

    def _is_wired(self, predecessor: Instruction, successor: Instruction, positions: list[int]) -> bool:
        graph = self.graph
        if is_wire_op(successor) and predecessor.id in graph.held(successor):
            return True
        if successor.operand_ids:
            if len(positions) > 1:
                return all(predecessor.id in graph.held_in_front(successor, number) for number in positions)
            numbers = range(len(successor.operand_ids))
            return any(predecessor.id in graph.held_in_front(successor, number) for number in numbers)
        pins = graph.users[successor.id]
        return (
            bool(pins)
            and graph.computation.root_id != successor.id
            and all(graph.is_pin(pin, successor) and predecessor.id in graph.held(pin) for pin in pins)
        )

    def _is_marked(self, predecessor: Instruction, successor: Instruction) -> bool:
        try:
            sources, targets = self._sources(predecessor), self._targets(successor)
        except UnmarkableError:
            return False
        ids = [one.frontend_attributes.map.get(key, "") for one, key in sources]
        lists = [parse_ids(one.frontend_attributes.map.get(key, "")) for one, key in targets]
        return bool(ids) and bool(lists) and all(one and one in listed for one in ids for listed in lists)
