"""Which predecessors of wire ops the program orders anyway.

Nodes are instructions and block arguments; wire ops, tuples, their elements and ``add_dependency`` only carry edges, as
for :func:`neuron_ctrldep.control_dep.control_edges`. A wire op adds an edge ``p -> S`` from each producer ``p`` of a
predecessor to each reader ``S`` of its result. The edge is superfluous if ``S`` reads ``p`` as data, or if another path
leads from ``p`` to ``S``. Without circles the transitive reduction is unique, so all edges of that sort may go at once.
Two wire ops may also hold the same edge; of those, one stays.

Where two views of the module differ, both are respected: an edge must be superfluous for everything that reads the wire
op even if tuples are not looked into, and the path that makes it so must exist even if they are. Edges against program
order, which only unreachable code and graph regions have, count for nothing. What leaves a block leaves it value by
value: that one of them is ordered after ``p`` says nothing of the others, for inlining the block parts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from neuron_ctrldep.control_dep import is_control_dep, is_transparent
from neuron_ctrldep.control_dep.structure import is_terminator
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.tuples import Tuples, element_index
from neuron_ctrldep.passes.wire_ops import DIALECTS

CHUNK = 4096
"""How many producers are followed at once, one bit each: memory stays bounded, and time linear for each chunk."""

SEARCH_LIMIT = 256
"""How far to look for a second wire op that holds the same edge; beyond, the edge is kept."""

_ADD_DEPENDENCY = "mhlo.add_dependency"
_TUPLE_NAMES = frozenset(Tuples(dialect).tuple_name for dialect in DIALECTS)
_ELEMENT_NAMES = frozenset(Tuples(dialect).element_name for dialect in DIALECTS)

_Order = tuple[int, int, int]
"""A node that comes first; and the wire op that says so, with the number of the operand (-1, 0 where none does)."""


class OrderingGraph:
    """The dependencies of one module; built once, asked once, and dead when the module changes."""

    def __init__(self, module: ir.Operation) -> None:
        self._ids: dict[ir.Value, int] = {}
        self._data: list[list[int]] = []
        """Nodes whose value a node reads; for a carrier those that its value is made of."""
        self._order: list[list[_Order]] = []
        """What a carrier puts before its value; for an instruction with regions, what wire ops in these do."""
        self._read: list[list[int]] = []
        """Nodes that a node names as operands, whatever they stand for."""
        self._users: dict[int, list[int]] = {}
        """Who names a carrier as operand."""
        self._is_carrier: list[bool] = []
        self._wires: dict[int, ir.Operation] = {}
        self._build(module)

    # --- building -----------------------------------------------------------------------------------------------------

    def _node(self, *, is_carrier: bool) -> int:
        self._data.append([])
        self._order.append([])
        self._read.append([])
        self._is_carrier.append(is_carrier)
        return len(self._data) - 1

    def _build(self, module: ir.Operation) -> None:
        """Number all values in program order, then connect them: an operand may come later in the text."""
        numbered: list[tuple[int, ir.Operation, tuple[int, ...]]] = []
        terminated: list[tuple[int, ir.Value, tuple[int, ...]]] = []
        stack: list[tuple[Iterator[ir.OpView], tuple[int, ...]]] = [
            (iter(block.operations), ()) for region in module.regions for block in region.blocks
        ]
        stack.reverse()
        while stack:
            operations, enclosing = stack[-1]
            view = next(operations, None)
            if view is None:
                stack.pop()
                continue
            op = view.operation
            if is_terminator(op):
                for value in op.operands:
                    terminated.append((self._node(is_carrier=False), value, enclosing))
                continue
            node = self._node(is_carrier=is_transparent(op))
            numbered.append((node, op, enclosing))
            for result in op.results:
                self._ids[result] = node
            inner = (*enclosing, node)
            blocks = [block for region in op.regions for block in region.blocks]
            for block in blocks:
                for argument in block.arguments:
                    self._ids[argument] = self._node(is_carrier=False)
            stack += reversed([(iter(block.operations), inner) for block in blocks])
        for node, op, _ in numbered:
            self._connect(node, op)
        for node, value, _ in terminated:
            self._read[node] = [self._ids[value]]
            self._data[node] += self._read[node]
        captured: dict[int, set[tuple[int, int, int]]] = {}
        for node, _, enclosing in [*numbered, *terminated]:
            if not self._is_carrier[node]:
                for outer in enclosing:
                    self._capture(outer, self._read[node], captured.setdefault(outer, set()))
        for user, read in enumerate(self._read):
            for node in read:
                if self._is_carrier[node]:
                    self._users.setdefault(node, []).append(user)

    def _connect(self, node: int, op: ir.Operation) -> None:
        read = [self._ids[value] for value in op.operands if value in self._ids]
        self._read[node] = read
        if not self._is_carrier[node] or op.name in _TUPLE_NAMES:
            self._data[node] += read
        elif op.name in _ELEMENT_NAMES:
            source, passed = self._element(op)
            self._data[node].append(source)
            self._order[node] += passed
        elif op.name == _ADD_DEPENDENCY:
            self._data[node].append(read[0])
            self._order[node] += [(token, -1, 0) for token in read[1:]]
        else:
            self._wires[node] = op
            self._data[node].append(read[-1])
            self._order[node] += [(source, node, number) for number, source in enumerate(read[:-1])]

    def _capture(self, outer: int, read: list[int], seen: set[tuple[int, int, int]]) -> None:
        """What an instruction in a region of ``outer`` reads from around it, ``outer`` reads, too.

        Args:
            outer: the op with the region.
            read: what the instruction reads.
            seen: what other instructions read, so that each is followed once.
        """
        stack = [(node, -1, 0) for node in read]
        while stack:
            item = stack.pop()
            if item in seen:
                continue
            seen.add(item)
            node, wire, number = item
            if node < outer:
                if wire < 0:
                    self._data[outer].append(node)
                else:
                    self._order[outer].append(item)
            elif self._is_carrier[node]:
                stack += [(source, wire, number) for source in self._data[node]]
                stack += [order if wire < 0 else (order[0], wire, number) for order in self._order[node]]

    def _element(self, op: ir.Operation) -> tuple[int, list[_Order]]:
        """What a ``get_tuple_element`` stands for, looking into known tuples, also behind wire ops.

        Returns:
            The node of the element, or of the opaque tuple; and the nodes that wire ops on the way put before it.
        """
        path = [element_index(op)]
        value = op.operands[0]
        passed: list[_Order] = []
        seen: set[ir.Value] = set()
        while isinstance(value, ir.OpResult) and value not in seen:
            seen.add(value)
            maker = value.owner.operation
            if maker.name in _ELEMENT_NAMES:
                path.append(element_index(maker))
                value = maker.operands[0]
            elif maker.name in _TUPLE_NAMES and path:
                value = maker.operands[path.pop()]
                if not path:
                    break
            elif is_control_dep(maker):
                operands = list(maker.operands)
                wire = self._ids[value]
                passed += [(self._ids[operand], wire, number) for number, operand in enumerate(operands[:-1])]
                value = operands[-1]
            else:
                break
        return self._ids[value], passed

    # --- asking -------------------------------------------------------------------------------------------------------

    def superfluous(self) -> dict[ir.Value, frozenset[int]]:
        """For the result of each wire op the numbers of the operands that may be dropped, all of them at once."""
        readable = self._readable_wires()
        droppable = {
            (wire, number): True for wire in self._wires if readable[wire] for _, _, number in self._order[wire]
        }
        producers = self._producers()
        only: _Reach | None = None
        for start in range(0, len(producers), CHUNK):
            reach = self._reach({node: 1 << i for i, node in enumerate(producers[start : start + CHUNK])})
            only = reach if len(producers) <= CHUNK else None
            for wire, number in droppable:
                if droppable[wire, number]:
                    first = reach.producers(self._order[wire][number][0])
                    droppable[wire, number] = not first & ~reach.held[wire]
        dropped = {key for key, is_droppable in droppable.items() if is_droppable}
        for wire in self._wires:
            nodes: set[int] = set()
            for node, _, number in self._order[wire]:
                if node in nodes or (readable[wire] and self._is_held_twice((wire, number), dropped, only)):
                    dropped.add((wire, number))
                if (wire, number) not in dropped:
                    nodes.add(node)
        return {
            op.results[0]: frozenset(number for _, _, number in self._order[wire] if (wire, number) in dropped)
            for wire, op in self._wires.items()
        }

    def _producers(self) -> list[int]:
        """The nodes that some predecessor stands for, in program order."""
        found: set[int] = set()
        stack = [node for wire in self._wires for node, _, _ in self._order[wire]]
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                if self._is_carrier[node]:
                    stack += [*self._data[node], *(source for source, _, _ in self._order[node])]
        return sorted(node for node in found if not self._is_carrier[node])

    def _readable_wires(self) -> list[bool]:
        """For each carrier whether an instruction reads it, and everything that does comes later in the text."""
        count = len(self._data)
        is_read = [not carrier for carrier in self._is_carrier]
        is_clear = [True] * count
        for user in range(count):
            for node in self._read[user]:
                if node >= user:
                    is_clear[node] = False
        for user in reversed(range(count)):
            for node in self._read[user]:
                if node < user and self._is_carrier[node]:
                    is_read[node] |= is_read[user]
                    is_clear[node] &= is_clear[user] or not self._is_carrier[user]
        return [read and clear for read, clear in zip(is_read, is_clear, strict=True)]

    def _reach(self, bit: dict[int, int]) -> _Reach:
        """Follow the producers in ``bit`` forwards, then gather what all readers of a carrier have anyway backwards."""
        count = len(self._data)
        everything = (1 << len(bit)) - 1
        value = [bit.get(node, 0) for node in range(count)]
        before = [0] * count
        path = [0] * count
        held = [everything] * count
        for node in range(min(bit, default=0), count):
            data = order = indirect = 0
            for source in self._data[node]:
                if source < node:
                    data |= value[source]
                    order |= before[source]
                    indirect |= path[source]
            for source, _, _ in self._order[node]:
                if source < node:
                    order |= value[source] | before[source]
                    indirect |= path[source]
            if self._is_carrier[node]:
                value[node], before[node], path[node] = data, order, indirect
            else:
                held[node] = data | indirect
                path[node] = data | order | indirect
        for user in reversed(range(count)):
            for node in self._read[user]:
                if node < user and self._is_carrier[node]:
                    held[node] &= held[user]
        return _Reach(bit, value, before, held)

    def _is_held_twice(self, key: tuple[int, int], dropped: set[tuple[int, int]], reach: _Reach | None) -> bool:
        """Whether every reader gets the edges of the operand ``key`` from other operands, too, or has them anyway."""
        wire, number = key
        if key in dropped:
            return True
        first = self._sources(self._order[wire][number][0], dropped)
        readers = self._readers(wire)
        if first is None or readers is None:
            return False
        for reader in readers:
            others = self._sources(reader, dropped, reader=reader, without=key)
            if others is None:
                return False
            missing = first - others
            if reach is not None:
                missing = {node for node in missing if not reach.bit[node] & reach.held[reader]}
            if missing:
                return False
        return True

    def _sources(
        self,
        node: int,
        dropped: set[tuple[int, int]],
        *,
        reader: int = -1,
        without: tuple[int, int] = (-1, 0),
    ) -> set[int] | None:
        """The instructions that ``node`` stands for, or reads if it is ``reader``, but for dropped edges.

        ``None`` when there are too many.
        """
        seen: set[int] = set()
        stack = [node]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if len(seen) > SEARCH_LIMIT:
                return None
            if self._is_carrier[node] or node == reader:
                stack += self._data[node]
                stack += [
                    source
                    for source, wire, number in self._order[node]
                    if (wire, number) not in dropped and (wire, number) != without
                ]
        return {node for node in seen if not self._is_carrier[node] and node != reader}

    def _readers(self, wire: int) -> set[int] | None:
        """The instructions that read ``wire``, directly or through carriers; ``None`` when there are too many."""
        seen: set[int] = set()
        stack = [wire]
        while stack:
            for user in self._users.get(stack.pop(), ()):
                if user not in seen:
                    seen.add(user)
                    if len(seen) > SEARCH_LIMIT:
                        return None
                    if self._is_carrier[user]:
                        stack.append(user)
        return {node for node in seen if not self._is_carrier[node]}


@dataclass(frozen=True, slots=True)
class _Reach:
    """Bits of producers for each node."""

    bit: dict[int, int]
    """The bit of each producer followed."""
    value: list[int]
    """What the node is, or is made of."""
    before: list[int]
    """What wire ops put before its value."""
    held: list[int]
    """For an instruction: what it reads as data, or what has a longer path to it. For a carrier: what all its readers
    have in common of that."""

    def producers(self, node: int) -> int:
        """What ``node`` stands for in predecessor position."""
        return self.value[node] | self.before[node]
