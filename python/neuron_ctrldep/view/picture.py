"""From whatever a user holds to a picture of it, before and after the chain: what ``neuron-ctrldep view`` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from neuron_ctrldep.chain import Lowered, Options, check, lower
from neuron_ctrldep.control_dep import main_function
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.loading import load
from neuron_ctrldep.view.dot import to_dot
from neuron_ctrldep.view.from_hlo import graph_of_hlo
from neuron_ctrldep.view.from_mlir import graph_of, is_task_program
from neuron_ctrldep.view.graph import Graph
from neuron_ctrldep.view.html import to_html
from neuron_ctrldep.view.layout import Engine
from neuron_ctrldep.view.svg import to_svg

Kind = Literal["html", "svg", "dot"]


def picture(
    source: Any,
    kind: Kind,
    *,
    options: Options | None = None,
    layout: Engine = "auto",
    file: str | None = None,
    lowered: Lowered | None = None,
) -> str:
    """A picture of the dependencies of ``source``.

    HTML shows the source before the chain, what became of it, and the account of every edge; SVG and DOT show what
    became of it. A task program is shown as it is.

    Args:
        source: as for :func:`neuron_ctrldep.chain.lower`.
        kind: what to write.
        options: of the chain.
        layout: who places the graph; ``builtin`` gives the same bytes on every machine.
        file: what messages call the source, and the title of the picture where the program has no name.
        lowered: what the chain made of ``source``, where that is known already.

    Raises:
        InputError, PassError: as for :func:`neuron_ctrldep.chain.lower`.
        ValueError: there is no such kind or layout.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, not {kind!r}")
    loaded = load(source, file=file)
    if not isinstance(loaded, HloModule) and is_task_program(loaded):
        after = _named(graph_of(loaded), file)
        return to_html(after, layout=layout) if kind == "html" else _flat(after, kind, layout)
    before = _named(graph_of_hlo(loaded) if isinstance(loaded, HloModule) else graph_of(loaded), file)
    # Without a function there is no program, and no edge to account for.
    has_program = isinstance(loaded, HloModule) or main_function(loaded) is not None
    account = check(loaded, options=options, file=file).as_json() if kind == "html" and has_program else None
    module = (lowered or lower(loaded, options=options, file=file)).module
    assert module is not None
    after = _named(graph_of(module), file)
    if kind == "html":
        return to_html(after, before=before, account=account, layout=layout)
    return _flat(after, kind, layout)


def _named(graph: Graph, file: str | None) -> Graph:
    """``graph`` with the name of the file as its title where the program has none."""
    if file is not None and graph.title in ("", "-"):
        graph.title = Path(file).name or graph.title
    return graph


def _flat(graph: Graph, kind: Kind, layout: Engine) -> str:
    return to_dot(graph) if kind == "dot" else to_svg(graph, layout=layout)
