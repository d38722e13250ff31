"""What the checker compares: the blocks of a source and the functions of an emitted program, in its own terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from neuron_ctrldep.checker_program import EmittedFunction
from neuron_ctrldep.checker_source import FOLDABLE, PACKAGING, WIRE, SourceBlock, SourceInstruction
from neuron_ctrldep.control_dep.structure import TUPLE_OPS
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.wire import AFTER, BARRIER, DONE_AFTER, DONE_ID, FRONTEND_ATTRIBUTES, ID, NAME, TARGET, parse_ids

if TYPE_CHECKING:
    from neuron_ctrldep.hlo.module import HloModule
    from neuron_ctrldep.mlir import ir
    from neuron_ctrldep.penguin.model import Operation, Program

_SIDE_EFFECTS = frozenset(
    {"send", "send-done", "recv", "recv-done", "infeed", "outfeed", "rng", "rng-get-and-update-state"}
)
"""HLO opcodes that act on something outside the program even when nothing reads their result."""


Instruction: TypeAlias = Any
"""An ``HloInstructionProto``."""


# --- sources ----------------------------------------------------------------------------------------------------------


def of_hlo(module: HloModule) -> dict[str, SourceBlock]:
    """The computations of an HLO module, with their control edges; repeated predecessors count once.

    A wire op in the source, or the barrier that stands for one, holds edges that may be written nowhere else: from its
    predecessors to its own name, which stands for what reads it.
    """
    proto = module.proto
    by_id = {computation.id: computation for computation in proto.computations}
    blocks: dict[str, SourceBlock] = {}
    for computation in proto.computations:
        names = {instruction.id: instruction.name for instruction in computation.instructions}
        shapes = {instruction.id: instruction.shape for instruction in computation.instructions}
        instructions = {
            one.name: SourceInstruction(
                one.name,
                "add-dependency" if _orders_data(one) else one.opcode,
                [names[operand] for operand in one.operand_ids],
                one.custom_call_has_side_effect or one.opcode in _SIDE_EFFECTS,
                one.tuple_index,
                one.parameter_number,
                [by_id[called].name for called in one.called_computation_ids],
                _value(one, shapes),
                one.comparison_direction,
            )
            for one in computation.instructions
        }
        edges = [
            (names[predecessor], one.name)
            for one in computation.instructions
            for predecessor in dict.fromkeys(one.control_predecessor_ids)
        ]
        edges += _held_edges(computation.instructions, edges)
        edges += _marked_edges(computation.instructions, edges)
        blocks[computation.name] = SourceBlock(
            computation.name,
            instructions,
            names.get(computation.root_id),
            edges,
            is_entry=computation.id == proto.entry_computation_id,
        )
    _add_callers(blocks)
    return blocks


def _add_callers(blocks: dict[str, SourceBlock]) -> None:
    for block in blocks.values():
        for instruction in block.instructions.values():
            for called in dict.fromkeys(instruction.calls):
                blocks[called].callers.append((block.name, instruction.name))


def _value(instruction: Instruction, shapes: dict[int, Any]) -> int | None:
    """The one integer or truth value that a constant, or the size of a static dimension, holds, however often."""
    if instruction.opcode == "get-dimension-size":
        (dimension,), shape = instruction.dimensions, shapes[instruction.operand_ids[0]]
        return None if any(shape.is_dynamic_dimension) else shape.dimensions[dimension]
    if instruction.opcode == "constant":
        literal = instruction.literal
        for values in (literal.preds, literal.s32s, literal.s64s, literal.u32s, literal.u64s):
            if values:
                # An array of another type than these, or of none, has no values here.
                return values[0] if all(value == values[0] for value in values) else None
    return None


def _orders_data(instruction: Instruction) -> bool:
    """Whether it is packaging that forwards data, ordered after other operands."""
    if instruction.opcode == "custom-call":
        return instruction.custom_call_target == TARGET
    return instruction.opcode == "opt-barrier" and BARRIER in instruction.frontend_attributes.map


def _held_edges(instructions: Iterable[Instruction], written: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges that wire ops and marked barriers hold, without those that are written as control edges too."""
    by_id = {instruction.id: instruction for instruction in instructions}
    readers: dict[int, list[Instruction]] = {}
    for instruction in by_id.values():
        for operand in dict.fromkeys(instruction.operand_ids):
            readers.setdefault(operand, []).append(instruction)
    known = set(written)
    edges: list[tuple[str, str]] = []
    for instruction in by_id.values():
        if not _orders_data(instruction):
            continue
        held, ends = list(instruction.operand_ids), [instruction]
        if instruction.opcode == "opt-barrier":
            packed = by_id[held[0]] if held else None
            held = list(packed.operand_ids) if packed is not None and packed.opcode == "tuple" else []
            ends = [one for one in readers.get(instruction.id, ()) if one.tuple_index == len(held) - 1]
        for end in ends:
            waiting = readers.get(end.id, ())
            for predecessor in dict.fromkeys(by_id[one].name for one in held[:-1]):
                is_written = bool(waiting) and all((predecessor, one.name) in known for one in waiting)
                if not is_written and (predecessor, end.name) not in known:
                    edges.append((predecessor, end.name))
    return edges


def _marked_edges(instructions: Iterable[Instruction], known: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges that frontend attributes hold, without those that are known."""
    sources: dict[str, list[str]] = {}
    targets: list[tuple[str, str]] = []
    starts: dict[int, list[str]] = {}
    marked: list[tuple[Instruction, Any]] = []
    for one in instructions:
        if one.opcode.endswith("-done") and one.operand_ids:
            starts.setdefault(one.operand_ids[0], []).append(one.name)
        if one.HasField("frontend_attributes"):
            marked.append((one, one.frontend_attributes.map))
    for one, attributes in marked:
        done = starts.get(one.id, [one.name])
        for owners, id_key, after_key in (([one.name], ID, AFTER), (done, DONE_ID, DONE_AFTER)):
            if id_key in attributes:
                sources.setdefault(attributes[id_key], []).extend(owners)
            if after_key in attributes:
                targets += [(mark, name) for mark in parse_ids(attributes[after_key]) for name in owners]
    written = set(known)
    edges = dict.fromkeys((source, name) for mark, name in targets for source in sources.get(mark, ()))
    return [edge for edge in edges if edge[0] != edge[1] and edge not in written]


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
    _add_callers(found)
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


# --- emitted programs -------------------------------------------------------------------------------------------------


def of_program(program: Program) -> list[EmittedFunction]:
    """The functions of an emitted program, each with its data and dependency edges.

    A value that a region captures is read, in the function that defines it, by the operation which owns the region.
    Constants have no name: canonicalize moves and merges them, and they are there before anything runs.
    """
    emitted = {function.name: EmittedFunction() for function in program.functions}
    owners = _owners(program)
    defined: dict[str, tuple[str, int]] = {}
    for function, operation in program.operations():
        node = operation.location.hlo_id
        if operation.is_generic and operation.function in TUPLE_OPS:
            # The importer makes some of its own, named as what it takes apart or packs.
            emitted[function.name].packaging.add(operation.location.name)
        elif not operation.function.endswith(".constant"):
            names = emitted[function.name].nodes.setdefault(operation.location.name, [])
            if node not in names:
                names.append(node)
        for name in operation.names:
            defined[name] = (function.name, node)
    for function_name, around in owners.items():
        emitted[function_name].owners = [emitted[owner] for owner, _ in around]
    for function, operation in program.operations():
        for operand in operation.operands:
            if operand in defined:
                home, source = defined[operand]
                for reader in _readers_in(home, function.name, operation.location.hlo_id, owners):
                    if reader != source:  # one instruction may be several statements
                        emitted[home].successors.setdefault(source, set()).add(reader)
    for function in program.functions:
        for edge in function.dep_edges:
            (home, source), (_, target) = defined[edge.src], defined[edge.dst]
            emitted[home].successors.setdefault(source, set()).add(target)
            emitted[home].explicit.add((source, target))
    return list(emitted.values())


def _owners(program: Program) -> dict[str, list[tuple[str, int]]]:
    """For each function the operations that run it, as (function, node): owners of the region, or callers."""
    callees = {
        attribute.removeprefix("callee="): function.name
        for function in program.functions
        for attribute in function.attributes
        if attribute.startswith("callee=")
    }
    owners: dict[str, list[tuple[str, int]]] = {}
    for function, operation in program.operations():
        runs = [region.name for region in operation.regions] + [callees[c] for c in _called(operation, callees)]
        for name in runs:
            owners.setdefault(name, []).append((function.name, operation.location.hlo_id))
    return owners


def _called(operation: Operation, callees: dict[str, str]) -> list[str]:
    symbols = [text.removeprefix("@").strip('"') for text in operation.attributes.values() if text.startswith("@")]
    return [symbol for symbol in symbols if symbol in callees]


def _readers_in(home: str, function: str, node: int, owners: dict[str, list[tuple[str, int]]]) -> list[int]:
    """``node`` of ``function``, or the operations in ``home`` whose regions it lies in."""
    if function == home:
        return [node]
    found = []
    seen: set[tuple[str, int]] = set()
    stack = list(owners.get(function, ()))
    while stack:
        owner = stack.pop()
        if owner in seen:
            continue
        seen.add(owner)
        if owner[0] == home:
            found.append(owner[1])
        else:
            stack += owners.get(owner[0], ())
    return found
