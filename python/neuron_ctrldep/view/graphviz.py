"""Graphviz as a source of positions, where its ``dot`` is installed. It sees sizes and numbers, never a name."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from neuron_ctrldep.view.layered import Placed, Point

_TIMEOUT = 30.0
_INCH = 72.0


def find_dot() -> str | None:
    """The ``dot`` command, if there is one."""
    return shutil.which("dot")


def place_with_dot(command: str, sizes: Sequence[Point], edges: Sequence[tuple[int, int]]) -> Placed | None:
    """As :func:`~neuron_ctrldep.view.layered.place`, by ``dot``; ``None`` where it fails.

    The built-in method can always stand in: a picture is never lost to a foreign program.
    """
    lines = ["digraph {", "graph [ranksep=0.55 nodesep=0.25]", 'node [shape=box fixedsize=true label=""]']
    for item, (width, height) in enumerate(sizes):
        lines.append(f"{item} [width={width / _INCH:.4f} height={height / _INCH:.4f}]")
    lines += [f"{src} -> {dst} [id={number}]" for number, (src, dst) in enumerate(edges)]
    try:
        run = subprocess.run(
            [command, "-Tjson"],
            input="\n".join([*lines, "}"]).encode(),
            capture_output=True,
            timeout=_TIMEOUT,
            check=True,
        )
        return _read(sizes, len(edges), json.loads(run.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError):
        return None


def _read(sizes: Sequence[Point], edge_count: int, answer: dict[str, Any]) -> Placed:
    _, _, width, height = (float(part) for part in answer["bb"].split(","))
    corners: list[Point] = [(0.0, 0.0)] * len(sizes)
    for thing in answer["objects"]:
        item = int(thing["name"])
        x, y = (float(part) for part in thing["pos"].split(","))
        corners[item] = (x - sizes[item][0] / 2, height - y - sizes[item][1] / 2)
    curves: list[list[Point]] = [[] for _ in range(edge_count)]
    for edge in answer.get("edges", []):
        curves[int(edge["id"])] = _spline(edge["pos"], height)
    if not all(curves):
        raise ValueError("edges are missing")
    return Placed(corners, [[] for _ in curves], width, height, curves)


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
