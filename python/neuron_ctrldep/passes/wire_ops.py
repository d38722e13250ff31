"""Wire ops as the passes meet them: found in program order, checked, and the tuples around them taken apart.

Handles of the bindings die with the op they name. Every function here therefore reads operands, results and owners
anew, and :class:`Leftovers` is told before an op goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from neuron_ctrldep.control_dep import CUSTOM_CALLS, fault_of, instruction_name, is_control_dep
from neuron_ctrldep.errors import Diagnostic, PassError, SourceLocation
from neuron_ctrldep.mlir import ir, rewrite, source_location
from neuron_ctrldep.wire import TARGET

DIALECTS = tuple(CUSTOM_CALLS)
"""The dialects that can hold wire ops."""

MAX_TUPLE_DEPTH = 200
"""Data nested deeper is refused; programs have two or three levels."""
MAX_TUPLE_LEAVES = 100_000
"""Data with more leaves is refused: with type aliases, a few lines of text can spell a tuple of 2**20 elements."""

Path = tuple[int, ...]
"""Element indices from the outermost tuple inwards."""


# --- finding and checking ---------------------------------------------------------------------------------------------


def find_wire_ops(
    scope: ir.Operation,
    dialects: Collection[str] = DIALECTS,
    *,
    elements: set[ir.Value] | None = None,
    types: list[ir.Type | None] | None = None,
) -> list[ir.Operation]:
    """The wire ops of ``dialects`` inside ``scope``, nested regions included, in program order.

    Args:
        scope: any op.
        dialects: of the ops.
        elements: takes what the ``get_tuple_element`` ops of ``dialects`` make.
        types: takes what :func:`forwarded_type` says of each wire op: asking at once takes half as long as later.
    """
    names = sorted(CUSTOM_CALLS[dialect] for dialect in dialects)
    element_names = sorted(Tuples(dialect).element_name for dialect in dialects) if elements is not None else []
    found: list[ir.Operation] = []
    # Only functions and a few ops of other dialects can hold several blocks; StableHLO and MHLO refuse them.
    has_blocks = scope.context.allow_unregistered_dialects or _has_blocks(scope)
    target = ir.StringAttr.get(TARGET, scope.context)

    def visit_call(op: ir.OpView, _: rewrite.PatternRewriter) -> bool:
        operation = op.operation
        if operation.attributes.get("call_target_name") == target:
            found.append(operation)
            if types is not None:
                types.append(forwarded_type(operation))
        return True  # no match: nothing was changed

    def visit_element(op: ir.OpView, _: rewrite.PatternRewriter) -> bool:
        assert elements is not None
        elements.add(op.operation.result)
        return True

    def visit_blocks(op: ir.OpView, _: rewrite.PatternRewriter) -> bool:
        nonlocal has_blocks
        has_blocks = has_blocks or _has_blocks(op.operation)
        return True

    if not has_blocks:
        # The driver walks and filters by name in C++; Python sees the ops of these names only.
        patterns = rewrite.RewritePatternSet(scope.context)
        for visit, of in ((visit_call, names), (visit_element, element_names), (visit_blocks, _WITH_BLOCKS)):
            for name in of:
                patterns.add(name, visit)
        rewrite.walk_and_apply_patterns(scope, patterns.freeze())
    if has_blocks:
        # It passes unreachable blocks by.
        found.clear()
        if types is not None:
            types.clear()

        def visit_all(op: ir.Operation) -> ir.WalkResult:
            if op.name in names and is_control_dep(op):
                found.append(op)
                if types is not None:
                    types.append(forwarded_type(op))
            elif elements is not None and op.name in element_names:
                elements.add(op.result)
            return ir.WalkResult.ADVANCE

        scope.walk(visit_all, ir.WalkOrder.PRE_ORDER)
    return found


_WITH_BLOCKS = ("func.func", "scf.execute_region")


def _has_blocks(op: ir.Operation) -> bool:
    """Whether a region of ``op`` itself has several blocks."""
    return any(len(region.blocks) > 1 for region in op.regions)


def fault_at(op: ir.Operation, message: str) -> Diagnostic:
    """An error at ``op``; where its location has no file, the name of the instruction stands for it."""
    where = source_location(op.location)
    name = f" ({instruction_name(op)})" if where is None else ""
    return Diagnostic("error", f"'{op.name}' op{name} {message}", where or SourceLocation(name=instruction_name(op)))


def forwarded_type(op: ir.Operation) -> ir.Type | None:
    """The type that a wire op forwards; ``None`` when it is illegal (section 1 of the specification)."""
    try:
        kind = op.result.type
    except ValueError:
        return None  # not one result
    operands = op.operands
    return kind if operands and operands[-1].type == kind else None


def faults_of(ops: Iterable[ir.Operation]) -> list[Diagnostic]:
    """One error for each illegal op among the wire ops ``ops``, in order."""
    return [fault_at(op, message) for op in ops if (message := fault_of(op)) is not None]


def forwarded_types(ops: Sequence[ir.Operation]) -> list[ir.Type]:
    """Check every wire op against section 1 of the specification, and tell what type each forwards.

    Raises:
        PassError: with one diagnostic for each illegal op, in program order.
    """
    types = [kind for op in ops if (kind := forwarded_type(op)) is not None]
    if len(types) < len(ops):
        raise PassError(diagnostics=faults_of(ops))
    return types


# --- tuples -----------------------------------------------------------------------------------------------------------


def op_name(owner: ir.OpView | ir.Block) -> str | None:
    """The name of the op that is a value's ``owner``; ``None`` for a block, and for ops without a Python class.

    It is the name of the class, which costs a third of asking the op. StableHLO and MHLO ops have classes.
    """
    return getattr(owner, "OPERATION_NAME", None)


def defining_op(value: ir.Value) -> ir.Operation | None:
    """The op that defines ``value``; ``None`` for a block argument."""
    return value.owner.operation if isinstance(value, ir.OpResult) else None


def is_empty_wire(value: ir.Value) -> bool:
    """Whether ``value`` is what a wire op forwards, and a tuple that holds nothing."""
    kind = value.type
    return isinstance(kind, ir.TupleType) and is_leaf(kind) and is_control_dep(value.owner)


def through_empty_wires(value: ir.Value) -> list[ir.Value]:
    """What a reader of ``value`` is ordered after, if it is an empty tuple that a wire op forwards; else ``value``.

    Passes that leave no value for an empty tuple drop its wire op; its predecessors and its data are what counts.
    """
    found: list[ir.Value] = []
    seen: set[ir.Value] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if isinstance(current, ir.OpResult) and is_empty_wire(current):
            stack += reversed(current.owner.operands)
        else:
            found.append(current)
    return found


def element_index(op: ir.Operation | ir.OpView) -> int:
    """Which element a ``get_tuple_element`` takes."""
    return op.operation.attributes["index"].value


def element_types(kind: ir.TupleType) -> list[ir.Type]:
    """The types of a tuple's elements."""
    return [kind.get_type(i) for i in range(kind.num_types)]


@dataclass(frozen=True, slots=True)
class TupleShape:
    """How large a type is as a tuple."""

    depth: int
    """How deep tuples are nested; 0 for other types."""
    leaves: int
    """How many elements are no tuples; 1 for other types."""


def tuple_shape(kind: ir.Type, known: dict[ir.Type, TupleShape] | None = None) -> TupleShape:
    """Measure ``kind``. Iterative and remembering, for a type may be deep, and name one part many times.

    Args:
        kind: any type.
        known: shapes measured before.
    """
    known = {} if known is None else known
    stack = [kind]
    while stack:
        current = stack[-1]
        if not isinstance(current, ir.TupleType):
            known[current] = TupleShape(0, 1)
        elif current not in known:
            elements = element_types(current)
            missing = [element for element in elements if element not in known]
            if missing:
                stack += missing
                continue
            shapes = [known[element] for element in elements]
            known[current] = TupleShape(
                1 + max((shape.depth for shape in shapes), default=0), sum(shape.leaves for shape in shapes)
            )
        stack.pop()
    return known[kind]


def check_tuple_data(ops: Iterable[ir.Operation], types: Iterable[ir.Type]) -> None:
    """Check that the tuples which wire ops forward can be taken apart.

    Args:
        ops: wire ops.
        types: what each forwards.

    Raises:
        PassError: one is deeper than :data:`MAX_TUPLE_DEPTH` or has more than :data:`MAX_TUPLE_LEAVES` leaves.
    """
    known: dict[ir.Type, TupleShape] = {}
    faults: list[Diagnostic] = []
    for op, kind in zip(ops, types, strict=True):
        if not isinstance(kind, ir.TupleType):
            continue
        shape = tuple_shape(kind, known)
        if shape.depth > MAX_TUPLE_DEPTH or shape.leaves > MAX_TUPLE_LEAVES:
            faults.append(
                fault_at(
                    op,
                    f"the tuple it forwards is {shape.depth} deep and has {shape.leaves} leaves; "
                    f"at most {MAX_TUPLE_DEPTH} and {MAX_TUPLE_LEAVES} can be taken apart",
                )
            )
    if faults:
        raise PassError(diagnostics=faults)


class Tuples:
    """The tuple ops of one dialect: what a value is made of, and how to take it apart and put it together."""

    def __init__(self, dialect: str) -> None:
        self.tuple_name = f"{dialect}.tuple"
        self.element_name = f"{dialect}.get_tuple_element"
        self.names = frozenset({self.tuple_name, self.element_name})

    def resolve(self, value: ir.Value, path: Path = ()) -> tuple[ir.Value, Path]:
        """What element ``path`` of ``value`` is, through ``get_tuple_element`` and ``tuple``.

        Returns:
            The value that holds it, and where in that value it is: ``()`` when it is the value itself.
        """
        seen: set[tuple[ir.Value, Path]] = set()
        while True:
            op = value.owner
            name = op_name(op)
            if name == self.element_name:
                # Where dominance does not hold (unreachable blocks, graph regions) ops may go in a circle.
                if (value, path) in seen:
                    return value, path
                seen.add((value, path))
                value, path = op.operands[0], (element_index(op), *path)
            elif name == self.tuple_name and path:
                value, path = op.operands[path[0]], path[1:]
            else:
                return value, path

    def take(self, value: ir.Value, index: int, *, location: ir.Location, ip: ir.InsertionPoint) -> ir.Value:
        """Element ``index`` of ``value``, by a new ``get_tuple_element`` where it is not at hand."""
        source, path = self.resolve(value)
        if not path and op_name(source.owner) == self.tuple_name:
            return source.owner.operands[index]
        base = value if path else source
        op = ir.Operation.create(
            self.element_name,
            results=[base.type.get_type(index)],
            operands=[base],
            attributes={"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(32, location.context), index)},
            loc=location,
            ip=ip,
        )
        return op.results[0]

    def take_apart(self, value: ir.Value, *, location: ir.Location, ip: ir.InsertionPoint) -> dict[Path, ir.Value]:
        """The leaves of ``value`` by their paths, in order; ``{(): value}`` when it is a leaf itself."""
        parts: dict[Path, ir.Value] = {(): value}
        leaves: dict[Path, ir.Value] = {}
        for path in _leaf_paths(value.type):
            for depth, index in enumerate(path):
                if path[: depth + 1] not in parts:
                    parts[path[: depth + 1]] = self.take(parts[path[:depth]], index, location=location, ip=ip)
            leaves[path] = parts[path]
        return leaves

    def put_together(
        self,
        kind: ir.Type,
        parts: dict[Path, ir.Value],
        *,
        location: ir.Location,
        ip: ir.InsertionPoint,
        path: Path = (),
    ) -> ir.Value:
        """The inverse: the value of type ``kind`` at ``path``, from ``parts``, which keeps the new tuples."""
        if path not in parts:
            elements = [
                self.put_together(element, parts, location=location, ip=ip, path=(*path, i))
                for i, element in enumerate(element_types(kind))
            ]
            op = ir.Operation.create(self.tuple_name, results=[kind], operands=elements, loc=location, ip=ip)
            parts[path] = op.results[0]
        return parts[path]


def _leaf_paths(kind: ir.Type) -> Iterator[Path]:
    stack: list[tuple[ir.Type, Path]] = [(kind, ())]
    known: dict[ir.Type, TupleShape] = {}
    while stack:
        current, path = stack.pop()
        if is_leaf(current, known):
            yield path
        else:
            stack += reversed([(element, (*path, i)) for i, element in enumerate(element_types(current))])


def is_leaf(kind: ir.Type, known: dict[ir.Type, TupleShape] | None = None) -> bool:
    """Whether ``kind`` is no tuple, or a tuple that holds nothing, however deep."""
    return not isinstance(kind, ir.TupleType) or tuple_shape(kind, known).leaves == 0


class Leftovers:
    """``tuple`` and ``get_tuple_element`` ops that a rewrite took uses from; at the end those without uses go.

    Ops that had no uses before are not among them, so dead code that was there stays.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        # By their results: the hash of an op follows its operands in some versions of jaxlib, that of a value does not.
        self._results: dict[ir.Value, None] = {}
        self.erased = 0
        """How many ops went so far."""

    def readers(self, value: ir.Value) -> list[ir.Operation]:
        """Those of these ops that read ``value``, once for each use."""
        users = (use.owner.operation for use in value.uses)
        return [user for user in users if user.name in self._names]

    def lost_use(self, value: ir.Value) -> None:
        """``value``, of any op, has lost a use."""
        if op_name(value.owner) in self._names:
            self._results[value] = None

    def erase_now(self, op: ir.Operation, *, is_simple: bool = False) -> None:
        """Erase ``op``, which has no uses; what it used may be left over, too.

        Args:
            op: one of these ops.
            is_simple: it is known to use none of the others.
        """
        # An erased op must not stay a key: a new op may get its address.
        if self._results:
            self._results.pop(op.result, None)
        operands = [] if is_simple else list(op.operands)
        op.erase()
        self.erased += 1
        for value in operands:
            self.lost_use(value)

    def erase(self) -> None:
        """Erase what is left over, transitively."""
        while self._results:
            value, _ = self._results.popitem()
            if not has_uses(value):
                self.erase_now(value.owner.operation)


def is_no_tuple(value: ir.Value) -> bool:
    """Whether ``value`` is of a type other than a tuple."""
    return not isinstance(value.type, ir.TupleType)


def has_uses(value: ir.Value) -> bool:
    """Whether anything reads ``value``."""
    return next(iter(value.uses), None) is not None
