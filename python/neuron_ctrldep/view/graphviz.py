"""Graphviz as a source of positions, where its ``dot`` is installed. It sees sizes and numbers, never a name."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

from neuron_ctrldep.view.graph import Graph
from neuron_ctrldep.view.layered import Point
from neuron_ctrldep.view.layout import NODE_HEIGHT, Box, Layout, node_width

SMALL = 300
"""Nodes that ``dot`` places in about a second; beyond, its time grows steeply."""
_TIMEOUT = 60.0
_POINTS = 72.0


def lay_out_with_graphviz(graph: Graph, *, only_small: bool) -> Layout | None:
    """What ``dot`` makes of ``graph``; ``None`` where it is not installed, fails, or ``only_small`` rules it out."""
    command = shutil.which("dot")
    if command is None or not graph.nodes or (only_small and len(graph.nodes) + len(graph.edges) // 2 > SMALL):
        return None
    try:
        run = subprocess.run(
            [command, "-Tjson"], input=_dot(graph).encode(), capture_output=True, timeout=_TIMEOUT, check=True
        )
        return _read(graph, json.loads(run.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError):
        # The built-in layout can always stand in; a picture is never lost to a foreign program.
        return None


def _dot(graph: Graph) -> str:
    lines = ["digraph {", "graph [ranksep=0.6 nodesep=0.3]", 'node [shape=box fixedsize=true label=""]']
    members = graph.members()
    for cluster, opens, _ in graph.nesting():
        if not opens:
            lines.append("}")
            continue
        # The label of a blank keeps room for the title.
        lines.append(f'subgraph cluster_{cluster} {{ graph [margin=14 label=" " fontsize=14 labelloc=t]')
        for node in members[cluster]:
            width, height = node_width(graph.nodes[node]) / _POINTS, NODE_HEIGHT / _POINTS
            lines.append(f"n{node} [width={width:.4f} height={height:.4f}]")
    lines += [f"n{edge.src} -> n{edge.dst}" for edge in graph.edges]
    # A region stands below the op that owns it.
    for cluster, box in enumerate(graph.clusters):
        if box.owner is not None and members[cluster]:
            lines.append(f"n{box.owner} -> n{members[cluster][0]} [style=invis weight=2]")
    return "\n".join([*lines, "}"])


def _read(graph: Graph, answer: dict[str, Any]) -> Layout:
    _, _, width, height = (float(part) for part in answer["bb"].split(","))
    nodes: list[Box] = [Box(0, 0, 0, 0)] * len(graph.nodes)
    clusters: list[Box] = [Box(0, 0, 0, 0)] * len(graph.clusters)
    for thing in answer["objects"]:
        kind, _, number = thing["name"].partition("_") if thing["name"].startswith("cluster_") else ("n", "", "")
        if kind == "cluster":
            left, low, right, high = (float(part) for part in thing["bb"].split(","))
            clusters[int(number)] = Box(left, height - high, right - left, high - low)
        else:
            x, y = (float(part) for part in thing["pos"].split(","))
            w, h = float(thing["width"]) * _POINTS, float(thing["height"]) * _POINTS
            nodes[int(thing["name"][1:])] = Box(x - w / 2, height - y - h / 2, w, h)
    # dot keeps the order in which it read edges; the invisible ones come last.
    splines = sorted(answer.get("edges", []), key=lambda edge: int(edge["_gvid"]))[: len(graph.edges)]
    routes = [_spline(edge["pos"], height) for edge in splines]
    if len(routes) != len(graph.edges):
        raise ValueError("edges are missing")
    return Layout(width, height, nodes, clusters, routes)


def _spline(text: str, height: float) -> list[Point]:
    """The control points of a ``pos`` spline, drawn on to the tip of the arrow."""
    tip: Point | None = None
    points: list[Point] = []
    for part in text.split():
        if part.startswith(("e,", "s,")):
            x, y = part[2:].split(",")
            tip = (float(x), height - float(y)) if part.startswith("e,") else tip
        else:
            x, y = part.split(",")
            points.append((float(x), height - float(y)))
    return points if tip is None else [*points, points[-1], tip, tip]
