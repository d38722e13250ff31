"""Find the instruction XLA's importer fails on by importing parts of the module.

Of the entry computation, the shortest list of its first instructions that fails ends with the one at fault. When that
one calls a computation that fails alone, as the entry of a module with what it calls, the search goes on in there. A
send and its done, or a start and its done, stay together: apart they fail anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from neuron_ctrldep.hlo.schema import HloModuleProto

Fails = Callable[[Any], bool]
"""Whether the importer fails on this ``HloModuleProto``."""

MAX_IMPORTS = 64
"""How many parts are tried. A part that ends the process costs a new one, some 0.2 s."""

_ARRAYS = frozenset(range(1, 13)) | frozenset(range(15, 17)) | frozenset(range(18, 34))
"""The element types of arrays (XLA, ``xla_data.proto``, ``PrimitiveType``): not tuples, tokens, opaques or buffers."""


def failing_instruction(proto: Any, fails: Fails) -> tuple[Any, Any] | None:
    """The computation and the instruction that make ``proto`` fail, or ``None`` where no part of it fails alone."""
    computations = {computation.id: computation for computation in proto.computations}
    budget = _Budget(fails)
    entry = proto.entry_computation_id
    try:
        if not budget.fails(_alone(computations, entry)):
            return None
        while True:
            instruction = _failing_prefix(computations, computations[entry], budget)
            called = [c for c in dict.fromkeys(instruction.called_computation_ids) if c in computations]
            inner = next((c for c in called if budget.fails(_alone(computations, c))), None)
            if inner is None:
                return computations[entry], instruction
            entry = inner
    except _BudgetError:
        return None


class _BudgetError(Exception):
    pass


class _Budget:
    def __init__(self, fails: Fails) -> None:
        self._fails = fails
        self._left = MAX_IMPORTS

    def fails(self, proto: Any) -> bool:
        if not self._left:
            raise _BudgetError
        self._left -= 1
        return self._fails(proto)


def _failing_prefix(computations: dict[int, Any], computation: Any, budget: _Budget) -> Any:
    instructions = list(computation.instructions)
    cuts = _cuts(instructions)
    # All instructions fail; the first cut (none of them) is taken not to. Invariant: low does not fail, high does.
    low, high = 0, len(cuts) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if budget.fails(_alone(computations, computation.id, cuts[middle])):
            high = middle
        else:
            low = middle
    return instructions[cuts[low]]


def _cuts(instructions: Sequence[Any]) -> list[int]:
    """The lengths at which the list may be cut: no start in front is waiting for its done behind."""
    last_use: dict[int, int] = {}
    for index, instruction in enumerate(instructions):
        for operand in instruction.operand_ids:
            last_use[operand] = index
    cuts = [0]
    open_until = 0
    for index, instruction in enumerate(instructions):
        if instruction.opcode in ("send", "recv", "async-update") or instruction.opcode.endswith("-start"):
            open_until = max(open_until, last_use.get(instruction.id, index))
        if index >= open_until:
            cuts.append(index + 1)
    if cuts[-1] != len(instructions):
        cuts.append(len(instructions))
    return cuts


def _alone(computations: dict[int, Any], entry: int, length: int | None = None) -> Any:
    """A module of computation ``entry`` and what it calls; with ``length``, of that many of its instructions."""
    part = HloModuleProto(name="part", entry_computation_id=entry, entry_computation_name=computations[entry].name)
    first = type(computations[entry])()
    first.CopyFrom(computations[entry])
    if length is not None:
        _cut(first, length)
    needed = _called(computations, first)
    part.computations.extend(c for c in computations.values() if c.id in needed and c.id != entry)
    part.computations.append(first)
    part.host_program_shape.CopyFrom(first.program_shape)
    return part


def _cut(computation: Any, length: int) -> None:
    """Keep the parameters and the first ``length`` instructions; the root becomes one that a program can return."""
    instructions = [
        instruction
        for index, instruction in enumerate(computation.instructions)
        if index < length or instruction.opcode == "parameter"
    ]
    root = next((i for i in reversed(instructions) if i.id == computation.root_id), None)
    root = root or next((i for i in instructions if i.shape.element_type in _ARRAYS), instructions[-1])
    shape = type(root.shape)()
    shape.CopyFrom(root.shape)
    root_id = root.id
    for instruction in instructions:
        del instruction.control_predecessor_ids[:]  # they may name what was cut
    del computation.instructions[:]
    computation.instructions.extend(instructions)
    computation.root_id = root_id
    computation.program_shape.result.CopyFrom(shape)


def _called(computations: dict[int, Any], first: Any) -> set[int]:
    called: set[int] = set()
    stack = [first]
    while stack:
        for instruction in stack.pop().instructions:
            for callee in instruction.called_computation_ids:
                if callee in computations and callee not in called:
                    called.add(callee)
                    stack.append(computations[callee])
    return called
