"""Numbers in a replay: known ones, ones that nothing is known of, and ones that could as well be others."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from neuron_ctrldep.mlir import ir


@dataclass(eq=False, slots=True)
class Symbol:
    """A function argument, or what a program computes from arguments in a way that is not followed."""

    value: int
    """What this run tries for it."""
    is_positive: bool = False
    """Whether it is above 0 in any run that comes where this one is: it is the step of a loop that turned."""


Terms: TypeAlias = frozenset[tuple[Symbol, int]]
"""``Σ coefficient·symbol``, without zeros."""

NO_TERMS: Terms = frozenset()


class Free(int):
    """A number that could as well be another: ``constant + Σ coefficient·symbol``, with the value this run tries.

    The value decides how often a loop runs. Where storage lies depends on the terms: two offsets with the same terms
    differ by what their values differ by, whatever the arguments are; of others nothing is known.
    """

    terms: Terms

    def __new__(cls, value: int, terms: Terms | None = None) -> Free:
        """``value`` with these ``terms``; by default it is a symbol of its own."""
        number = super().__new__(cls, value)
        number.terms = frozenset({(Symbol(value), 1)}) if terms is None else terms
        return number


Number: TypeAlias = int | None
"""An index or integer; ``None`` is one that nothing is known of."""


def is_known(*lists: Sequence[Number]) -> bool:
    """Whether every number is one that could be no other."""
    return all(isinstance(value, int) and not isinstance(value, Free) for values in lists for value in values)


def known(numbers: Sequence[Number]) -> list[int]:
    """The values of numbers of which something is known."""
    return [int(number) for number in numbers if number is not None]


def terms_of(number: int) -> Terms:
    """The terms of a number; none for one that is known."""
    return number.terms if isinstance(number, Free) else NO_TERMS


def combined(*parts: tuple[Terms, int]) -> Terms:
    """``Σ factor·terms``."""
    sums: dict[Symbol, int] = {}
    for terms, factor in parts:
        for symbol, coefficient in terms:
            sums[symbol] = sums.get(symbol, 0) + coefficient * factor
    return frozenset((symbol, coefficient) for symbol, coefficient in sums.items() if coefficient)


def _number(value: int, terms: Terms) -> int:
    return Free(value, terms) if terms else value


def turn_of(lower: Number, step: Number, iteration: int) -> Number:
    """The induction variable of a loop in its turn number ``iteration``."""
    if lower is None or step is None:
        return None
    terms = combined((terms_of(lower), 1), (terms_of(step), iteration))
    return _number(int(lower) + int(step) * iteration, terms)


def note_step(step: Number) -> None:
    """``step`` is that of a loop that turned twice: an argument that is all of it is above 0."""
    if isinstance(step, Free) and len(step.terms) == 1:
        ((symbol, coefficient),) = step.terms
        if coefficient == 1 and int(step) == symbol.value:
            symbol.is_positive = True


# --- arithmetic -------------------------------------------------------------------------------------------------------

ARITHMETIC: dict[str, Callable[..., int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.divsi": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "arith.divui": operator.floordiv,
    "arith.floordivsi": operator.floordiv,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.remsi": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    "arith.remui": operator.mod,
    "arith.minsi": min,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.maxui": max,
    "arith.index_cast": lambda a: a,
    "arith.index_castui": lambda a: a,
    "arith.extsi": lambda a: a,
    "arith.extui": lambda a: a,
    "arith.trunci": lambda a: a,
}

_KEEP_VALUES = frozenset({"arith.index_cast", "arith.extsi"})
"""Ops whose result is their operand, where it is wide enough: signed extensions."""


class Arithmetic:
    """Computes ``arith`` ops; the same op on the same numbers is the same number."""

    def __init__(self) -> None:
        self._symbols: dict[Hashable, Symbol] = {}

    def compute(self, name: str, operands: Sequence[Any], type_: ir.Type) -> Number:
        """The result of the op ``name``, of type ``type_``; unknown if an operand is."""
        if any(not isinstance(operand, int) for operand in operands):
            return None
        try:
            value = int(ARITHMETIC[name](*map(int, operands)))
        except ZeroDivisionError:
            return None
        if is_known(operands):
            return value
        terms = self._linear(name, operands) if _is_wide(type_) else None
        if terms is None:
            key = (name, str(type_), tuple((int(operand), terms_of(operand)) for operand in operands))
            symbol = self._symbols.setdefault(key, Symbol(value))
            terms = frozenset({(symbol, 1)})
        return _number(value, terms)

    def _linear(self, name: str, operands: Sequence[int]) -> Terms | None:
        """The terms of the result, where it is a sum of multiples of the operands. Narrow types could wrap around."""
        if name in _KEEP_VALUES:
            return terms_of(operands[0])
        if name not in ("arith.addi", "arith.subi", "arith.muli"):
            return None
        left, right = operands
        if name == "arith.addi":
            return combined((terms_of(left), 1), (terms_of(right), 1))
        if name == "arith.subi":
            return combined((terms_of(left), 1), (terms_of(right), -1))
        if isinstance(left, Free) and isinstance(right, Free):
            return None
        return combined((terms_of(left), int(right)), (terms_of(right), int(left)))


def _is_wide(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IndexType) or (isinstance(type_, ir.IntegerType) and type_.width >= 64)
