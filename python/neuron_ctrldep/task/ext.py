"""Op definitions as classes: annotations that are the accessors, the structural verifier and the IRDL source at once.

The style is that of upstream's ``mlir.dialects.ext``. jaxlib's bindings have no IRDL, so ops defined here stay
unregistered ops to MLIR, and what upstream generates in C++ is done by :class:`OpDefinition`. A definition reads::

    class Submit(OpDefinition, name="task.submit"):
        args: Annotated[list[ir.Value], Operands(AnyType())]
        id: Annotated[ir.Value, Results(TaskIdType(), variadic=False)]
        callee: Annotated[str, Attr(FlatSymbol())]

and ``Submit(op).args`` is then the list of the operands in that group.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import SEGMENT_SIZES, get_attribute
from neuron_ctrldep.task.constraints import AttrConstraint, TypeConstraint, Unit

# --- fields -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operands:
    """A group of operands: ``list[ir.Value]``."""

    constraint: TypeConstraint
    name: str = ""

    def __get__(self, view: OpDefinition | None, owner: type) -> Any:
        return self if view is None else view.operand_group(self.name)


@dataclass(frozen=True)
class Results:
    """A group of results, ``list[ir.Value]``, or with ``variadic=False`` one ``ir.Value``.

    At most one group of an op is variadic, so no attribute has to say where it ends.
    """

    constraint: TypeConstraint
    variadic: bool = True
    name: str = ""

    def __get__(self, view: OpDefinition | None, owner: type) -> Any:
        return self if view is None else view.result_group(self.name)


@dataclass(frozen=True)
class Attr:
    """An attribute, decoded; ``None`` (a unit: ``False``) when an optional one is absent. Assigning sets it."""

    constraint: AttrConstraint
    optional: bool = False
    key: str = ""
    """The name in the attribute dictionary; the field's name by default."""
    name: str = ""

    def __get__(self, view: OpDefinition | None, owner: type) -> Any:
        if view is None:
            return self
        attribute = get_attribute(view.operation, self.key)
        if attribute is not None:
            return self.constraint.decode(attribute)
        return False if isinstance(self.constraint, Unit) else None

    def __set__(self, view: OpDefinition, value: Any) -> None:
        attributes = view.operation.attributes
        if value is None or value is False:
            if self.key in attributes:
                del attributes[self.key]
        else:
            attributes[self.key] = self.constraint.encode(value, view.operation.context)


Field = Operands | Results | Attr


# --- ops --------------------------------------------------------------------------------------------------------------


class OpDefinition:
    """Base of definitions; an instance is a typed view of one operation that satisfies the definition."""

    op_name: ClassVar[str] = ""
    fields: ClassVar[Mapping[str, Field]] = {}
    operand_groups: ClassVar[tuple[Operands, ...]] = ()
    result_groups: ClassVar[tuple[Results, ...]] = ()
    attributes: ClassVar[tuple[Attr, ...]] = ()

    __slots__ = ("operation",)

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation

    def __init_subclass__(cls, name: str = "") -> None:
        super().__init_subclass__()
        cls.op_name = name
        fields: dict[str, Field] = {}
        for field_name, hint in typing.get_type_hints(cls, include_extras=True).items():
            for extra in getattr(hint, "__metadata__", ()):
                if isinstance(extra, Attr):
                    fields[field_name] = dataclasses.replace(extra, name=field_name, key=extra.key or field_name)
                elif isinstance(extra, Operands | Results):
                    fields[field_name] = dataclasses.replace(extra, name=field_name)
        cls.fields = fields
        cls.operand_groups = tuple(field for field in fields.values() if isinstance(field, Operands))
        cls.result_groups = tuple(field for field in fields.values() if isinstance(field, Results))
        cls.attributes = tuple(field for field in fields.values() if isinstance(field, Attr))
        for field_name, field in fields.items():
            setattr(cls, field_name, field)

    @classmethod
    def matches(cls, op: ir.Operation | ir.OpView) -> bool:
        """Whether ``op`` is the op this class defines, by name."""
        return op.operation.name == cls.op_name

    def operand_group(self, name: str) -> list[ir.Value]:
        """The operands of the group ``name``."""
        groups = self.operand_groups
        operands = list(self.operation.operands)
        if len(groups) == 1:
            return operands
        start = 0
        for group, size in zip(groups, self.operation.attributes[SEGMENT_SIZES], strict=True):
            if group.name == name:
                return operands[start : start + size]
            start += size
        raise AttributeError(name)

    def result_group(self, name: str) -> Any:
        """The results of the group ``name``; the value itself where the group is no group."""
        groups = self.result_groups
        results = list(self.operation.results)
        start = 0
        for group in groups:
            size = len(results) - (len(groups) - 1) if group.variadic else 1
            if group.name == name:
                return results[start : start + size] if group.variadic else results[start]
            start += size
        raise AttributeError(name)

    @classmethod
    def faults(cls, op: ir.Operation) -> Iterator[str]:
        """What in the structure of ``op`` breaks the definition, as messages; accessors are safe when there is none."""
        yield from cls._operand_faults(op)
        yield from cls._result_faults(op)
        for field in cls.attributes:
            attribute = get_attribute(op, field.key)
            if attribute is None:
                if not field.optional:
                    yield f"needs the attribute '{field.key}' ({field.constraint.description})"
            elif not field.constraint.accepts(attribute):
                yield f"attribute '{field.key}' must be {field.constraint.description}; found {attribute}"
        if len(op.regions) != 0:
            yield f"has no regions; found {len(op.regions)}"
        if len(op.successors) != 0:
            yield f"has no successors; found {len(op.successors)}"

    @classmethod
    def _operand_faults(cls, op: ir.Operation) -> Iterator[str]:
        groups = cls.operand_groups
        operands = op.operands
        sizes = [len(operands)] if len(groups) == 1 else []
        if not groups and len(operands) != 0:
            yield f"has no operands; found {len(operands)}"
        if len(groups) > 1:
            attribute = get_attribute(op, SEGMENT_SIZES)
            names = ", ".join(group.name for group in groups)
            if not isinstance(attribute, ir.DenseI32ArrayAttr):
                yield (
                    f"needs the attribute '{SEGMENT_SIZES}' (array<i32: {names}>) in the plain dictionary, not <{{…}}>"
                )
                return
            sizes = list(attribute)
            if len(sizes) != len(groups) or min(sizes) < 0 or sum(sizes) != len(operands):
                yield (
                    f"'{SEGMENT_SIZES}' must give the size of each of the groups {names}, {len(operands)} operands in "
                    f"all; found {attribute}"
                )
                return
        start = 0
        for group, size in zip(groups, sizes, strict=False):
            for position in range(start, start + size):
                type_ = operands[position].type
                if not group.constraint.accepts(type_):
                    yield (f"operand #{position} ({group.name}) must be {group.constraint.description}; found {type_}")
            start += size

    @classmethod
    def _result_faults(cls, op: ir.Operation) -> Iterator[str]:
        groups = cls.result_groups
        results = list(op.results)
        variadic = any(group.variadic for group in groups)
        fixed = sum(not group.variadic for group in groups)
        if len(results) < fixed or (len(results) > fixed and not variadic):
            yield f"has {'at least ' if variadic else ''}{fixed} result(s); found {len(results)}"
            return
        start = 0
        for group in groups:
            size = len(results) - fixed if group.variadic else 1
            for position in range(start, start + size):
                type_ = results[position].type
                if not group.constraint.accepts(type_):
                    yield f"result #{position} ({group.name}) must be {group.constraint.description}; found {type_}"
            start += size

    @classmethod
    def create(
        cls,
        operands: Mapping[str, Sequence[ir.Value]],
        results: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute],
        *,
        location: ir.Location,
        ip: ir.InsertionPoint | None = None,
    ) -> Self:
        """Create the op; ``operands`` by group, groups that are left out are empty, segment sizes are added."""
        groups = cls.operand_groups
        values = [list(operands.get(group.name, ())) for group in groups]
        attributes = dict(attributes)
        if len(groups) > 1:
            attributes[SEGMENT_SIZES] = ir.DenseI32ArrayAttr.get([len(group) for group in values], location.context)
        operation = ir.Operation.create(
            cls.op_name,
            results=list(results),
            operands=[value for group in values for value in group],
            attributes=attributes,
            loc=location,
            ip=ip,
        )
        return cls(operation.operation)
