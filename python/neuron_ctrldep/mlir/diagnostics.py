"""Locations and diagnostics of the bindings in the words of :mod:`neuron_ctrldep.errors`."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

from neuron_ctrldep.errors import Diagnostic, Severity, SourceLocation
from neuron_ctrldep.mlir.bindings import ir

_FILE_LOCATION = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def source_location(location: ir.Location) -> SourceLocation | None:
    """The first file, line and column inside ``location``; ``None`` when it holds none.

    The bindings hand out plain ``Location`` objects from diagnostics, so the printed form is what both versions share.
    """
    match = _FILE_LOCATION.search(str(location))
    return None if match is None else _place(match)


def _place(match: re.Match[str]) -> SourceLocation:
    return SourceLocation(unescape(match[1]), int(match[2]), int(match[3]))


_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)


def unescape(text: str) -> str:
    """The string that MLIR prints as ``text`` between quotes; bytes that are not UTF-8 stay visible in hexadecimal."""
    data = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if len(m[1]) == 2 else m[1], text.encode())
    return data.decode("utf-8", "backslashreplace")


def text_of(attribute: ir.StringAttr | ir.FlatSymbolRefAttr) -> str:
    """The value of a string or symbol; bytes that are not UTF-8, on which the bindings raise, stay visible."""
    if isinstance(attribute, ir.StringAttr):
        return attribute.value_bytes.decode("utf-8", "backslashreplace")
    try:
        return attribute.value
    except (UnicodeDecodeError, RuntimeError):
        return unescape(str(attribute).removeprefix("@").strip('"'))


_LOCATION_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"(?!:\d)')


def location_names(location: ir.Location) -> list[str]:
    """The names a location holds, outermost first: XLA's importer puts the HLO name or the ``op_name`` there."""
    text = str(location)
    if "\\" in text:
        # Asking for a name or a file with bytes that are not UTF-8 ends the process; the printed form escapes them.
        return [unescape(match[1]) for match in _LOCATION_NAME.finditer(text)]
    return _names_in(location)


def _names_in(location: ir.Location) -> list[str]:
    if isinstance(location, ir.NameLoc):
        return [location.name_str, *_names_in(location.child_loc)]
    if isinstance(location, ir.FusedLoc):
        return [name for inner in location.locations for name in _names_in(inner)]
    if isinstance(location, ir.CallSiteLoc):
        return _names_in(location.callee)
    return []


def _severity(value: Any) -> Severity:
    name = str(value).rsplit(".", 1)[-1].lower()
    return name if name in ("error", "warning", "remark", "note") else "error"  # type: ignore[return-value]


CALLED_FROM = "called from"
"""The note for a caller, where the location of a diagnostic is a call site; mlir-opt's."""

_MOST_CALLERS = 10

_CURRENT_OPERATION = re.compile(r"(?:loc\(.*\): )?see current operation: ")


def is_current_operation(note: Diagnostic) -> bool:
    """Whether this is the note with the op that MLIR attaches to every diagnostic of one."""
    return _CURRENT_OPERATION.match(note.message) is not None


def _diagnostic(info: Any) -> Diagnostic:
    found = _message(info)
    callers = tuple(Diagnostic("note", CALLED_FROM, caller) for caller in _callers(str(info.location)))
    return dataclasses.replace(found, notes=(*callers, *(_message(note) for note in info.notes)))


def _message(info: Any) -> Diagnostic:
    location, message = source_location(info.location), info.message
    text = str(info.location)
    if location is None and text != "loc(unknown)":
        message = f"{text}: {message}"  # as mlir-opt shows names, which is all there is
    return Diagnostic(_severity(info.severity), message, location)


_IN_CALL_SITE = re.compile(r'"(?:[^"\\]|\\.)*"|callsite\(|[()\[\]]| at ')


def _callers(location: str) -> Iterator[SourceLocation]:
    """Where the callers are, in the printed form of a location: ``loc(callsite(callee at caller))``."""
    text = location
    for _ in range(_MOST_CALLERS):
        depth = start = 0
        for match in _IN_CALL_SITE.finditer(text):
            token = match[0]
            if token == "callsite(" or (depth and token in "(["):
                depth += 1
            elif depth and token in ")]":
                depth -= 1
                if not depth:
                    text = text[start : match.start()]
                    break
            elif depth == 1 and token == " at ":
                start = match.end()
        else:
            return
        caller = _FILE_LOCATION.search(text)
        if caller is not None:
            yield _place(caller)


@contextlib.contextmanager
def collect_diagnostics(
    context: ir.Context, *, report: Callable[[Diagnostic], None] | None = None
) -> Iterator[list[Diagnostic]]:
    """Within the block, diagnostics of ``context`` are collected in the list it yields instead of being printed.

    Args:
        context: whose diagnostics.
        report: takes each as it is emitted, too.
    """
    found: list[Diagnostic] = []

    def handler(diagnostic: Any) -> bool:
        try:
            # DiagnosticInfo copies; the diagnostic itself dies when this callback returns.
            found.append(_diagnostic(ir.DiagnosticInfo(diagnostic)))
        except (UnicodeDecodeError, RuntimeError):
            message = "the message holds a name with bytes that are not UTF-8 and cannot be shown"
            found.append(Diagnostic(_severity(diagnostic.severity), message, source_location(diagnostic.location)))
        if report is not None:
            report(found[-1])
        return True

    attached = context.attach_diagnostic_handler(handler)
    try:
        yield found
    finally:
        attached.detach()
