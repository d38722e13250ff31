"""DOT, SVG and HTML as texts: well-formed, safe with any names, the same each time."""

import base64
import hashlib
import html.parser
import json
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_ctrldep import mlir
from neuron_ctrldep.view import Graph, Node, graph_of, to_dot, to_html, to_svg
from neuron_ctrldep.view.graphviz import find_dot

from .programs import HOSTILE, LOOP, hostile

SVG = "{http://www.w3.org/2000/svg}"


def graph_with(name: str) -> Graph:
    graph = Graph(name)
    cluster = graph.add_cluster(name)
    first = graph.add_node(Node(name, name, cluster, "op", name, name, name))
    second = graph.add_node(Node(name, name, cluster, "constant", name, name))
    graph.add_edge(first, second, "flow")
    graph.notes.append(name)
    return graph


def page_data(page: str) -> dict:
    """What the page's script will read, found as a browser finds it."""

    class Parser(html.parser.HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.scripts: list[tuple[dict, str]] = []
            self.tags: list[str] = []

        def handle_starttag(self, tag, attrs):
            self.tags.append(tag)
            if tag == "script":
                self.scripts.append((dict(attrs), ""))

        def handle_data(self, data):
            if self.scripts and self.tags[-1] == "script":
                self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)

    parser = Parser()
    parser.feed(page)
    parser.close()
    assert len(parser.scripts) == 2, "a name opened a script element"
    assert "img" not in parser.tags
    return json.loads(next(text for attributes, text in parser.scripts if attributes.get("type") == "application/json"))


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40) | st.sampled_from(HOSTILE))
def test_any_name_is_safe_everywhere(name):
    graph = graph_with(name)
    root = ET.fromstring(to_svg(graph, layout="builtin"))
    assert {element.tag for element in root.iter()} <= {
        SVG + tag for tag in ("svg", "title", "style", "defs", "marker", "path", "rect", "text", "g")
    }
    page = to_html(graph, layout="builtin")
    data = page_data(page)
    assert data["graphs"][0]["nodes"][0][0] == name
    assert data["graphs"][0]["notes"] == [name]
    page.encode()
    dot = to_dot(graph)
    dot.encode()
    # One statement a line: no name can begin another.
    assert dot.count("\n") == to_dot(graph_with("plain")).count("\n")


def test_lone_surrogates_can_be_written():
    graph = graph_with("broken \ud800 name")
    for text in (to_dot(graph), to_svg(graph, layout="builtin"), to_html(graph, layout="builtin")):
        text.encode()


@pytest.mark.skipif(find_dot() is None, reason="no dot")
@pytest.mark.parametrize("program", [LOOP, hostile()])
def test_graphviz_reads_the_dot_text(program):
    graph = graph_of(mlir.parse_module(program))
    run = subprocess.run([find_dot(), "-Tjson0"], input=to_dot(graph).encode(), capture_output=True, check=True)
    assert run.stderr == b""
    answer = json.loads(run.stdout)
    nodes = [thing for thing in answer["objects"] if "nodes" not in thing and not thing["name"].startswith("cluster")]
    assert len(nodes) == len(graph.nodes)
    assert len(answer["edges"]) == len(graph.edges)
    assert {edge.get("label") or "" for edge in answer["edges"]} == {"", "ORDERED"}


def test_dot_of_a_small_graph():
    graph = Graph("small")
    cluster = graph.add_cluster("@main")
    a = graph.add_node(Node("a", "sine", cluster))
    b = graph.add_node(Node("b", "add", cluster, text="%1 = add"))
    graph.add_edge(a, b)
    graph.add_edge(a, b, "anti")
    assert to_dot(graph).split("\n")[4:] == [
        "  subgraph cluster_0 {",
        '    label="@main" color="#8a94a6" style="rounded"',
        '    n0 [label="sine\\na" shape=box tooltip="a"]',
        '    n1 [label="add\\nb" shape=box tooltip="b\\n%1 = add"]',
        "  }",
        '  n0 -> n1 [color="#8a94a6" style="solid"]',
        '  n0 -> n1 [color="#bf5af2" style="dotted" label="ANTI" fontcolor="#bf5af2" constraint=true]',
        "}",
        "",
    ]


def test_svg_shows_every_node_and_edge():
    graph = graph_of(mlir.parse_module(LOOP))
    root = ET.fromstring(to_svg(graph, layout="builtin"))
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert len(titles) == 1 + len(graph.nodes)
    dashed = [path for path in root.iter(f"{SVG}path") if path.get("stroke-dasharray") == "7 4"]
    assert len(dashed) == 3 + 1  # three ordered edges and the legend


def test_the_page_lets_only_its_own_script_run():
    page = to_html(graph_of(mlir.parse_module(LOOP)), layout="builtin")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    script = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r'(?:src|href)\s*=\s*"', page), "the page must not refer to anything outside"
    assert set(re.findall(r"https?://[^\s\"']*", page)) == {"http://www.w3.org/2000/svg"}  # a namespace, not an address


def test_before_after_and_account_are_in_the_page():
    graph = graph_of(mlir.parse_module(LOOP))
    account = {"summary": {"kept": 1, "lost": 0}, "edges": [{"src": "a", "dst": "b", "class": "kept", "reason": None}]}
    page = to_html(graph, before=graph_with("source"), account=account, title="A & B", layout="builtin")
    data = page_data(page)
    assert [one["label"] for one in data["graphs"]] == ["Before", "After"]
    assert data["account"] == {
        "summary": {"kept": 1, "lost": 0},
        "rows": [{"src": "a", "dst": "b", "class": "kept", "reason": ""}],
    }
    assert "<title>A &#38; B</title>" in page


def test_texts_are_the_same_each_time():
    for write in (to_dot, lambda g: to_svg(g, layout="builtin"), lambda g: to_html(g, layout="builtin")):
        assert write(graph_of(mlir.parse_module(LOOP))) == write(graph_of(mlir.parse_module(LOOP)))
