"""XLA's own HLO parser and printer, each call in a child process.

Malformed input can end the process it is given to: XLA checks some of its rules by aborting. A child that dies is a
fault of the input, and is reported as one. The parent never loads XLA for HLO, which also keeps the tools quick.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation

_CHILD = "from neuron_ctrldep.hlo import xla; xla.serve()"


def text_to_proto(text: str, file: str = "-") -> bytes:
    """Parse HLO text.

    Args:
        text: one HLO module.
        file: what messages call it.

    Returns:
        The module as a serialized ``HloModuleProto``.

    Raises:
        InputError: XLA refuses the text, or dies on it; with line and column where XLA names them.
    """
    return _call("parse", text.encode("utf-8"), file, source=text)


def proto_to_text(proto: bytes, file: str = "-") -> str:
    """Print a serialized ``HloModuleProto`` as HLO text.

    Raises:
        InputError: XLA refuses the module, or dies on it.
    """
    return _call("print", proto, file, source=None).decode("utf-8", "replace")


def serve() -> None:
    """What the child runs: one task from ``argv``, its input on stdin; ``+result`` or ``-message`` on stdout."""
    # Only what the task needs: jaxlib.mlir would double the start-up of every tool that reads HLO.
    from jaxlib import _hlo

    data = sys.stdin.buffer.read()
    try:
        if sys.argv[1] == "parse":
            result = bytes(_hlo.hlo_module_from_text(data.decode("utf-8")).as_serialized_hlo_module_proto())
        else:
            result = _hlo.HloModule.from_serialized_hlo_module_proto(data).to_string().encode("utf-8")
        answer = b"+" + result
    except Exception as error:  # whatever the binding raises is XLA's answer
        answer = b"-" + str(error).encode("utf-8", "replace")
    sys.stdout.buffer.write(answer)


def _run(task: str, data: bytes) -> subprocess.CompletedProcess[bytes]:
    environment = dict(os.environ)
    # The child finds this package and jaxlib where the parent found them, however sys.path came about.
    environment["PYTHONPATH"] = os.pathsep.join(path or "." for path in sys.path)
    return subprocess.run(
        [sys.executable, "-c", _CHILD, task], input=data, capture_output=True, check=False, env=environment
    )


def _call(task: str, data: bytes, file: str, source: str | None) -> bytes:
    child = _run(task, data)
    if child.returncode == 0 and child.stdout[:1] == b"+":
        return child.stdout[1:]
    if child.returncode == 0 and child.stdout[:1] == b"-":
        raise _refused(child.stdout[1:].decode("utf-8", "replace"), file, source)
    doing = "parsing the text" if task == "parse" else "reading the module"
    how = _signal_name(-child.returncode) if child.returncode < 0 else f"status {child.returncode}"
    line = _deadly_line(data) if task == "parse" else 0
    raise InputError(
        f"XLA ended the process ({how}) while {doing}; the module breaks a rule that XLA checks by aborting",
        location=SourceLocation(file, line),
        notes=[Diagnostic("note", text) for text in _failed_checks(child.stderr.decode("utf-8", "replace"))],
        source=source,
    )


def _deadly_line(text: bytes) -> int:
    """The last line of the shortest beginning of ``text`` that XLA dies on."""
    lines = text.split(b"\n")
    survived, deadly = 0, len(lines)
    while deadly - survived > 1:
        middle = (survived + deadly) // 2
        if _run("parse", b"\n".join(lines[:middle])).returncode == 0:
            survived = middle
        else:
            deadly = middle
    return deadly


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _failed_checks(stderr: str) -> list[str]:
    """The ``Check failed`` lines of XLA's log, without their time stamps."""
    return [line[line.index("Check failed") :].strip() for line in stderr.splitlines() if "Check failed" in line][:3]


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
