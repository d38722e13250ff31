"""``--verify-diagnostics``: compare the diagnostics of a run with the ``expected-*`` comments of its input.

The comments are MLIR's (``SourceMgrDiagnosticVerifierHandler``): ``// expected-error @+1 {{text}}`` and alike with
``error``, ``warning``, ``remark`` or ``note``; the place is the comment's own line, ``@+N``, ``@-N``, ``@above``,
``@below`` or ``@unknown``; with ``-re``, ``{{…}}`` inside the text is a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from neuron_ctrldep.errors import Diagnostic, SourceLocation

_EXPECTED = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}[ \t\r]*$"
)


@dataclass(slots=True)
class Expected:
    """One ``expected-*`` comment. ``line`` is 0 for ``@unknown``."""

    kind: str
    text: str
    line: int
    location: SourceLocation
    pattern: re.Pattern[str] | None = None
    matched: bool = False

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether ``diagnostic`` is of this kind, at this place, and holds the text."""
        location = diagnostic.location
        line = location.line if location is not None and location.file == self.location.file else 0
        if diagnostic.severity != self.kind or line != self.line:
            return False
        if self.pattern is not None:
            return self.pattern.search(diagnostic.message) is not None
        return self.text in diagnostic.message


def find_expected(source: str, file: str) -> Iterator[Expected | Diagnostic]:
    """The comments in ``source``; a malformed one comes as the diagnostic that says so."""
    lines = source.split("\n")
    last_code = 0
    pending: list[Expected] = []
    for number, row in enumerate(lines, 1):
        match = _EXPECTED.search(row)
        if match is None:
            yield from _resolved(pending, number)
            pending = []
            last_code = number
            continue
        expected = Expected(match["kind"], match["text"], number, SourceLocation(file, number, match.start() + 1))
        if match["regex"]:
            try:
                expected.pattern = re.compile(_regex(match["text"]))
            except re.error as error:
                yield Diagnostic("error", f"invalid regex: {error}", expected.location)
                continue
        place = match["place"]
        if place == "below":
            pending.append(expected)
            continue
        if place == "unknown":
            expected.line = 0
        elif place == "above":
            expected.line = last_code
        elif place:
            expected.line += int(place)
        yield expected
    yield from _resolved(pending, len(lines) + 1)


def _resolved(pending: Iterable[Expected], line: int) -> Iterator[Expected]:
    for expected in pending:
        expected.line = line
        yield expected


def _regex(text: str) -> str:
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))


def check(
    source: str, file: str, diagnostics: Iterable[Diagnostic], *, only_expected: bool = False
) -> list[Diagnostic]:
    """The faults: diagnostics that no comment expects, and comments that no diagnostic matches.

    Args:
        source: the input with the comments.
        file: its name in the locations of the diagnostics.
        diagnostics: what the run emitted; notes count by themselves.
        only_expected: let unexpected diagnostics pass.
    """
    faults: list[Diagnostic] = []
    expected: list[Expected] = []
    for found in find_expected(source, file):
        if isinstance(found, Expected):
            expected.append(found)
        else:
            faults.append(found)
    for diagnostic in _flat(diagnostics):
        match = next((e for e in expected if not e.matched and e.matches(diagnostic)), None)
        if match is not None:
            match.matched = True
        elif not only_expected:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            faults.append(Diagnostic("error", message, diagnostic.location))
    for missing in expected:
        if not missing.matched:
            message = f'expected {missing.kind} "{missing.text}" was not produced'
            faults.append(Diagnostic("error", message, missing.location))
    return faults


def _flat(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from _flat(diagnostic.notes)
