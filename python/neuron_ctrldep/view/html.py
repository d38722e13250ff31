"""Graphs as one self-contained page that opens offline: before and after, searchable, drawn on a canvas.

Names of the program are untrusted. They are in the page as JSON only, which cannot end its script element, and the page
shows them as text. A content security policy lets nothing run but the page's own script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neuron_ctrldep.view.graph import COLOURS, DASHES, LABELS, MEANINGS, Graph, Role
from neuron_ctrldep.view.layout import Engine, Layout, boxes, label_lines, lay_out
from neuron_ctrldep.view.svg import escaped

_ROLES: tuple[Role, ...] = ("op", "constant", "argument", "end")
_ASSETS = Path(__file__).parent / "assets"


def to_html(
    graph: Graph,
    *,
    before: Graph | None = None,
    title: str | None = None,
    account: Mapping[str, Any] | None = None,
    layout: Engine = "auto",
) -> str:
    """The page.

    Args:
        graph: what is shown first: the module, or what became of it.
        before: the source it was made from; the page can switch between the two.
        title: of the page; the graph's by default.
        account: what became of each edge of the source, as ``check --json`` says it: ``{"summary": {name: number, …},
            "edges": [{"src", "dst", "class", "reason"}, …]}``.
        layout: who places the graphs; ``builtin`` gives the same bytes on every machine.
    """
    heading = title if title is not None else graph.title
    stages = [("After", graph)] if before is None else [("Before", before), ("After", graph)]
    data = {
        "title": heading,
        "kinds": [
            {"label": label, "meaning": MEANINGS[label], "colour": COLOURS[label], "dash": DASHES[label]}
            for label in LABELS
        ],
        "roles": _ROLES,
        "graphs": [_graph_data(label, stage, lay_out(stage, layout)) for label, stage in stages],
        "account": _account_data(account) if account is not None else None,
    }
    style, script = _asset("page.css"), _asset("page.js")
    parts = {
        "SCRIPT_HASH": _hash(script),
        "STYLE_HASH": _hash(style),
        "TITLE": escaped(heading),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": json_for_script(data),
    }
    # In one go, so that a mark inside a name is never replaced.
    return re.sub(r"@([A-Z_]+)@", lambda mark: parts[mark[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def json_for_script(data: Any) -> str:
    """JSON that is safe inside a ``script`` element: no ``<``, ``>`` or ``&``, ASCII only."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _graph_data(label: str, graph: Graph, placed: Layout) -> dict[str, Any]:
    kinds = {name: number for number, name in enumerate(LABELS)}
    roles = {name: number for number, name in enumerate(_ROLES)}
    nodes = []
    for node, box in zip(graph.nodes, placed.nodes, strict=True):
        operation, detail = label_lines(node)
        place = _numbers(box.x, box.y, box.width, box.height)
        nodes.append([node.name, operation, detail, roles[node.role], *place, node.text, node.location])
    return {
        "label": label,
        "title": graph.title,
        "width": round(placed.width, 1),
        "height": round(placed.height, 1),
        "boxes": [[name, *_numbers(box.x, box.y, box.width, box.height)] for name, box in boxes(graph, placed)],
        "nodes": nodes,
        "edges": [
            [edge.src, edge.dst, kinds[edge.label], _numbers(*(part for point in route for part in point))]
            for edge, route in zip(graph.edges, placed.routes, strict=True)
        ],
        "notes": graph.notes,
    }


def _numbers(*values: float) -> list[float]:
    return [int(value) if value == int(value) else value for value in (round(v, 1) for v in values)]


def _account_data(account: Mapping[str, Any]) -> dict[str, Any]:
    rows: Sequence[Mapping[str, Any]] = account.get("edges", ())
    keys = ("src", "dst", "class", "reason")
    return {
        "summary": {str(key): value for key, value in account.get("summary", {}).items()},
        "rows": [{key: str(row.get(key) or "") for key in keys} for row in rows],
    }
