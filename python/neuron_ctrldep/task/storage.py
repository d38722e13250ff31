"""Where a value's elements lie: a root, and a view of it in the root's coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.regions import UNBOUNDED, Affine, Digit, LoopIndex, Region, RegionTable, Span, span

MAX_ROOTS = 4
"""A value that may denote more roots than this is unsupported storage."""

DYNAMIC = ir.ShapedType.get_dynamic_size()

Sizes = Sequence[int | None]
"""The size of each dimension; ``None`` where only run time knows."""


@dataclass(eq=False)
class Root:
    """One piece of storage that no other root overlaps, except that parameters may alias where the user says so."""

    serial: int
    value: ir.Value
    parameter: int | None = None
    """Which parameter of the function it is; ``None`` for an allocation."""
    home: object = None
    """The body that holds the allocation: each run of it makes new storage."""
    escapes: bool = False
    """Whether a value that leaves one run of its home may denote it."""
    key: object = None
    """Accesses whose keys differ never conflict."""

    def __post_init__(self) -> None:
        if self.key is None:
            self.key = self


def is_private(root: Root, body: object) -> bool:
    """Whether ``root`` is made anew in each run of ``body`` and no value takes it out of there."""
    return root.home is body and not root.escapes


@dataclass(frozen=True, slots=True)
class Dim:
    """One dimension of a view: ``size`` elements, ``multiplier`` apart on ``axis``.

    Without a multiplier it is spread over elements the view's ``blur`` counts already.
    """

    axis: int
    multiplier: int | None
    size: int | None

    @property
    def digit(self) -> Digit:
        """Its part in a span."""
        assert self.multiplier is not None
        return self.multiplier, 0, UNBOUNDED if self.size is None else max(0, self.size - 1)


@dataclass(frozen=True, slots=True)
class View:
    """A root and the elements of it that a value denotes (or more than these)."""

    root: Root
    base: tuple[Affine, ...]
    """For each axis the position of element 0."""
    blur: tuple[tuple[Digit, ...], ...]
    """For each axis by what the position may differ from that."""
    dims: tuple[Dim, ...]
    runtime: bool = False
    """Whether an offset, size or stride in it is known at run time only."""
    origin: Affine | None = None
    """Where the pointer in a memref's descriptor points, on the one axis of byte coordinates; ``None``: not known."""
    bytes_per_element: int | None = None
    """The size of an element on a byte axis; ``None`` when the axes count elements."""

    def freed(self, indices: Iterable[LoopIndex]) -> View:
        """The union over all iterations of a loop, as seen from outside."""
        free = set(indices)
        if not any(index in free for axis in self.base for index, _ in axis.terms):
            origin = self.origin
            if origin is not None and any(index in free for index, _ in origin.terms):
                return replace(self, origin=None)
            return self
        base, blur = [], []
        for start, digits in zip(self.base, self.blur, strict=True):
            spread = Span(start.constant, start.terms, ())
            for index in free:
                spread = spread.freed(index)
            base.append(Affine(spread.constant, spread.terms))
            blur.append((*digits, *spread.digits))
        return replace(self, base=tuple(base), blur=tuple(blur), origin=None)

    def spans(self) -> tuple[Span, ...]:
        """The elements, axis by axis."""
        digits: list[list[Digit]] = [list(blur) for blur in self.blur]
        for dim in self.dims:
            if dim.multiplier is not None:
                digits[dim.axis].append(dim.digit)
        if self.bytes_per_element is not None:
            digits[0].append((1, 0, self.bytes_per_element - 1))
        return tuple(span(base, found) for base, found in zip(self.base, digits, strict=True))


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Storage the analyses cannot represent."""

    reason: str


Storage = tuple[View, ...] | Unsupported
"""What a value may denote: one view for each of its possible roots."""


@dataclass
class RootTable:
    """The roots of one function, and the regions in their coordinates."""

    may_alias_args: bool = False
    regions: RegionTable = field(default_factory=RegionTable)
    roots: list[Root] = field(default_factory=list)
    _wholes: dict[Root, View] = field(default_factory=dict)
    _of_types: dict[ir.Type, tuple[View, tuple[Span, ...]]] = field(default_factory=dict)
    """The whole of some root of each type, and its spans."""
    _regions: dict[int, tuple[View, Region]] = field(default_factory=dict)

    def add(self, value: ir.Value, *, parameter: int | None = None, home: object = None) -> View:
        """Make ``value`` a root; its whole."""
        root = Root(len(self.roots), value, parameter, home)
        if self.may_alias_args and parameter is not None:
            root.key = "parameters"
        self.roots.append(root)
        type_ = value.type
        known = self._of_types.get(type_)
        if known is None:
            whole = _whole(root, type_)
            known = self._of_types[type_] = (whole, whole.spans())
        like, spans = known
        whole = View(root, like.base, like.blur, like.dims, False, like.origin, like.bytes_per_element)
        self._wholes[root] = whole
        self.regions.whole(root, spans)
        return whole

    def unknown_part(self, view: View) -> View:
        """Some part of the root of ``view``, with nothing known of where."""
        whole = self._wholes[view.root]
        blur = tuple(span_.digits for span_ in whole.spans())
        dims = tuple(Dim(0, None, dim.size) for dim in view.dims)
        return View(view.root, whole.base, blur, dims, view.runtime, None, whole.bytes_per_element)

    def region(self, view: View) -> Region:
        """The region of ``view``."""
        # By identity: hashing a view costs more than all else here. The view is kept so that its id stays its own.
        known = self._regions.get(id(view))
        if known is None:
            known = self._regions[id(view)] = (view, self.regions.region(view.root, view.spans()))
        return known[1]

    def unite(self, a: Storage, b: Storage) -> Storage:
        """What denotes either: regions of one root that differ widen to an unknown part."""
        if isinstance(a, Unsupported):
            return a
        if isinstance(b, Unsupported):
            return b
        if a == b:
            return a
        found = {view.root: view for view in a}
        for view in b:
            old = found.get(view.root)
            if old is None:
                found[view.root] = view
            elif old != view:
                widened = self.unknown_part(old)
                found[view.root] = replace(widened, runtime=old.runtime or view.runtime)
        if len(found) > MAX_ROOTS:
            return Unsupported(f"it may denote more than {MAX_ROOTS} storage roots")
        return tuple(found[root] for root in sorted(found, key=lambda root: root.serial))


def _whole(root: Root, type_: ir.Type) -> View:
    """All of a root. The axis counts bytes where all dimensions but the first are static; else each has its axis."""
    if not type_.has_rank:
        return View(root, (Affine(),), (((1, 0, UNBOUNDED),),), ())
    sizes = [None if size == DYNAMIC else size for size in type_.shape]
    if isinstance(type_, ir.MemRefType) and not _is_injective(type_, sizes):
        # Two index tuples may be one element (a stride of 0): nothing can be told apart.
        return View(root, (Affine(),), (((1, 0, UNBOUNDED),),), tuple(Dim(0, None, size) for size in sizes))
    if any(size is None for size in sizes[1:]):
        dims = tuple(Dim(axis, 1, size) for axis, size in enumerate(sizes))
        return View(root, (Affine(),) * len(sizes), ((),) * len(sizes), dims)
    width = byte_width(type_.element_type)
    identity = not isinstance(type_, ir.MemRefType) or _has_identity_layout(type_)
    origin = Affine() if identity and width is not None else None
    return View(root, (Affine(),), ((),), row_major(sizes, width or 1), origin=origin, bytes_per_element=width)


def row_major(sizes: Sizes, width: int) -> tuple[Dim, ...]:
    """The dimensions of a row-major array on one axis; all sizes but the first must be known."""
    dims: list[Dim] = []
    for size in reversed(sizes):
        dims.append(Dim(0, width, size))
        width *= size if size is not None else 1
    return tuple(reversed(dims))


def byte_width(type_: ir.Type) -> int | None:
    """The bytes an element takes in memory; ``None`` when that is not known here."""
    if isinstance(type_, ir.IndexType):
        return 8
    if isinstance(type_, ir.ComplexType):
        inner = byte_width(type_.element_type)
        return None if inner is None else 2 * inner
    if isinstance(type_, ir.IntegerType | ir.FloatType):
        bits: int = type_.width
        return 1 << max(0, (bits + 7) // 8 - 1).bit_length()
    return None


def _has_identity_layout(type_: ir.MemRefType) -> bool:
    try:
        strides, offset = type_.get_strides_and_offset()
    except (ValueError, RuntimeError):
        return False
    expected = 1
    for size, stride in zip(reversed(list(type_.shape)), reversed(strides), strict=True):
        if stride != expected:
            return False
        expected = DYNAMIC if DYNAMIC in (size, expected) else expected * size
    return offset == 0


def _is_injective(type_: ir.MemRefType, sizes: Sizes) -> bool:
    """Whether different index tuples are surely different elements, whatever the layout is."""
    try:
        strides, _ = type_.get_strides_and_offset()
    except (ValueError, RuntimeError):
        return False
    reach = 1
    for stride, size in sorted(zip(strides, sizes, strict=True), key=lambda pair: (pair[0] == DYNAMIC, pair[0])):
        if size == 1:
            continue
        if stride == DYNAMIC:
            return _has_identity_layout(type_)
        if stride < reach:
            return False
        reach = stride * size if size is not None else UNBOUNDED
    return True
