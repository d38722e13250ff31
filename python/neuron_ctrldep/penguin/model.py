"""A Penguin program as objects: functions, operations and dependency edges. Made by the reader, or by hand.

Inside the model an instruction goes by the identifier its statement binds, which is unique; ``Operation.location.name``
is what the input called it, which need not be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from neuron_ctrldep.edges import DependencyEdge, EdgeKind
from neuron_ctrldep.penguin.text import DebugLocation

__all__ = [
    "Constant",
    "DebugLocation",
    "DependencyEdge",
    "EdgeKind",
    "Function",
    "Operation",
    "Parameter",
    "Program",
    "Source",
    "Tensor",
    "Weight",
    "bir_dependencies",
]

Shape: TypeAlias = tuple[int | str, ...]
"""Sizes of the dimensions; ``"?"`` is a dynamic one."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A result: what it is called, its shape and its data type by name (``bfloat16`` too, without its module)."""

    name: str
    shape: Shape
    dtype: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input of a function."""

    tensor: Tensor
    layout: str = ""
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The identifier it is bound to."""
        return self.tensor.name


@dataclass(frozen=True, slots=True)
class Constant:
    """A scalar or splat value inside an operation; text where no number can say it."""

    value: bool | int | float | complex | str


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant in a file."""

    file: str


Source: TypeAlias = str | Constant | Weight
"""An operand: the identifier of a value, or a constant."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One statement.

    ``function`` is the function it names (``np.add``) or, when ``is_generic``, the op of the input it stands for.
    ``keywords`` are ``dtype``, ``shape`` and ``iota_dim`` where they are given.
    """

    names: tuple[str, ...]
    function: str
    tag: str
    srcs: tuple[Source, ...] = ()
    dsts: tuple[Tensor, ...] = ()
    location: DebugLocation = field(default_factory=lambda: DebugLocation(""))
    is_generic: bool = False
    attributes: dict[str, str] = field(default_factory=dict)
    keywords: dict[str, int | str | Shape] = field(default_factory=dict)
    regions: tuple[Function, ...] = ()

    @property
    def name(self) -> str:
        """What edges call it: the first identifier it binds."""
        return self.names[0]

    @property
    def operands(self) -> list[str]:
        """The identifiers among its sources."""
        return [source for source in self.srcs if isinstance(source, str)]


@dataclass(slots=True)
class Function:
    """Main, a region or a callee. ``dep_edges`` is a flat list; a pair may be in it once for each kind."""

    id: int = 0
    attributes: tuple[str, ...] = ()
    inputs: list[Parameter] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    dep_edges: list[DependencyEdge] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The identifier it is bound to."""
        return f"v{self.id}"

    def add_dep_edge(self, edge: DependencyEdge) -> None:
        """Add ``edge`` unless it is there. An edge from an instruction to itself is no edge."""
        if edge.src != edge.dst and edge not in self.dep_edges:
            self.dep_edges.append(edge)

    def remove_dep_edge(self, edge: DependencyEdge) -> None:
        """Remove ``edge``.

        Raises:
            ValueError: it is not there.
        """
        self.dep_edges.remove(edge)

    def dep_edges_for_inst(self, inst: str) -> list[DependencyEdge]:
        """The edges that make ``inst`` wait, in order."""
        return [edge for edge in self.dep_edges if edge.dst == inst]

    def depending_insts(self, inst: str) -> list[str]:
        """The instructions that wait for ``inst``, each once, in order."""
        return list(dict.fromkeys(edge.dst for edge in self.dep_edges if edge.src == inst))

    def replace_inst_in_dependencies(self, old: str, new: str) -> None:
        """Let ``new`` take the place of ``old`` in every edge."""
        self.replace_with_list_in_dependencies(old, [new])

    def replace_with_list_in_dependencies(self, old: str, new: Sequence[str]) -> None:
        """Let each of ``new`` take the place of ``old`` in every edge; none of them removes the edges of ``old``."""
        replaced: dict[DependencyEdge, None] = {}
        for edge in self.dep_edges:
            for src in new if edge.src == old else [edge.src]:
                for dst in new if edge.dst == old else [edge.dst]:
                    if src != dst:
                        replaced[DependencyEdge(src, dst, edge.kind)] = None
        self.dep_edges = list(replaced)


@dataclass(slots=True)
class Program:
    """All functions in the order in which they start; the first is main."""

    functions: list[Function]
    has_control_deps: bool = False
    """Whether the program imports the module of dependency edges."""

    @property
    def main(self) -> Function:
        """The function the program is."""
        return self.functions[0]

    def operations(self) -> Iterator[tuple[Function, Operation]]:
        """Every operation with its function."""
        for function in self.functions:
            for operation in function.operations:
                yield function, operation

    def edges(self) -> list[DependencyEdge]:
        """All edges by the names that the input used.

        Statements that were one op of the input (same ``hlo_id``) are one instruction; of their edges each pair of
        instructions keeps one for each kind.
        """
        ops = {operation.name: operation.location for _, operation in self.operations()}
        found: dict[tuple[int, int, EdgeKind], DependencyEdge] = {}
        for function in self.functions:
            for edge in function.dep_edges:
                src, dst = ops[edge.src], ops[edge.dst]
                found.setdefault((src.hlo_id, dst.hlo_id, edge.kind), DependencyEdge(src.name, dst.name, edge.kind))
        return list(found.values())


def bir_dependencies(function: Function) -> list[DependencyEdge]:
    """What lowering makes of the edges: for each instruction one edge per target name, of the greatest kind.

    The target of an edge is the instruction that is waited for. ``FLOW > OUTPUT > ANTI > ORDERED``.
    """
    kinds: dict[tuple[str, str], EdgeKind] = {}
    for edge in function.dep_edges:
        pair = (edge.src, edge.dst)
        kinds[pair] = max(edge.kind, kinds.get(pair, edge.kind))
    return [DependencyEdge(src, dst, kind) for (src, dst), kind in kinds.items()]
