"""Flat operand lists: ``flatten-control-dep-tuple-operands`` and its StableHLO twin.

Importers may bundle the operands of a wire op in tuples. The rewrite undoes that: afterwards predecessors are plain
values, and no wire op forwards a tuple (seed "HLO→MLIR Handoff"; ``control-dep.md`` section 4).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import ClassVar

from neuron_ctrldep.control_dep import CUSTOM_CALLS, main_function
from neuron_ctrldep.errors import PassError
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.leftovers import Leftovers, has_uses
from neuron_ctrldep.passes.neuron_exact import flatten_exactly
from neuron_ctrldep.passes.rebuild import OPERAND_LAYOUTS, Rebuilder
from neuron_ctrldep.passes.tuples import Path, Tuples, element_index, element_types, is_leaf, op_name
from neuron_ctrldep.passes.wire_ops import check_tuple_data, faults_of, find_wire_ops, is_empty_wire


def flatten(
    module: ir.Operation | ir.Module,
    *,
    dialect: str,
    main_only: bool = False,
    neuron_exact: bool = False,
    statistics: Statistics | None = None,
) -> None:
    """Expand the tuples in the operands of the wire ops of one dialect, in place.

    Wire ops that are flat already are not touched: they stay the same ops.

    Args:
        module: the ``builtin.module``.
        dialect: ``"stablehlo"`` or ``"mhlo"``.
        main_only: only the main function: ``main``, else the first public one, else the first.
        neuron_exact: what the original pass did, literally; see :mod:`neuron_ctrldep.passes.neuron_exact`.
        statistics: takes the counters.

    Raises:
        PassError: wire ops are illegal, or cannot be flattened; the module is unchanged.
    """
    operation = module.operation
    statistics = statistics if statistics is not None else Statistics()
    for counter in COUNTERS:
        statistics.add(counter, 0)
    scope = main_function(operation) if main_only or neuron_exact else operation
    if scope is None:
        return
    elements: set[ir.Value] = set()
    types: list[ir.Type | None] = []
    ops = find_wire_ops(scope, (dialect,), elements=elements, types=types)
    statistics.add("ops-seen", len(ops))
    legal_types = [kind for kind in types if kind is not None]
    if len(legal_types) < len(ops):
        raise PassError(diagnostics=faults_of(ops))
    if neuron_exact:
        flatten_exactly(ops, dialect, statistics)
    else:
        check_tuple_data(ops, legal_types)
        _Flattener(dialect, elements, operation.operands, statistics).run(ops, legal_types)


COUNTERS = {
    "ops-seen": "wire ops of the dialect",
    "ops-rebuilt": "wire ops whose operands changed",
    "operands-expanded": "operands that the rewrite replaced",
    "ops-erased": "tuple and get_tuple_element ops left without uses",
    "edges-dropped": "predecessors of empty tuples that something reads: no operand can hold them",
}


class _Flattener:
    """One run over the wire ops of one dialect."""

    def __init__(
        self, dialect: str, elements: set[ir.Value], nothing: ir.OpOperandList, statistics: Statistics
    ) -> None:
        self._custom_call = CUSTOM_CALLS[dialect]
        self._tuples = Tuples(dialect)
        self._leftovers = Leftovers(self._tuples.names)
        self._rebuilder = Rebuilder(dialect)
        self._statistics = statistics
        # What get_tuple_element ops make, and maybe more. A value has the hash of its address, so one of an op that was
        # erased does no harm: at worst another is looked at that need not be.
        self._elements = elements
        # An empty list of operands. Adding it to one copies that in C++; list() takes twice as long.
        self._nothing = nothing
        self._known_tuples: dict[ir.Type, bool] = {}
        self._operands_expanded = 0

    def run(self, ops: Iterable[ir.Operation], types: Iterable[ir.Type]) -> None:
        """Rewrite ``ops``, which forward values of ``types``."""
        # Tuples that are forwarded go first: splitting one makes its readers, other wire ops, ready to be expanded.
        plain: list[ir.Operation] = []
        empty: list[ir.Operation] = []
        pieces: set[ir.Value] = set()
        rebuilt = 0
        for op, kind in zip(ops, types, strict=True):
            if not isinstance(kind, ir.TupleType):
                plain.append(op)
            elif is_leaf(kind):
                empty.append(op)
                rebuilt += 1
            else:
                for piece in self._split(op):
                    (empty if isinstance(piece.results[0].type, ir.TupleType) else plain).append(piece)
                    pieces.add(piece.results[0])
                rebuilt += 1
        for op in plain:
            is_piece = bool(pieces) and op.results[0] in pieces
            if self._expand(op) and not is_piece:
                rebuilt += 1
        for op in empty:
            self._forward_nothing(op)
        self._statistics.add("ops-rebuilt", rebuilt)
        self._statistics.add("operands-expanded", self._operands_expanded)
        self._leftovers.erase()
        self._statistics.add("ops-erased", self._leftovers.erased)

    # --- predecessors -------------------------------------------------------------------------------------------------

    def _expand(self, op: ir.Operation) -> bool:
        """Rebuild ``op`` if the table of section 4 changes one of its operands; whether it did."""
        operands = op.operands + self._nothing
        data = operands.pop()
        predecessors, changed = self._predecessors(op, operands)
        if data in self._elements and op_name(data.owner) == self._tuples.element_name:
            source, path = self._tuples.resolve(data)
            if not path:
                changed[data] = None
                data = source
        if not changed:
            return False
        self._operands_expanded += len(changed)
        new = self._rebuilder.build(op, predecessors, data)
        op.result.replace_all_uses_with(new.result)
        op.erase()
        self._lost_uses(changed)
        return True

    def _predecessors(
        self, op: ir.Operation, operands: Iterable[ir.Value]
    ) -> tuple[dict[ir.Value, int], dict[ir.Value, ir.Operation | None]]:
        """What the operands in predecessor position become.

        Args:
            op: the wire op.
            operands: its predecessors as they are.

        Returns:
            The new ones, each value once, with the number of the operand it was first part of; and the operands that do
            not stay, each with the ``tuple`` that makes it, if that holds neither tuples nor elements of tuples.
        """
        result: dict[ir.Value, int] = {}
        changed: dict[ir.Value, ir.Operation | None] = {}
        elements, tuple_type = self._elements, ir.TupleType
        for number, operand in enumerate(operands):
            # Only these can be expanded. Their types say so at half of what their owners would cost.
            kind = operand.type
            if not isinstance(kind, tuple_type) and operand not in elements:
                result.setdefault(operand, number)
                continue
            owner = operand.owner
            if op_name(owner) == self._tuples.tuple_name:
                # The usual case by far, a tuple of plain values, without the stack.
                parts = owner.operands + self._nothing
                if not self._holds_tuples(kind) and elements.isdisjoint(parts):
                    changed[operand] = owner.operation
                    for part in parts:
                        result.setdefault(part, number)
                    continue
            found = self._expansion(operand, keep_elements=OPERAND_LAYOUTS in op.attributes)
            if found != [operand]:
                changed[operand] = None
            for value in found:
                result.setdefault(value, number)
        return result, changed

    def _holds_tuples(self, kind: ir.TupleType) -> bool:
        """Whether an element of the tuple type ``kind`` is a tuple."""
        holds = self._known_tuples.get(kind)
        if holds is None:
            holds = self._known_tuples[kind] = any(isinstance(part, ir.TupleType) for part in element_types(kind))
        return holds

    def _lost_uses(self, changed: dict[ir.Value, ir.Operation | None]) -> None:
        """The op that read the operands in ``changed``, as :meth:`_predecessors` tells them, is gone."""
        for value, simple_tuple in changed.items():
            if simple_tuple is None:
                self._leftovers.lost_use(value)
            elif not has_uses(value):
                self._leftovers.erase_now(simple_tuple, is_simple=True)

    def _expansion(self, operand: ir.Value, *, keep_elements: bool) -> list[ir.Value]:
        """What ``operand`` becomes in predecessor position.

        Args:
            operand: a tuple, or made by a ``get_tuple_element``.
            keep_elements: an element of an opaque tuple stays, for a tuple would be no valid operand.
        """
        found: list[ir.Value] = []
        seen: set[ir.Value] = set()
        stack = [operand]
        while stack:
            value = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            owner = value.owner
            name = op_name(owner)
            if name == self._tuples.tuple_name:
                stack += reversed(owner.operands)
            elif name == self._tuples.element_name:
                source, path = self._tuples.resolve(value)
                if not path:
                    stack.append(source)
                else:
                    found.append(value if keep_elements else source)
            elif name == self._custom_call and is_empty_wire(value):
                # It will go, since it forwards nothing; what it stands for is what counts.
                stack += reversed(owner.operands)
            else:
                found.append(value)
        return found

    # --- tuple data ---------------------------------------------------------------------------------------------------

    def _split(self, op: ir.Operation) -> list[ir.Operation]:
        """Replace ``op``, which forwards a tuple, by one wire op for each leaf. Returns the new ops in order."""
        location, ip = op.location, ir.InsertionPoint(op)
        operands = list(op.operands)
        data = operands[-1]
        predecessors, changed = self._predecessors(op, operands[:-1])
        changed[data] = None
        self._operands_expanded += len(changed)
        leaves = self._tuples.take_apart(data, location=location, ip=ip)
        self._elements.update(leaves.values())
        pieces = {path: self._rebuilder.build(op, predecessors, leaf, path) for path, leaf in leaves.items()}
        self._hand_over(op, pieces, leaves)
        op.erase()
        self._lost_uses(changed)
        return list(pieces.values())

    def _hand_over(self, op: ir.Operation, pieces: dict[Path, ir.Operation], leaves: dict[Path, ir.Value]) -> None:
        """Give the uses of the tuple that ``op`` forwards to its ``pieces``; new tuples serve what use is left."""
        location, ip = op.location, ir.InsertionPoint(op)
        # An empty tuple beside real elements holds no order of its own.
        parts = {
            path: leaf if isinstance(leaf.type, ir.TupleType) else pieces[path].results[0]
            for path, leaf in leaves.items()
        }
        taken: list[ir.Operation] = []
        stack: list[tuple[Path, ir.Value]] = [((), op.results[0])]
        while stack:
            path, value = stack.pop()
            is_needed = False
            for use in [] if path in pieces else list(value.uses):
                user = use.owner.operation
                # An element that nothing reads was dead before: it stays, and reads the new tuple.
                if user.name == self._tuples.element_name and has_uses(user.results[0]):
                    stack.append(((*path, element_index(user)), user.results[0]))
                    taken.append(user)
                else:
                    is_needed = True
            if path in pieces:
                value.replace_all_uses_with(pieces[path].results[0])
            elif is_needed:
                whole = self._tuples.put_together(value.type, parts, location=location, ip=ip, path=path)
                value.replace_all_uses_with(whole)
        for element in reversed(taken):
            self._leftovers.erase_now(element)

    def _forward_nothing(self, op: ir.Operation) -> None:
        """Replace ``op``, which forwards an empty tuple, by its data: there is no value that could hold the order."""
        operands = list(op.operands)
        result = op.results[0]
        if operands[-1] == result:  # a circle in unreachable code
            return
        if any(use.owner.operation.name != self._tuples.tuple_name for use in result.uses):
            self._statistics.add("edges-dropped", len(operands) - 1)
        result.replace_all_uses_with(operands[-1])
        op.erase()
        for value in operands:
            self._leftovers.lost_use(value)


# --- the two passes ---------------------------------------------------------------------------------------------------

_DESCRIPTION = """\
An importer may hand the operands of a wire op over in a `{d}.tuple`, or as elements of one. This pass expands them in
place, so that readers see `(predecessors…, data)`:

| operand | as a predecessor | as the data (last) |
|---|---|---|
| `tuple(a, b, …)` | `a, b, …`, nested tuples too | one wire op for each leaf element |
| `get_tuple_element(tuple(a…), i)` | element `i` | element `i` |
| `get_tuple_element(x, i)` | `x` | unchanged |
| anything else | unchanged | unchanged |

Before:

```mlir
%t = {d}.tuple %p0, %p1 : tuple<tensor<f32>, tensor<f32>>
%w = {d}.custom_call @AwsNeuronControlDep(%t, %d) {{has_side_effect = true}}
       : (tuple<tensor<f32>, tensor<f32>>, tensor<f32>) -> tensor<f32>
```

After:

```mlir
%w = {d}.custom_call @AwsNeuronControlDep(%p0, %p1, %d) {{has_side_effect = true}}
       : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
```

Predecessors that repeat after expansion are kept once. Attributes are carried over (`has_side_effect = true` always;
layouts and aliases fitted to the new operands); a call with `operand_layouts` keeps elements of opaque tuples. Then
`tuple` and `get_tuple_element` ops that the rewrite left without uses are erased. Wire ops that are flat stay the same
ops, so a second run changes nothing. An empty tuple as data leaves no value to hold the order: its wire op is dropped
and, if something reads it, its predecessors are counted in `edges-dropped`.
"""


@dataclasses.dataclass(frozen=True)
class _Flatten(Pass):
    """The options the twins share."""

    counters: ClassVar = COUNTERS
    dialect: ClassVar[str]

    main_only: bool = dataclasses.field(
        default=False,
        metadata={"help": "only the main function: the one named main, else the first public one, else the first"},
    )
    neuron_exact: bool = dataclasses.field(
        default=False,
        metadata={"help": "what the original pass does, literally; an error where that breaks the program"},
    )

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        flatten(
            op,
            dialect=self.dialect,
            main_only=self.main_only,
            neuron_exact=self.neuron_exact,
            statistics=statistics,
        )


@dataclasses.dataclass(frozen=True)
class FlattenMhlo(_Flatten):
    """``flatten-control-dep-tuple-operands``."""

    name: ClassVar[str] = "flatten-control-dep-tuple-operands"
    summary: ClassVar[str] = "Expand tuples in the operands of MHLO control dependencies"
    description: ClassVar[str] = _DESCRIPTION.format(d="mhlo")
    dialect: ClassVar[str] = "mhlo"


@dataclasses.dataclass(frozen=True)
class FlattenStablehlo(_Flatten):
    """``stablehlo-flatten-control-dep-tuple-operands``."""

    name: ClassVar[str] = "stablehlo-flatten-control-dep-tuple-operands"
    summary: ClassVar[str] = "Expand tuples in the operands of StableHLO control dependencies"
    description: ClassVar[str] = _DESCRIPTION.format(d="stablehlo")
    dialect: ClassVar[str] = "stablehlo"
