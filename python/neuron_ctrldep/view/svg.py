"""A graph as one SVG picture, without scripts or fonts from elsewhere."""

from __future__ import annotations

from neuron_ctrldep.view.graph import COLOURS, DASHES, LABELS, MEANINGS, EdgeLabel, Graph
from neuron_ctrldep.view.layered import Point
from neuron_ctrldep.view.layout import Box, Engine, boxes, label_lines, lay_out

MARGIN = 16.0
LEGEND = 30.0

_STYLE = """\
.c{fill:#f6f8fa;stroke:#c9d1d9}
.f{fill:#fff;stroke:#8a94a6}
.t{font:600 11px Helvetica,Arial,sans-serif;fill:#57606a}
.n rect{fill:#fff;stroke:#8a94a6}
.n .o{font:600 11.5px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;text-anchor:middle}
.n .m{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#57606a;text-anchor:middle}
.constant rect{fill:#f3f0ff;stroke:#b3a4e8}
.argument rect{fill:#e8f5e9;stroke:#7cb98a}
.end rect{fill:#eef1f4;stroke:#8a94a6}
.e{fill:none;stroke-width:1.2}
.d{stroke-width:2}
.l{font:11px Helvetica,Arial,sans-serif;fill:#1f2328}"""


def to_svg(graph: Graph, *, layout: Engine = "auto") -> str:
    """An SVG document.

    Args:
        graph: what to draw.
        layout: who places it; ``builtin`` gives the same bytes on every machine.
    """
    placed = lay_out(graph, layout)
    present = [label for label in LABELS if label == "data" or any(e.label == label for e in graph.edges)]
    legend_width = sum(60 + len(MEANINGS[label]) * 6.2 for label in present)
    width = max(placed.width, legend_width) + 2 * MARGIN
    height = placed.height + 2 * MARGIN + LEGEND
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" height="{_n(height)}" role="img">',
        f"<title>{escaped(graph.title)}</title>",
        f"<style>{_STYLE}</style>",
        "<defs>",
        *(_marker(label) for label in present),
        "</defs>",
        f'<rect width="{_n(width)}" height="{_n(height)}" fill="#fff"/>',
        *_legend(present),
        f'<g transform="translate({_n(MARGIN)} {_n(MARGIN + LEGEND)})">',
    ]
    for title, box in boxes(graph, placed):
        lines.append(f'<rect class="{"f" if title is None else "c"}" {_rect(box)} rx="8"/>')
        if title is not None:
            lines.append(f'<text class="t" x="{_n(box.x + 10)}" y="{_n(box.y + 17)}">{escaped(title)}</text>')
    # Data edges first, so that dependencies are drawn over them.
    order = sorted(range(len(graph.edges)), key=lambda i: (graph.edges[i].label != "data", i))
    for index in order:
        edge = graph.edges[index]
        dash = f' stroke-dasharray="{" ".join(map(str, DASHES[edge.label]))}"' if DASHES[edge.label] else ""
        kind = "e" if edge.label == "data" else "e d"
        lines.append(
            f'<path class="{kind}" stroke="{COLOURS[edge.label]}"{dash} marker-end="url(#a-{edge.label})" '
            f'd="{path(placed.routes[index])}"/>'
        )
    for node, box in zip(graph.nodes, placed.nodes, strict=True):
        operation, name = label_lines(node)
        middle = _n(box.x + box.width / 2)
        tooltip = "\n".join(part for part in (node.name, node.text, node.location) if part)
        lines += [
            f'<g class="n {node.role}"><title>{escaped(tooltip)}</title><rect {_rect(box)} rx="6"/>'
            f'<text class="o" x="{middle}" y="{_n(box.y + 17)}">{escaped(operation)}</text>'
            f'<text class="m" x="{middle}" y="{_n(box.y + 32)}">{escaped(name)}</text></g>'
        ]
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _marker(label: EdgeLabel) -> str:
    return (
        f'<marker id="a-{label}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="{COLOURS[label]}"/></marker>'
    )


def _legend(labels: list[EdgeLabel]) -> list[str]:
    lines = []
    x = MARGIN
    for label in labels:
        dash = f' stroke-dasharray="{" ".join(map(str, DASHES[label]))}"' if DASHES[label] else ""
        kind = "e" if label == "data" else "e d"
        lines.append(
            f'<path class="{kind}" stroke="{COLOURS[label]}"{dash} marker-end="url(#a-{label})" d="M{_n(x)} 18h34"/>'
            f'<text class="l" x="{_n(x + 40)}" y="22">{escaped(MEANINGS[label])}</text>'
        )
        x += 60 + len(MEANINGS[label]) * 6.2
    return lines


def path(points: list[Point]) -> str:
    """SVG path data of a Bézier curve's control points."""
    text = f"M{_n(points[0][0])} {_n(points[0][1])}"
    for at in range(1, len(points), 3):
        text += "C" + " ".join(f"{_n(x)} {_n(y)}" for x, y in points[at : at + 3])
    return text


def _rect(box: Box) -> str:
    return f'x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}"'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0").replace("-0.0", "0")


_NO_XML = ((0, 8), (11, 31), (0x7F, 0x9F), (0xD800, 0xDFFF), (0xFFFE, 0xFFFF))
"""Code points that no XML document can hold: control characters, lone surrogates, and two more."""


def escaped(text: str) -> str:
    """``text`` as XML character data or attribute value; what XML cannot hold is replaced."""
    out = []
    for c in text:
        code = ord(c)
        if c in "&<>\"'":
            out.append(f"&#{code};")
        elif any(low <= code <= high for low, high in _NO_XML):
            out.append("\N{REPLACEMENT CHARACTER}")
        else:
            out.append(c)
    return "".join(out)
