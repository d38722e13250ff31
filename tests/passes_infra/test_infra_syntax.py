"""Pipeline texts: what is generated reads back as itself, and each fault is found at its column."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from passes_for_tests import Everything

from neuron_ctrldep.errors import PipelineError
from neuron_ctrldep.passes.model import PassCall, Pipeline
from neuron_ctrldep.passes.pipeline import parse_pipeline
from neuron_ctrldep.passes.syntax import Source, parse_options, quote, split_list, unwrap

THOUSAND = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


def _balanced(text: str) -> bool:
    depths = list(itertools.accumulate((c == "{") - (c == "}") for c in text))
    return not depths or (min(depths) >= 0 and depths[-1] == 0)


# Any text without quotes whose braces balance can be a value, whatever else is in the text.
values = st.text(st.sampled_from("ab0-_. ,=(){}<>é#"), max_size=8).filter(_balanced)
hostile = st.text(st.sampled_from("ab ,={}'\"\n"), max_size=5)
everything = st.builds(
    Everything,
    flag=st.booleans(),
    count=st.integers(-(10**9), 10**9),
    ratio=st.floats(allow_nan=False),
    text=values,
    mode=st.sampled_from(["first", "second"]),
    names=st.lists(values, max_size=3).map(tuple),
    numbers=st.lists(st.integers(-9, 99), max_size=3).map(tuple),
    maybe=st.none() | values.filter(bool),
)
python_calls = everything.map(lambda instance: PassCall(instance.name, instance))
cpp_calls = st.sampled_from(
    [
        "cse",
        "canonicalize",
        "canonicalize{max-iterations=3}",
        "canonicalize{top-down=false enable-patterns=a,b}",
        "inline{default-pipeline=cse op-pipelines={func.func(cse,canonicalize{max-iterations=2})}}",
        "symbol-privatize{exclude=main}",
        "sccp",
    ]
)


def render(element: object) -> str:
    """The text of a generated element: C++ passes are their texts, pipelines are (anchor, elements)."""
    if isinstance(element, tuple):
        anchor, inner = element
        return f"{anchor}({','.join(map(render, inner))})"
    return str(element)


elements = st.recursive(
    python_calls | cpp_calls,
    lambda inner: st.tuples(st.sampled_from(["func.func", "any", "builtin.module"]), st.lists(inner, max_size=4)),
    max_leaves=8,
)
pipelines = st.tuples(st.sampled_from(["builtin.module", "func.func", "any"]), st.lists(elements, max_size=5))


@THOUSAND
@given(pipelines)
def test_what_is_printed_reads_back(generated: object) -> None:
    pipeline = parse_pipeline(render(generated))
    assert parse_pipeline(str(pipeline)) == pipeline
    assert parse_pipeline(pipeline.dump()) == pipeline


@THOUSAND
@given(everything)
def test_options_read_back(instance: Everything) -> None:
    assert Everything.from_options(instance.option_texts()) == instance
    (call,) = parse_pipeline(f"any({PassCall(instance.name, instance)})").elements
    assert isinstance(call, PassCall)
    assert call.instance == instance


@THOUSAND
@given(st.builds(Everything, text=hostile, names=st.lists(hostile, max_size=3).map(tuple), maybe=st.none() | hostile))
def test_hostile_options_read_back_or_are_refused(instance: Everything) -> None:
    try:
        text = str(PassCall(instance.name, instance))
    except PipelineError:
        text = ""
    if not text:
        # Only braces, and values with quotes of both kinds, can be too much for the grammar.
        given = (instance.text, instance.maybe or "", *instance.names)
        assert any(set("{}") & set(value) or set("'\"") <= set(value) for value in given)
        return
    pipeline = parse_pipeline(f"any({text},{text})")
    assert pipeline.elements == (PassCall(instance.name, instance),) * 2
    assert parse_pipeline(pipeline.dump()) == pipeline


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        # Quotes pair across options: each kind is put in the other.
        (Everything(text='"', names=('"',)), """text='"' names={'"'}"""),
        (Everything(text="'", names=('"', "'")), """text="'" names={'"',"'"}"""),
        # Braces that balance over the whole text may stand apart in quotes.
        (Everything(names=("{", "}")), """names='"{","}"'"""),
        (Everything(text="a b", maybe="{x}"), "text={a b} maybe={{x}}"),
        (Everything(text="""it's "so\""""), """text={it's "so"}"""),
    ],
)
def test_wrappings(instance: Everything, expected: str) -> None:
    text = str(PassCall(instance.name, instance))
    assert text == f"test-everything{{{expected}}}"
    assert parse_pipeline(f"any({text})").elements == (PassCall(instance.name, instance),)


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        (Everything(text="{"), "the options of pass 'test-everything': text = '{': their braces or quotes"),
        (Everything(text="'\"", names=("'",)), "the options of pass 'test-everything': text = .*, names = "),
        (Everything(names=("'\"", "'")), "the list"),
        (Everything(text="}'\""), "the value"),
    ],
)
def test_options_that_no_text_can_say(instance: Everything, message: str) -> None:
    with pytest.raises(PipelineError, match=f"cannot hold {message}"):
        str(PassCall(instance.name, instance))


# --- faults: a sound text is built piece by piece, one piece is broken, and the column of that piece is known ---------


@dataclasses.dataclass
class Text:
    """A text under construction that remembers where the piece at fault begins."""

    text: str = ""
    fault: int | None = None

    def add(self, piece: str, *, at_fault: int | None = None) -> None:
        if at_fault is not None:
            self.fault = len(self.text) + at_fault
        self.text += piece


def _write(out: Text, element: object, position: int, faulty: int, break_it: Callable[[Text, str], None]) -> int:
    """Write ``element``; the pass number ``faulty`` in order is written by ``break_it``. Returns the next number."""
    if isinstance(element, tuple):
        anchor, inner = element
        out.add(f"{anchor}(")
        for index, child in enumerate(inner):
            out.add("," if index else "")
            position = _write(out, child, position, faulty, break_it)
        out.add(")")
        return position
    if position == faulty:
        break_it(out, str(element))
    else:
        out.add(str(element))
    return position + 1


def _count(element: object) -> int:
    return sum(map(_count, element[1])) if isinstance(element, tuple) else 1


BREAKS: dict[str, tuple[Callable[[Text, str], None], str]] = {
    "name": (lambda out, _: out.add("no-such-pass", at_fault=0), "'no-such-pass' does not refer to a registered pass"),
    "space": (lambda out, _: out.add("cse  sccp", at_fault=5), "expected ',' after 'cse'"),
    "empty": (lambda out, _: out.add(" {a=1}", at_fault=1), "'' does not refer to a registered pass"),
    "python option": (lambda out, _: out.add("test-everything{flag nope=1}", at_fault=21), "no such option nope"),
    "C++ option": (lambda out, _: out.add("canonicalize{nope=1}", at_fault=13), "no such option nope"),
    "bool": (lambda out, _: out.add("test-everything{count=4 flag=maybe}", at_fault=29), "expected true or false"),
    "int": (lambda out, _: out.add("test-everything{count={x}}", at_fault=23), "expected an integer"),
    "choice": (lambda out, _: out.add('test-everything{mode="third"}', at_fault=22), "expected one of first, second"),
    "list": (lambda out, _: out.add("test-everything{numbers=1,2,x,3}", at_fault=28), "expected an integer"),
    "quoted list": (lambda out, _: out.add("test-everything{numbers={1,2,'x'}}", at_fault=30), "expected an integer"),
    "C++ value": (
        lambda out, _: out.add("canonicalize{max-iterations=3 top-down=zz}", at_fault=39),
        "is invalid value for boolean argument",
    ),
    "no key": (lambda out, _: out.add("test-everything{=3}", at_fault=16), "expected an option name before '='"),
    "behind": (lambda out, _: out.add("cse{}x", at_fault=5), "expected ',' after parsing pipeline"),
    "nested options": (lambda out, _: out.add("cse{}(cse)", at_fault=5), "a nested pipeline takes no options"),
    "brace": (lambda out, _: out.add("cse}", at_fault=3), "encountered extra closing '}'"),
    "quote": (lambda out, _: out.add("test-everything{text='a b}", at_fault=21), "missing closing '''"),
    "anchor": (lambda out, _: out.add("(cse)", at_fault=0), "expected an operation name before '('"),
    "wrong op": (
        lambda out, _: out.add("no.op(test-on-functions)", at_fault=6),
        "restricted to 'func.func' on a PassManager intended to run on 'no.op'",
    ),
    "wrong op in C++": (
        lambda out, _: out.add("no.op(mhlo-flatten-tuple)", at_fault=6),
        "restricted to 'func.func' on a PassManager intended to run on 'no.op'",
    ),
    "pass pipeline": (
        lambda out, _: out.add("func.func(sdy-export-pipeline)", at_fault=10),
        "restricted to 'builtin.module' on a PassManager intended to run on 'func.func'",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(pipelines.filter(lambda generated: _count(generated) > 0), st.data())
def test_each_fault_has_its_column(what: str, generated: object, data: st.DataObject) -> None:
    break_it, message = BREAKS[what]
    out = Text()
    _write(out, generated, 0, data.draw(st.integers(0, _count(generated) - 1)), break_it)
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(out.text)
    fault = caught.value.diagnostics[0]
    assert message in fault.message
    assert fault.location is not None
    assert out.fault is not None
    assert (fault.location.line, fault.location.column) == (1, out.fault + 1)


@settings(max_examples=60, deadline=None)
@given(pipelines)
def test_brackets_out_of_balance(generated: object) -> None:
    text = render(generated)
    with pytest.raises(PipelineError, match="extra closing") as caught:
        parse_pipeline(text + ")")
    assert caught.value.diagnostics[0].location is not None
    assert caught.value.diagnostics[0].location.column == len(text) + 1
    opened = text.index("(")
    with pytest.raises(PipelineError, match=r"unbalanced parentheses.*not closed") as caught:
        parse_pipeline(text[:-1])
    assert caught.value.diagnostics[0].location is not None
    # Without its last parenthesis, what stays open is the outermost list.
    assert caught.value.diagnostics[0].location.column == opened + 1


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the pipeline is empty"),
        ("   ", 1, 4, "the pipeline is empty"),
        ("cse", 1, 1, r"builtin.module\(cse\)"),
        ("builtin.module", 1, 1, "expected pass pipeline to be wrapped"),
        ("builtin.module()x", 1, 17, "expected ','"),
        ("builtin.module(),any()", 1, 18, "nothing behind it"),
        ("builtin.module(cse,,sccp)", 1, 20, "'' does not refer"),
        ("builtin.module(,cse)", 1, 16, "'' does not refer"),
        ("builtin.module(\n  func.func(\n    oops\n  )\n)", 3, 5, "'oops' does not refer"),
        ("builtin.module(" + "any(" * 200 + ")" * 201, 1, 412, "nested more than 100 deep"),
        ("builtin.module(inline{default-pipeline=sdy-export-pipeline})", 1, 40, "is a pass pipeline"),
        (
            "builtin.module(inline{op-pipelines=func.func(cse,csx)})",
            1,
            50,
            "^'csx' does not refer to a registered pass",
        ),
        (
            "builtin.module(\n  inline{op-pipelines={func.func(cse), a.csx(\n cse, csx)}})",
            3,
            7,
            "^'csx' does not refer",
        ),
        ("builtin.module(inline{op-pipelines=func.func(cse,)})", 1, 50, "^'' does not refer"),
        ("builtin.module(composite-fixed-point-pass{pipeline=cse,csx,csx})", 1, 56, "^'csx' does not refer"),
        (
            "builtin.module(inline{op-pipelines=no.op(cse),func.func(canonicalize{nope=1})})",
            *(1, 57, "^pass 'canonicalize': no such option nope"),
        ),
        (
            "builtin.module(inline{op-pipelines=no.op(cse,mhlo-flatten-tuple)})",
            *(1, 46, "^pass 'mhlo-flatten-tuple': Can't add pass 'FlattenTuplePass' restricted to 'func.func'"),
        ),
    ],
)
def test_faults_of_whole_texts(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert re.search(message, caught.value.diagnostics[0].message)
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert (location.line, location.column) == (line, column)


@given(st.text(st.sampled_from("ab,(){}=' \"\n"), max_size=30))
@settings(max_examples=200, deadline=None)
def test_garbage_is_a_fault_or_a_pipeline(text: str) -> None:
    try:
        pipeline = parse_pipeline(text)
    except PipelineError as error:
        location = error.diagnostics[0].location
        assert location is not None
        assert location.line >= 1
        assert location.column >= 1
    else:
        assert isinstance(pipeline, Pipeline)


# --- the grammar of options, after mlir's PassOptions::parseFromString ------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1 b=2", {"a": "1", "b": "2"}),
        ("  a=1\tb=2 ", {"a": "1", "b": "2"}),
        ("flag", {"flag": ""}),
        ("a='x y' b=\"p,q\"", {"a": "x y", "b": "p,q"}),
        ("a={x y} b={{z}}", {"a": "x y", "b": "{z}"}),
        ("p=func.func(cse{a=b c=d},x)", {"p": "func.func(cse{a=b c=d},x)"}),
        ("a=x'y z'w", {"a": "x'y z'w"}),
        ("a=", {"a": ""}),
        ("a=b=c", {"a": "b=c"}),
    ],
)
def test_option_grammar(text: str, expected: dict[str, str]) -> None:
    assert {option.key: option.value for option in parse_options(Source(text), 0, len(text))} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b", ["a", "b"]),
        ("a", ["a"]),
        ("a,", ["a", ""]),
        ("{a,b},c", ["a,b", "c"]),
        ("'a,b',\"c\"", ["a,b", "c"]),
        ("f(x{a,b}),c", ["f(x{a,b})", "c"]),
    ],
)
def test_lists(text: str, expected: list[str]) -> None:
    parts = split_list(text)
    assert [part for part, _ in parts] == expected
    assert all(text[offset : offset + len(part)] == part for part, offset in parts)


@given(values)
@settings(max_examples=300, deadline=None)
def test_quote_is_undone_by_unwrap(value: str) -> None:
    assert unwrap(quote(value))[0] == value


def test_a_value_that_cannot_be_said() -> None:
    with pytest.raises(PipelineError, match="braces or quotes do not balance"):
        quote("}'\"")
