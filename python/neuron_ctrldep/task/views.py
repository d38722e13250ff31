"""What the view ops of ``memref`` and ``tensor`` do to a view. They refine or widen it; they never lose its root."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.indices import IndexValues
from neuron_ctrldep.task.regions import UNBOUNDED, Affine, Digit
from neuron_ctrldep.task.storage import DYNAMIC, Dim, RootTable, Sizes, View, byte_width, row_major


class _Slice:
    """The offsets, sizes and strides of an op, static and dynamic ones merged."""

    def __init__(self, op: ir.Operation, operands: Sequence[ir.Value], indices: IndexValues) -> None:
        rest = iter(operands)
        attributes = op.attributes
        self.offsets = [_mixed(entry, rest, indices) for entry in attributes["static_offsets"]]
        self.sizes = [_constant(_mixed(entry, rest, indices)) for entry in attributes["static_sizes"]]
        self.strides = [_constant(_mixed(entry, rest, indices)) for entry in attributes["static_strides"]]

    @property
    def is_runtime(self) -> bool:
        """Whether some part is known at run time only."""
        return None in self.offsets or None in self.sizes or None in self.strides


def _mixed(static: int, rest: Iterator[ir.Value], indices: IndexValues) -> Affine | None:
    return Affine(static) if static != DYNAMIC else indices.affine(next(rest))


def _constant(value: Affine | None) -> int | None:
    return value.constant if value is not None and not value.terms else None


def _shape(type_: ir.Type) -> list[int | None]:
    return [None if size == DYNAMIC else size for size in type_.shape]


class Views:
    """Applies view ops.

    Args:
        roots: for widening to a part of a root.
        indices: for offsets.
    """

    def __init__(self, roots: RootTable, indices: IndexValues) -> None:
        self._roots = roots
        self._indices = indices
        self._rules: dict[str, Callable[[ir.Operation, View], View]] = {
            "memref.cast": self._cast,
            "tensor.cast": self._cast,
            "memref.memory_space_cast": self._cast,
            "memref.subview": self._slice,
            "tensor.extract_slice": self._slice,
            "memref.transpose": self._transpose,
            "memref.expand_shape": self._expand,
            "tensor.expand_shape": self._expand,
            "memref.collapse_shape": self._collapse,
            "tensor.collapse_shape": self._collapse,
            "memref.reinterpret_cast": self._reinterpret,
            "memref.view": self._bytes,
        }

    def __contains__(self, name: str) -> bool:
        return name in self._rules

    def apply(self, op: ir.Operation, source: View) -> View:
        """The view that the result of ``op`` is, where ``source`` is what its first operand is."""
        return self._rules[op.name](op, source)

    def destination(self, op: ir.Operation, view: View) -> View:
        """The window of ``view`` that ``tensor.insert_slice`` or ``tensor.parallel_insert_slice`` writes to."""
        return self._window(view, _Slice(op, list(op.operands)[2:], self._indices), op.operands[0].type)

    # --- windows ---

    def _slice(self, op: ir.Operation, source: View) -> View:
        return self._window(source, _Slice(op, list(op.operands)[1:], self._indices), op.results[0].type)

    def _window(self, source: View, slice_: _Slice, type_: ir.Type) -> View:
        if len(slice_.sizes) != len(source.dims):
            return self._part(source, type_, runtime=slice_.is_runtime)
        base = list(source.base)
        blur: list[list[Digit]] = [list(digits) for digits in source.blur]
        dims: list[Dim] = []
        parts = zip(source.dims, slice_.offsets, slice_.sizes, slice_.strides, strict=True)
        for dim, offset, size, stride in parts:
            if dim.multiplier is None:
                dims.append(Dim(dim.axis, None, size))
            elif stride is None:
                # Anywhere in the dimension, at any distance.
                blur[dim.axis].append(dim.digit)
                dims.append(Dim(dim.axis, None, size))
            else:
                if offset is None:
                    room = UNBOUNDED if dim.size is None else max(0, dim.size - 1 - ((size or 1) - 1) * abs(stride))
                    blur[dim.axis].append((dim.multiplier, 0, room))
                else:
                    base[dim.axis] = base[dim.axis].plus(offset.times(dim.multiplier))
                if stride < 0:
                    blur[dim.axis].append((dim.multiplier, -UNBOUNDED if size is None else stride * (size - 1), 0))
                    dims.append(Dim(dim.axis, None, size))
                elif size is None and dim.size is not None and stride > 0:
                    # At least the end of the dimension is known.
                    blur[dim.axis].append((dim.multiplier * stride, 0, max(0, (dim.size - 1) // stride)))
                    dims.append(Dim(dim.axis, None, size))
                elif stride == 0:
                    dims.append(Dim(dim.axis, None, size))
                else:
                    dims.append(Dim(dim.axis, dim.multiplier * stride, size))
        window = replace(
            source,
            base=tuple(base),
            blur=tuple(map(tuple, blur)),
            dims=tuple(dims),
            runtime=source.runtime or slice_.is_runtime,
        )
        return self._drop_unit_dims(window, type_)

    def _drop_unit_dims(self, view: View, type_: ir.Type) -> View:
        """Leave out the unit dimensions that a rank-reduced result type does not have."""
        shape = _shape(type_)
        if len(shape) == len(view.dims):
            return view
        kept: list[Dim] = []
        wanted = iter(shape)
        current = next(wanted, 0)
        surplus = len(view.dims) - len(shape)
        for dim in view.dims:
            if surplus and dim.size == 1 and current != 1:
                surplus -= 1
                continue
            kept.append(dim)
            current = next(wanted, 0)
        # The last dimensions may all be units of which some are left out: which ones makes no difference.
        while len(kept) > len(shape) and kept[-1].size == 1:
            kept.pop()
        if len(kept) != len(shape):
            return self._part(view, type_)
        return replace(view, dims=tuple(kept))

    def _part(self, view: View, type_: ir.Type, *, runtime: bool = False) -> View:
        """``view`` seen as ``type_`` with nothing known of which of its elements is where."""
        digits = tuple(span_.digits for span_ in view.spans())
        base = tuple(Affine(span_.constant, span_.terms) for span_ in view.spans())
        sizes: Sizes = _shape(type_) if type_.has_rank else ()
        dims = tuple(Dim(0, None, size) for size in sizes)
        return replace(view, base=base, blur=digits, dims=dims, runtime=view.runtime or runtime)

    # --- the same elements in another shape ---

    def _cast(self, op: ir.Operation, source: View) -> View:
        type_ = op.results[0].type
        if not type_.has_rank or len(type_.shape) != len(source.dims):
            return self._part(source, type_)
        sizes = zip(source.dims, _shape(type_), strict=True)
        return replace(
            source, dims=tuple(replace(dim, size=dim.size if dim.size is not None else size) for dim, size in sizes)
        )

    def _transpose(self, op: ir.Operation, source: View) -> View:
        _, _, results = str(op.attributes["permutation"]).rpartition("->")
        order = [int(position) for position in re.findall(r"d(\d+)", results)]
        if sorted(order) != list(range(len(source.dims))):
            return self._part(source, op.results[0].type)
        return replace(source, dims=tuple(source.dims[position] for position in order))

    def _expand(self, op: ir.Operation, source: View) -> View:
        sizes = _shape(op.results[0].type)
        dims: list[Dim | None] = [None] * len(sizes)
        groups = _groups(op)
        if len(groups) != len(source.dims) or sum(map(len, groups)) != len(sizes):
            return self._part(source, op.results[0].type)
        for dim, group in zip(source.dims, groups, strict=True):
            multiplier = dim.multiplier
            if multiplier is None or any(sizes[position] is None for position in group[1:]):
                # Sizes that are not known hide which element is where.
                return self._part(source, op.results[0].type)
            for position in reversed(group):
                size = sizes[position]
                if len(group) == 1 and size is None:
                    size = dim.size
                dims[position] = Dim(dim.axis, multiplier, size)
                multiplier *= size if size is not None else 1
        return replace(source, dims=tuple(dim for dim in dims if dim is not None))

    def _collapse(self, op: ir.Operation, source: View) -> View:
        type_ = op.results[0].type
        dims: list[Dim] = []
        for group in _groups(op):
            members = [source.dims[position] for position in group if source.dims[position].size != 1]
            if not members:
                members = [source.dims[group[-1]]]
            if any(member.multiplier is None for member in members):
                return self._part(source, type_)
            size: int | None = members[-1].size
            for outer, inner in pairwise(members):
                assert outer.multiplier is not None
                assert inner.multiplier is not None
                if inner.size is None or outer.axis != inner.axis or outer.multiplier != inner.multiplier * inner.size:
                    return self._part(source, type_)
            for outer in members[:-1]:
                size = None if size is None or outer.size is None else size * outer.size
            dims.append(Dim(members[-1].axis, members[-1].multiplier, size))
        if not dims and source.dims:  # all dimensions are units
            return replace(source, dims=())
        return replace(source, dims=tuple(dims))

    # --- other coordinates ---

    def _reinterpret(self, op: ir.Operation, source: View) -> View:
        """Offset, sizes and strides count elements from where the descriptor's pointer points (MLIR, memref)."""
        slice_ = _Slice(op, list(op.operands)[1:], self._indices)
        type_ = op.results[0].type
        origin, width = source.origin, byte_width(type_.element_type)
        offset = slice_.offsets[0]
        if origin is None or width is None or width != source.bytes_per_element or offset is None:
            return replace(self._whole_part(source, type_), runtime=source.runtime or slice_.is_runtime)
        if any(stride is None or stride < 0 for stride in slice_.strides):
            return replace(self._whole_part(source, type_), runtime=True)
        dims = tuple(
            Dim(0, stride * width if stride else None, size)
            for size, stride in zip(slice_.sizes, slice_.strides, strict=True)
            if stride is not None
        )
        base = origin.plus(offset.times(width))
        return replace(
            source, base=(base,), blur=((),), dims=dims, runtime=source.runtime or slice_.is_runtime, origin=origin
        )

    def _bytes(self, op: ir.Operation, source: View) -> View:
        """``memref.view``: typed storage at a byte offset of a buffer of bytes, contiguous and row-major."""
        type_ = op.results[0].type
        operands = list(op.operands)
        shift = self._indices.affine(operands[1])
        given = iter(operands[2:])
        sizes = [_constant(_mixed(entry, given, self._indices)) for entry in type_.shape]
        runtime = source.runtime or shift is None or None in sizes
        width = byte_width(type_.element_type)
        plain = len(source.dims) == 1 and source.dims[0].multiplier == 1 and source.bytes_per_element == 1
        if not plain or width is None or any(size is None for size in sizes[1:]):
            return self._part(replace(source, origin=None), type_, runtime=runtime)
        if shift is None:
            end = source.dims[0].size
            room = UNBOUNDED if end is None else max(0, end - 1)
            blur: tuple[Digit, ...] = (*source.blur[0], (1, 0, room))
            base = source.base[0]
        else:
            blur, base = source.blur[0], source.base[0].plus(shift)
        origin = base if not blur else None
        return View(source.root, (base,), (blur,), row_major(sizes, width), runtime, origin, width)

    def _whole_part(self, source: View, type_: ir.Type) -> View:
        return self._part(self._roots.unknown_part(source), type_)


def _groups(op: ir.Operation) -> list[list[int]]:
    return [[entry.value for entry in group] for group in op.attributes["reassociation"]]
