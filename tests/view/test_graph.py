"""What the graph of a module holds, worked out by hand."""

from neuron_ctrldep import mlir
from neuron_ctrldep.hlo.module import load_hlo
from neuron_ctrldep.penguin.printer import print_penguin
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.view import Graph, graph_of, graph_of_hlo, graph_of_penguin, to_dot, to_html, to_svg
from neuron_ctrldep.view.layout import lay_out

from .programs import HOSTILE, LOOP, hostile


def named_edges(graph: Graph) -> set[tuple[str, str, str]]:
    return {(graph.nodes[e.src].name, graph.nodes[e.dst].name, e.label) for e in graph.edges}


def test_ops_blocks_and_regions():
    graph = graph_of(mlir.parse_module(LOOP))
    assert graph.title == "loop"
    assert [(c.title, c.parent) for c in graph.clusters] == [
        ("@main", None),
        ("while condition", 0),
        ("while body", 0),
        ("@helper", None),
    ]
    loop = next(i for i, node in enumerate(graph.nodes) if node.name == "while.8")
    assert [c.owner for c in graph.clusters] == [None, loop, loop, None]
    main = [(node.name, node.op, node.role) for node in graph.nodes if node.cluster == 0]
    assert main == [
        ("arg0", "tensor<8x8xf32>", "argument"),
        ("arg1", "tensor<8x8xf32>", "argument"),
        ("zero", "constant", "constant"),
        ("ten", "constant", "constant"),
        ("stablehlo.sine", "sine", "op"),
        ("cosine.2", "cosine", "op"),
        ("call.3", "call", "op"),
        ("multiply.4", "multiply", "op"),
        ("while.8", "while", "op"),
        ("return", "return", "end"),
    ]


def test_wire_ops_and_tuples_are_edges_not_nodes():
    graph = graph_of(mlir.parse_module(LOOP))
    edges = named_edges(graph)
    assert {edge for edge in edges if edge[2] != "data"} == {
        ("stablehlo.sine", "multiply.4", "ordered"),
        ("call.3", "multiply.4", "ordered"),
        ("exponential.6", "add.7", "ordered"),
    }
    # Data goes through the wire op, and into regions from outside.
    assert ("cosine.2", "multiply.4", "data") in edges
    assert ("stablehlo.sine", "multiply.4", "data") not in edges
    assert ("stablehlo.sine", "add.7", "data") in edges
    assert ("ten", "less.5", "data") in edges
    assert ("while.8", "return", "data") in edges


def test_edges_that_are_none_are_noted():
    graph = graph_of(mlir.parse_module(LOOP))
    assert graph.notes == ["stablehlo.sine → ?: nothing uses what the control dependency forwards"]


def test_texts_and_places():
    graph = graph_of(mlir.parse_module(LOOP))
    nodes = {node.name: node for node in graph.nodes}
    assert nodes["stablehlo.sine"].location == "model.py:3:7"
    assert nodes["cosine.2"].location == "model.py:4:7 (cosine.2)"
    assert nodes["zero"].detail == "dense<0> : tensor<i32>"
    assert "stablehlo.multiply" in nodes["multiply.4"].text


def test_large_constants_are_elided():
    values = ", ".join(str(n) for n in range(5000))
    graph = graph_of(
        mlir.parse_module(
            f"module {{ func.func @main() -> tensor<5000xi32> {{ %c = stablehlo.constant dense<[{values}]> : "
            "tensor<5000xi32>\n return %c : tensor<5000xi32> } }"
        )
    )
    assert len(graph.nodes[0].text) < 200


def test_names_are_kept_as_they_are():
    graph = graph_of(mlir.parse_module(hostile()))
    assert [node.name for node in graph.nodes if node.role == "op"] == list(HOSTILE)


TASKS = """
module {
  func.func private @W(tensor<64xf32> {task.direction = "out"}) -> (tensor<64xf32> {task.aliases = 0 : i64})
    attributes {task.kind = "kernel"}
  func.func private @R(tensor<64xf32> {task.direction = "in"}) -> (tensor<64xf32> {task.aliases = 0 : i64})
    attributes {task.kind = "kernel"}
  func.func @main(%s: tensor<64xf32>) attributes {task.kind = "orchestration", task.auto_scope = true} {
    %a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "P1"}
      : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
    %b, %q = "task.submit"(%s, %p) {callee = @R, operandSegmentSizes = array<i32: 1, 0, 1>, task.name = "P2",
      compiler_dep_hazards = ["raw"]} : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
    %j = "task.barrier"(%p, %q) : (!task.id, !task.id) -> !task.id
    %r, %u = "task.submit"(%s, %p, %j) {callee = @W, operandSegmentSizes = array<i32: 1, 1, 1>, task.name = "C",
      compiler_dep_hazards = ["war+waw"]} : (tensor<64xf32>, !task.id, !task.id) -> (tensor<64xf32>, !task.id)
    return
  }
}
"""


def test_tasks_and_the_kinds_of_their_edges():
    graph = graph_of(mlir.parse_module(TASKS))
    assert [node.name for node in graph.nodes if node.role == "op"] == ["P1", "P2", "C"]
    assert named_edges(graph) - {edge for edge in named_edges(graph) if edge[2] == "data"} == {
        ("P1", "P2", "flow"),
        ("P1", "C", "ordered"),
        ("P1", "C", "anti"),
        ("P1", "C", "output"),
        ("P2", "C", "anti"),
        ("P2", "C", "output"),
    }
    assert {edge for edge in named_edges(graph) if edge[2] == "data"} == {
        ("arg0", "P1", "data"),
        ("arg0", "P2", "data"),
        ("arg0", "C", "data"),
    }


HLO = b"""
HloModule source, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

body {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[4] get-tuple-element(p), index=1
  e = f32[4] exponential(v)
  s = f32[4] sine(v), control-predecessors={e}
  sum = f32[4] add(e, s)
  ROOT t = (s32[], f32[4]) tuple(i, sum)
}

cond {
  q = (s32[], f32[4]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(j, n), direction=LT
}

ENTRY main {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  neg = f32[4] negate(x)
  start = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(start), condition=cond, body=body, control-predecessors={neg}
  ROOT out = f32[4] get-tuple-element(loop), index=1
}
"""


def test_hlo():
    graph = graph_of_hlo(load_hlo(HLO))
    assert graph.clusters[0].title == "main"
    assert {cluster.title for cluster in graph.clusters[1:]} == {"cond", "body"}
    assert {graph.nodes[cluster.owner].name for cluster in graph.clusters[1:]} == {"loop"}
    assert {edge for edge in named_edges(graph) if edge[2] == "ordered"} == {
        ("e", "s", "ordered"),
        ("neg", "loop", "ordered"),
    }
    assert ("zero", "start", "data") in named_edges(graph)
    nodes = {node.name: node for node in graph.nodes}
    assert "exponential" in nodes["e"].text
    assert (nodes["x"].role, nodes["n"].role, nodes["e"].role) == ("argument", "constant", "op")


def test_penguin():
    text = print_penguin(mlir.parse_module(LOOP))
    graph = graph_of_penguin(read_penguin(text))
    edges = named_edges(graph)
    assert {edge for edge in edges if edge[2] == "ordered"} == {
        ("stablehlo.sine", "multiply.4", "ordered"),
        ("call.3", "multiply.4", "ordered"),
        ("exponential.6", "add.7", "ordered"),
    }
    assert ("cosine.2", "multiply.4", "data") in edges
    loop = next(i for i, node in enumerate(graph.nodes) if node.name == "while.8")
    assert [cluster.owner for cluster in graph.clusters].count(loop) == 2
    assert graph.clusters[0].parent is None
    # The source and what is read back have the same instructions.
    wanted = {node.name for node in graph_of(mlir.parse_module(LOOP)).nodes if node.role == "op"}
    assert wanted <= {node.name for node in graph.nodes}


def test_deep_nesting():
    depth = 900
    text = "scf.execute_region {" * depth + "scf.yield } " * depth
    graph = graph_of(mlir.parse_module(f"module {{ func.func @main() {{ {text} return }} }}"))
    assert len(graph.clusters) == depth + 1
    assert len(lay_out(graph, "builtin").frames) == depth
    assert to_dot(graph).count("subgraph") == depth + 1


def test_names_that_are_not_utf8_stay_visible():
    text = (
        b'module @"\\FF" { func.func @"\\FEmain"(%a: tensor<f32>) -> tensor<f32> {'
        b'%0 = stablehlo.sine %a {x = "\\FD"} : tensor<f32> loc("\\FBq")\n return %0 : tensor<f32> } }'
    )
    graph = graph_of(mlir.parse_module(text))
    assert graph.clusters[0].title == "@\\xfemain"
    assert graph.nodes[1].name == "\\xfbq"
    for draw in (to_dot, to_svg, to_html):
        draw(graph).encode()
