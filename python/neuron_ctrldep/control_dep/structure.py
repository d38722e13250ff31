"""What readers of a module need to know: names, transparent ops, reachable functions, what a value stands for."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_ctrldep.control_dep.op import CUSTOM_CALLS, ControlDep, fault_of, frontend_attributes, is_control_dep
from neuron_ctrldep.mlir import ir, location_names, text_of
from neuron_ctrldep.wire import FRONTEND_ATTRIBUTES, NAME

SYMBOL = "neuron.symName"
"""The attribute in which Neuron's own importer keeps the name of an instruction."""


def instruction_name(op: ir.Operation | ir.OpView) -> str:
    """What the input calls ``op``: :data:`~neuron_ctrldep.wire.NAME`, ``neuron.symName``, its location, its op name.

    Of a location the last part counts: of an ``op_name`` such as ``jit(f)/mul`` that is ``mul``.
    """
    operation = op.operation
    attributes = operation.attributes
    # The importer puts the attributes of the start of a collective on the op inside.
    holder = operation.regions[0].blocks[0].operations[0] if operation.name == "stablehlo.async_start" else operation
    if FRONTEND_ATTRIBUTES in holder.attributes:
        name = frontend_attributes(holder.operation).get(NAME)
        if name:
            return name
    if SYMBOL in attributes:
        symbol = attributes[SYMBOL]
        if isinstance(symbol, ir.StringAttr) and (name := text_of(symbol)):
            return name
    for name in location_names(operation.location):
        last = name.rstrip("/").rpartition("/")[2]
        if last:
            return last
    return operation.name


def main_function(module: ir.Operation) -> ir.Operation | None:
    """The function named ``main``, else the first public one, else the first (``control-dep.md`` section 4)."""
    first = public = None
    for op in module.regions[0].blocks[0].operations:
        operation = op.operation
        if operation.name != "func.func":
            continue
        attributes = operation.attributes
        if text_of(attributes["sym_name"]) == "main":
            return operation
        first = first or operation
        if public is None and ("sym_visibility" not in attributes or attributes["sym_visibility"].value == "public"):
            public = operation
    return public or first


_TUPLES = frozenset({"stablehlo.tuple", "mhlo.tuple"})
_ELEMENTS = frozenset({"stablehlo.get_tuple_element", "mhlo.get_tuple_element"})
ADD_DEPENDENCY = "mhlo.add_dependency"
_CUSTOM_CALLS = frozenset(CUSTOM_CALLS.values())
TUPLE_OPS = _TUPLES | _ELEMENTS
MAYBE_TRANSPARENT = frozenset({*TUPLE_OPS, ADD_DEPENDENCY, *_CUSTOM_CALLS})
"""The ops that :func:`is_transparent` has to look at; all others are instructions."""
_CONSTANTS = frozenset({"stablehlo.constant", "mhlo.constant", "arith.constant"})
_CALLEES = {
    "func.call": "callee",
    "stablehlo.composite": "decomposition",
    "mhlo.composite": "decomposition",
    "mhlo.async_start": "called_computation",
    "stablehlo.custom_call": "called_computations",
    "mhlo.custom_call": "called_computations",
}
"""Where each op that can run another function names it."""


def is_transparent(op: ir.Operation | ir.OpView) -> bool:
    """Whether ``op`` is no instruction but packaging: a wire op, a tuple, a tuple element, an ``add_dependency``."""
    name = op.operation.name
    return name in _TUPLES or name in _ELEMENTS or name == ADD_DEPENDENCY or is_control_dep(op)


def is_constant(op: ir.Operation | ir.OpView) -> bool:
    """Whether ``op`` is a constant: there before its block runs."""
    return op.operation.name in _CONSTANTS


def called_functions(op: ir.Operation) -> list[str]:
    """The symbols of the functions that ``op`` runs, in order; empty for most ops."""
    attribute = _CALLEES.get(op.name)
    if attribute is None or attribute not in op.attributes:
        return []
    value = op.attributes[attribute]
    symbols = list(value) if isinstance(value, ir.ArrayAttr) else [value]
    return [text_of(symbol) for symbol in symbols if isinstance(symbol, ir.FlatSymbolRefAttr)]


def reachable_functions(module: ir.Operation) -> list[ir.Operation]:
    """The functions that run when main runs, main first, then callees as they are first met in program order.

    A module without functions gives an empty list.
    """
    main = main_function(module)
    if main is None:
        return []
    by_name = {
        text_of(op.operation.attributes["sym_name"]): op.operation
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "func.func"
    }
    if len(by_name) == 1:
        return [main]
    found = {main: None}
    stack = [main]
    while stack:
        calls: list[ir.Operation] = []

        def visit(op: ir.Operation, calls: list[ir.Operation] = calls) -> ir.WalkResult:
            if op.name in _CALLEES:
                calls.extend(by_name[name] for name in called_functions(op) if name in by_name)
            return ir.WalkResult.ADVANCE

        stack.pop().walk(visit, ir.WalkOrder.PRE_ORDER)
        fresh = [callee for callee in dict.fromkeys(calls) if callee not in found]
        found.update(dict.fromkeys(fresh))
        stack.extend(reversed(fresh))
    return list(found)


def defining_op(value: ir.Value) -> ir.Operation | None:
    """The op that defines ``value``; ``None`` for a block argument."""
    owner = value.owner
    return owner.operation if not isinstance(owner, ir.Block) else None


def key_of(op: ir.Operation) -> ir.Value | ir.Operation:
    """What stands for ``op`` as a key.

    The bindings hash an op by its content: equal ops (20,000 equal constants, say) share a hash that changes when they
    are edited. A value has the hash of its address. Only an op without results stands for itself.
    """
    results = op.results
    return results[0] if len(results) else op


def is_terminator(op: ir.Operation) -> bool:
    """Whether ``op`` ends its block: ``func.return``, ``stablehlo.return``, ``scf.yield`` and the like."""
    return op.name.endswith((".return", ".yield", ".condition"))


def _element_index(op: ir.Operation) -> int:
    return op.attributes["index"].value


def _may_be_transparent(value: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and op.name in MAYBE_TRANSPARENT


def trace(value: ir.Value) -> tuple[list[ir.Value], list[ir.Value]]:
    """Look through transparent ops: what ``value`` itself is, and what wire ops and tokens put before it.

    Both lists hold values of instructions or block arguments, in operand order. A ``path`` of element indices goes
    along, so that an element of a known tuple stands for that element only.
    """
    op = defining_op(value)
    if op is None or op.name not in MAYBE_TRANSPARENT:
        return [value], []
    if op.name in _CUSTOM_CALLS and is_control_dep(op) and fault_of(op) is None:
        operands = list(op.operands)
        if not any(_may_be_transparent(operand) for operand in operands):
            # By far the most wire ops: nothing to look through.
            return operands[-1:], list(dict.fromkeys(operands[:-1]))
    own: dict[ir.Value, None] = {}
    before: dict[ir.Value, None] = {}
    seen: set[tuple[ir.Value, tuple[int, ...], bool]] = set()
    stack: list[tuple[ir.Value, tuple[int, ...], bool]] = [(value, (), False)]
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        current, path, is_before = item
        op = defining_op(current)
        if op is not None and op.name in _ELEMENTS:
            stack.append((op.operands[0], (*path, _element_index(op)), is_before))
        elif op is not None and op.name in _TUPLES:
            elements = list(op.operands)
            chosen = [(elements[path[-1]], path[:-1])] if path else [(element, ()) for element in elements]
            stack += [(element, rest, is_before) for element, rest in reversed(chosen)]
        elif op is not None and op.name == ADD_DEPENDENCY:
            stack += [(op.operands[1], (), True), (op.operands[0], path, is_before)]
        elif op is not None and is_control_dep(op) and fault_of(op) is None:
            view = ControlDep(op)
            # Last in, first out: the predecessors come first in ``before``, then those of a wire op behind the data.
            stack.append((view.data, path, is_before))
            stack += [(predecessor, (), True) for predecessor in reversed(view.predecessors)]
        else:
            (before if is_before else own)[current] = None
    return list(own), list(before)


def producers(value: ir.Value) -> list[ir.Value]:
    """The values of instructions (or block arguments) that ``value`` stands for in predecessor position.

    A wire op stands for its data and its own predecessors, a tuple for its elements, an element for its source (for the
    one element, where the tuple is known), an ``add_dependency`` for its data and its token.
    """
    own, before = trace(value)
    return list(dict.fromkeys([*own, *before]))


def users_through(value: ir.Value) -> Iterator[ir.Operation]:
    """The instructions that read ``value``, directly or through transparent ops, each once."""
    yielded: set[ir.Value | ir.Operation] = set()
    seen: set[tuple[ir.Value, tuple[int, ...]]] = set()
    stack: list[tuple[ir.Value, tuple[int, ...]]] = [(value, ())]
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        current, path = item
        for use in current.uses:
            user = use.owner.operation
            number = use.operand_number
            if user.name in _TUPLES:
                stack.append((user.results[0], (*path, number)))
            elif user.name in _ELEMENTS:
                # An element other than the one the value was packed as does not read it.
                if not path or path[-1] == _element_index(user):
                    stack.append((user.results[0], path[:-1]))
            elif user.name == ADD_DEPENDENCY:
                stack.append((user.results[0], path if number == 0 else ()))
            elif is_control_dep(user) and fault_of(user) is None:
                is_data = number == len(user.operands) - 1
                stack.append((user.results[0], path if is_data else ()))
            elif (key := key_of(user)) not in yielded:
                yielded.add(key)
                yield user
