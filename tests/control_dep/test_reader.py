"""The reader of edges, rule by rule of control-dep.md section 5; the expected edges are worked out by hand."""

import pytest

from neuron_ctrldep.control_dep import control_edges, instruction_name, main_function
from neuron_ctrldep.control_dep.edges import (
    BLOCK_ARGUMENT,
    CONSTANT_PREDECESSOR,
    DONE_MERGED,
    PREDECESSOR_REMOVED,
    SUCCESSOR_ARGUMENT,
    SUCCESSOR_REMOVED,
    SUCCESSOR_TERMINATOR,
    UNREACHED,
    WIRE_UNUSED,
)
from neuron_ctrldep.mlir import parse_module

T = "tensor<4xf32>"


def wire(result, *operands, types=None, dialect="stablehlo"):
    types = types or [T] * len(operands)
    return (
        f"{result} = {dialect}.custom_call @AwsNeuronControlDep({', '.join(operands)}) {{has_side_effect = true}} : "
        f"({', '.join(types)}) -> {types[-1]}"
    )


def op(result, kind, *operands, marks=""):
    attributes = f" mhlo.frontend_attributes = {{{marks}}}" if marks else ""
    body = f'"{kind}"({", ".join(operands)}) {{{attributes}}} : ({", ".join([T] * len(operands))}) -> {T}'
    return f'{result} = {body} loc("{result[1:]}")'


def read(*lines, results="%r", arguments=f"%a: {T}, %b: {T}", more=""):
    types = ", ".join([T] * len(results.split(",")))
    body = "\n".join(lines)
    text = f"module {{ func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {results} : {types} }}\n{more} }}"
    module = parse_module(text)
    found = control_edges(module)
    edges = [(instruction_name(e.src), instruction_name(e.dst), e.carrier) for e in found.edges]
    return edges, [(u.src, u.dst, u.reason) for u in found.uncounted]


@pytest.mark.parametrize("dialect", ["stablehlo", "mhlo"])
def test_each_predecessor_orders_each_user(dialect):
    edges, uncounted = read(
        op("%p", "stablehlo.negate", "%a"),
        op("%q", "stablehlo.sine", "%a"),
        wire("%w", "%p", "%q", "%b", dialect=dialect),
        op("%s", "stablehlo.cosine", "%w"),
        op("%r", "stablehlo.add", "%s", "%w"),
    )
    assert edges == [("p", "s", "operand"), ("q", "s", "operand"), ("p", "r", "operand"), ("q", "r", "operand")]
    assert uncounted == []


def test_a_near_miss_target_is_an_instruction():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a"),
        f"%w = stablehlo.custom_call @AwsNeuronControlDep2(%p, %b) : ({T}, {T}) -> {T}",
        op("%r", "stablehlo.cosine", "%w"),
    )
    assert edges == []


def test_a_wire_op_as_predecessor_stands_for_its_data_and_its_predecessors():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a"),
        op("%d", "stablehlo.sine", "%a"),
        wire("%w", "%p", "%d"),
        wire("%v", "%w", "%b"),
        op("%r", "stablehlo.cosine", "%v"),
    )
    assert edges == [("p", "r", "operand"), ("d", "r", "operand")]  # operand order: (p, d)


def test_stacked_wire_ops_add_up():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a"),
        op("%q", "stablehlo.sine", "%a"),
        wire("%w", "%p", "%b"),
        wire("%v", "%q", "%w"),
        op("%r", "stablehlo.cosine", "%v"),
    )
    assert edges == [("q", "r", "operand"), ("p", "r", "operand")]


def test_tuples_and_their_elements_are_looked_through():
    pair = f"tuple<{T}, {T}>"
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a"),
        op("%q", "stablehlo.sine", "%a"),
        f"%t = stablehlo.tuple %p, %q : {pair}",
        wire("%w", "%t", "%b", types=[pair, T]),
        f"%u = stablehlo.tuple %a, %w : {pair}",
        f"%e = stablehlo.get_tuple_element %u[1] : ({pair}) -> {T}",
        f"%f = stablehlo.get_tuple_element %u[0] : ({pair}) -> {T}",
        op("%s", "stablehlo.cosine", "%e"),
        op("%free", "stablehlo.exponential", "%f"),
        op("%r", "stablehlo.add", "%s", "%free"),
    )
    assert edges == [("p", "s", "operand"), ("q", "s", "operand")]


def test_one_element_of_a_known_tuple_is_that_element_only():
    pair = f"tuple<{T}, {T}>"
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a"),
        op("%q", "stablehlo.sine", "%a"),
        f"%t = stablehlo.tuple %p, %q : {pair}",
        f"%e = stablehlo.get_tuple_element %t[1] : ({pair}) -> {T}",
        wire("%w", "%e", "%b"),
        op("%r", "stablehlo.cosine", "%w"),
    )
    assert edges == [("q", "r", "operand")]


def test_add_dependency_is_one_more_source():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a"),
        '%k = "stablehlo.outfeed"(%p, %tok) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token loc("k")',
        f"%d = mhlo.add_dependency %b, %k : ({T}, !stablehlo.token) -> {T}",
        op("%r", "stablehlo.cosine", "%d"),
        arguments=f"%a: {T}, %b: {T}, %tok: !stablehlo.token",
    )
    assert edges == [("k", "r", "operand")]


def test_attributes_are_read_by_id_within_a_block():
    edges, uncounted = read(
        op("%p", "stablehlo.negate", "%a", marks='ctrldep.id = "2"'),
        op("%q", "stablehlo.sine", "%a", marks='ctrldep.id = "10"'),
        op("%r", "stablehlo.add", "%a", "%b", marks='ctrldep.after = "10,2,7"'),
        results="%r, %p, %q",
    )
    assert edges == [("p", "r", "attribute"), ("q", "r", "attribute")]
    assert uncounted == [("", "r", PREDECESSOR_REMOVED)]


def test_an_id_that_nobody_names_is_counted():
    _, uncounted = read(op("%r", "stablehlo.negate", "%a", marks='ctrldep.id = "1"'))
    assert uncounted == [("r", "", SUCCESSOR_REMOVED)]


def test_the_two_copies_of_a_shared_callee_keep_their_ids_apart():
    callee = f"""func.func private @NAME(%a: {T}) -> {T} {{
      {op("%p", "stablehlo.negate", "%a", marks='ctrldep.id = "1"')}
      {op("%s", "stablehlo.sine", "%p", marks='ctrldep.after = "1"')}
      return %s : {T} }}"""
    edges, _ = read(
        f"%x = func.call @f(%a) : ({T}) -> {T}",
        f"%r = func.call @g(%x) : ({T}) -> {T}",
        more=callee.replace("NAME", "f") + callee.replace("NAME", "g"),
    )
    assert edges == [("p", "s", "attribute")] * 2


def test_operand_edges_come_before_attribute_edges_of_one_successor():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a", marks='ctrldep.id = "1"'),
        op("%q", "stablehlo.sine", "%a"),
        wire("%w", "%q", "%b"),
        op("%r", "stablehlo.cosine", "%w", marks='ctrldep.after = "1"'),
        results="%r, %p",
    )
    assert edges == [("q", "r", "operand"), ("p", "r", "attribute")]


def test_what_is_there_before_the_block_runs_gives_no_edge():
    edges, uncounted = read(
        f'%c = stablehlo.constant dense<1.0> : {T} loc("c")',
        wire("%w", "%a", "%c", "%b"),
        op("%r", "stablehlo.cosine", "%w"),
    )
    assert edges == []
    assert uncounted == [("", "r", BLOCK_ARGUMENT), ("c", "r", CONSTANT_PREDECESSOR)]


def test_a_terminator_needs_no_edge():
    edges, uncounted = read(op("%p", "stablehlo.negate", "%a"), wire("%r", "%p", "%b"))
    assert edges == []
    assert uncounted == [("p", "func.return", SUCCESSOR_TERMINATOR)]


def test_an_unused_wire_op_is_counted():
    edges, uncounted = read(op("%r", "stablehlo.negate", "%a"), wire("%w", "%r", "%b"))
    assert edges == []
    assert uncounted == [("r", "", WIRE_UNUSED)]


def test_a_function_that_main_does_not_reach_is_counted():
    edges, uncounted = read(
        op("%r", "stablehlo.negate", "%a"),
        more=f"""func.func @other(%a: {T}) -> {T} {{
          {op("%p", "stablehlo.negate", "%a")}
          {wire("%w", "%p", "%a")}
          {op("%s", "stablehlo.sine", "%w")}
          return %s : {T} }}""",
    )
    assert edges == []
    assert uncounted == [("p", "", UNREACHED)]


def test_a_marked_argument_is_counted():
    edges, uncounted = read(
        op("%r", "stablehlo.negate", "%a", marks='ctrldep.id = "1"'),
        op("%s", "stablehlo.negate", "%a", marks='ctrldep.after = "1"'),
        arguments=f'%a: {T} {{mhlo.frontend_attributes = {{ctrldep.after = "1"}}}}',
    )
    assert edges == [("r", "s", "attribute")]
    assert uncounted == [("", "argument 0", SUCCESSOR_ARGUMENT)]


def test_a_use_in_a_region_orders_the_op_that_owns_the_region():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a"),
        wire("%w", "%p", "%b"),
        f"""%r = "stablehlo.if"(%c) ({{
          {op("%x", "stablehlo.sine", "%w")}
          stablehlo.return %x : {T}
        }}, {{
          stablehlo.return %b : {T}
        }}) : (tensor<i1>) -> {T} loc("branch")""",
        arguments=f"%a: {T}, %b: {T}, %c: tensor<i1>",
    )
    assert edges == [("p", "branch", "operand")]


ASYNC = f"""%f = "stablehlo.async_start"(%a) ({{
  ^bb0(%x: {T}):
    %g = "stablehlo.collective_permute"(%x) <{{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}}>
      {{mhlo.frontend_attributes = {{MARKS}}}} : ({T}) -> {T}
    stablehlo.return %g : {T}
  }}) : ({T}) -> !stablehlo.future<{T}> loc("start")
  %d = "stablehlo.async_done"(%f) : (!stablehlo.future<{T}>) -> {T} loc("done")"""


def test_marks_inside_an_async_region_belong_to_the_async_op():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a", marks='ctrldep.id = "1"'),
        ASYNC.replace("MARKS", 'ctrldep.after = "1"'),
        results="%d, %p",
    )
    assert edges == [("p", "start", "attribute")]


def test_done_marks_on_a_start_belong_to_its_done():
    edges, _ = read(
        op("%p", "stablehlo.negate", "%a", marks='ctrldep.id = "1"'),
        ASYNC.replace("MARKS", 'ctrldep.done.after = "1", ctrldep.done.id = "2"'),
        op("%s", "stablehlo.sine", "%b", marks='ctrldep.after = "2"'),
        results="%d, %p, %s",
    )
    assert edges == [("p", "done", "attribute"), ("done", "s", "attribute")]


SEND = """%t = "stablehlo.send"(%a, %tok) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
  is_host_transfer = false}> {mhlo.frontend_attributes = {ctrldep.id = "1", ctrldep.done.after = "2"}} :
  (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token loc("send")"""
TOKEN = f"%a: {T}, %b: {T}, %tok: !stablehlo.token"


def test_a_done_mark_on_a_merged_op_orders_the_op_when_nothing_speaks_against_it():
    edges, _ = read(
        SEND, op("%r", "stablehlo.negate", "%b", marks='ctrldep.id = "2"'), arguments=TOKEN
    )  # fmt: skip
    assert edges == [("r", "send", "attribute")]


def test_a_done_mark_that_would_make_a_cycle_moves_to_the_readers():
    edges, _ = read(
        SEND,
        op("%r", "stablehlo.negate", "%b", marks='ctrldep.id = "2", ctrldep.after = "1"'),
        '%o = "stablehlo.outfeed"(%b, %t) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token loc("out")',
        arguments=TOKEN,
    )
    assert edges == [("send", "r", "attribute"), ("r", "out", "attribute")]


def test_a_done_mark_that_would_make_a_cycle_and_has_no_reader_is_dropped_with_its_reason():
    edges, uncounted = read(
        SEND,
        op("%r", "stablehlo.negate", "%b", marks='ctrldep.id = "2", ctrldep.after = "1"'),
        arguments=TOKEN,
    )
    assert edges == [("send", "r", "attribute")]
    assert ("r", "send", DONE_MERGED) in uncounted


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        ("func.func private @a() { return } func.func @b() { return } func.func private @main() { return }", "main"),
        ("func.func private @a() { return } func.func @b() { return } func.func @c() { return }", "b"),
        ("func.func private @a() { return } func.func private @b() { return }", "a"),
    ],
)
def test_main_is_main_else_the_first_public_else_the_first(functions, expected):
    module = parse_module(f"module {{ {functions} }}")
    main = main_function(module)
    assert main.attributes["sym_name"].value == expected


@pytest.mark.parametrize(
    ("attributes", "location", "expected"),
    [
        ('mhlo.frontend_attributes = {ctrldep.name = "first"}, neuron.symName = "second"', 'loc("x/third")', "first"),
        ('neuron.symName = "second"', 'loc("x/third")', "second"),
        ("", 'loc("jit(f)/third")', "third"),
        ("", 'loc(fused["fused/inner", "f.py":1:2])', "inner"),
        ("", 'loc(callsite("callee" at "caller"))', "callee"),
        ("", "loc(unknown)", "stablehlo.negate"),
        ("", 'loc("file.mlir":1:2)', "stablehlo.negate"),
    ],
)
def test_the_name_is_the_first_there_is(attributes, location, expected):
    text = f"""module {{ func.func @main(%a: {T}) -> {T} {{
      %r = "stablehlo.negate"(%a) {{{attributes}}} : ({T}) -> {T} {location}
      return %r : {T} }} }}"""
    module = parse_module(text)
    assert instruction_name(main_function(module).regions[0].blocks[0].operations[0]) == expected


def test_marks_on_packaging_are_those_of_what_it_stands_for():
    """A tuple with an id stands for its elements; what reads a wire op that is after another waits for that."""
    marked = 'has_side_effect = true, mhlo.frontend_attributes = {ctrldep.after = "2"}'
    edges, uncounted = read(
        op("%s", "stablehlo.sine", "%a"),
        op("%t", "stablehlo.tanh", "%a"),
        f'%p = stablehlo.tuple %s, %t {{mhlo.frontend_attributes = {{ctrldep.id = "1"}}}} : tuple<{T}, {T}>',
        op("%c", "stablehlo.cosine", "%a", marks='ctrldep.after = "1"'),
        op("%d", "stablehlo.abs", "%a", marks='ctrldep.id = "2"'),
        wire("%w", "%c", "%a").replace("has_side_effect = true", marked),
        op("%r", "stablehlo.negate", "%w"),
    )
    assert edges == [
        ("s", "c", "attribute"),
        ("t", "c", "attribute"),
        ("c", "r", "operand"),
        ("d", "r", "attribute"),
    ]
    assert uncounted == []


def test_a_mark_on_a_terminator_is_no_edge():
    module = parse_module(
        """func.func @main(%a: tensor<f32>) -> tensor<f32> {
          %s = stablehlo.sine %a {mhlo.frontend_attributes = {ctrldep.id = "1"}} : tensor<f32>
          return {mhlo.frontend_attributes = {ctrldep.after = "1"}} %s : tensor<f32>
        }"""
    )
    found = control_edges(module)
    assert found.edges == []
    assert [edge.reason for edge in found.uncounted] == [
        "the successor is a terminator: everything in the block precedes it"
    ]
