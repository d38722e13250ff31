"""Storage as byte addresses: roots, views laid out as strided arrays, and numpy's exact answer to "do they overlap"."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np


class Free(int):
    """A number that could as well be another: a function argument with the value this run tries for it.

    It decides how often a loop runs, but a region computed from it is taken to be all of what it is cut from.
    """


Number: TypeAlias = int | None
"""An index or integer; ``None`` is one that nothing is known of."""


@dataclass(frozen=True, slots=True)
class Root:
    """One piece of storage: an allocation as it was made once, a function argument, or a global."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class View:
    """Bytes of a root, laid out as an array. ``root=None`` is storage that could be any."""

    root: Root | None
    offset: int = 0
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    item: int = 1
    is_exact: bool = True
    """False: some part of these bytes; then a part of it is not cut any finer."""

    def overlaps(self, other: View) -> bool:
        """Whether the two may share a byte."""
        if self.root is None or other.root is None:
            return True
        if self.root != other.root:
            return False
        return share_bytes(
            (self.offset, self.shape, self.strides, self.item), (other.offset, other.shape, other.strides, other.item)
        )

    @property
    def _can_be_cut(self) -> bool:
        return self.root is not None and self.is_exact

    def some_part(self) -> View:
        """Some part of these bytes, nobody knows which."""
        return dataclasses.replace(self, is_exact=False)

    def cut(self, offsets: Sequence[Number], sizes: Sequence[Number], steps: Sequence[Number], rank: int) -> View:
        """The slice that ``memref.subview`` and ``tensor.extract_slice`` mean; its type has ``rank`` dimensions."""
        if not self._can_be_cut or not is_known(offsets, sizes, steps):
            return self.some_part()
        offset = self.offset + sum(at * stride for at, stride in zip(known(offsets), self.strides, strict=True))
        shape = known(sizes)
        strides = [stride * step for stride, step in zip(self.strides, known(steps), strict=True)]
        # A result of lower rank has lost dimensions of size 1; which ones does not matter to the bytes it denotes.
        for axis in reversed(range(len(shape))):
            if len(shape) > rank and shape[axis] == 1:
                del shape[axis], strides[axis]
        return View(self.root, offset, tuple(shape), tuple(strides), self.item)

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
        if not is_known([offset], sizes, strides):
            return View.anywhere_in(self.root)
        steps = tuple(stride * self.item for stride in known(strides))
        return View(self.root, known([offset])[0] * self.item, tuple(known(sizes)), steps, self.item)

    def bytes_at(self, shift: Number, shape: tuple[int, ...], item: int) -> View:
        """An array of ``item``-sized elements, ``shift`` bytes from the start (``memref.view``)."""
        if not self._can_be_cut or not is_known([shift]):
            return self.some_part()
        return View(self.root, self.offset + known([shift])[0], shape, dense(shape, item), item)

    @classmethod
    def anywhere_in(cls, root: Root) -> View:
        """Some part of ``root``, whatever its size."""
        return cls(root, -_FAR, (2 * _FAR,), (1,), 1, is_exact=False)


_FAR = 1 << 40
"""Bytes: more than any buffer has."""


def is_known(*lists: Sequence[Number]) -> bool:
    """Whether every number is one that could be no other."""
    return all(isinstance(value, int) and not isinstance(value, Free) for values in lists for value in values)


def known(numbers: Sequence[Number]) -> list[int]:
    """The numbers as integers; they are known."""
    return [int(number) for number in numbers if number is not None]


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


DYNAMIC_SIZE = 64
"""What a ``?`` of a function argument is taken to be. Offsets may leave it: addresses are not checked."""


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


def extent(type_: Any, sizes: Sequence[Number]) -> tuple[int, ...]:
    """The shape of ``type_``, with ``sizes`` for its dynamic dimensions in order."""
    given = iter(sizes)
    return tuple(
        (next(given, None) or DYNAMIC_SIZE) if type_.is_dynamic_dim(axis) else type_.get_dim_size(axis)
        for axis in range(type_.rank)
    )
