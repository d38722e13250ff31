"""A wire op in place of another: the same attributes, fitted to other operands (``control-dep.md`` section 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from neuron_ctrldep.control_dep import CUSTOM_CALLS
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.tuples import Path, Tuples

SIDE_EFFECT = "has_side_effect"
API_VERSION = "api_version"
OPERAND_LAYOUTS = "operand_layouts"
ALIASES = "output_operand_aliases"
_ALIAS = re.compile(
    r"output_tuple_indices = \[([\d, ]*)\], operand_index = (\d+), operand_tuple_indices = \[([\d, ]*)\]"
)


class Rebuilder:
    """Builds the wire ops of one dialect that stand for others."""

    def __init__(self, dialect: str) -> None:
        self._custom_call = CUSTOM_CALLS[dialect]
        self._dialect = dialect
        self._tuples = Tuples(dialect)
        self._plain: dict[ir.Attribute | None, dict[str, ir.Attribute]] = {}

    def build(
        self, op: ir.Operation, predecessors: dict[ir.Value, int], data: ir.Value, leaf: Path | None = None
    ) -> ir.Operation:
        """The wire op that stands for ``op``, or for one leaf of what it forwards, right before it.

        Args:
            op: a wire op; it stays.
            predecessors: the new ones, each with the number of the operand of ``op`` it was part of.
            data: the new data.
            leaf: if ``op`` forwards a tuple that is taken apart, where in it ``data`` is.
        """
        return ir.Operation.create(
            self._custom_call,
            results=[data.type],
            operands=[*predecessors, data],
            attributes=self._carried(op, predecessors, leaf),
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )

    def _carried(
        self, op: ir.Operation, predecessors: dict[ir.Value, int], leaf: Path | None
    ) -> dict[str, ir.Attribute]:
        """The attributes of ``op``, fitted to the new operands."""
        # Nearly all wire ops have a target, the effect and a version only: the version decides what all of them become.
        attributes = op.attributes
        version = attributes.get(API_VERSION)
        if len(attributes) != (2 if version is None else 3) or SIDE_EFFECT not in attributes:
            return self._fitted(op, predecessors, leaf)
        plain = self._plain.get(version)
        if plain is None:
            plain = self._plain[version] = self._fitted(op, predecessors, leaf)
        return plain

    def _fitted(
        self, op: ir.Operation, predecessors: dict[ir.Value, int], leaf: Path | None
    ) -> dict[str, ir.Attribute]:
        context = op.context
        attributes = dict(op.attributes.items())
        attributes[SIDE_EFFECT] = ir.BoolAttr.get(True, context)
        if OPERAND_LAYOUTS in attributes:
            old = list(attributes[OPERAND_LAYOUTS])
            layouts = [*(old[number] for number in predecessors.values()), old[-1]]
            attributes[OPERAND_LAYOUTS] = ir.ArrayAttr.get(layouts, context)
        if ALIASES in attributes:
            aliases = self._aliases(op, attributes[ALIASES], predecessors, leaf)
            attributes[ALIASES] = ir.ArrayAttr.get(aliases, context)
        if leaf is not None:
            attributes.pop("xla_shape", None)
        return attributes

    def _aliases(
        self, op: ir.Operation, aliases: Iterable[ir.Attribute], predecessors: dict[ir.Value, int], leaf: Path | None
    ) -> list[ir.Attribute]:
        """The aliases that still hold, with the new numbers of their operands."""
        operands = list(op.operands)
        leaf = leaf or ()
        numbers = {value: number for number, value in enumerate(predecessors)}
        result: dict[str, None] = {}
        for alias in aliases:
            match = _ALIAS.search(str(alias))
            if match is None:
                continue
            output, number, path = _indices(match[1]), int(match[2]), _indices(match[3])
            if leaf[: len(output)] != output:
                continue  # of another leaf
            path += leaf[len(output) :]
            if number == len(operands) - 1 and path == leaf:
                number, path = len(predecessors), ()
            else:
                value, path = self._find(operands[number], path, numbers)
                if value is None:
                    continue  # the part it named is no operand of this op
                number = numbers[value]
            result[
                f"#{self._dialect}.output_operand_alias<output_tuple_indices = [], operand_index = {number}, "
                f"operand_tuple_indices = [{', '.join(map(str, path))}]>"
            ] = None
        return [ir.Attribute.parse(text, op.context) for text in result]

    def _find(self, value: ir.Value, path: Path, numbers: dict[ir.Value, int]) -> tuple[ir.Value | None, Path]:
        if not path and value in numbers:
            return value, path
        value, path = self._tuples.resolve(value, path)
        return (value, path) if value in numbers else (None, path)


def _indices(text: str) -> Path:
    return tuple(int(part) for part in text.split(",") if part.strip())
