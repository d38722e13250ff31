"""What the checker compares: the blocks of a source and the functions of an emitted program, in its own terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from neuron_ctrldep.checker import EmittedFunction, SourceBlock, SourceInstruction
from neuron_ctrldep.wire import BARRIER, FRONTEND_ATTRIBUTES, NAME, TARGET

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
        instructions = {
            one.name: SourceInstruction(
                one.name,
                "add-dependency" if _orders_data(one) else one.opcode,
                [names[operand] for operand in one.operand_ids],
                one.custom_call_has_side_effect or one.opcode in _SIDE_EFFECTS,
                one.tuple_index,
            )
            for one in computation.instructions
        }
        edges = [
            (names[predecessor], one.name)
            for one in computation.instructions
            for predecessor in dict.fromkeys(one.control_predecessor_ids)
        ]
        edges += _held_edges(computation.instructions, edges)
        blocks[computation.name] = SourceBlock(
            computation.name,
            instructions,
            names.get(computation.root_id),
            edges,
            is_entry=computation.id == proto.entry_computation_id,
        )
    for computation in proto.computations:
        for instruction in computation.instructions:
            for called in instruction.called_computation_ids:
                blocks[by_id[called].name].callers.append((computation.name, instruction.name))
    return blocks


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
            waiting = [end, *readers.get(end.id, ())]
            for predecessor in dict.fromkeys(by_id[one].name for one in held[:-1]):
                if not any((predecessor, one.name) in known for one in waiting):
                    edges.append((predecessor, end.name))
    return edges


_OPCODES = {
    "tuple": "tuple",
    "get_tuple_element": "get-tuple-element",
    "add_dependency": "add-dependency",
}


def of_mlir(module: ir.Operation) -> dict[str, SourceBlock]:
    """The blocks that main reaches, with the edges that :func:`control_edges` reads from ``module``.

    An end of an edge whose name another op shares gets one of its own as a frontend attribute in ``module``: names are
    all that the checker knows it by.
    """
    from neuron_ctrldep.control_dep import control_edges, reachable_functions
    from neuron_ctrldep.control_dep.structure import key_of
    from neuron_ctrldep.mlir import ir

    functions = reachable_functions(module)
    edges = control_edges(module).edges
    names = _distinct_names(functions, [end for edge in edges for end in (edge.src, edge.dst)])
    blocks: dict[ir.Block, SourceBlock] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "func.func":
            return ir.WalkResult.ADVANCE
        block = blocks.get(op.block)
        if block is None:
            block = blocks[op.block] = SourceBlock(f"block {len(blocks)}", {}, None, [], is_entry=True)
        name = names[key_of(op)]
        block.instructions[name] = _instruction(op, names, block)
        block.root = name  # the last one stays: the terminator reads the results
        return ir.WalkResult.ADVANCE

    for function in functions:
        function.walk(visit, ir.WalkOrder.PRE_ORDER)
    for edge in edges:
        blocks[edge.src.block].edges.append((names[key_of(edge.src)], names[key_of(edge.dst)]))
    return {block.name: block for block in blocks.values()}


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


def _instruction(op: ir.Operation, names: dict[ir.Value | ir.Operation, str], block: SourceBlock) -> SourceInstruction:
    from neuron_ctrldep.control_dep import ControlDep, fault_of, is_constant, is_control_dep
    from neuron_ctrldep.control_dep.structure import defining_op, key_of

    opcode = _OPCODES.get(op.name.rpartition(".")[2], op.name)
    values = list(op.operands)
    if is_control_dep(op) and fault_of(op) is None:
        opcode, values = "tuple", [ControlDep(op).data]  # a wire op is packaging of its data
    elif is_constant(op):
        opcode = "constant"
    operands = []
    for value in values:
        source = defining_op(value)
        if source is not None and (name := names[key_of(source)]) in block.instructions:
            operands.append(name)
        else:
            outside = f"argument {value}"
            block.instructions.setdefault(outside, SourceInstruction(outside, "parameter", []))
            operands.append(outside)
    # MLIR removes an unused op only when it knows that it has no effect; here "live" must not promise less.
    index = op.attributes["index"].value if opcode == "get-tuple-element" else 0
    return SourceInstruction(names[key_of(op)], opcode, operands, has_side_effect=not op.results, index=index)


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
        if not operation.function.endswith(".constant"):
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
