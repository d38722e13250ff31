"""The blocks of an MLIR module in the judge's terms."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from neuron_ctrldep.checker.source import FOLDABLE, PACKAGING, WIRE, SourceBlock, SourceInstruction, add_callers
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.wire import FRONTEND_ATTRIBUTES, NAME

if TYPE_CHECKING:
    from neuron_ctrldep.mlir import ir

_OPCODES = {"case": "conditional", "if": "conditional"}
"""What StableHLO and MHLO call otherwise than HLO does."""


def of_mlir(module: ir.Operation, file: str = "-") -> dict[str, SourceBlock]:
    """The blocks that main reaches, with the edges that :func:`control_edges` reads from ``module``.

    An end of an edge whose name another op shares gets one of its own as a frontend attribute in ``module``: names are
    all that the checker knows it by.

    Raises:
        InputError: there is no function.
    """
    from neuron_ctrldep.control_dep import called_functions, control_edges, reachable_functions
    from neuron_ctrldep.control_dep.structure import key_of
    from neuron_ctrldep.mlir import ir, string_value

    functions = reachable_functions(module)
    if not functions:
        message = "the module has no function to check; expected a func.func named main, or another"
        raise InputError(message, location=SourceLocation(file))
    edges = control_edges(module).edges
    names = _distinct_names(functions, _with_stand_ins([end for edge in edges for end in (edge.src, edge.dst)]))
    blocks: dict[ir.Block, SourceBlock] = {}
    bodies: dict[str, list[str]] = {}
    callers: list[tuple[SourceInstruction, list[str]]] = []

    def add_blocks(op: ir.Operation) -> list[str]:
        found = [block for region in op.regions for block in region.blocks]
        for block in found:
            blocks[block] = SourceBlock(f"block {len(blocks)}", {}, None, [], is_entry=not blocks)
        return [blocks[block].name for block in found]

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "func.func":
            bodies[string_value(op.attributes["sym_name"])] = add_blocks(op)
            return ir.WalkResult.ADVANCE
        block = blocks[op.block]
        instruction = _instruction(op, names, blocks)
        block.instructions[instruction.name] = instruction
        block.root = instruction.name  # the last one stays: the terminator reads the results
        instruction.calls = add_blocks(op)
        if instruction.opcode == "while":
            instruction.calls.reverse()  # in HLO the body comes first
        if symbols := called_functions(op):
            callers.append((instruction, symbols))
        return ir.WalkResult.ADVANCE

    for function in functions:
        function.walk(visit, ir.WalkOrder.PRE_ORDER)
    for instruction, symbols in callers:
        instruction.calls += [name for symbol in symbols for name in bodies.get(symbol, ())]
    for edge in edges:
        blocks[edge.src.block].edges.append((names[key_of(edge.src)], names[key_of(edge.dst)]))
    found = {block.name: block for block in blocks.values()}
    add_callers(found)
    return found


def _with_stand_ins(ends: list[ir.Operation]) -> list[ir.Operation]:
    """The ends of edges, and what stands for one of them where it is folded away."""
    from neuron_ctrldep.control_dep.structure import defining_op, key_of

    found = {key_of(op): op for op in ends}
    stack = list(found.values())
    while stack:
        op = stack.pop()
        for value in op.operands if _opcode(op) in FOLDABLE or _opcode(op) in PACKAGING else ():
            source = defining_op(value)
            if source is not None and key_of(source) not in found:
                found[key_of(source)] = source
                stack.append(source)
    return list(found.values())


def _distinct_names(functions: list[ir.Operation], ends: list[ir.Operation]) -> dict[ir.Value | ir.Operation, str]:
    """A name for each op by its key, its own where only it has it; ends of edges get theirs as an attribute."""
    from neuron_ctrldep.control_dep import instruction_name
    from neuron_ctrldep.control_dep.structure import key_of
    from neuron_ctrldep.mlir import ir

    names: dict[ir.Value | ir.Operation, str] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        names[key_of(op)] = instruction_name(op)
        return ir.WalkResult.ADVANCE

    for function in functions:
        function.walk(visit, ir.WalkOrder.PRE_ORDER)
    shared = {name for name, count in Counter(names.values()).items() if count > 1}
    taken = set(names.values())
    marked = {key_of(op): op for op in ends}
    given: dict[ir.Value | ir.Operation, str] = {}
    numbers: Counter[str] = Counter()
    for key, name in names.items():
        if name not in shared:
            continue
        while (distinct := f"{name}#{numbers[name]}") in taken:
            numbers[name] += 1
        taken.add(distinct)
        given[key] = distinct
    names.update(given)
    for key, op in marked.items():
        if key in given:
            _set_name(op, given[key])
    # An op without results is its own key, whose hash changed with its attributes: a new dictionary has the new one.
    return {key: name for key, name in names.items()}  # noqa: C416 - dict(names) would keep the old hashes


def _set_name(op: ir.Operation, name: str) -> None:
    from neuron_ctrldep.mlir import ir

    entries = {}
    if FRONTEND_ATTRIBUTES in op.attributes:
        entries = {entry.name: entry.attr for entry in op.attributes[FRONTEND_ATTRIBUTES]}
    entries[NAME] = ir.StringAttr.get(name, op.context)
    op.attributes[FRONTEND_ATTRIBUTES] = ir.DictAttr.get(entries, op.context)


def _opcode(op: ir.Operation) -> str:
    """The opcode of HLO that an op has; its own name where it has none."""
    from neuron_ctrldep.control_dep import fault_of, is_constant, is_control_dep

    if is_constant(op):
        return "constant"
    dialect, _, name = op.name.partition(".")
    if dialect not in ("stablehlo", "mhlo"):
        return "call" if op.name == "func.call" else op.name
    if is_control_dep(op) and fault_of(op) is None:
        return WIRE
    return _OPCODES.get(name, name.replace("_", "-"))


def _instruction(
    op: ir.Operation, names: dict[ir.Value | ir.Operation, str], blocks: dict[ir.Block, SourceBlock]
) -> SourceInstruction:
    from neuron_ctrldep.control_dep.structure import key_of

    opcode = _opcode(op)
    # A wire op is packaging of its data, which is its last operand.
    values = list(op.operands)[-1:] if opcode == WIRE else list(op.operands)
    # MLIR removes an unused op only when it knows that it has no effect; here "needed" must not promise less.
    instruction = SourceInstruction(
        names[key_of(op)], opcode, [_operand(value, op, names, blocks) for value in values], not op.results
    )
    if opcode == "get-tuple-element":
        instruction.index = op.attributes["index"].value
    elif opcode == "constant" and "value" in op.attributes:
        instruction.value = _splat(op.attributes["value"])
    elif opcode == "compare":
        instruction.direction = str(op.attributes["comparison_direction"]).rstrip(">").rpartition(" ")[2]
    elif opcode == "custom-call" and "has_side_effect" in op.attributes:
        instruction.has_side_effect = instruction.has_side_effect or op.attributes["has_side_effect"].value
    return instruction


def _splat(value: ir.Attribute) -> int | None:
    """The one integer or truth value of a constant; ``None`` for other types and for several values."""
    from neuron_ctrldep.mlir import ir

    if not isinstance(value, ir.DenseIntElementsAttr) or not value.is_splat or not len(value):
        return None
    element: int = value[0]
    return element


def _operand(
    value: ir.Value,
    op: ir.Operation,
    names: dict[ir.Value | ir.Operation, str],
    blocks: dict[ir.Block, SourceBlock],
) -> str:
    """What ``op`` calls a value; one from outside its block gets a parameter there that stands for it."""
    from neuron_ctrldep.control_dep.structure import defining_op, key_of
    from neuron_ctrldep.mlir import ir

    source = defining_op(value)
    if source is not None:
        home, name, number = source.block, names[key_of(source)], 0
    else:
        argument = ir.BlockArgument(value)
        home, number = argument.owner, argument.arg_number
        name = f"argument {number}"
        blocks[home].instructions.setdefault(name, SourceInstruction(name, "parameter", [], number=number))
    if home == op.block:
        return name
    outside = f"{name} of {blocks[home].name}"
    captured = SourceInstruction(outside, "parameter", [], captured=(blocks[home].name, name))
    blocks[op.block].instructions.setdefault(outside, captured)
    return outside
