"""The one reader of edges: both carriers of a module, by the rules of ``control-dep.md`` section 5."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable
from typing import TypeAlias

from neuron_ctrldep.control_dep.asynchronous import dones_of, lifted
from neuron_ctrldep.control_dep.edges import (
    BLOCK_ARGUMENT,
    CONSTANT_PREDECESSOR,
    DONE_MERGED,
    PREDECESSOR_REMOVED,
    SAME_OPERATION,
    SUCCESSOR_ARGUMENT,
    SUCCESSOR_REMOVED,
    SUCCESSOR_TERMINATOR,
    UNREACHED,
    WIRE_UNUSED,
    Carrier,
    ControlEdge,
    ControlEdges,
    UncountedEdge,
)
from neuron_ctrldep.control_dep.op import (
    CUSTOM_CALLS,
    ControlDep,
    fault_of,
    frontend_attributes,
    is_control_dep,
    string_entries,
)
from neuron_ctrldep.control_dep.order import ProgramOrder, ancestor_in
from neuron_ctrldep.control_dep.structure import (
    ADD_DEPENDENCY,
    MAYBE_TRANSPARENT,
    TUPLE_OPS,
    defining_op,
    instruction_name,
    is_constant,
    is_terminator,
    is_transparent,
    key_of,
    producers,
    reachable_functions,
    trace,
    users_through,
)
from neuron_ctrldep.mlir import entry, ir
from neuron_ctrldep.wire import AFTER, DONE_AFTER, DONE_ID, FRONTEND_ATTRIBUTES, ID, parse_ids

_CUSTOM_CALL_NAMES = frozenset(CUSTOM_CALLS.values())
_MARKS = frozenset({ID, AFTER, DONE_ID, DONE_AFTER})


def control_edges(module: ir.Operation | ir.Module) -> ControlEdges:
    """Read both carriers of a module: wire ops, and ``ctrldep.*`` frontend attributes.

    Illegal wire ops (see :func:`fault_of`) are not read; ``verify-control-deps`` reports them. An edge keeps its module
    alive, which an op alone does not. A pass that runs later may remove the ops: keep their names instead.

    Raises:
        InputError: MLIR could not work on ``module``; see :func:`neuron_ctrldep.mlir.entry`.
    """
    found = read_edges(entry(module))
    return ControlEdges([dataclasses.replace(edge, module=module) for edge in found.edges], found.uncounted)


def read_edges(operation: ir.Operation) -> ControlEdges:
    """As :func:`control_edges`, with edges that live no longer than what the caller holds of the module."""
    functions = reachable_functions(operation)
    reached = set(functions)
    edges: list[ControlEdge] = []
    uncounted: list[UncountedEdge] = []
    for op in operation.regions[0].blocks[0].operations if functions else [operation]:
        reader = _Reader(op.operation)
        if not functions or op.operation in reached:
            reader.read()
            edges += reader.edges
            uncounted += reader.uncounted
        else:
            uncounted += reader.unreached()
    return ControlEdges(edges, uncounted)


_Key: TypeAlias = ir.Value | ir.Operation
"""See :func:`key_of`."""


class _Reader:
    """Reads one function."""

    def __init__(self, function: ir.Operation) -> None:
        self.edges: list[ControlEdge] = []
        self.uncounted: list[UncountedEdge] = []
        self._wires: dict[ir.Value, ir.Operation] = {}
        self._transparent: set[ir.Value] = set()
        self._after_tokens: list[ir.Operation] = []
        self._marked: list[tuple[ir.Operation, dict[str, str]]] = []
        self._found: dict[tuple[_Key, _Key], ControlEdge] = {}
        self._names: dict[_Key, str] = {}
        self._nothing = function.operands[:0]  # an empty list: adding it to a list of operands copies that in C++
        self._in_program_order = functools.cmp_to_key(ProgramOrder().compare)
        self._read_arguments(function)
        self._find_carriers(function)

    def _read_arguments(self, function: ir.Operation) -> None:
        """Attributes of arguments: no edge can end there (a pin orders their readers), but none goes unseen."""
        if "arg_attrs" not in function.attributes:
            return
        for number, dictionary in enumerate(function.attributes["arg_attrs"]):
            for _ in parse_ids(string_entries(dictionary, FRONTEND_ATTRIBUTES).get(AFTER, "")):
                self.uncounted.append(UncountedEdge("", f"argument {number}", SUCCESSOR_ARGUMENT))

    def _find_carriers(self, function: ir.Operation) -> None:
        def visit(op: ir.Operation) -> ir.WalkResult:
            name = op.name
            if name in _CUSTOM_CALL_NAMES and is_control_dep(op):
                if fault_of(op) is None:
                    result = op.result
                    self._wires[result] = op
                    self._transparent.add(result)
            elif name == ADD_DEPENDENCY:
                self._after_tokens.append(op)
                self._transparent.add(op.result)
            elif name in TUPLE_OPS:
                self._transparent.add(op.result)
            if FRONTEND_ATTRIBUTES in op.attributes:
                marks = {key: text for key, text in frontend_attributes(op).items() if key in _MARKS}
                if marks:
                    self._marked.append((op, marks))
            return advance

        advance = ir.WalkResult.ADVANCE
        function.walk(visit, ir.WalkOrder.PRE_ORDER)

    def _name(self, op: ir.Operation) -> str:
        key = key_of(op)
        if key not in self._names:
            self._names[key] = instruction_name(op)
        return self._names[key]

    def _drop(self, src: ir.Operation | None, dst: ir.Operation | None, reason: str) -> None:
        self.uncounted.append(
            UncountedEdge(
                self._name(src) if src is not None else "", self._name(dst) if dst is not None else "", reason
            )
        )

    def unreached(self) -> list[UncountedEdge]:
        """What a function that main does not reach would have said."""
        for wire in self._wires.values():
            for predecessor in ControlDep(wire).predecessors:
                self._drop(defining_op(predecessor), None, UNREACHED)
        for op, marks in self._marked:
            for _ in parse_ids(marks.get(AFTER, "") + "," + marks.get(DONE_AFTER, "")):
                self._drop(None, op, UNREACHED)
        return self.uncounted

    def read(self) -> None:
        """Fill ``edges`` and ``uncounted``."""
        successors: dict[_Key, ir.Operation] = {}
        for result, wire in self._wires.items():
            users = _users(result)
            if not users and len(wire.operands) > 1:
                for predecessor in ControlDep(wire).predecessors:
                    self._drop(defining_op(predecessor), None, WIRE_UNUSED)
            successors.update((key_of(user), user) for user in users)
        for after_token in self._after_tokens:
            successors.update((key_of(user), user) for user in _users(after_token.result))
        for successor in sorted(successors.values(), key=self._in_program_order):
            terminator = is_terminator(successor)
            for operand in successor.operands + self._nothing:
                for predecessor in self._before(operand) if operand in self._transparent else ():
                    if terminator:
                        self._drop(defining_op(predecessor), successor, SUCCESSOR_TERMINATOR)
                    else:
                        self._add(predecessor, successor, "operand")
        self._read_marks()
        self._sort()

    def _before(self, value: ir.Value) -> list[ir.Value]:
        """What transparent ops put before ``value``, which one of them makes."""
        wire = self._wires.get(value)
        if wire is not None:
            operands = wire.operands + self._nothing
            if self._transparent.isdisjoint(operands):
                # By far the most wire ops: nothing to look through.
                return list(dict.fromkeys(operands[:-1]))
        return trace(value)[1]

    def _add(self, predecessor: ir.Value | ir.Operation, successor: ir.Operation, carrier: Carrier) -> None:
        """Record ``predecessor -> successor``; a value that no op of the block defines only with its reason."""
        src = predecessor if isinstance(predecessor, ir.Operation) else defining_op(predecessor)
        if src is None:
            self._drop(None, successor, BLOCK_ARGUMENT)
        elif is_constant(src):
            self._drop(src, successor, CONSTANT_PREDECESSOR)
        else:
            # An edge holds between ops of one block: into a region it holds for the op that owns the region.
            block = src.block
            dst = successor if successor.block == block else ancestor_in(successor, block)
            if dst is None:
                self._drop(src, successor, BLOCK_ARGUMENT)
            elif dst == src:
                self._drop(src, dst, SAME_OPERATION)
            elif is_terminator(dst):
                self._drop(src, dst, SUCCESSOR_TERMINATOR)
            else:
                self._found.setdefault((key_of(src), key_of(dst)), ControlEdge(src, dst, carrier))

    def _read_marks(self) -> None:
        """Match ids with the lists that name them, within each block."""
        sources: dict[tuple[ir.Block, str], list[ir.Operation]] = {}
        targets: list[tuple[ir.Block, ir.Operation, str, bool]] = []
        for marked, marks in self._marked:
            op = lifted(marked)
            if is_transparent(op):
                self._read_marks_of_packaging(op, marks, sources, targets)
                continue
            done = dones_of(op)
            for key, owners in ((ID, [op]), (DONE_ID, done or [op])):
                if key in marks:
                    for owner in owners:
                        sources.setdefault((owner.block, marks[key]), []).append(owner)
            targets += [(op.block, op, one, False) for one in parse_ids(marks.get(AFTER, ""))]
            for one in parse_ids(marks.get(DONE_AFTER, "")):
                targets += [(owner.block, owner, one, not done) for owner in (done or [op])]
        named: set[tuple[ir.Block, str]] = set()
        merged: list[tuple[ir.Operation, ir.Operation]] = []
        for block, op, one, is_merged in sorted(targets, key=lambda t: (self._in_program_order(t[1]), _id_order(t[2]))):
            named.add((block, one))
            owners = sources.get((block, one), [])
            if not owners:
                self._drop(None, op, PREDECESSOR_REMOVED)
            for owner in owners:
                if is_merged:
                    merged.append((owner, op))
                else:
                    self._add(owner, op, "attribute")
        for (block, one), owners in sources.items():
            if (block, one) not in named:
                for owner in owners:
                    self._drop(owner, None, SUCCESSOR_REMOVED)
        explicit: dict[_Key, list[ir.Operation]] = {}
        for (src_key, _), edge in self._found.items() if merged else ():
            explicit.setdefault(src_key, []).append(edge.dst)
        for src, dst in merged:
            before = len(self._found)
            self._add_to_merged(src, dst, explicit)
            for (src_key, _), edge in itertools.islice(self._found.items(), before, None):
                explicit.setdefault(src_key, []).append(edge.dst)

    def _read_marks_of_packaging(
        self,
        op: ir.Operation,
        marks: dict[str, str],
        sources: dict[tuple[ir.Block, str], list[ir.Operation]],
        targets: list[tuple[ir.Block, ir.Operation, str, bool]],
    ) -> None:
        """The marks of a transparent op: its id stands for what it packs, and what reads it waits for its list."""
        result = op.results[0]
        if ID in marks:
            found = sources.setdefault((op.block, marks[ID]), [])
            found += [source for value in producers(result) if (source := defining_op(value)) is not None]
            if not found:
                self._drop(None, op, BLOCK_ARGUMENT)
        ids = parse_ids(marks.get(AFTER, ""))
        users = _users(result) if ids else []
        if ids and not users:
            self._drop(None, op, WIRE_UNUSED)
        targets += [(op.block, user, one, False) for user in users for one in ids]

    def _add_to_merged(self, src: ir.Operation, dst: ir.Operation, explicit: dict[_Key, list[ir.Operation]]) -> None:
        """An edge meant for a done that became one op with its start: to the op, else to its readers, else dropped."""
        if src == dst or self._reaches(dst, src, explicit):
            readers = [r for r in _readers(dst) if r != src and not self._reaches(r, src, explicit)]
            for reader in readers:
                self._add(src, reader, "attribute")
            if not readers:
                self._drop(src, dst, DONE_MERGED)
        else:
            self._add(src, dst, "attribute")

    def _reaches(self, start: ir.Operation, goal: ir.Operation, explicit: dict[_Key, list[ir.Operation]]) -> bool:
        """Whether ``goal`` is after ``start`` by data or by an edge found so far."""
        seen = {key_of(start)}
        stack = [start]
        while stack:
            op = stack.pop()
            for user in [*_data_users(op), *explicit.get(key_of(op), ())]:
                if user == goal:
                    return True
                if (key := key_of(user)) not in seen:
                    seen.add(key)
                    stack.append(user)
        return False

    def _sort(self) -> None:
        # Found in order of operands, then ids; a stable sort by successor and carrier keeps that order.
        into: dict[_Key, list[ControlEdge]] = {}
        for (_, dst_key), edge in self._found.items():
            into.setdefault(dst_key, []).append(edge)
        for edges in sorted(into.values(), key=lambda edges: self._in_program_order(edges[0].dst)):
            self.edges += sorted(edges, key=lambda edge: edge.carrier == "attribute")


def _distinct(ops: Iterable[ir.Operation]) -> list[ir.Operation]:
    return list({key_of(op): op for op in ops}.values())


def _users(value: ir.Value) -> list[ir.Operation]:
    """The instructions that read ``value``, directly or through transparent ops."""
    users = [use.owner.operation for use in value.uses]
    users.reverse()  # MLIR lists the last use first; sorting what is in order nearly takes half the time
    if any(user.name in MAYBE_TRANSPARENT for user in users):
        return list(users_through(value))
    return users if len(users) < 2 else _distinct(users)


def _id_order(one: str) -> tuple[int, str]:
    return (int(one), "") if one.isascii() and one.isdigit() else (1 << 62, one)


def _data_users(op: ir.Operation) -> list[ir.Operation]:
    """The ops of ``op``'s block that read a result of it, themselves or in a region they own."""
    block = op.block
    users = (ancestor_in(use.owner.operation, block) for result in op.results for use in result.uses)
    return _distinct(user for user in users if user is not None)


def _readers(op: ir.Operation) -> list[ir.Operation]:
    """The instructions of ``op``'s block that read it, through transparent ops; terminators left out."""
    block = op.block
    found = (ancestor_in(user, block) for result in op.results for user in users_through(result))
    return _distinct(user for user in found if user is not None and not is_terminator(user))
