"""Reading bytecode in a child process, to learn whether reading it here is safe.

MLIR's bytecode reader trusts its input: damaged bytecode can crash the process or keep it busy for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from neuron_ctrldep.bytecode_guard import main; main()"
)
_SECONDS = 30.0
"""For the smallest input; a second more for each MB."""
_STACK = 512 << 20
"""Bytes of stack for the child's reader: deep nesting is then measured instead of overflowing it."""


def check_in_child(bytecode: bytes, *, portable: bool, file: str, allow_unregistered: bool) -> None:
    """Read ``bytecode`` in a child process; when this returns, reading it here is safe.

    Args:
        bytecode: what to read.
        portable: it is a StableHLO portable artifact.
        file: what messages call it.
        allow_unregistered: accept ops of unknown dialects.

    Raises:
        InputError: it does not parse or verify, is nested too deep, or the reader crashed or did not come back.
    """
    settings = json.dumps({"portable": portable, "file": file, "allow_unregistered": allow_unregistered})
    seconds = _SECONDS + len(bytecode) / 1e6
    try:
        child = subprocess.run(
            [sys.executable, "-c", _START, json.dumps(sys.path), settings],
            input=bytecode,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _damaged(f"did not come back within {seconds:.0f} seconds", file) from None
    if child.returncode < 0:
        raise _damaged(f"crashed ({signal.Signals(-child.returncode).name})", file)
    try:
        faults = json.loads(child.stdout)
    except ValueError:
        lines = child.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _damaged(f"failed ({lines[-1] if lines else 'without a word'})", file) from None
    if faults:
        raise InputError(diagnostics=[_from_json(fault) for fault in faults])


def _damaged(what: str, file: str) -> InputError:
    return InputError(f"MLIR's bytecode reader {what}: the file is damaged", location=SourceLocation(file))


def _to_json(diagnostic: Diagnostic) -> list[Any]:
    at = diagnostic.location
    place = None if at is None else [at.file, at.line, at.column, at.name]
    return [diagnostic.severity, diagnostic.message, place, [_to_json(note) for note in diagnostic.notes]]


def _from_json(fault: list[Any]) -> Diagnostic:
    severity, message, place, notes = fault
    location = None if place is None else SourceLocation(*place)
    return Diagnostic(severity, message, location, tuple(_from_json(note) for note in notes))


# --- the child --------------------------------------------------------------------------------------------------------


def main() -> None:
    """Read stdin and reply with the faults as JSON on stdout."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # a crash is expected here and reported: it must not leave a core file behind

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not a reply
    faults: list[list[Any]] = [_to_json(Diagnostic("error", "the reader failed"))]
    threading.stack_size(_STACK)
    reader = threading.Thread(target=_read, args=(sys.stdin.buffer.read(), json.loads(sys.argv[2]), faults))
    reader.start()
    reader.join()
    json.dump(faults, replies)
    replies.close()
    # Not a return: freeing a module that is nested too deep would overflow the stack of the main thread.
    os._exit(0)


def _read(bytecode: bytes, settings: dict[str, Any], faults: list[list[Any]]) -> None:
    from neuron_ctrldep import mlir

    file = settings["file"]
    context = mlir.make_context(allow_unregistered=settings["allow_unregistered"])
    try:
        if settings["portable"]:
            module = mlir.deserialize_portable(bytecode, file=file, context=context)
        else:
            module = mlir.parse_module(bytecode, file=file, context=context)
        mlir.check_nesting(module)
    except InputError as error:
        faults[:] = [_to_json(diagnostic) for diagnostic in error.diagnostics]
    else:
        faults.clear()
