"""From whatever a user holds to a picture of it, before and after the chain: what ``neuron-ctrldep view`` does."""

from __future__ import annotations

from typing import Any, Literal

from neuron_ctrldep.chain import Options, check, lower
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.loading import load
from neuron_ctrldep.view.dot import to_dot
from neuron_ctrldep.view.from_hlo import graph_of_hlo
from neuron_ctrldep.view.from_mlir import graph_of, is_task_program
from neuron_ctrldep.view.html import to_html
from neuron_ctrldep.view.layout import Engine
from neuron_ctrldep.view.svg import to_svg

Kind = Literal["html", "svg", "dot"]


def picture(
    source: Any, kind: Kind, *, options: Options | None = None, layout: Engine = "auto", file: str | None = None
) -> str:
    """A picture of the dependencies of ``source``.

    HTML shows the source before the chain, what became of it, and the account of every edge; SVG and DOT show what
    became of it. A task program is shown as it is.

    Args:
        source: as for :func:`neuron_ctrldep.chain.lower`.
        kind: what to write.
        options: of the chain.
        layout: who places the graph; ``builtin`` gives the same bytes on every machine.
        file: what messages call the source.
    """
    loaded = load(source, file=file)
    if not isinstance(loaded, HloModule) and is_task_program(loaded):
        after = graph_of(loaded)
        return to_html(after, layout=layout) if kind == "html" else _flat(after, kind, layout)
    before = graph_of_hlo(loaded) if isinstance(loaded, HloModule) else graph_of(loaded)
    account = check(loaded, options=options, file=file).as_json() if kind == "html" else None
    lowered = lower(loaded, options=options, file=file).module
    assert lowered is not None
    after = graph_of(lowered)
    if kind == "html":
        return to_html(after, before=before, account=account, layout=layout)
    return _flat(after, kind, layout)


def _flat(graph: Any, kind: Kind, layout: Engine) -> str:
    return to_dot(graph) if kind == "dot" else to_svg(graph, layout=layout)
