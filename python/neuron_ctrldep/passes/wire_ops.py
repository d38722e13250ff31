"""Wire ops as the passes meet them: found in program order, and checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from neuron_ctrldep.control_dep import CUSTOM_CALLS, fault_of, instruction_name, is_control_dep
from neuron_ctrldep.errors import Diagnostic, PassError, SourceLocation
from neuron_ctrldep.mlir import ir, rewrite, source_location
from neuron_ctrldep.passes.tuples import Tuples, TupleShape, is_leaf, tuple_shape
from neuron_ctrldep.wire import TARGET

DIALECTS = tuple(CUSTOM_CALLS)
"""The dialects that can hold wire ops."""

MAX_TUPLE_DEPTH = 200
"""Data nested deeper is refused; programs have two or three levels."""
MAX_TUPLE_LEAVES = 100_000
"""Data with more leaves is refused: with type aliases, a few lines of text can spell a tuple of 2**20 elements."""


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
