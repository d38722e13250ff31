"""Storage as byte addresses: roots, views laid out as strided arrays, and numpy's exact answer to "do they overlap"."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from neuron_ctrldep.task.replay.numbers import (
    NO_TERMS,
    Free,
    Number,
    Terms,
    combined,
    is_known,
    known,
    terms_of,
)


@dataclass(frozen=True, slots=True)
class Root:
    """One piece of storage: an allocation as it was made once, a function argument, or a global."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class View:
    """Bytes of a root, laid out as an array. ``root=None`` is storage that could be any.

    Where the offset depends on arguments, ``offset`` is what it is with the values this run tries.
    """

    root: Root | None
    offset: int = 0
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    item: int = 1
    is_exact: bool = True
    """False: some part of these bytes; then a part of it is not cut any finer."""
    terms: Terms = NO_TERMS
    """How the offset depends on arguments."""
    within: View | None = None
    """What it is a part of, where that depends on fewer arguments."""

    def overlaps(self, other: View) -> bool:
        """Whether the two may share a byte."""
        if self.root is None or other.root is None:
            return True
        if self.root != other.root:
            return False
        return not any(_are_apart(mine, theirs) for mine in self._around() for theirs in other._around())

    def _around(self) -> Iterator[View]:
        """Itself, and the views it is a part of."""
        view: View | None = self
        while view is not None:
            yield view
            view = view.within

    def _hull(self) -> tuple[int, int]:
        """The first byte and the one after the last."""
        reach = [stride * (size - 1) for size, stride in zip(self.shape, self.strides, strict=True)]
        low = self.offset + sum(min(0, one) for one in reach)
        return low, self.offset + sum(max(0, one) for one in reach) + self.item

    @property
    def _can_be_cut(self) -> bool:
        return self.root is not None and self.is_exact

    def some_part(self) -> View:
        """Some part of these bytes, nobody knows which."""
        return dataclasses.replace(self, is_exact=False)

    def cut(self, offsets: Sequence[Number], sizes: Sequence[Number], steps: Sequence[Number], rank: int) -> View:
        """The slice that ``memref.subview`` and ``tensor.extract_slice`` mean; its type has ``rank`` dimensions."""
        if not self._can_be_cut or not is_known(sizes, steps):
            return self.some_part()
        is_open = [not is_known([offset]) for offset in offsets]
        around = self
        if any(is_open):
            # Of a dimension in which the offset is open, all of it.
            around = self._window(
                [0 if is_any else at for is_any, at in zip(is_open, offsets, strict=True)],
                [whole if is_any else size for is_any, whole, size in zip(is_open, self.shape, sizes, strict=True)],
                [1 if is_any else step for is_any, step in zip(is_open, steps, strict=True)],
            )
        if None in offsets:
            return around.some_part()
        window = self._window(offsets, sizes, steps)
        if window.terms != self.terms:
            window = dataclasses.replace(window, within=around)
        # A result of lower rank has lost dimensions of size 1; which ones does not matter to the bytes it denotes.
        shape, strides = list(window.shape), list(window.strides)
        for axis in reversed(range(len(shape))):
            if len(shape) > rank and shape[axis] == 1:
                del shape[axis], strides[axis]
        return dataclasses.replace(window, shape=tuple(shape), strides=tuple(strides))

    def _window(self, offsets: Sequence[Number], sizes: Sequence[Number], steps: Sequence[Number]) -> View:
        """The slice in as many dimensions; nothing of it is unknown."""
        shifts = [(at, stride) for at, stride in zip(offsets, self.strides, strict=True) if at is not None]
        return dataclasses.replace(
            self,
            offset=self.offset + sum(int(at) * stride for at, stride in shifts),
            shape=tuple(known(sizes)),
            strides=tuple(stride * step for stride, step in zip(self.strides, known(steps), strict=True)),
            terms=combined((self.terms, 1), *((terms_of(at), stride) for at, stride in shifts)),
        )

    def transposed(self, order: Sequence[int]) -> View:
        """The dimensions in another order."""
        if not self._can_be_cut:
            return self
        shape, strides = (tuple(entries[axis] for axis in order) for entries in (self.shape, self.strides))
        return dataclasses.replace(self, shape=shape, strides=strides)

    def expanded(self, shape: tuple[int, ...], groups: Sequence[Sequence[int]]) -> View:
        """Each dimension split into the ``groups`` of dimensions of ``shape``."""
        if not self._can_be_cut:
            return self
        strides = [0] * len(shape)
        for axis, group in enumerate(groups):
            step = self.strides[axis]
            for inner in reversed(group):
                strides[inner] = step
                step *= shape[inner]
        return dataclasses.replace(self, shape=shape, strides=tuple(strides))

    def collapsed(self, groups: Sequence[Sequence[int]]) -> View:
        """Each of the ``groups`` of dimensions as one."""
        if not self._can_be_cut:
            return self
        shape: list[int] = []
        strides: list[int] = []
        for group in groups:
            axes = [axis for axis in group if self.shape[axis] != 1]
            for outer, inner in itertools.pairwise(axes):
                if self.strides[outer] != self.strides[inner] * self.shape[inner]:
                    return self.some_part()  # no single stride walks these bytes; the bytes are the same
            shape.append(math.prod(self.shape[axis] for axis in axes))
            strides.append(self.strides[axes[-1]] if axes else self.item)
        return dataclasses.replace(self, shape=tuple(shape), strides=tuple(strides))

    def reinterpreted(self, offset: Number, sizes: Sequence[Number], strides: Sequence[Number]) -> View:
        """Another layout over the same buffer.

        The offset counts from the base of the buffer, not from where this view starts (MLIR, memref.reinterpret_cast).
        """
        if self.root is None:
            return self
        if not is_known(sizes, strides) or offset is None:
            return View.anywhere_in(self.root)
        steps = tuple(stride * self.item for stride in known(strides))
        terms = combined((terms_of(offset), self.item))
        within = View.anywhere_in(self.root) if terms else None
        start = int(offset) * self.item
        return View(self.root, start, tuple(known(sizes)), steps, self.item, terms=terms, within=within)

    def bytes_at(self, shift: Number, shape: tuple[int, ...], item: int) -> View:
        """An array of ``item``-sized elements, ``shift`` bytes from the start (``memref.view``)."""
        if not self._can_be_cut or shift is None:
            return self.some_part()
        terms = combined((self.terms, 1), (terms_of(shift), 1))
        within = self.within if terms == self.terms else self
        return View(self.root, self.offset + int(shift), shape, dense(shape, item), item, terms=terms, within=within)

    @classmethod
    def anywhere_in(cls, root: Root) -> View:
        """Some part of ``root``, whatever its size."""
        return cls(root, -_FAR, (2 * _FAR,), (1,), 1, is_exact=False)


_FAR = 1 << 40
"""Bytes: more than any buffer has."""


def _are_apart(a: View, b: View) -> bool:
    """Whether two views of one root share no byte, whatever the arguments are."""
    if a.terms == b.terms:
        return not share_bytes((a.offset, a.shape, a.strides, a.item), (b.offset, b.shape, b.strides, b.item))
    difference = combined((a.terms, 1), (b.terms, -1))
    if len(difference) != 1:
        return False
    ((symbol, coefficient),) = difference
    if not symbol.is_positive:
        return False
    # With every 1 more of the symbol ``a`` moves on: it is enough that it is beyond ``b`` at 1, where it starts.
    back = coefficient * (symbol.value - 1)
    (low, high), (other_low, other_high) = a._hull(), b._hull()
    return low - back >= other_high if coefficient > 0 else high - back <= other_low


_MAX_WORK: Any = 100_000
"""Steps of numpy's overlap solver; some versions of its stubs admit the two named values only."""

_BASE = 1 << 44
Geometry: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], int]


class _Addresses:
    """What numpy needs to see an array at an address. Nothing is ever read there."""

    def __init__(self, geometry: Geometry) -> None:
        offset, shape, strides, item = geometry
        self.__array_interface__ = {
            "version": 3,
            "data": (_BASE + offset, True),
            "shape": shape,
            "strides": strides,
            "typestr": f"|V{item}",
        }


@functools.lru_cache(maxsize=1 << 16)
def share_bytes(a: Geometry, b: Geometry) -> bool:
    """Whether two strided arrays share a byte: exact, except where the solver gives up, and then "yes"."""
    first, second = np.asarray(_Addresses(a)), np.asarray(_Addresses(b))
    try:
        return bool(np.shares_memory(first, second, max_work=_MAX_WORK))
    except np.exceptions.TooHardError:
        return bool(np.may_share_memory(first, second))


def dense(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """The strides, in bytes, of an array without gaps."""
    strides = [item] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
    return tuple(strides)


def item_size(type_: Any) -> int:
    """Bytes of one element of a shaped type."""
    element = type_.element_type
    width = getattr(element, "width", 64)
    return max(int(width) // 8, 1)


def extent(type_: Any, sizes: Sequence[Number], otherwise: int) -> tuple[int, ...]:
    """The shape of ``type_``, with ``sizes`` for its dynamic dimensions in order; ``otherwise`` where one is open."""
    given = iter(sizes)
    return tuple(
        _size(next(given, None), otherwise) if type_.is_dynamic_dim(axis) else type_.get_dim_size(axis)
        for axis in range(type_.rank)
    )


def _size(given: Number, otherwise: int) -> int:
    return otherwise if given is None or isinstance(given, Free) else given


def beyond(type_: Any) -> int:
    """A size for the dynamic dimensions of ``type_``: greater than what offsets reach, with addresses of 64 bits."""
    dynamic = sum(type_.is_dynamic_dim(axis) for axis in range(type_.rank))
    static = math.prod(max(1, type_.get_dim_size(axis)) for axis in range(type_.rank) if not type_.is_dynamic_dim(axis))
    bits = _ADDRESS_BITS - (static * item_size(type_)).bit_length()
    return 1 << max(1, min(40, bits // max(1, dynamic)))


_ADDRESS_BITS = 58
