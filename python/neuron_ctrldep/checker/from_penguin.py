"""The functions of an emitted program in the judge's terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_ctrldep.checker.program import EmittedFunction
from neuron_ctrldep.checker.source import Worklist
from neuron_ctrldep.control_dep.structure import TUPLE_OPS

if TYPE_CHECKING:
    from neuron_ctrldep.penguin.model import Operation, Program


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
    work = Worklist(*owners.get(function, ()))
    for owner in work:
        if owner[0] == home:
            found.append(owner[1])
        else:
            work.add(*owners.get(owner[0], ()))
    return found
