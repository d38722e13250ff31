"""The graph of an MLIR module: what :func:`~neuron_ctrldep.control_dep.read_edges` and def-use chains say."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from neuron_ctrldep.control_dep import (
    instruction_name,
    is_constant,
    is_transparent,
    reachable_functions,
    read_edges,
)
from neuron_ctrldep.control_dep.structure import is_terminator, trace
from neuron_ctrldep.mlir import entry, ir, location_names, module_name, source_location, text_of
from neuron_ctrldep.view.graph import Graph, Node, Role, clipped, label_of

_ELIDE_FROM = 64
"""Constants with more elements are printed without them."""


def graph_of(module: ir.Operation | ir.Module) -> Graph:
    """The graph of all functions that main reaches; of a task program, of its orchestration functions.

    Transparent ops (wire ops, tuples, tuple elements) are no nodes: data edges go through them, and the dependencies
    they carry are edges. Edges that are written in the module but are none stand in ``notes`` with their reasons.
    """
    operation = entry(module)
    if is_task_program(operation):
        from neuron_ctrldep.view.from_tasks import graph_of_tasks

        return graph_of_tasks(operation)
    builder = Builder(operation)
    functions = reachable_functions(operation)
    for function in functions:
        builder.add_function(function)
    if not functions:
        builder.add_regions(operation, builder.graph.add_cluster("module"))
    found = read_edges(operation)
    for edge in found.edges:
        src, dst = builder.index.get(edge.src), builder.index.get(edge.dst)
        if src is not None and dst is not None:
            builder.graph.add_edge(src, dst, label_of(edge.kind))
    builder.graph.unique_edges()
    builder.graph.notes = [f"{e.src or '?'} → {e.dst or '?'}: {e.reason}" for e in found.uncounted]
    return builder.graph


def is_task_program(module: ir.Operation) -> bool:
    """Whether a function of the module is a kernel or an orchestration function."""
    functions = module.regions[0].blocks[0].operations
    return any("task.kind" in op.operation.attributes for op in functions)


class Builder:
    """Adds the ops of functions to a graph, with their data edges.

    Attributes:
        graph: what has been built.
        index: the node of each op that has one.
    """

    def __init__(self, module: ir.Operation) -> None:
        self.graph = Graph(module_name(module))
        self.index: dict[ir.Operation, int] = {}
        self._values: dict[ir.Value, int] = {}
        # One numbering for all ops: printing each on its own would number its whole function each time.
        self._state = ir.AsmState(module)

    def is_hidden(self, op: ir.Operation) -> bool:
        """Whether ``op`` is no node; data goes through it."""
        return is_transparent(op)

    def is_data(self, value: ir.Value) -> bool:
        """Whether reading ``value`` is reading data."""
        return True

    def name_of(self, op: ir.Operation) -> str:
        """What the picture calls ``op``."""
        return instruction_name(op)

    def kind_of(self, op: ir.Operation) -> str:
        """What ``op`` does."""
        return op.name.partition(".")[2] or op.name

    def add_function(self, function: ir.Operation) -> None:
        """Add a cluster with all the function holds."""
        name = text_of(function.attributes["sym_name"])
        self.add_regions(function, self.graph.add_cluster(f"@{name}"))

    def add_regions(self, owner: ir.Operation, cluster: int) -> None:
        """Add what the regions of ``owner`` hold, however deep, to ``cluster`` and clusters inside it."""
        # A stack of our own: regions may nest deeper than Python calls may.
        stack = [self._ops(region, cluster) for region in reversed(list(owner.regions))]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
                continue
            op, around = entry
            index = self._add_op(op, around)
            inner = [
                self._ops(region, self.graph.add_cluster(_region_title(op, number), around, index))
                for number, region in enumerate(op.regions)
                if len(region.blocks)
            ]
            stack += reversed(inner)

    def _ops(self, region: ir.Region, cluster: int) -> Iterator[tuple[ir.Operation, int]]:
        """The visible ops of a region, each when its turn comes; block arguments are added on the way."""
        for block in region.blocks:
            for argument in block.arguments:
                name, kind = f"arg{argument.arg_number}", str(argument.type)
                node = Node(name, kind, cluster, "argument", f"%{name}: {kind}")
                self._values[argument] = self.graph.add_node(node)
            for op in block.operations:
                if not self.is_hidden(op.operation):
                    yield op.operation, cluster

    def _add_op(self, op: ir.Operation, cluster: int) -> int:
        role: Role = "constant" if is_constant(op) else "end" if is_terminator(op) else "op"
        short = self.kind_of(op)
        name = short if role == "end" else self.name_of(op)
        text = self._text(op, role)
        detail = "".join(text.partition("dense<")[1:]) if role == "constant" else ""
        index = self.graph.add_node(Node(name, short, cluster, role, text, _location(op), detail))
        self.index[op] = index
        for result in op.results:
            self._values[result] = index
        for operand in op.operands:
            for value in trace(operand)[0]:
                if value in self._values and self.is_data(value):
                    self.graph.add_edge(self._values[value], index)
        return index

    def _text(self, op: ir.Operation, role: Role) -> str:
        if role == "constant" and _elements(op.results[0].type) > _ELIDE_FROM:
            asm = op.get_asm(large_elements_limit=_ELIDE_FROM, use_local_scope=True, assume_verified=True)
            return clipped(str(asm))
        stream = io.StringIO()
        op.print(state=self._state, file=stream)
        text = stream.getvalue()
        lines = text.split("\n")
        if len(op.regions) and len(lines) > 12:
            text = "\n".join([*lines[:8], "  …", *lines[-1:]])
        return clipped(text)


_REGION_TITLES = {
    "while": ("condition", "body"),
    "if": ("then", "else"),
    "reduce": ("body",),
    "for": ("body",),
}


def _region_title(op: ir.Operation, number: int) -> str:
    short = op.name.partition(".")[2]
    titles = _REGION_TITLES.get(short, ())
    part = titles[number] if number < len(titles) else f"region {number}"
    return f"{short} {part}"


def _elements(kind: ir.Type) -> int:
    """How many elements a constant's type has, as its text says it; 1 for what is no tensor."""
    match = re.match(r"tensor<((?:\d+x)*)", str(kind))
    count = 1
    for extent in match[1].split("x")[:-1] if match else []:
        count *= int(extent)
    return count


def _location(op: ir.Operation) -> str:
    place = source_location(op.location)
    names = location_names(op.location)
    parts = [str(place)] if place is not None else []
    return " ".join(parts + ([f"({names[0]})"] if names and names[0] else []))
