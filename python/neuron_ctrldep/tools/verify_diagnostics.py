"""``--verify-diagnostics``: compare the diagnostics of a run with the ``expected-*`` comments of its input.

The comments are MLIR's (``SourceMgrDiagnosticVerifierHandler``): ``// expected-error @+1 {{text}}`` and alike with
``error``, ``warning``, ``remark`` or ``note``; the place is the comment's own line, ``@+N``, ``@-N``, ``@above``,
``@below`` or ``@unknown``; with ``-re``, ``{{…}}`` inside the text is a regular expression.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from neuron_ctrldep.errors import Diagnostic, SourceLocation
from neuron_ctrldep.mlir.diagnostics import CALLED_FROM, is_current_operation

_EXPECTED = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}[ \t\r]*$"
)


@dataclass(slots=True)
class Expected:
    """One ``expected-*`` comment. ``line`` is ``None`` for ``@unknown``."""

    kind: str
    text: str
    line: int | None
    location: SourceLocation
    pattern: re.Pattern[str] | None = None
    matched: bool = False

    def fault(self, message: str) -> Diagnostic:
        """``message`` about this comment; as many characters are marked as the text has, as mlir-opt does."""
        return Diagnostic("error", message, self.location, length=len(self.text))

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether ``diagnostic`` is at this place and holds the text; of whatever severity."""
        location = diagnostic.location
        if location is None:
            here = self.line is None
        else:
            here = location.file == self.location.file and location.line == self.line
        if not here or self.pattern is None:
            return here and self.text in diagnostic.message
        return self.pattern.search(diagnostic.message) is not None


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
                reason = next(
                    (words for start, words in _REGEX_FAULTS.items() if error.msg.startswith(start)), error.msg
                )
                yield expected.fault(f"invalid regex: {reason}")
                continue
        place = match["place"]
        if place == "below":
            pending.append(expected)
            continue
        if place == "unknown":
            expected.line = None
        elif place == "above":
            expected.line = last_code
        elif place:
            expected.line = number + int(place)
        yield expected
    yield from _resolved(pending, len(lines) + 1)


def _resolved(pending: Iterable[Expected], line: int) -> Iterator[Expected]:
    for expected in pending:
        expected.line = line
        yield expected


_CLASSES = {
    "[:digit:]": "0-9",
    "[:alpha:]": "a-zA-Z",
    "[:alnum:]": "a-zA-Z0-9",
    "[:blank:]": r" \t",
    "[:cntrl:]": r"\x00-\x1f\x7f",
    "[:graph:]": "!-~",
    "[:lower:]": "a-z",
    "[:print:]": " -~",
    "[:punct:]": r"!-/:-@\[-`{-~",
    "[:space:]": r"\s",
    "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9a-fA-F",
}
"""Character classes of POSIX, which LLVM's regular expressions are, as Python spells them."""


_REGEX_FAULTS = {
    "unterminated character set": "brackets ([ ]) not balanced",
    "missing )": "parentheses not balanced",
    "unbalanced parenthesis": "parentheses not balanced",
    "nothing to repeat": "repetition-operator operand invalid",
    "multiple repeat": "repetition-operator operand invalid",
}
"""What LLVM says, by what Python says."""


def _regex(text: str) -> str:
    parts = re.split(r"\{\{(.*?)\}\}", text)
    for posix, python in _CLASSES.items():
        parts[1::2] = [part.replace(posix, python) for part in parts[1::2]]
    return "".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))


def _is_added(note: Diagnostic) -> bool:
    """Whether MLIR attaches ``note`` by itself for people to read; mlir-opt does without when it verifies."""
    return is_current_operation(note) or note.message == CALLED_FROM


def check(
    source: str, file: str, diagnostics: Iterable[Diagnostic], *, only_expected: bool = False, notes: bool = True
) -> list[Diagnostic]:
    """The faults: diagnostics that no comment expects, and comments that no diagnostic matches.

    Args:
        source: the input with the comments.
        file: its name in the locations of the diagnostics.
        diagnostics: what the run emitted; notes count by themselves.
        only_expected: let unexpected diagnostics pass.
        notes: expect the notes that comments ask for.
    """
    faults: list[Diagnostic] = []
    expected: list[Expected] = []
    for found in find_expected(source, file):
        if isinstance(found, Expected):
            if notes or found.kind != "note":
                expected.append(found)
        else:
            faults.append(found)
    for diagnostic in itertools.chain.from_iterable(d.parts() for d in diagnostics):
        if _is_added(diagnostic):
            continue
        matching = [e for e in expected if e.matches(diagnostic)]
        exact = next((e for e in matching if e.kind == diagnostic.severity), None)
        if exact is not None:
            # One comment may stand for several equal diagnostics.
            exact.matched = True
        elif only_expected:
            continue
        elif matching:
            near = matching[-1]
            message = f"'{diagnostic.severity}' diagnostic emitted when expecting a '{near.kind}'"
            faults.append(Diagnostic("error", message, near.location))
        else:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            faults.append(Diagnostic("error", message, diagnostic.location))
    for missing in expected:
        if not missing.matched:
            faults.append(missing.fault(f'expected {missing.kind} "{missing.text}" was not produced'))
    return faults
