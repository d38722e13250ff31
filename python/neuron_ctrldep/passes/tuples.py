"""Tuples: what a value is made of, the ops that pack and unpack it, and how large its type is.

Handles of the bindings die with the op they name. Every function here therefore reads operands and owners anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from neuron_ctrldep.mlir import ir

Path = tuple[int, ...]
"""Element indices from the outermost tuple inwards."""


def op_name(owner: ir.OpView | ir.Block) -> str | None:
    """The name of the op that is a value's ``owner``; ``None`` for a block, and for ops without a Python class.

    It is the name of the class, which costs a third of asking the op. StableHLO and MHLO ops have classes.
    """
    return getattr(owner, "OPERATION_NAME", None)


def defining_op(value: ir.Value) -> ir.Operation | None:
    """The op that defines ``value``; ``None`` for a block argument."""
    return value.owner.operation if isinstance(value, ir.OpResult) else None


def element_index(op: ir.Operation | ir.OpView) -> int:
    """Which element a ``get_tuple_element`` takes."""
    return op.operation.attributes["index"].value


def element_types(kind: ir.TupleType) -> list[ir.Type]:
    """The types of a tuple's elements."""
    return [kind.get_type(i) for i in range(kind.num_types)]


@dataclass(frozen=True, slots=True)
class TupleShape:
    """How large a type is as a tuple."""

    depth: int
    """How deep tuples are nested; 0 for other types."""
    leaves: int
    """How many elements are no tuples; 1 for other types."""


def tuple_shape(kind: ir.Type, known: dict[ir.Type, TupleShape] | None = None) -> TupleShape:
    """Measure ``kind``. Iterative and remembering, for a type may be deep, and name one part many times.

    Args:
        kind: any type.
        known: shapes measured before.
    """
    known = {} if known is None else known
    stack = [kind]
    while stack:
        current = stack[-1]
        if not isinstance(current, ir.TupleType):
            known[current] = TupleShape(0, 1)
        elif current not in known:
            elements = element_types(current)
            missing = [element for element in elements if element not in known]
            if missing:
                stack += missing
                continue
            shapes = [known[element] for element in elements]
            known[current] = TupleShape(
                1 + max((shape.depth for shape in shapes), default=0), sum(shape.leaves for shape in shapes)
            )
        stack.pop()
    return known[kind]


def is_no_tuple(value: ir.Value) -> bool:
    """Whether ``value`` is of a type other than a tuple."""
    return not isinstance(value.type, ir.TupleType)


class Tuples:
    """The tuple ops of one dialect: what a value is made of, and how to take it apart and put it together."""

    def __init__(self, dialect: str) -> None:
        self.tuple_name = f"{dialect}.tuple"
        self.element_name = f"{dialect}.get_tuple_element"
        self.names = frozenset({self.tuple_name, self.element_name})

    def resolve(self, value: ir.Value, path: Path = ()) -> tuple[ir.Value, Path]:
        """What element ``path`` of ``value`` is, through ``get_tuple_element`` and ``tuple``.

        Returns:
            The value that holds it, and where in that value it is: ``()`` when it is the value itself.
        """
        seen: set[tuple[ir.Value, Path]] = set()
        while True:
            op = value.owner
            name = op_name(op)
            if name == self.element_name:
                # Where dominance does not hold (unreachable blocks, graph regions) ops may go in a circle.
                if (value, path) in seen:
                    return value, path
                seen.add((value, path))
                value, path = op.operands[0], (element_index(op), *path)
            elif name == self.tuple_name and path:
                value, path = op.operands[path[0]], path[1:]
            else:
                return value, path

    def take(self, value: ir.Value, index: int, *, location: ir.Location, ip: ir.InsertionPoint) -> ir.Value:
        """Element ``index`` of ``value``, by a new ``get_tuple_element`` where it is not at hand."""
        source, path = self.resolve(value)
        if not path and op_name(source.owner) == self.tuple_name:
            return source.owner.operands[index]
        base = value if path else source
        op = ir.Operation.create(
            self.element_name,
            results=[base.type.get_type(index)],
            operands=[base],
            attributes={"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(32, location.context), index)},
            loc=location,
            ip=ip,
        )
        return op.results[0]

    def take_apart(self, value: ir.Value, *, location: ir.Location, ip: ir.InsertionPoint) -> dict[Path, ir.Value]:
        """The leaves of ``value`` by their paths, in order; ``{(): value}`` when it is a leaf itself."""
        parts: dict[Path, ir.Value] = {(): value}
        leaves: dict[Path, ir.Value] = {}
        for path in _leaf_paths(value.type):
            for depth, index in enumerate(path):
                if path[: depth + 1] not in parts:
                    parts[path[: depth + 1]] = self.take(parts[path[:depth]], index, location=location, ip=ip)
            leaves[path] = parts[path]
        return leaves

    def put_together(
        self,
        kind: ir.Type,
        parts: dict[Path, ir.Value],
        *,
        location: ir.Location,
        ip: ir.InsertionPoint,
        path: Path = (),
    ) -> ir.Value:
        """The inverse: the value of type ``kind`` at ``path``, from ``parts``, which keeps the new tuples."""
        if path not in parts:
            elements = [
                self.put_together(element, parts, location=location, ip=ip, path=(*path, i))
                for i, element in enumerate(element_types(kind))
            ]
            op = ir.Operation.create(self.tuple_name, results=[kind], operands=elements, loc=location, ip=ip)
            parts[path] = op.results[0]
        return parts[path]


def _leaf_paths(kind: ir.Type) -> Iterator[Path]:
    stack: list[tuple[ir.Type, Path]] = [(kind, ())]
    known: dict[ir.Type, TupleShape] = {}
    while stack:
        current, path = stack.pop()
        if is_leaf(current, known):
            yield path
        else:
            stack += reversed([(element, (*path, i)) for i, element in enumerate(element_types(current))])


def is_leaf(kind: ir.Type, known: dict[ir.Type, TupleShape] | None = None) -> bool:
    """Whether ``kind`` is no tuple, or a tuple that holds nothing, however deep."""
    return not isinstance(kind, ir.TupleType) or tuple_shape(kind, known).leaves == 0
