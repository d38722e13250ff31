"""Faults of an input, in one form: ``file:line:column: severity: message``, the source line, a caret, notes.

Every function of the package reports a fault of what it was given by raising :class:`CtrlDepError` (or a subclass) that
holds :class:`Diagnostic` objects. Only the tools render them; nothing else prints.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in an input. ``line`` and ``column`` count from 1; 0 means unknown.

    ``name`` names the instruction or operation where there is no line (a protobuf has none).
    """

    file: str = "-"
    line: int = 0
    column: int = 0
    name: str = ""

    def __str__(self) -> str:
        text = self.file
        if self.line:
            text += f":{self.line}:{self.column}" if self.column else f":{self.line}"
        return text


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about one place. ``location`` is ``None`` where no place is known."""

    severity: Severity
    message: str
    location: SourceLocation | None = None
    notes: tuple[Diagnostic, ...] = ()
    length: int = 1
    """How many characters from the column on the message is about."""

    def render(self, source: str | None = None) -> str:
        """The message as the tools print it.

        Args:
            source: the text that ``location`` counts lines in; its line and a caret are shown when it is given, below
                a note only where the note is at another place than what stands above it.
        """
        lines: list[str] = []
        above: SourceLocation | None = None
        for part in self.parts():
            where = f"{part.location}: " if part.location is not None else ""
            lines.append(f"{where}{part.severity}: {part.message}")
            if source is not None and part.location is not None and part.location != above:
                lines += excerpt(source, part.location, part.length)
            above = part.location
        return "\n".join(lines)

    def parts(self) -> Iterator[Diagnostic]:
        """The diagnostic itself and then its notes, in the order they are shown."""
        yield self
        for note in self.notes:
            yield from note.parts()


_LONGEST_ROW = 400
"""Characters of a source line that are shown, around the column: whole programs come on one line."""

_TAB_STOP = 8


def excerpt(source: str, location: SourceLocation, length: int = 1) -> list[str]:
    """The source line at ``location`` and a caret below it; nothing when the source has no such place.

    Args:
        source: the text.
        location: a column of 0 shows the line alone.
        length: how many characters are marked, from the column on.
    """
    rows = source.split("\n")
    if not 0 < location.line <= len(rows):
        return []
    row = rows[location.line - 1].rstrip("\r")
    column = location.column
    if column > len(row) + 1:
        return []
    if len(row) > _LONGEST_ROW:
        start = max(0, column - 1 - _LONGEST_ROW // 2)
        row, column = row[start : start + _LONGEST_ROW], max(0, column - start)
    shown = row.expandtabs(_TAB_STOP)
    if not column:
        return [shown]
    padding = " " * len(row[: column - 1].expandtabs(_TAB_STOP))
    marked = min(length, len(row) + 1 - column)
    return [shown, padding + "^" + "~" * (marked - 1)]


class CtrlDepError(Exception):
    """Base of all faults this package reports.

    Args:
        message: what is wrong, what was expected, and what to do about it.
        location: where.
        notes: further diagnostics shown below the first.
        diagnostics: replaces the three above when several faults are reported at once.
        source: the text of the input, for the source line and the caret.
    """

    def __init__(
        self,
        message: str = "",
        *,
        location: SourceLocation | None = None,
        notes: Iterable[Diagnostic] = (),
        diagnostics: Iterable[Diagnostic] = (),
        source: str | None = None,
    ) -> None:
        given = tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = given or (Diagnostic("error", message, location, tuple(notes)),)
        self.source = source
        super().__init__("\n".join(d.render() for d in self.diagnostics))

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), diagnostics=self.diagnostics, source=self.source), ()

    def render(self) -> str:
        """All diagnostics as the tools print them."""
        return "\n".join(d.render(self.source) for d in self.diagnostics)


class InputError(CtrlDepError):
    """The input is malformed: it does not parse, does not verify, or breaks a rule of a specification."""


class PipelineError(CtrlDepError):
    """A pass pipeline is malformed, or names a pass or an option that does not exist."""


class PassError(CtrlDepError):
    """A pass cannot do what it was asked on this module; the module is unchanged unless it says otherwise."""
