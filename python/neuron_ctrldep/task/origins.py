"""Which parameters of a function a value inside it may denote: reachability over "may come from" edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import terminator_of

_IDENTITIES = frozenset({"tensor.cast", "memref.cast", "memref.memory_space_cast"})
"""Ops whose result is the whole of operand 0's storage, in the same coordinates."""

_DESTINATION_OPERAND = {"tensor.insert_slice": 1, "tensor.insert": 1}
"""Ops whose result is the whole of another operand's storage."""

_VIEWS = frozenset(
    {
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.extract_strided_metadata",
        "memref.reinterpret_cast",
        "memref.reshape",
        "memref.subview",
        "memref.transpose",
        "memref.view",
        "tensor.collapse_shape",
        "tensor.expand_shape",
        "tensor.extract_slice",
        "tensor.reshape",
    }
)
"""Ops whose result lies in operand 0's storage, in coordinates of its own."""


class Origins:
    """Answers :meth:`of` for the values of one function body.

    Args:
        body: the body; the arguments of its entry block are the parameters.
        call_alias: for a call op and the position of a result, the argument that the result hands back, if known.
        views: whether to look through views; without, an answer means "all of the parameter, in its coordinates".
    """

    def __init__(self, body: ir.Region, *, call_alias: Callable[[ir.Operation, int], int | None], views: bool) -> None:
        self._parameters = {argument: index for index, argument in enumerate(body.blocks[0].arguments)}
        self._call_alias = call_alias
        self._views = views
        self._known: dict[ir.Value, frozenset[int | None]] = {}

    def of(self, value: ir.Value) -> frozenset[int | None]:
        """The parameters that ``value`` may denote; ``None`` is among them when it may be anything else."""
        if value not in self._known:
            self._known[value] = frozenset(self._parameters.get(root) for root in self.roots(value))
        return self._known[value]

    def roots(self, value: ir.Value) -> list[ir.Value]:
        """The values that ``value`` may denote and that nothing more is known of, parameters among them."""
        found: list[ir.Value] = []
        seen = {value}
        stack = [value]
        while stack:
            current = stack.pop()
            sources = [] if current in self._parameters else list(self._sources(current))
            if not sources:
                found.append(current)
            for source in reversed(sources):
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return found

    def _sources(self, value: ir.Value) -> Iterator[ir.Value]:
        """What ``value`` may be, one step back; nothing when that is not known."""
        if isinstance(value, ir.BlockArgument):
            yield from self._sources_of_argument(value)
            return
        op = value.owner.operation
        index = value.result_number
        name = op.name
        if name in _IDENTITIES or (self._views and name in _VIEWS):
            yield op.operands[0]
        elif name in _DESTINATION_OPERAND:
            yield op.operands[_DESTINATION_OPERAND[name]]
        elif name == "arith.select":
            yield op.operands[1]
            yield op.operands[2]
        elif name == "scf.for":
            yield op.operands[3 + index]
            yield terminator_of(op.regions[0]).operands[index]
        elif name == "scf.forall":
            # Slices are inserted where they lie already: the result is the storage that the loop was given.
            yield op.operands[len(op.operands) - len(op.results) + index]
        elif name == "scf.while":
            yield terminator_of(op.regions[0]).operands[1 + index]
        elif name in ("scf.if", "scf.index_switch"):
            for region in op.regions:
                yield terminator_of(region).operands[index]
        elif name == "scf.execute_region" and len(op.regions[0].blocks) == 1:
            yield terminator_of(op.regions[0]).operands[index]
        else:
            alias = self._call_alias(op, index)
            if alias is not None:
                yield op.operands[alias]

    def _sources_of_argument(self, argument: ir.Value) -> Iterator[ir.Value]:
        block = argument.owner
        op = block.owner.operation
        index = argument.arg_number
        if op.name == "scf.for" and index >= 1:
            yield op.operands[2 + index]
            yield terminator_of(op.regions[0]).operands[index - 1]
        elif op.name == "scf.forall":
            rank = len(list(op.attributes["staticStep"]))
            if index >= rank:
                yield op.operands[len(op.operands) - len(op.results) + index - rank]
        elif op.name == "scf.while":
            if block == op.regions[0].blocks[0]:
                yield op.operands[index]
                yield terminator_of(op.regions[1]).operands[index]
            else:
                yield terminator_of(op.regions[0]).operands[1 + index]
