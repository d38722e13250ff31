"""What types and attributes of an op may be: each constraint checks, decodes and encodes, and describes itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import text_of

# --- constraints on types ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnyType:
    """Every type."""

    description: ClassVar[str] = "any type"

    def accepts(self, type_: ir.Type) -> bool:
        """Whether ``type_`` satisfies the constraint."""
        return True


@dataclass(frozen=True)
class TaskIdType:
    """``!task.id``."""

    description: ClassVar[str] = "!task.id"

    def accepts(self, type_: ir.Type) -> bool:
        """Whether ``type_`` satisfies the constraint."""
        return isinstance(type_, ir.OpaqueType) and type_.dialect_namespace == "task" and type_.data == "id"


@dataclass(frozen=True)
class TaskIdOrTensor:
    """``!task.id`` or ``tensor<N x !task.id>``, where N may be ``?``."""

    description: ClassVar[str] = "!task.id or tensor<N x !task.id>"

    def accepts(self, type_: ir.Type) -> bool:
        """Whether ``type_`` satisfies the constraint."""
        if isinstance(type_, ir.RankedTensorType):
            return type_.rank == 1 and type_.encoding is None and TaskIdType().accepts(type_.element_type)
        return TaskIdType().accepts(type_)


TypeConstraint = AnyType | TaskIdType | TaskIdOrTensor


# --- constraints on attributes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FlatSymbol:
    """``@name``; ``str`` in Python."""

    description: ClassVar[str] = "a symbol, @name"

    def accepts(self, attribute: ir.Attribute) -> bool:
        """Whether ``attribute`` satisfies the constraint."""
        return isinstance(attribute, ir.FlatSymbolRefAttr)

    def decode(self, attribute: Any) -> str:
        """The Python value of an attribute that satisfies the constraint."""
        return text_of(attribute)

    def encode(self, value: str, context: ir.Context) -> ir.Attribute:
        """The attribute for a Python value."""
        return ir.FlatSymbolRefAttr.get(value, context)


@dataclass(frozen=True)
class Text:
    """A string, one of ``choices`` where these are given; ``str`` in Python."""

    choices: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What is expected, in words."""
        return " | ".join(f'"{choice}"' for choice in self.choices) or "a string"

    def accepts(self, attribute: ir.Attribute) -> bool:
        """Whether ``attribute`` satisfies the constraint."""
        return isinstance(attribute, ir.StringAttr) and (not self.choices or text_of(attribute) in self.choices)

    def decode(self, attribute: Any) -> str:
        """The Python value of an attribute that satisfies the constraint."""
        return text_of(attribute)

    def encode(self, value: str, context: ir.Context) -> ir.Attribute:
        """The attribute for a Python value."""
        return ir.StringAttr.get(value, context)


@dataclass(frozen=True)
class TextArray:
    """An array of strings, each one of ``choices`` where these are given; ``tuple[str, ...]`` in Python."""

    choices: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What is expected, in words."""
        return "an array of " + (Text(self.choices).description if self.choices else "strings")

    def accepts(self, attribute: ir.Attribute) -> bool:
        """Whether ``attribute`` satisfies the constraint."""
        element = Text(self.choices)
        return isinstance(attribute, ir.ArrayAttr) and all(element.accepts(entry) for entry in attribute)

    def decode(self, attribute: Any) -> tuple[str, ...]:
        """The Python value of an attribute that satisfies the constraint."""
        return tuple(text_of(entry) for entry in attribute)

    def encode(self, value: Sequence[str], context: ir.Context) -> ir.Attribute:
        """The attribute for a Python value."""
        return ir.ArrayAttr.get([ir.StringAttr.get(entry, context) for entry in value], context)


@dataclass(frozen=True)
class Slots:
    """``array<i64: …>`` of argument positions; ``tuple[int, ...]`` in Python."""

    description: ClassVar[str] = "array<i64: slots…>"

    def accepts(self, attribute: ir.Attribute) -> bool:
        """Whether ``attribute`` satisfies the constraint."""
        return isinstance(attribute, ir.DenseI64ArrayAttr)

    def decode(self, attribute: Any) -> tuple[int, ...]:
        """The Python value of an attribute that satisfies the constraint."""
        return tuple(attribute)

    def encode(self, value: Sequence[int], context: ir.Context) -> ir.Attribute:
        """The attribute for a Python value."""
        return ir.DenseI64ArrayAttr.get(list(value), context)


@dataclass(frozen=True)
class Unit:
    """A unit attribute; ``bool`` in Python: whether it is there."""

    description: ClassVar[str] = "a unit attribute"

    def accepts(self, attribute: ir.Attribute) -> bool:
        """Whether ``attribute`` satisfies the constraint."""
        return isinstance(attribute, ir.UnitAttr)

    def decode(self, attribute: Any) -> bool:
        """The Python value of an attribute that satisfies the constraint."""
        return True

    def encode(self, value: bool, context: ir.Context) -> ir.Attribute:
        """The attribute for a Python value."""
        return ir.UnitAttr.get(context)


AttrConstraint = FlatSymbol | Text | TextArray | Slots | Unit
