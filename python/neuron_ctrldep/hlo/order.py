"""A topological order of one computation, control edges included."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any


def topological_order(instructions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Order instructions so that operands and control predecessors come first, else as they were.

    Args:
        instructions: all ``HloInstructionProto`` of one computation; every id they name is among them.

    Returns:
        The order and an empty list; or what could be ordered and the instructions of one cycle, each before the next.
    """
    place = {instruction.id: number for number, instruction in enumerate(instructions)}
    before = [
        {place[one] for one in (*instruction.operand_ids, *instruction.control_predecessor_ids)}
        for instruction in instructions
    ]
    after: list[list[int]] = [[] for _ in instructions]
    for number, sources in enumerate(before):
        for source in sources:
            after[source].append(number)
    missing = [len(sources) for sources in before]
    # The smallest place that is ready comes next: an order that was topological stays exactly as it was.
    ready = [number for number, count in enumerate(missing) if count == 0]
    order: list[int] = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for user in after[number]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    ordered = [instructions[number] for number in order]
    return ordered, [instructions[number] for number in _cycle(before, set(range(len(instructions))) - set(order))]


def sort_topologically(instructions: Any) -> None:
    """Bring the ``instructions`` field of an acyclic computation into the order of :func:`topological_order`."""
    rank = {one.id: number for number, one in enumerate(topological_order(list(instructions))[0])}
    instructions.sort(key=lambda instruction: rank[instruction.id])


def sort_where_needed(module: Any) -> None:
    """Sort the computations of a valid ``HloModuleProto`` in which a control predecessor stands after its successor."""
    for computation in module.computations:
        seen: set[int] = set()
        for instruction in computation.instructions:
            if not seen.issuperset(instruction.control_predecessor_ids):
                sort_topologically(computation.instructions)
                break
            seen.add(instruction.id)


def _cycle(before: list[set[int]], left: set[int]) -> list[int]:
    """One cycle among ``left``, whose members all wait for another member; empty when ``left`` is."""
    if not left:
        return []
    path: dict[int, int] = {}  # number -> its step
    number = min(left)
    while number not in path:
        path[number] = len(path)
        number = min(before[number] & left)
    cycle = list(path)[path[number] :]
    cycle.reverse()  # the walk went from successor to predecessor
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
