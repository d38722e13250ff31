"""The reader accepts what the printer prints and nothing else; a fault has file, line and column."""

import sys

import pytest

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.penguin import text
from neuron_ctrldep.penguin.model import Constant, Weight
from neuron_ctrldep.penguin.reader import read_penguin
from tests.penguin.support import T, emitted, program_of

HEAD = text.header(dependencies=True, scipy=False, support=False, weights=False)
OP = (
    "x = m3.NeuronTensorOp(np.abs, 'mhlo.unary', srcs=[], dsts=[], "
    'dl=m1.DebugLocation(tensor_op_name="x", file="", line=0, column=0, hlo_id=0))'
)
EDGE = text.dependency("x", "y")


def program(*statements):
    return "\n".join([*HEAD, text.function_start(0, []), *statements, text.function_end(0), *text.footer(), ""])


def fault_of(source):
    with pytest.raises(InputError) as caught:
        read_penguin(source, "out.py")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.location.file == "out.py"
    assert diagnostic.location.line >= 1
    return diagnostic


def test_everything_comes_back():
    program = program_of(
        f'%0 = stablehlo.exponential %a : {T} loc("jit(f)/e x p"("model.py":3:14))',
        f'%1:2 = "stablehlo.custom_call"(%0) {{call_target_name = "two"}} : ({T}) -> ({T}, tensor<2x?xbf16>) '
        'loc("two")',
        f"%w = stablehlo.custom_call @AwsNeuronControlDep(%0, %1#0) {{has_side_effect = true}} : ({T}, {T}) -> {T}",
        f'%2 = stablehlo.add %w, %1#0 : {T} loc("s")',
        '%3 = stablehlo.constant dense<[1, 2]> : tensor<2xi32> loc("w")',
        '%4 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc("c")',
        '%5 = stablehlo.iota dim = 1 : tensor<2x3xi32> loc("i")',
    )
    main = program.main
    assert [(p.name, p.tensor.shape, p.tensor.dtype, p.layout) for p in main.inputs] == [
        ("input_0", (4,), "float32", "N"),
        ("input_1", (4,), "float32", "N"),
    ]
    e, two, s, weight, constant, iota, ret = main.operations
    assert (e.names, e.function, e.tag, e.is_generic) == (("e_x_p",), "np.exp", "mhlo.unary", False)
    assert e.location == ("e x p", "model.py", 3, 14, 0)
    assert (two.names, two.function, two.is_generic) == (("two", "two_1"), "stablehlo.custom_call", True)
    assert [(d.name, d.shape, d.dtype) for d in two.dsts] == [
        ("two", (4,), "float32"),
        ("two_1", (2, "?"), "bfloat16"),
    ]
    assert two.attributes == {"call_target_name": '"two"'}
    assert s.srcs == ("two", "two")
    assert weight.srcs == (Weight("w.npy"),)
    assert constant.srcs == (Constant(float("-inf")),)
    assert iota.keywords == {"iota_dim": 1, "shape": (2, 3), "dtype": "int32"}
    assert (ret.function, ret.dsts) == ("func.return", ())
    assert [e.serialize() for e in program.edges()] == [{"kind": "ORDERED", "src": "e x p", "dst": "s"}]
    assert program.has_control_deps


def test_statements_of_one_op_are_one_instruction():
    program = program_of(
        f'%p = stablehlo.cbrt %a : {T} loc("p")',
        f"%w = stablehlo.custom_call @AwsNeuronControlDep(%p, %b) {{has_side_effect = true}} : ({T}, {T}) -> {T}",
        f'%s = stablehlo.clamp %a, %w, %a : {T} loc("s")',
    )
    assert [(e.src, e.dst) for e in program.main.dep_edges] == [("p", "s_1"), ("p", "s")]
    assert [(e.src, e.dst) for e in program.edges()] == [("p", "s")]


def test_comments_and_line_ends_do_not_matter():
    source = program(OP).replace("\n", "\r\n").replace("v0.id=0", "# a comment\r\n\r\nv0.id=0")
    assert [o.name for o in read_penguin(source).main.operations] == ["x"]


# Statement, column, message: each is one edit away from what the printer prints.
WRONG = {
    "a call": ('print("hello")', 1, "expected a call of add_dep_edge"),
    "an import": ("import os", 1, "not an import of Penguin Python"),
    "an import from": ("from os import path", 1, "not a form of Penguin Python"),
    "a loop": ("for i in x: pass", 1, "not a form of Penguin Python"),
    "a late import": ("import numpy as np", 1, "imported once, before the first function"),
    "two statements": (f"{OP}; {OP}", len(OP) + 3, "expected one statement on a line"),
    "a function of no table": (OP.replace("np.abs", "np.load"), 23, "'np.load' is not a function of Penguin's"),
    "a call as function": (OP.replace("np.abs", "np.abs()"), 23, "expected a name"),
    "a lambda": (OP.replace("np.abs", "lambda: 0"), 23, "expected a name"),
    "a tag": (OP.replace("mhlo.unary", "mhlo.nullary"), 31, "'mhlo.nullary' is not a class tag"),
    "an f-string": (OP.replace('"x"', 'f"{x}"'), None, "expected a string literal"),
    "an unbound operand": (OP.replace("srcs=[]", "srcs=[y]"), 51, "'y' is not bound to a value"),
    "an operand that is a call": (OP.replace("srcs=[]", "srcs=[open('/etc/passwd')]"), 51, "expected a name"),
    "a starred operand": (OP.replace("srcs=[]", "srcs=[*[]]"), 51, "expected a name"),
    "a weight without the helper": (
        OP.replace("srcs=[]", 'srcs=[weight_load("a.npy")]'),
        51,
        "weight_load is not defined",
    ),
    "more keywords": (OP.replace("srcs=[]", "srcs=[], **{}"), None, "has no such argument"),
    "no location": (OP[: OP.index(", dl=")] + ")", 5, "needs 'dl'"),
    "a result too many": (OP.replace("x =", "x, y =", 1), 1, "0 results are bound to 2 names"),
    "a reserved name": (OP.replace("x =", "print =", 1), 1, "'print' cannot be bound here"),
    "an attribute as target": (OP.replace("x =", "x.y =", 1), 1, "expected the end of the open function: v0.id=0"),
    "an item as target": (OP.replace("x =", "x[0] =", 1), 1, "expected a name"),
    "a name that is taken": (f"{OP}\n{OP}", 1, "'x' cannot be bound here"),
    "a chained assignment": (OP.replace("x =", "x = y =", 1), 1, "not a form"),
    "an annotated assignment": (OP.replace("x =", "x: int =", 1), 1, "not a form"),
    "an edge from nowhere": (f"{OP}\n{text.dependency('nowhere', 'x')}", 38, "'nowhere' is not an operation"),
    "an edge added elsewhere": (
        f"{OP}\n{OP.replace('x', 'y')}\n{EDGE.replace('y.', 'x.', 1)}",
        1,
        "an edge is added to its destination, 'y'",
    ),
    "a kind of edge": (
        f"{OP}\n{OP.replace('x', 'y')}\n{EDGE.replace('ORDERED', 'SOMEHOW')}",
        65,
        "not a kind of edge",
    ),
    "a negative line": (OP.replace("line=0", "line=-1"), None, "expected an integer literal"),
    "an open bracket": ("x = (", 5, "was never closed"),
    "an indented line": ("  " + OP, 2, "unexpected indent"),
    "a NUL": ("x = '\0'", None, "null"),
    "a number too long": (OP.replace("line=0", "line=" + "1" * 5000), None, "not a statement of Penguin Python"),
    "deep brackets": ("x = " + "(" * 5000 + ")" * 5000, None, "not a statement of Penguin Python"),
    "deep signs": (OP.replace("line=0", "line=" + "-" * 50_000 + "1"), None, "not a statement of Penguin Python"),
    "deep attributes": ("x" + ".a" * 50_000 + " = 1", None, ""),
    "a doubtful escape": (OP.replace('"x"', r'"\d"'), None, "not a statement of Penguin Python"),
    "a surrogate": ("x = '\ud800'", None, "not a statement of Penguin Python"),
}


@pytest.mark.parametrize("what", WRONG)
def test_anything_else_is_refused(what):
    statement, column, message = WRONG[what]
    source = program(statement)
    diagnostic = fault_of(source)
    assert message in diagnostic.message
    assert diagnostic.location.line == len(HEAD) + 1 + len(statement.split("\n"))
    if column is not None:
        assert diagnostic.location.column == column


def test_the_frame_is_checked():
    start, end, footer = text.function_start(0, []), text.function_end(0), text.footer()[0]
    assert "does not end" in fault_of("").message
    assert "does not end" in fault_of("\n".join([*HEAD, start])).message
    assert "comes last, when every function has ended" in fault_of("\n".join([*HEAD, start, footer])).message
    assert "comes last" in fault_of("\n".join([*HEAD, footer])).message
    assert "nothing follows" in fault_of("\n".join([*HEAD, start, end, footer, OP])).message
    assert "no function is open here" in fault_of("\n".join([*HEAD, start, end, OP])).message
    assert (
        "a function starts inside main"
        in fault_of("\n".join([*HEAD, start, end, text.function_start(1, []), text.function_end(1)])).message
    )
    assert "function 0 is bound to v0, once" in fault_of("\n".join([*HEAD, start, start])).message
    assert "expected the end of the open function" in fault_of("\n".join([*HEAD, start, text.function_end(1)])).message
    without = [line for line in HEAD if "Dependency" not in line]
    source = "\n".join([*without, start, OP, OP.replace("x", "y"), EDGE, end, footer])
    assert "Dependency is not imported" in fault_of(source).message
    assert "expected 'return np.load(p)'" in fault_of("def weight_load(p):\n    return open(p)").message


def test_nothing_is_executed(tmp_path):
    target = tmp_path / "made"
    for statement in (f"open({str(target)!r}, 'w')", f"x = __import__('pathlib').Path({str(target)!r}).touch()"):
        fault_of(program(statement))
    assert not target.exists()


def test_reading_leaves_the_recursion_limit_alone():
    limit = sys.getrecursionlimit()
    read_penguin(emitted(f"%0 = stablehlo.abs %a : {T}"))
    assert sys.getrecursionlimit() == limit
