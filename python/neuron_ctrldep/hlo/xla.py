"""XLA's own HLO parser and printer, in a child process.

Malformed input can end the process it is given to: XLA checks some of its rules by aborting. A child that dies is a
fault of the input, and is reported as one. The parent never loads XLA for HLO, which also keeps the tools quick.
"""

from __future__ import annotations

import re

from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation
from neuron_ctrldep.hlo.child import Child, RequestError, or_new


def text_to_proto(text: str, file: str = "-", *, child: Child | None = None) -> bytes:
    """Parse HLO text.

    Args:
        text: one HLO module.
        file: what messages call it.
        child: the process to parse in; a new one by default.

    Returns:
        The module as a serialized ``HloModuleProto``.

    Raises:
        InputError: XLA refuses the text, or dies on it; with line and column where XLA names them.
    """
    data = text.encode("utf-8")
    with or_new(child) as process:
        try:
            return process.parse(data)
        except RequestError as failure:
            if failure.kind == "refused":
                raise _refused(failure.message, file, text) from failure
            line = _deadly_line(data, process) if failure.kind == "died" else 0
            raise _ended(failure, "parsing the text", SourceLocation(file, line), text) from failure


def proto_to_text(proto: bytes, file: str = "-", *, child: Child | None = None) -> str:
    """Print a serialized ``HloModuleProto`` as HLO text.

    Args:
        proto: the module.
        file: what messages call it.
        child: the process to print in; a new one by default.

    Raises:
        InputError: XLA refuses the module, or dies on it.
    """
    with or_new(child) as process:
        try:
            return process.print(proto).decode("utf-8", "replace")
        except RequestError as failure:
            if failure.kind == "refused":
                raise _refused(failure.message, file, None) from failure
            raise _ended(failure, "reading the module", SourceLocation(file), None) from failure


def _ended(failure: RequestError, doing: str, location: SourceLocation, source: str | None) -> InputError:
    if failure.kind == "timeout":
        return InputError(f"XLA does not end while {doing}: {failure.message}", location=location, source=source)
    message = f"XLA ended the process while {doing} ({failure.message})"
    return InputError(
        f"{message}; the module breaks a rule that XLA checks by aborting", location=location, source=source
    )


def _deadly_line(text: bytes, child: Child) -> int:
    """The last line of the shortest beginning of ``text`` that XLA dies on."""
    lines = text.split(b"\n")
    survived, deadly = 0, len(lines)
    while deadly - survived > 1:
        middle = (survived + deadly) // 2
        try:
            child.parse(b"\n".join(lines[:middle]))
            survived = middle
        except RequestError as failure:
            survived, deadly = (survived, middle) if failure.kind == "died" else (middle, deadly)
    return deadly


# XLA: "was parsing 17:2: error: expects name", the source line, a caret; several of these, the innermost first.
_POSITIONED = re.compile(r"^was parsing (\d+):(\d+): error: (.*)$", re.MULTILINE)
_STATUS = re.compile(r"^(?:[A-Z_]+: )?(?:Syntax error when trying to parse the text as a HloModule:\s*)?")
# "RET_CHECK failure (external/xla/xla/hlo/ir/hlo_instruction.cc:376) condition message": where in XLA is of no use.
_RET_CHECK = re.compile(r"RET_CHECK failure \([^)]*\)\s*")


def _refused(message: str, file: str, source: str | None) -> InputError:
    """XLA's message in the house form."""
    found = [
        Diagnostic("error", text.rstrip(":"), SourceLocation(file, int(line), int(column)))
        for line, column, text in _POSITIONED.findall(message)
    ]
    if found:
        first, *rest = found
        notes = tuple(Diagnostic("note", d.message, d.location) for d in rest)
        return InputError(
            diagnostics=[Diagnostic("error", f"XLA refuses the text: {first.message}", first.location, notes)],
            source=source,
        )
    text = _RET_CHECK.sub("", _STATUS.sub("", message.strip())).strip()
    first_line = text.splitlines()[0].strip() if text else "no reason given"
    return InputError(f"XLA refuses the module: {first_line}", location=SourceLocation(file))
