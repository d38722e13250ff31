"""Chunks, expected diagnostics and reproducers, as functions; the lit tests show them whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import Diagnostic, InputError, Severity, SourceLocation
from neuron_ctrldep.passes.metadata import (
    ExternalResources,
    external_entries,
    external_resources,
    quoted,
    unquoted,
    with_external_resources,
)
from neuron_ctrldep.passes.reproducer import Reproducer, read_reproducer
from neuron_ctrldep.tools.split import near_misses, split_input
from neuron_ctrldep.tools.verify_diagnostics import check


@given(st.text(st.sampled_from("ab \n#-"), max_size=40))
@settings(deadline=None)
def test_chunks_keep_their_place(text: str) -> None:
    chunks = list(split_input(text, "##"))
    parts = text.split("##")
    if len(parts) > 1 and not parts[-1]:
        parts.pop()  # a marker at the very end has nothing behind it
    assert [chunk.strip("\n ") for chunk in chunks] == [part.strip("\n ") for part in parts]
    for chunk in chunks:
        for number, row in enumerate(chunk.split("\n")):
            for column, character in enumerate(row):
                if not character.isspace():
                    assert text.split("\n")[number][column] == character


def test_near_misses() -> None:
    text = "// -----\n// ----\n  // ---  \n// --\nx // ---- y // --- z\n//-----\n// -------\n"
    assert list(near_misses(text, "// -----")) == [(2, 7), (3, 9), (5, 9), (5, 19)]
    assert list(near_misses("--\n- -", "---")) == [(1, 2), (1, 3), (2, 2), (2, 4)]
    assert list(near_misses("-- -", "--")) == []


def at(line: int | None, message: str, severity: Severity = "error", *, file: str = "in") -> Diagnostic:
    return Diagnostic(severity, message, None if line is None else SourceLocation(file, line, 1))


def faults(source: str, *diagnostics: Diagnostic, only_expected: bool = False) -> list[str]:
    found = check(source, "in", diagnostics, only_expected=only_expected)
    return [f"{fault.location}: {fault.message}" for fault in found]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x // expected-error {{text}}", 1),
        ("// expected-error @+2 {{text}}\n\nx", 3),
        ("x\n\n// expected-error@-2{{text}}", 1),
        ("x\n// expected-note @above {{see}}\n// expected-error @above {{text}}", 1),
        ("// expected-error @below {{text}}\n// expected-note @below {{see}}\nx", 3),
        ("# expected-error @unknown {{text}}", None),
        ("// expected-error-re {{t{{[a-z]}}xt{{$}}}}", 1),
        ("// expected-error-re @+0 {{[{{[[:alpha:]]+}}}}", 1),
    ],
)
def test_places(source: str, line: int | None) -> None:
    diagnostics = [at(line, "some [text" if "alpha" in source else "some text")]
    if "note" in source:
        diagnostics.append(at(line, "see there", "note"))
    assert faults(source, *diagnostics) == []
    wrong = 7 if line is None else None
    assert faults(source, *(at(wrong, d.message, d.severity) for d in diagnostics)) != []


def test_one_comment_stands_for_equal_diagnostics() -> None:
    assert faults("x // expected-error {{text}}", at(1, "text"), at(1, "text")) == []


def test_what_is_missing_and_what_is_too_much() -> None:
    source = "x // expected-error {{text}}\ny"
    assert faults(source) == ['in:1:6: expected error "text" was not produced']
    assert faults(source, at(1, "text"), at(2, "more", "warning")) == ["in:2:1: unexpected warning: more"]
    assert faults(source, at(1, "text"), at(2, "more"), only_expected=True) == []
    assert faults(source, at(1, "text", file="other")) == [
        "other:1:1: unexpected error: text",
        'in:1:6: expected error "text" was not produced',
    ]
    assert faults(source, at(1, "text", "remark"))[0] == "in:1:6: 'remark' diagnostic emitted when expecting a 'error'"


def test_notes_count_but_those_that_mlir_adds() -> None:
    noted = Diagnostic("error", "text", SourceLocation("in", 1, 1), (at(1, "see there", "note"),))
    assert faults("x // expected-error {{text}}", noted) == ["in:1:1: unexpected note: see there"]
    current = Diagnostic("error", "text", SourceLocation("in", 1, 1), (at(1, "see current operation: x", "note"),))
    assert faults("x // expected-error {{text}}", current) == []


def test_regular_expressions_that_do_not_compile() -> None:
    assert faults("// expected-error-re {{a{{(}}}}")[0].startswith("in:1:4: invalid regex: ")


# --- reproducers ------------------------------------------------------------------------------------------------------


@given(st.text(max_size=30), st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_reproducers_read_back(pipeline: str, disable_threading: bool, verify_each: bool) -> None:
    reproducer = Reproducer(pipeline, disable_threading, verify_each)
    assert read_reproducer(reproducer.render("module {}")) == reproducer


def test_a_reproducer_is_mlir() -> None:
    text = Reproducer('builtin.module(cse{a="é\\\n"})').render("module {}")
    assert mlir.parse_module(text).name == "builtin.module"


@pytest.mark.parametrize(
    "text",
    [
        "module {}",
        '// {-# external_resources: { mlir_reproducer: { pipeline: "x" } } #-}',
        'module attributes {a.b = "{-# mlir_reproducer: { pipeline: 1 } #-}"} {}',
        "{-# dialect_resources: {} #-}",
    ],
)
def test_what_is_no_reproducer(text: str) -> None:
    assert read_reproducer(text) is None


@pytest.mark.parametrize(
    ("metadata", "line", "column", "message"),
    [
        ("mlir_reproducer: {\n  pipeline: true }", 2, 13, "expected string value for key 'pipeline'"),
        ('mlir_reproducer: {\n  verify_each: "x" }', 2, 16, "expected 'true' or 'false' value for key 'verify_each'"),
        (
            'mlir_reproducer: { // }\n  pipeline: "x", key: true }',
            2,
            18,
            "unknown 'mlir_reproducer' resource key 'key'",
        ),
    ],
)
def test_malformed_reproducers(metadata: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_reproducer("{-# external_resources: { " + metadata + " } #-}")
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert (location.line, location.column) == (line, column)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("external_resources: { a: { k: true } }", {"a": {"k": "true"}}),
        (
            'external_resources: { a: { k: "x" }, b: { l: "0xab", m: "\\n\\22" } }',
            {"a": {"k": '"x"'}, "b": {"l": '"0xAB"', "m": '"\\0A\\22"'}},
        ),
        ('dialect_resources: { a: { k: "x" } }', {}),
        ('external_resources: { a: { "odd key": "{ } : ," // c: "d"\n } }', {"a": {'"odd key"': '"{ } : ,"'}}),
        ("external_resources: { a: { } }", {"a": {}}),
        ("", {}),
    ],
)
def test_external_resources(metadata: str, expected: ExternalResources) -> None:
    assert external_resources("module {} // {-#\n{-#" + metadata + "#-}") == expected


def test_resources_go_behind_those_of_dialects() -> None:
    resources = {"a": {"k": "true", "long": '"12345"'}, "b": {"l": '"123456"'}}
    assert with_external_resources("module {}", {}) == "module {}"
    assert with_external_resources("module {}", {"a": {}}) == "module {}"
    printed = "module {}\n\n{-#\n  dialect_resources: {\n  }\n#-}"
    group = "  external_resources: {\n    a: {\n      k: true\n    }\n  }\n#-}"
    assert with_external_resources(printed, resources, limit=6) == printed.removesuffix("\n#-}") + ",\n" + group
    # All of the dialects' was too long: MLIR prints empty metadata then.
    assert with_external_resources("module {}\n\n{-#\n\n#-}", resources, limit=6) == "module {}\n\n{-#\n" + group


def test_a_reproducer_with_comments() -> None:
    text = """{-# external_resources: { // {
        mlir_reproducer: { verify_each: false, // }
            // pipeline: "no"
            pipeline: "any(cse)" } } #-}"""
    assert read_reproducer(text) == Reproducer("any(cse)", verify_each=False)
    assert read_reproducer("{-# external_resources: { mlir_reproducer: { } } #-}") == Reproducer()


@given(
    st.lists(st.sampled_from(["{-#", "#-}", "external_resources", "a", ":", "{", "}", ",", '"x"', "//", "\n", "true"]))
)
def test_any_text_has_its_resources(words: list[str]) -> None:
    # The tools ask before MLIR's parser has seen the text.
    assert isinstance(external_resources(" ".join(words)), dict)
    assert all(isinstance(entry.owner, str) for entry in external_entries(" ".join(words)))


@given(st.binary(max_size=20))
def test_strings_of_mlir_read_back(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    assert unquoted(quoted(text)) == text
