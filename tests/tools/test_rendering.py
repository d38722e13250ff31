"""How faults look: the source line, the caret, notes."""

from __future__ import annotations

import pytest

from neuron_ctrldep.errors import Diagnostic, SourceLocation, excerpt
from neuron_ctrldep.mlir import collect_diagnostics, ir, make_context
from neuron_ctrldep.tools.common import render_diagnostic


def at(line: int, column: int, file: str = "in") -> SourceLocation:
    return SourceLocation(file, line, column)


@pytest.mark.parametrize(
    ("row", "column", "length", "expected"),
    [
        ("abc", 2, 1, ["abc", " ^"]),
        ("abc", 2, 2, ["abc", " ^~"]),
        ("abc", 2, 9, ["abc", " ^~"]),  # no further than the line
        ("abc", 4, 1, ["abc", "   ^"]),  # right behind the line: something is missing there
        ("abc", 5, 1, []),
        ("abc", 0, 1, ["abc"]),
        ("a\tb\tc", 3, 1, ["a       b       c", "        ^"]),
        ("\t\tx", 3, 1, ["                x", "                ^"]),
        ("abc\r", 3, 1, ["abc", "  ^"]),
        ("", 1, 1, ["", "^"]),
        ("x" * 1000, 1000, 1, ["x" * 200 + "x", " " * 200 + "^"]),
    ],
)
def test_excerpts(row: str, column: int, length: int, expected: list[str]) -> None:
    assert excerpt(f"\n{row}\n", at(2, column), length) == expected


def test_a_note_at_the_same_place_does_not_repeat_the_line() -> None:
    notes = (
        Diagnostic("note", "here", at(1, 1)),
        Diagnostic("note", "there", at(2, 1)),
        Diagnostic("note", "too", at(2, 1)),
    )
    diagnostic = Diagnostic("error", "bad", at(1, 1), notes)
    expected = [
        "in:1:1: error: bad",
        "one",
        "^",
        "in:1:1: note: here",
        "in:2:1: note: there",
        "two",
        "^",
        "in:2:1: note: too",
    ]
    assert diagnostic.render("one\ntwo").split("\n") == expected
    assert render_diagnostic(diagnostic, {"in": "one\ntwo"}.get).split("\n") == expected


def test_columns_of_mlir_count_bytes() -> None:
    diagnostic = Diagnostic("error", "bad", at(1, 6))
    assert render_diagnostic(diagnostic, {"in": "é = x"}.get).split("\n") == ["in:1:6: error: bad", "é = x", "    ^"]


def test_no_place() -> None:
    assert render_diagnostic(Diagnostic("error", "bad"), {}.get) == "<unknown>:0: error: bad"


@pytest.mark.parametrize(
    ("location", "place", "message", "callers"),
    [
        ('loc("f":1:2)', at(1, 2, "f"), "bad", []),
        ("loc(unknown)", None, "bad", []),
        ('loc("name")', None, 'loc("name"): bad', []),
        ('loc("name"("f":1:2))', at(1, 2, "f"), "bad", []),
        ('loc(callsite("f":1:2 at "g":3:4))', at(1, 2, "f"), "bad", [at(3, 4, "g")]),
        ('loc(callsite("f":1:2 at unknown))', at(1, 2, "f"), "bad", []),
        (
            'loc("a at b"(callsite(callsite("f":1:2 at "in":9:9) at callsite("x)("("g":3:4) at "h at":5:6))))',
            at(1, 2, "f"),
            "bad",
            [at(3, 4, "g"), at(5, 6, "h at")],
        ),
        ('loc(fused[callsite("f":1:2 at "g":3:4)])', at(1, 2, "f"), "bad", [at(3, 4, "g")]),
    ],
)
def test_locations_of_mlir(
    location: str, place: SourceLocation | None, message: str, callers: list[SourceLocation]
) -> None:
    context = make_context()
    with collect_diagnostics(context) as found:
        ir.Module.parse(f"module {{}} {location}", context=context).operation.location.emit_error("bad")
    assert (found[0].location, found[0].message) == (place, message)
    assert [note.location for note in found[0].notes] == callers
    assert {note.message for note in found[0].notes} <= {"called from"}
