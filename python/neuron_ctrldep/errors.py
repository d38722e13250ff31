"""Faults of an input, in one form: ``file:line:column: severity: message``, the source line, a caret, notes.

Every function of the package reports a fault of what it was given by raising :class:`CtrlDepError` (or a subclass) that
holds :class:`Diagnostic` objects. Only the tools render them; nothing else prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

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

    def render(self, source: str | None = None) -> str:
        """The message as the tools print it.

        Args:
            source: the text that ``location`` counts lines in; its line and a caret are shown when it is given.
        """
        where = f"{self.location}: " if self.location is not None else ""
        lines = [f"{where}{self.severity}: {self.message}"]
        if source is not None and self.location is not None and self.location.line:
            lines += excerpt(source, self.location)
        for note in self.notes:
            lines.append(note.render(source))
        return "\n".join(lines)


_LONGEST_ROW = 400
"""Characters of a source line that are shown, around the column: whole programs come on one line."""


def excerpt(source: str, location: SourceLocation) -> list[str]:
    """The source line at ``location`` and a caret below it; nothing when the source has no such line."""
    rows = source.split("\n")
    if not 0 < location.line <= len(rows):
        return []
    row = rows[location.line - 1].rstrip("\r")
    column = location.column
    if len(row) > _LONGEST_ROW:
        start = max(0, column - 1 - _LONGEST_ROW // 2)
        row, column = row[start : start + _LONGEST_ROW], max(0, column - start)
    if not column:
        return [row]
    # Tabs are kept in the padding so that the caret stands below its column on a terminal.
    padding = "".join("\t" if c == "\t" else " " for c in row[: column - 1])
    return [row, padding + "^"]


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

    def render(self) -> str:
        """All diagnostics as the tools print them."""
        return "\n".join(d.render(self.source) for d in self.diagnostics)


class InputError(CtrlDepError):
    """The input is malformed: it does not parse, does not verify, or breaks a rule of a specification."""


class PipelineError(CtrlDepError):
    """A pass pipeline is malformed, or names a pass or an option that does not exist."""


class PassError(CtrlDepError):
    """A pass cannot do what it was asked on this module; the module is unchanged unless it says otherwise."""
