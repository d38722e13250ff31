"""Pictures of dependencies: DOT, SVG, and one self-contained HTML page.

Build a graph with ``graph_of`` (MLIR), ``graph_of_hlo`` or ``graph_of_penguin``, then call ``to_dot``, ``to_svg`` or
``to_html`` on it. :func:`neuron_ctrldep.view.picture.picture` does all of it, before and after the chain.
"""

from neuron_ctrldep.view.dot import to_dot
from neuron_ctrldep.view.from_hlo import graph_of_hlo
from neuron_ctrldep.view.from_mlir import graph_of
from neuron_ctrldep.view.from_penguin import graph_of_penguin
from neuron_ctrldep.view.graph import Cluster, Edge, Graph, Node
from neuron_ctrldep.view.html import to_html
from neuron_ctrldep.view.svg import to_svg

__all__ = [
    "Cluster",
    "Edge",
    "Graph",
    "Node",
    "graph_of",
    "graph_of_hlo",
    "graph_of_penguin",
    "to_dot",
    "to_html",
    "to_svg",
]
