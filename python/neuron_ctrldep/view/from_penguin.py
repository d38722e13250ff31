"""The graph of a Penguin program: its operations, its data, and its dependency edges by kind."""

from __future__ import annotations

from collections import deque

from neuron_ctrldep.penguin.model import Function, Operation, Program
from neuron_ctrldep.view.graph import Graph, Node, Role, label_of


def graph_of_penguin(program: Program, title: str = "penguin") -> Graph:
    """The graph of all functions of ``program``, main first; a region is a cluster of the operation that owns it."""
    graph = Graph(title)
    bound: dict[str, int] = {}
    # Regions are printed before the operation that owns them; here they follow it.
    waiting: deque[tuple[Function, int | None, int | None]] = deque(
        (function, None, None) for function in program.functions if not _is_region(function)
    )
    while waiting:
        function, parent, owner = waiting.popleft()
        cluster = graph.add_cluster(_title(function), parent, owner)
        for parameter in function.inputs:
            shape = "x".join(str(size) for size in parameter.tensor.shape)
            kind = f"{parameter.tensor.dtype}[{shape}]"
            bound[parameter.name] = graph.add_node(Node(parameter.name, kind, cluster, "argument", kind))
        for operation in function.operations:
            index = graph.add_node(_node(operation, cluster))
            bound.update(dict.fromkeys(operation.names, index))
            waiting.extend((region, cluster, index) for region in operation.regions)
    for function in program.functions:
        for operation in function.operations:
            for source in operation.operands:
                if source in bound:
                    graph.add_edge(bound[source], bound[operation.name])
        for edge in function.dep_edges:
            graph.add_edge(bound[edge.src], bound[edge.dst], label_of(edge.kind))
    graph.unique_edges()
    return graph


def _is_region(function: Function) -> bool:
    return any(attribute.startswith("region-of=") for attribute in function.attributes)


def _title(function: Function) -> str:
    return " ".join([function.name, *function.attributes])


def _node(operation: Operation, cluster: int) -> Node:
    place = operation.location
    where = f"{place.file}:{place.line}:{place.column}" if place.file else ""
    sources = ", ".join(source if isinstance(source, str) else str(source) for source in operation.srcs)
    text = f"{', '.join(operation.names)} = {operation.function}({sources})"
    role = _ROLES.get(operation.function.rpartition(".")[2], "op") if operation.is_generic else "op"
    return Node(place.name or operation.name, operation.function, cluster, role, text, where)


_ROLES: dict[str, Role] = {"constant": "constant", "return": "end"}
