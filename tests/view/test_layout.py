"""Where things stand: nothing overlaps, edges go down, and it is the same each time."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_ctrldep import mlir
from neuron_ctrldep.view import Graph, Node, graph_of
from neuron_ctrldep.view.graphviz import find_dot
from neuron_ctrldep.view.layered import place
from neuron_ctrldep.view.layout import Box, lay_out

from .programs import LOOP, big


def apart(a: Box, b: Box) -> bool:
    return a.x + a.width <= b.x or b.x + b.width <= a.x or a.bottom <= b.y or b.bottom <= a.y


def inside(inner: Box, outer: Box) -> bool:
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width + 0.01
        and inner.bottom <= outer.bottom + 0.01
    )


items = st.integers(1, 25)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(10, 200), st.floats(10, 80)), min_size=1, max_size=25),
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=60),
)
def test_items_never_overlap_and_edges_of_a_dag_go_down(sizes, pairs):
    edges = [(a, b) for a, b in pairs if a < b < len(sizes)]
    placed = place(sizes, edges)
    boxes = [Box(x, y, w, h) for (x, y), (w, h) in zip(placed.corners, sizes, strict=True)]
    assert all(apart(a, b) for a, b in itertools.combinations(boxes, 2))
    assert all(boxes[src].bottom < boxes[dst].y for src, dst in edges)
    whole = Box(0, 0, placed.width, placed.height)
    assert all(inside(box, whole) for box in boxes)
    assert place(sizes, edges) == placed


def test_cycles_are_placed_too():
    placed = place([(50, 20)] * 3, [(0, 1), (1, 2), (2, 0), (1, 1)])
    assert len({corner[1] for corner in placed.corners}) == 3


def test_nothing_and_loose_items():
    assert place([], []).corners == []
    corners = place([(50, 20)] * 40, []).corners
    assert len(set(corners)) == 40


@pytest.mark.parametrize("engine", ["builtin", "graphviz"])
def test_nested_clusters_hold_what_is_theirs(engine):
    if engine == "graphviz" and find_dot() is None:
        pytest.skip("no dot")
    graph = graph_of(mlir.parse_module(LOOP))
    layout = lay_out(graph, engine)
    for node, box in zip(graph.nodes, layout.nodes, strict=True):
        assert inside(box, layout.clusters[node.cluster])
    for cluster, box in zip(graph.clusters, layout.clusters, strict=True):
        if cluster.parent is not None:
            assert inside(box, layout.clusters[cluster.parent])
            assert inside(box, layout.frames[cluster.owner])
    assert apart(layout.clusters[1], layout.clusters[2])
    for cluster in range(len(graph.clusters)):
        members = [box for node, box in zip(graph.nodes, layout.nodes, strict=True) if node.cluster == cluster]
        assert all(apart(a, b) for a, b in itertools.combinations(members, 2))
    # A curve ends where its target begins.
    for edge, route in zip(graph.edges, layout.routes, strict=True):
        assert len(route) % 3 == 1
        assert route[-1][1] == pytest.approx(layout.nodes[edge.dst].y, abs=2)


def test_auto_without_graphviz_is_the_builtin(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    graph = graph_of(mlir.parse_module(LOOP))
    assert lay_out(graph, "auto") == lay_out(graph, "builtin")
    assert lay_out(graph, "graphviz") == lay_out(graph, "builtin")


def test_a_broken_graphviz_costs_no_picture(monkeypatch, tmp_path):
    fake = tmp_path / "dot"
    fake.write_text("#!/bin/sh\necho '{\"objects\": 3}'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    graph = graph_of(mlir.parse_module(LOOP))
    assert lay_out(graph, "graphviz") == lay_out(graph, "builtin")


def test_five_thousand_operations():
    graph = graph_of(mlir.parse_module(big(5000)))
    layout = lay_out(graph)
    assert len(layout.routes) == len(graph.edges)


def test_one_fan_in_does_not_become_one_line():
    graph = Graph("fan")
    cluster = graph.add_cluster("@main")
    for number in range(2000):
        graph.add_node(Node(f"p{number}", "sine", cluster))
    end = graph.add_node(Node("end", "add", cluster))
    for number in range(2000):
        graph.add_edge(number, end, "ordered")
    layout = lay_out(graph, "builtin")
    assert layout.width < 20 * layout.height
