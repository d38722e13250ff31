"""A graph as Graphviz DOT text."""

from __future__ import annotations

from neuron_ctrldep.view.graph import COLOURS, Graph
from neuron_ctrldep.view.layout import label_lines

_SHAPES = {"op": "box", "constant": "box", "argument": "ellipse", "end": "box"}
_STYLES = {"data": "solid", "ordered": "dashed", "flow": "bold", "anti": "dotted", "output": "dashed,bold"}


def to_dot(graph: Graph) -> str:
    """DOT text: a node for each instruction, a subgraph for each function and region, an edge for each edge.

    Dependency edges carry their kind as label, colour and style; nodes their full name and text as tooltip.
    """
    lines = [
        f"digraph {quoted(graph.title)} {{",
        '  graph [rankdir=TB fontname="Helvetica" compound=true]',
        '  node [shape=box fontname="monospace" fontsize=10]',
        '  edge [fontname="Helvetica" fontsize=9]',
    ]
    lines += _nested(graph)
    for edge in graph.edges:
        attributes = [f'color="{COLOURS[edge.label]}"', f'style="{_STYLES[edge.label]}"']
        if edge.label != "data":
            attributes += [f'label="{edge.label.upper()}"', f'fontcolor="{COLOURS[edge.label]}"', "constraint=true"]
        lines.append(f"  n{edge.src} -> n{edge.dst} [{' '.join(attributes)}]")
    return "\n".join([*lines, "}", ""])


def _nested(graph: Graph) -> list[str]:
    members = graph.members()
    lines: list[str] = []
    for cluster, opens, depth in graph.nesting():
        indent = "  " * (depth + 1)
        if not opens:
            lines.append(f"{indent}}}")
            continue
        lines.append(f"{indent}subgraph cluster_{cluster} {{")
        lines.append(f'{indent}  label={quoted(graph.clusters[cluster].title)} color="#8a94a6" style="rounded"')
        for index in members[cluster]:
            node = graph.nodes[index]
            tooltip = "\n".join(part for part in (node.name, node.text, node.location) if part)
            lines.append(
                f"{indent}  n{index} [label={quoted(*label_lines(node))} shape={_SHAPES[node.role]} "
                f"tooltip={quoted(tooltip)}]"
            )
    return lines


def quoted(*lines: str) -> str:
    r"""A DOT string of one or more lines. Nothing in it is an escape of Graphviz's (``\N``, ``\G``) or markup."""
    return '"' + "\\n".join(_escaped(line) for line in lines) + '"'


def _escaped(text: str) -> str:
    # DOT knows two escapes that matter here, \" and \\; a newline is written as \n, and other control characters
    # have no spelling. A lone surrogate cannot be written as UTF-8.
    out = []
    for c in text:
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c.isprintable():
            out.append(c)
        else:
            out.append(" ")
    return "".join(out)
