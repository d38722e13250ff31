"""What the printer promises of any module: safe text, unique names, exact numbers, and the edges of the module."""

import ast
import keyword
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_ctrldep.control_dep import control_edges, instruction_name
from neuron_ctrldep.errors import InputError, PassError
from neuron_ctrldep.mlir import parse_module
from neuron_ctrldep.penguin.literals import number, string
from neuron_ctrldep.penguin.model import Constant
from neuron_ctrldep.penguin.names import Names
from neuron_ctrldep.penguin.printer import edge_list, print_penguin
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.penguin.scheduling import schedule
from tests.penguin.support import T, Weights, emitted, mlir_string, module_of

HOSTILE = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "", '"', "'", "\\", "\n", "\r", "\0", '"""', "\\\"", "x\n)", '"); import os; os.system("true") #', "\u2028",
            "%s", "{x}", "m3", "v1", "input_0", "input_", "np", "ir", "weight_load", "print", "lambda", "None",
            "__debug__", "a/b/", "/", "é", "x", "x_1", "x_1_1", "ﬁ", "\U0001f600", "neuronxcc", "scipy",
        ]
    ),
)  # fmt: skip
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

_ALLOWED = (ast.Import, ast.FunctionDef, ast.Assign, ast.Expr)


@FUZZ
@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=5), HOSTILE, st.randoms())
def test_text_of_the_input_stays_inside_literals(ops, argument, random):
    lines = []
    for index, (name, file, attribute) in enumerate(ops):
        value = f"%{index - 1}" if index else "%a"
        if index and random.random() < 0.7:
            other = f"%{random.randrange(index)}"
            lines.append(
                f"%w{index} = stablehlo.custom_call @AwsNeuronControlDep({other}, %b) {{has_side_effect = true}} : "
                f"({T}, {T}) -> {T}"
            )
            value = f"%w{index}"
        location = (
            f"loc({mlir_string(name)}({mlir_string(file)}:{index}:7))" if name else f"loc({mlir_string(file)}:1:1)"
        )
        lines.append(
            f'%{index} = "stablehlo.custom_call"({value}) {{call_target_name = {mlir_string(attribute)}, '
            f"mhlo.frontend_attributes = {{{mlir_string(attribute or 'k')} = {mlir_string(attribute)}}}}} : "
            f"({T}) -> {T} {location}"
        )
    module = module_of(*lines, arguments=f"%a: {T} loc({mlir_string(argument or 'a')}), %b: {T}")
    text = print_penguin(module)
    assert text.isascii()
    tree = ast.parse(text)
    assert all(isinstance(statement, _ALLOWED) for statement in tree.body)
    program = read_penguin(text)
    names = [n for _, operation in program.operations() for n in operation.names]
    assert len(names) == len(set(names))
    printed = [operation for _, operation in program.operations() if operation.function == "stablehlo.custom_call"]
    sources = [
        op.operation
        for op in module.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations
        if op.operation.attributes and "AwsNeuronControlDep" not in str(op.operation.attributes["call_target_name"])
    ]
    assert [o.location.name for o in printed] == [instruction_name(op) for op in sources]
    # What was asked for, not only what the code says of itself.
    for operation, (name, file, _) in zip(printed, ops, strict=True):
        last = name.rstrip("/").rpartition("/")[2]
        assert operation.location.name == (last or "stablehlo.custom_call")
        assert operation.location.file == (file or "-")  # MLIR's own name for no name
    assert sorted(map(str, edge_list(module))) == sorted(str(edge.serialize()) for edge in program.edges())
    order = schedule(program.main, 1)
    for edge in program.main.dep_edges:
        assert order.index(edge.src) < order.index(edge.dst)


@FUZZ
@given(st.text())
def test_a_string_literal_is_one_line_and_evaluates_to_the_string(text):
    literal = string(text)
    assert literal.isascii()
    assert "\n" not in literal
    assert ast.literal_eval(literal) == text


@FUZZ
@given(st.lists(HOSTILE, max_size=40))
def test_identifiers_are_unique_and_mean_nothing_else(asked):
    names = Names()
    given_out = [names.fresh(name) for name in asked]
    assert len(given_out) == len(set(given_out))
    for name in given_out:
        assert name.isidentifier()
        assert name.isascii()
        assert not keyword.iskeyword(name)
        assert name not in {"np", "ir", "scipy", "weight_load", "print", "exit", "__debug__", "_"}
        assert not (name[0] in "mv" and name[1:].isdigit())
        assert not (name.startswith("input_") and name[6:].isdigit())


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 3, -7, True]
)
def test_numbers_come_back_to_the_last_bit(value):
    back = eval(number(value), {"__builtins__": {"float": float}})  # noqa: S307 - a number of ours
    assert type(back) is type(value)
    assert np.array(back).tobytes() == np.array(value).tobytes()


@FUZZ
@given(st.integers(0, 2**32 - 1))
def test_float32_splats_are_exact(bits):
    program = read_penguin(emitted(f"%0 = stablehlo.constant dense<0x{bits:08X}> : tensor<f32>"))
    (constant,) = program.main.operations[0].srcs
    assert isinstance(constant, Constant)
    expected = np.uint32(bits).view(np.float32)
    assert np.isnan(expected) == np.isnan(constant.value)
    if not np.isnan(expected):
        assert np.float32(constant.value).tobytes() == expected.tobytes()


# Type, its values as MLIR writes them, and the array that a file has to hold: bits where numpy lacks the type.
ARRAYS = {
    "i1": ("[true, false, true]", np.array([True, False, True])),
    "i4": ("[-8, 7, 0]", np.array([-8, 7, 0], np.int8)),
    "ui4": ("[15, 7, 0]", np.array([15, 7, 0], np.uint8)),
    "i8": ("[-128, 127, 0]", np.array([-128, 127, 0], np.int8)),
    "ui64": ("[18446744073709551615, 0, 1]", np.array([2**64 - 1, 0, 1], np.uint64)),
    "f16": ("[1.0, -2.0, 0x7C00]", np.array([1, -2, np.inf], np.float16)),
    "f64": ("[0.1, -0.0, 0x7FF0000000000000]", np.array([0.1, -0.0, np.inf])),
    "bf16": ("[1.0, -2.0, 0x7F80]", np.array([0x3F80, 0xC000, 0x7F80], np.uint16)),
    "f8E4M3FN": ("[1.0, -2.0, 0x7F]", np.array([0x38, 0xC0, 0x7F], np.uint8)),
    "f8E5M2": ("[1.0, -2.0, 0x7C]", np.array([0x3C, 0xC0, 0x7C], np.uint8)),
    "complex<f32>": ("[(1.0, -0.0), (0.1, 0x7F800000), (0.0, 0.0)]", np.array([1, np.inf * 1j, 0], np.complex64)),
    "complex<f64>": ("[(1.0, 2.0), (3.0, 4.0), (0.1, 0.0)]", np.array([1 + 2j, 3 + 4j, 0.1])),
}  # fmt: skip
ARRAYS["complex<f32>"][1].real[1] = 0.1
ARRAYS["complex<f32>"][1].imag[0] = -0.0


@pytest.mark.parametrize("element", ARRAYS)
@pytest.mark.parametrize("repeat", [1, 100], ids=["as numbers", "as bytes"])
def test_arrays_hold_every_bit(element, repeat):
    values, expected = ARRAYS[element]
    values = "[" + ", ".join([values[1:-1]] * repeat) + "]"
    sink = Weights()
    module = module_of(f'%0 = stablehlo.constant dense<{values}> : tensor<{3 * repeat}x{element}> loc("c")')
    print_penguin(module, weights=sink)
    assert sink.arrays["c"].dtype == expected.dtype
    assert sink.arrays["c"].tobytes() == np.tile(expected, repeat).tobytes()


def test_resources_are_read():
    module = parse_module(
        """module { func.func @main() {
          %0 = stablehlo.constant dense_resource<blob> : tensor<2xf32> loc("c")
          %1 = stablehlo.constant dense_resource<flags> : tensor<3xi1> loc("d")
          return } }
        {-# dialect_resources: { builtin: { blob: "0x040000000000803F00000040", flags: "0x01000000010001" } } #-}"""
    )
    sink = Weights()
    print_penguin(module, weights=sink)
    assert sink.arrays["c"].tolist() == [1.0, 2.0]
    assert sink.arrays["d"].tolist() == [True, False, True]


def test_a_big_constant_needs_somewhere_to_go():
    module = module_of('%0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32> loc("c"("f.py":3:4))')
    with pytest.raises(PassError, match=r"the constant 'c' is too big to print") as caught:
        print_penguin(module)
    assert str(caught.value.diagnostics[0].location) == "f.py:3:4"
    assert print_penguin(module, edges_only=True) == ""


def test_an_illegal_wire_op_is_an_error_at_the_op():
    module = module_of(
        f'%0:2 = "stablehlo.custom_call"(%a) {{call_target_name = "AwsNeuronControlDep"}} : ({T}) -> ({T}, {T}) '
        'loc("f.py":3:4)'
    )
    with pytest.raises(InputError, match="exactly one result, the data it forwards; found 2") as caught:
        print_penguin(module)
    assert str(caught.value.diagnostics[0].location) == "f.py:3:4"


def test_a_module_without_a_function_is_an_error():
    with pytest.raises(InputError, match="no function to print"):
        print_penguin(parse_module("module {}"))


def test_names_that_are_not_utf8_stay_visible():
    text = emitted(
        rf'%0 = stablehlo.abs %a {{mhlo.frontend_attributes = {{k = "\FF"}}}} : {T} loc("n\FF"("f\FE":1:2))',
        rf'%1 = stablehlo.custom_call @"\FF"(%0) : ({T}) -> {T} loc("\FF")',
    )
    first, second, _ = read_penguin(text).main.operations
    assert first.location == (r"n\xff", r"f\xfe", 1, 2, 0)
    assert second.location.name == r"\xff"
    assert second.attributes["call_target_name"] == r'"\FF"'


def test_nesting_and_calls_cost_no_python_stack():
    depth = 400
    lines = [f'%{i} = "stablehlo.case"(%i) ({{' for i in range(depth)]
    lines += ["stablehlo.return %i : tensor<i32>"]
    lines += ["}) : (tensor<i32>) -> tensor<i32> stablehlo.return %i : tensor<i32>"] * (depth - 1)
    body = "\n".join([*lines, "}) : (tensor<i32>) -> tensor<i32> return"])
    assert (
        print_penguin(parse_module(f"module {{ func.func @main(%i: tensor<i32>) {{ {body} }} }}")).count("m0.Function")
        == depth + 1
    )
    functions = "\n".join(
        f"func.func private @f{i}() {{ {f'func.call @f{i + 1}() : () -> ()' if i < 1199 else ''} return }}"
        for i in range(1200)
    )
    module = parse_module(f"module {{ {functions} func.func @main() {{ func.call @f0() : () -> () return }} }}")
    program = read_penguin(print_penguin(module))
    assert len(program.functions) == 1201


def test_recursion_names_the_function_that_is_open():
    module = parse_module(
        "module { func.func @main(%x: tensor<f32>) { func.call @main(%x) : (tensor<f32>) -> () return } }"
    )
    program = read_penguin(print_penguin(module))
    assert program.main.operations[0].regions == (program.main,)
    assert program.main.operations[0].srcs == ("input_0",)


def test_same_module_same_bytes():
    lines = [f'%{i} = stablehlo.custom_call @t(%a) {{z = 1, a = 2}} : ({T}) -> {T} loc("x")' for i in range(5)]
    assert emitted(*lines) == emitted(*lines)


def test_printing_changes_nothing():
    module = module_of(
        f"%p = stablehlo.exponential %a : {T}",
        f"%w = stablehlo.custom_call @AwsNeuronControlDep(%p, %b) {{has_side_effect = true}} : ({T}, {T}) -> {T}",
        f"%s = stablehlo.clamp %a, %w, %a : {T}",
    )
    before = module.get_asm(enable_debug_info=True)
    print_penguin(module)
    assert len(control_edges(module).edges) == 1
    assert module.get_asm(enable_debug_info=True) == before


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_every_op_is_printed_once_and_in_order(count: int) -> None:
    """Ops are asked for their names some at a time: none is lost or printed twice where one lot ends."""
    ops = [f'%{i} = stablehlo.abs %a : tensor<4xf32> loc("abs.{i}")' for i in range(count)]
    module = parse_module("\n".join(["func.func @main(%a: tensor<4xf32>) {", *ops, "return", "}"]))
    names = [line.partition(" = ")[0] for line in print_penguin(module).splitlines() if "np.abs" in line]
    assert names == [f"abs_{i}" for i in range(count)]


def attribute_edges(*ids_after):
    """Unary ops in a chain, each with its ``ctrldep.id`` and ``ctrldep.after``."""
    lines = []
    for index, after in enumerate(ids_after):
        source = f"%{index - 1}" if index and after.startswith("data") else "%a"
        listed = after.removeprefix("data")
        entries = f'ctrldep.id = "{index}"' + (f', ctrldep.after = "{listed}"' if listed else "")
        lines.append(
            f'%{index} = stablehlo.sine {source} {{mhlo.frontend_attributes = {{{entries}}}}} : {T} loc("op {index}")'
        )
    return module_of(*lines)


def test_dependencies_that_no_order_fulfils_are_refused():
    message = r"make a cycle: '(op 0' waits for 'op 1' waits for 'op 0|op 1' waits for 'op 0' waits for 'op 1)'"
    for module in (attribute_edges("1", "data"), attribute_edges("1", "0")):
        with pytest.raises(InputError, match=message):
            print_penguin(module)
    with pytest.raises(InputError, match="make a cycle"):
        print_penguin(attribute_edges("2", "0", "1", "data"))


def test_an_edge_that_goes_backward_in_the_text_is_no_cycle():
    module = attribute_edges("1", "", "data")
    edges = [
        (edge.src, edge.dst)
        for function in read_penguin(print_penguin(module)).functions
        for edge in function.dep_edges
    ]
    assert [(src, dst) for src, dst in edges] == [("op_1", "op_0")]


def test_the_cube_root_of_a_complex_number_is_not_taken_apart():
    kind = "tensor<4xcomplex<f32>>"
    module = parse_module(
        f"func.func @main(%a: {kind}) -> {kind} {{ %0 = stablehlo.cbrt %a : {kind} return %0 : {kind} }}"
    )
    text = print_penguin(module)
    assert "np.abs" not in text
    assert 'm3.NeuronTensorOp("stablehlo.cbrt"' in text
    with pytest.raises(PassError):
        print_penguin(module, strict=True)
