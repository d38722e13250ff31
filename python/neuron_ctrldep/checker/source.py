"""A source in the terms of the checker: blocks of instructions with control edges, and what opcodes mean to it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar


@dataclass(slots=True)
class SourceInstruction:
    """One instruction of the source, as far as ordering is concerned. Opcodes are those of HLO."""

    name: str
    opcode: str
    operands: list[str]
    has_side_effect: bool = False
    index: int = 0
    """Which element a ``get-tuple-element`` takes."""
    number: int = 0
    """Which parameter of its block a ``parameter`` is."""
    calls: list[str] = field(default_factory=list)
    """The blocks it runs: branches of a ``conditional``, body and condition of a ``while``, callees."""
    value: int | None = None
    """The one integer or truth value of all its elements, where its operands do not decide it."""
    direction: str = ""
    """Of a ``compare``."""
    captured: tuple[str, str] | None = None
    """The block and name of the value around its block that a ``parameter`` stands for."""


@dataclass(slots=True)
class SourceBlock:
    """One computation (or block) of the source: its instructions in program order and its control edges."""

    name: str
    instructions: dict[str, SourceInstruction]
    root: str | None
    edges: list[tuple[str, str]]
    callers: list[tuple[str, str]] = field(default_factory=list)
    """``(block, instruction)`` pairs that run this block; none for the entry."""
    is_entry: bool = False


Place: TypeAlias = tuple[str, str]
"""A block and an instruction in it."""

Path: TypeAlias = tuple[int, ...]
"""Which element of a tuple is meant, outer index first; empty for all of a value."""

WIRE = "control-dependency"
"""The opcode of a wire op of MLIR: packaging of its one operand, the data."""

PACKAGING = frozenset({"tuple", "get-tuple-element", "add-dependency", WIRE})
"""Opcodes that are no instructions; ``add-dependency`` forwards one of its operands after the others."""

FORWARDING = frozenset(
    {
        WIRE,
        "copy",
        "reshape",
        "transpose",
        "broadcast",
        "broadcast-in-dim",
        "slice",
        "reverse",
        "convert",
        "reduce-precision",
    }
)
"""Opcodes whose every element is one of the first operand's, or its value in another type."""

MERGING_DONES = frozenset({"send-done", "recv-done"})
"""Dones that become one operation with their starts."""

# fmt: off
FOLDABLE = FORWARDING | MERGING_DONES | {
    "add", "and", "bitcast", "bitcast-convert", "clamp", "complex", "concatenate", "divide", "domain",
    "dynamic-broadcast-in-dim", "dynamic-pad", "dynamic-reshape", "dynamic-slice", "dynamic-update-slice",
    "gather", "imag", "maximum", "minimum", "multiply", "or", "pad", "power", "real", "reduce", "scatter",
    "select", "sort", "subtract", "xor",
}
# fmt: on
"""Opcodes that may be no more than one of their operands: an addition of zero, a slice of everything."""


def add_callers(blocks: dict[str, SourceBlock]) -> None:
    """Fill in who runs each of ``blocks``."""
    for block in blocks.values():
        for instruction in block.instructions.values():
            for called in dict.fromkeys(instruction.calls):
                blocks[called].callers.append((block.name, instruction.name))


T = TypeVar("T", bound=Hashable)


class Worklist(Generic[T]):
    """What is left to look at; iterating gives each item once, the last one added first."""

    def __init__(self, *items: T) -> None:
        self._waiting = list(items)
        self._seen: set[T] = set()

    def add(self, *items: T) -> None:
        """Look at ``items``, too."""
        self._waiting += items

    def __iter__(self) -> Iterator[T]:
        while self._waiting:
            item = self._waiting.pop()
            if item not in self._seen:
                self._seen.add(item)
                yield item
