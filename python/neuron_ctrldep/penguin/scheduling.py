"""An order in which the operations of a function can run: data and dependency edges hold in it."""

from __future__ import annotations

import random

from neuron_ctrldep.edges import DependencyGraph
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.penguin.model import Function, Operation


def schedule(function: Function, seed: int = 0) -> list[str]:
    """A topological order of the operations of ``function``, by name; which one, ``seed`` decides.

    What a region reads or waits for, the operation that owns it reads or waits for.

    Raises:
        InputError: data and dependency edges form a cycle; the message names it.
    """
    graph = dependency_graph(function)
    waiting = dict.fromkeys(graph.successors, 0)
    for _, dst in graph.edges():
        waiting[dst] += 1
    ready = [name for name, count in waiting.items() if count == 0]
    chance = random.Random(seed)
    order: list[str] = []
    while ready:
        index = chance.randrange(len(ready))
        ready[index], ready[-1] = ready[-1], ready[index]
        name = ready.pop()
        order.append(name)
        for following in graph.successors[name]:
            waiting[following] -= 1
            if waiting[following] == 0:
                ready.append(following)
    if len(order) < len(waiting):
        cycle = _cycle(graph, {name for name, count in waiting.items() if count})
        raise InputError(
            f"the dependencies of {function.name} form a cycle: {' -> '.join(cycle)}; no order can hold them all"
        )
    return order


def dependency_graph(function: Function) -> DependencyGraph:
    """The operations of ``function`` in program order, with its data and dependency edges."""
    producers: dict[str, str] = {}
    owners: dict[str, str] = {}
    for operation in function.operations:
        producers.update(dict.fromkeys(operation.names, operation.name))
        owners[operation.name] = operation.name
    graph = DependencyGraph.of((operation.name for operation in function.operations), ())
    edges = list(function.dep_edges)
    reads: list[tuple[str, str]] = []
    for operation in function.operations:
        reads += [(source, operation.name) for source in operation.operands]
        for inner, statement in _nested(operation):
            if statement is None:
                edges += inner.dep_edges
            else:
                owners.setdefault(statement.name, operation.name)
                reads += [(source, operation.name) for source in statement.operands]
    for source, reader in reads:
        if source in producers and producers[source] != reader:
            graph.add_edge(producers[source], reader)
    for edge in edges:
        src, dst = owners.get(edge.src), owners.get(edge.dst)
        # Both ends inside one region: the order within that region, not within this function.
        if src is not None and dst is not None and (src != dst or edge.src == edge.dst):
            graph.add_edge(src, dst)
    return graph


def _nested(operation: Operation) -> list[tuple[Function, Operation | None]]:
    """The functions inside ``operation``, each once as itself (``None``) and once for each of its operations."""
    found: list[tuple[Function, Operation | None]] = []
    seen: set[str] = set()
    stack = list(operation.regions)
    while stack:
        function = stack.pop()
        if function.name not in seen:
            seen.add(function.name)
            found.append((function, None))
            for statement in function.operations:
                found.append((function, statement))
                stack += statement.regions
    return found


def _cycle(graph: DependencyGraph, left: set[str]) -> list[str]:
    """A cycle among ``left``, the nodes that wait for each other or behind it; its first node is repeated last."""
    predecessors: dict[str, str] = {}
    for src, dst in graph.edges():
        if src in left and dst in left:
            predecessors.setdefault(dst, src)
    # Each node left has a predecessor left: going back must come round.
    path: dict[str, None] = {}
    node = next(name for name in graph.successors if name in predecessors)
    while node not in path:
        path[node] = None
        node = predecessors[node]
    names = list(path)
    cycle = names[names.index(node) :][::-1]
    return [*cycle, cycle[0]]
