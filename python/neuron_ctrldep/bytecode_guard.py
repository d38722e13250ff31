"""Reading bytecode in a child process.

MLIR's bytecode reader trusts its input: damaged bytecode corrupts memory, ends the process, or keeps it busy for ever.
So a child reads it, and sends back the module as its own writer writes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from dataclasses import replace
from typing import Any

from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from neuron_ctrldep.bytecode_guard import main; main()"
)
_CPU_SECONDS = 10
"""Of processor time, for the smallest input; one more for each MB. A MB of sound bytecode needs about a second."""
_SECONDS = 300.0
"""Of real time, where the operating system cannot limit the other."""
_STACK = 512 << 20
"""Bytes of stack for the child's reader: deep nesting is then measured instead of overflowing it."""


def read_in_child(bytecode: bytes, *, portable: bool, file: str, allow_unregistered: bool) -> bytes:
    """Read ``bytecode`` in a child process.

    Args:
        bytecode: what to read.
        portable: it is a StableHLO portable artifact.
        file: what messages call it.
        allow_unregistered: accept ops of unknown dialects.

    Returns:
        The module, parsed and verified, as bytecode that is safe to read; a portable artifact comes as StableHLO.

    Raises:
        InputError: it does not parse or verify, is nested too deep, or the reader crashed or did not come back.
    """
    import subprocess

    settings = {
        "portable": portable,
        "file": file,
        "allow_unregistered": allow_unregistered,
        "cpu_seconds": _CPU_SECONDS + len(bytecode) // 1_000_000,
    }
    try:
        child = subprocess.run(
            [sys.executable, "-c", _START, json.dumps(sys.path), json.dumps(settings)],
            input=bytecode,
            capture_output=True,
            timeout=_SECONDS + len(bytecode) / 1e6,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _damaged("did not come back", file) from None
    if child.returncode == -signal.SIGXCPU:
        raise _damaged("did not come back", file)
    if child.returncode < 0:
        raise _damaged(f"crashed ({signal.Signals(-child.returncode).name})", file)
    head, found, module = child.stdout.partition(b"\n")
    if not found:
        lines = child.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _damaged(f"failed ({lines[-1] if lines else 'without a word'})", file)
    faults = json.loads(head)
    if faults:
        raise InputError(diagnostics=[_from_json(fault) for fault in faults])
    return module


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
    """Read stdin; reply with a line of JSON, the faults, and the module behind it."""
    settings = json.loads(sys.argv[2])
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        # A crash is expected here and reported: it must not leave a core file behind.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (settings["cpu_seconds"], settings["cpu_seconds"] + 5))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is not a reply
    reply: list[tuple[list[Any], bytes]] = []
    threading.stack_size(_STACK)
    reader = threading.Thread(target=_read, args=(sys.stdin.buffer.read(), settings, reply))
    reader.start()
    reader.join()
    for faults, module in reply:
        replies.write(json.dumps(faults).encode() + b"\n" + module)
    replies.close()
    # Not a return: freeing a module that is nested too deep would overflow the stack of the main thread.
    os._exit(0)


def _read(bytecode: bytes, settings: dict[str, Any], reply: list[tuple[list[Any], bytes]]) -> None:
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
        faults = [_to_json(replace(d, location=d.location or SourceLocation(file))) for d in error.diagnostics]
        reply.append((faults, b""))
    else:
        reply.append(([], mlir.to_bytecode(module)))
