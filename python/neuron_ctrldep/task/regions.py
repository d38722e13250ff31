"""Regions of storage: sets of elements in the coordinates of their root.

One axis of a region (:class:`Span`) is the set ``constant + Σ coefficient·index + Σ multiplier·k``, where each *digit*
``(multiplier, lo, hi)`` says ``lo ≤ k ≤ hi``. A box in a row-major array is one span: a digit for each dimension. So
views that reshape, transpose or stride stay in one coordinate system, and tests need no case for each kind of view.
The indices are those of enclosing loops: two accesses of one iteration share their values.

All tests err on the side of overlap.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from math import gcd

UNBOUNDED = 1 << 80
"""Beyond any address: a digit that reaches it has no known end."""

_BUDGET = 256
"""How many digit values the overlap test may try before it says "may overlap"."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopIndex:
    """An induction variable: ``lower + step·t`` for ``0 ≤ t < trips``; ``None`` where only run time knows."""

    serial: int
    lower: int | None
    step: int | None
    trips: int | None


Digit = tuple[int, int, int]
"""``(multiplier, lo, hi)``, the multiplier above 0."""


@dataclass(frozen=True, slots=True)
class Affine:
    """``constant + Σ coefficient·index``; the terms are in order of their indices, without zeros."""

    constant: int = 0
    terms: tuple[tuple[LoopIndex, int], ...] = ()

    def plus(self, other: Affine) -> Affine:
        """The sum."""
        if not other.terms:
            return Affine(self.constant + other.constant, self.terms)
        sums = dict(self.terms)
        for index, coefficient in other.terms:
            sums[index] = sums.get(index, 0) + coefficient
        terms = sorted(((i, c) for i, c in sums.items() if c), key=lambda term: term[0].serial)
        return Affine(self.constant + other.constant, tuple(terms))

    def times(self, factor: int) -> Affine:
        """The product with a constant."""
        if factor == 1:
            return self
        terms = tuple((i, c * factor) for i, c in self.terms) if factor else ()
        return Affine(self.constant * factor, terms)


def _digit(multiplier: int, lo: int, hi: int) -> Digit:
    if multiplier < 0:
        return -multiplier, -hi, -lo
    return multiplier, lo, hi


def _clamp(value: int) -> int:
    return max(-UNBOUNDED, min(UNBOUNDED, value))


@dataclass(frozen=True, slots=True)
class Span:
    """One axis of a region; see the text of this file. Build it with :func:`span`, which puts it in normal form."""

    constant: int
    terms: tuple[tuple[LoopIndex, int], ...]
    digits: tuple[Digit, ...]

    def hull(self) -> tuple[int, int]:
        """The least and greatest element, apart from the terms."""
        low = high = self.constant
        for multiplier, lo, hi in self.digits:
            low += multiplier * lo
            high += multiplier * hi
        return low, high

    def shifted(self, index: LoopIndex, lo: int, hi: int) -> Span:
        """The union over iterations whose number differs from this one's by ``lo`` to ``hi``."""
        coefficient = dict(self.terms).get(index)
        if coefficient is None:
            return self
        # With an unknown step, an iteration further on is at least 1 away, and may be any distance away.
        if index.step is None:
            lo, hi = (lo if lo > 0 else -UNBOUNDED), (hi if hi < 0 else UNBOUNDED)
        return span(Affine(self.constant, self.terms), (*self.digits, _digit(coefficient * (index.step or 1), lo, hi)))

    def freed(self, index: LoopIndex) -> Span:
        """The union over all iterations."""
        coefficient = dict(self.terms).get(index)
        if coefficient is None:
            return self
        base, digit = _all_values(index, coefficient)
        rest = tuple(term for term in self.terms if term[0] is not index)
        return span(Affine(self.constant + base, rest), (*self.digits, digit))


def _all_values(index: LoopIndex, coefficient: int) -> tuple[int, Digit]:
    """``coefficient·index`` over all iterations, as a constant and a digit."""
    if index.lower is None:
        return 0, _digit(coefficient, -UNBOUNDED, UNBOUNDED)
    last = UNBOUNDED if index.trips is None else max(0, index.trips - 1)
    return coefficient * index.lower, _digit(coefficient * (index.step or 1), 0, last)


def span(base: Affine, digits: Iterable[Digit]) -> Span:
    """A span in normal form, so that equal sets mostly are equal objects: full dimensions melt into one digit."""
    constant = base.constant
    merged: dict[int, tuple[int, int]] = {}
    for multiplier, lo, hi in digits:
        if multiplier == 0:
            continue
        old_lo, old_hi = merged.get(multiplier, (0, 0))
        merged[multiplier] = (_clamp(old_lo + lo), _clamp(old_hi + hi))
    out: list[Digit] = []
    for multiplier in sorted(merged):
        lo, hi = merged[multiplier]
        if lo > -UNBOUNDED:
            constant += multiplier * lo
            hi = hi if hi >= UNBOUNDED else hi - lo
            lo = 0
        if lo == hi:
            continue
        if out:
            below, below_lo, below_hi = out[-1]
            ratio, odd = divmod(multiplier, below)
            if not odd and ratio <= below_hi - below_lo + 1:
                out[-1] = (below, _clamp(lo * ratio + below_lo), _clamp(hi * ratio + below_hi))
                continue
        out.append((multiplier, lo, hi))
    return Span(constant, base.terms, tuple(reversed(out)))


def _spans_meet(a: Span, b: Span) -> bool:
    """Whether the two sets may have an element in common, for equal values of the indices they share."""
    target = b.constant - a.constant
    ranges: dict[int, tuple[int, int]] = {}
    digits = [*a.digits, *((m, -hi, -lo) for m, lo, hi in b.digits)]
    if a.terms != b.terms:
        rest = Affine(0, a.terms).plus(Affine(0, b.terms).times(-1))
        for index, coefficient in rest.terms:
            base, digit = _all_values(index, coefficient)
            target -= base
            digits.append(digit)
    for multiplier, lo, hi in digits:
        old = ranges.get(multiplier, (0, 0))
        ranges[multiplier] = (old[0] + lo, old[1] + hi)
    return _solvable(target, sorted(((m, lo, hi) for m, (lo, hi) in ranges.items()), reverse=True))


def _solvable(target: int, digits: list[Digit]) -> bool:
    """Whether ``Σ multiplier·k = target`` may have a solution. The greatest multiplier first: few values fit."""
    # For the digits from each position on: the least and greatest sum, and the common divisor.
    tails: list[tuple[int, int, int]] = [(0, 0, 0)]
    for multiplier, lo, hi in reversed(digits):
        low, high, divisor = tails[-1]
        tails.append((low + multiplier * lo, high + multiplier * hi, gcd(divisor, multiplier)))
    tails.reverse()
    budget = _BUDGET

    def search(position: int, goal: int) -> bool:
        nonlocal budget
        low, high, divisor = tails[position]
        if not low <= goal <= high:
            return False
        if divisor == 0:
            return True
        if goal % divisor:
            return False
        multiplier, lo, hi = digits[position]
        rest_low, rest_high, _ = tails[position + 1]
        first = max(lo, -((rest_high - goal) // multiplier))
        last = min(hi, (goal - rest_low) // multiplier)
        if last - first > budget:
            return True
        for k in range(first, last + 1):
            budget -= 1
            if budget < 0 or search(position + 1, goal - multiplier * k):
                return True
        return False

    return search(0, target)


def _span_covers(outer: Span, inner: Span) -> bool:
    """Whether ``outer`` surely holds all of ``inner``, for equal values of the indices."""
    if outer.terms != inner.terms:
        if outer.terms:
            return False
        for index, _ in inner.terms:
            inner = inner.freed(index)
    offset = inner.constant - outer.constant
    if len(outer.digits) == 1:
        unit, lo, hi = outer.digits[0]
        low, high = inner.hull()
        return (
            offset % unit == 0
            and all(multiplier % unit == 0 for multiplier, _, _ in inner.digits)
            and unit * lo <= low - outer.constant
            and high - outer.constant <= unit * hi
        )
    # Digit by digit, where both have the same dimensions.
    inside = {multiplier: (lo, hi) for multiplier, lo, hi in inner.digits}
    for multiplier, lo, hi in outer.digits:
        shift = offset // multiplier
        offset -= shift * multiplier
        inner_lo, inner_hi = inside.pop(multiplier, (0, 0))
        if not (lo <= inner_lo + shift and inner_hi + shift <= hi):
            return False
    return offset == 0 and not inside


@dataclass(slots=True, eq=False)
class Region:
    """A set of elements of one storage root. Equal regions are one object: a :class:`RegionTable` makes them."""

    serial: int
    coordinates: Hashable
    """The coordinate system: regions of different ones are never told apart."""
    axes: tuple[Span, ...]
    whole: bool
    """Whether it is all that the coordinate system has."""
    group: Hashable
    """Regions with the same group differ in constants and digits only."""
    _meets: dict[Region, bool] = field(default_factory=dict, repr=False)

    def overlaps(self, other: Region) -> bool:
        """Whether the two may have an element in common, for equal values of the loop indices they share."""
        if self is other or self.coordinates != other.coordinates or self.whole or other.whole:
            return True
        known = self._meets.get(other)
        if known is None:
            known = all(_spans_meet(a, b) for a, b in zip(self.axes, other.axes, strict=True))
            self._meets[other] = known
        return known

    def covers(self, other: Region) -> bool:
        """Whether it surely holds all of ``other``, for equal values of the loop indices."""
        if self is other:
            return True
        if self.coordinates != other.coordinates:
            return False
        return self.whole or all(_span_covers(a, b) for a, b in zip(self.axes, other.axes, strict=True))

    @property
    def indices(self) -> set[LoopIndex]:
        """The loop indices it depends on."""
        return {index for axis in self.axes for index, _ in axis.terms}


class RegionTable:
    """Makes regions; equal ones are the same object."""

    def __init__(self) -> None:
        self._regions: dict[Hashable, Region] = {}
        self._wholes: dict[Hashable, tuple[Span, ...]] = {}

    def whole(self, coordinates: Hashable, axes: tuple[Span, ...]) -> Region:
        """Declare the coordinate system ``coordinates``: ``axes`` is all of it."""
        self._wholes[coordinates] = axes
        return self.region(coordinates, axes)

    def region(self, coordinates: Hashable, axes: tuple[Span, ...]) -> Region:
        """The region ``axes`` in ``coordinates``."""
        key = (coordinates, axes)
        region = self._regions.get(key)
        if region is None:
            whole = axes == self._wholes.get(coordinates)
            group = (coordinates, tuple(axis.terms for axis in axes))
            region = self._regions[key] = Region(len(self._regions), coordinates, axes, whole, group)
        return region

    def shifted(self, region: Region, index: LoopIndex, lo: int, hi: int) -> Region:
        """``region`` in the iterations whose number differs by ``lo`` to ``hi``."""
        return self.region(region.coordinates, tuple(axis.shifted(index, lo, hi) for axis in region.axes))

    def earlier(self, region: Region, indices: Iterable[LoopIndex]) -> Region:
        """``region`` in all earlier iterations of the loop with these ``indices`` (one at most)."""
        for index in indices:
            region = self.shifted(region, index, *_earlier(index))
        return region

    def freed(self, region: Region, indices: Iterable[LoopIndex]) -> Region:
        """``region`` in all iterations of the loop with these ``indices``."""
        axes = region.axes
        for index in indices:
            axes = tuple(axis.freed(index) for axis in axes)
        return self.region(region.coordinates, axes)

    def elsewhere(self, region: Region, indices: tuple[LoopIndex, ...]) -> list[Region]:
        """``region`` in all *other* iterations of a parallel loop: their union is the union of the list."""
        found: dict[Region, None] = {}
        for which, index in enumerate(indices):
            for lo, hi in (_earlier(index), tuple(-bound for bound in reversed(_earlier(index)))):
                other = self.shifted(region, index, lo, hi)
                for rest in indices[:which] + indices[which + 1 :]:
                    other = self.shifted(other, rest, -_last(rest), _last(rest))
                found[other] = None
        return list(found)


def _last(index: LoopIndex) -> int:
    return UNBOUNDED if index.trips is None else max(1, index.trips - 1)


def _earlier(index: LoopIndex) -> tuple[int, int]:
    return -_last(index), -1
