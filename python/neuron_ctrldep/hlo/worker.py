"""What runs in the child process: XLA's parser, printer, importer and exporter, and MLIR on what they return.

Each of them can end a process on a malformed module, so none of them runs where the user's program does. Frames go both
ways, a length and that many bytes: a request is a JSON header and a payload, a reply is a JSON header and a payload.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neuron_ctrldep.mlir import ir


_LENGTH = struct.Struct("<Q")


class StageError(Exception):
    """A stage refused the module. ``diagnostics`` are plain dictionaries, ready for JSON."""

    def __init__(self, stage: str, message: str, diagnostics: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.stage = stage
        self.diagnostics = diagnostics


# --- frames -----------------------------------------------------------------------------------------------------------


def write_frame(stream: IO[bytes], header: dict[str, Any], payload: bytes = b"") -> None:
    """Send one header and one payload."""
    head = json.dumps(header).encode()
    for part in (head, payload):
        stream.write(_LENGTH.pack(len(part)))
        stream.write(part)
    stream.flush()


def _read_part(stream: IO[bytes]) -> bytes:
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        raise EOFError
    part = stream.read(_LENGTH.unpack(length)[0])
    if len(part) < _LENGTH.unpack(length)[0]:
        raise EOFError
    return part


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """The next header and payload.

    Raises:
        EOFError: the other side is gone.
    """
    return json.loads(_read_part(stream)), _read_part(stream)


# --- tasks ------------------------------------------------------------------------------------------------------------


# Each task imports only what it needs: jaxlib.mlir would double the start-up of every tool that reads HLO.


@contextlib.contextmanager
def _stage(name: str, context: ir.Context | None = None) -> Iterator[None]:
    """Whatever goes wrong inside the block is the fault of stage ``name``."""
    found: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        if context is not None:
            stack.callback(_collect(context, found))
        try:
            yield
        except Exception as error:
            raise StageError(name, str(error), found) from error


def _collect(context: ir.Context, found: list[dict[str, Any]]) -> Callable[[], None]:
    """Put the diagnostics of ``context`` into ``found`` until the result is called."""
    from neuron_ctrldep.mlir import ir

    def handler(diagnostic: Any) -> bool:
        with contextlib.suppress(UnicodeDecodeError):
            info = ir.DiagnosticInfo(diagnostic)
            notes = [note.message for note in info.notes]
            found.append({"message": info.message, "location": str(info.location), "notes": notes})
        return True

    detach: Callable[[], None] = context.attach_diagnostic_handler(handler).detach
    return detach


def _parse(text: bytes, _: dict[str, Any]) -> bytes:
    from jaxlib import _hlo

    with _stage("parse"):
        return bytes(_hlo.hlo_module_from_text(text.decode()).as_serialized_hlo_module_proto())


def _print(proto: bytes, _: dict[str, Any]) -> bytes:
    from jaxlib import _hlo

    options = _hlo.HloPrintOptions()
    # Otherwise a constant of more than ten elements is printed as {...}, which the parser takes for whatever values.
    options.print_large_constants = True
    with _stage("print"):
        return str(_hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string(options)).encode()


def _import(proto: bytes, header: dict[str, Any]) -> bytes:
    from neuron_ctrldep import mlir

    def run(pipeline: str) -> None:
        mlir.passmanager.PassManager.parse(pipeline, context=context).run(module)

    with _stage("import"):
        bytecode = mlir.hlo_proto_to_stablehlo(proto)
    context = mlir.make_context()
    with _stage("verify", context):  # the importer does not verify what it returns
        module = mlir.ir.Module.parse(bytecode, context=context).operation
        run("builtin.module(symbol-dce)")
    if header["dialect"] == "mhlo":
        mlir.register_cpp_passes()
        with _stage("legalize", context):
            run("builtin.module(stablehlo-legalize-to-hlo)")
    return mlir.to_bytecode(module)


def _export(bytecode: bytes, _: dict[str, Any]) -> bytes:
    from neuron_ctrldep import mlir

    with _stage("export"):
        return mlir.mlir_to_hlo_proto(bytecode)


_TASKS = {"parse": _parse, "print": _print, "import": _import, "export": _export}


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer requests until the other side closes the stream."""
    while True:
        try:
            header, payload = read_frame(requests)
        except EOFError:
            return
        try:
            result = _TASKS[header["task"]](payload, header)
        except StageError as error:
            reply = {"stage": error.stage, "message": str(error), "diagnostics": error.diagnostics}
            write_frame(replies, reply)
        else:
            write_frame(replies, {"stage": "done"}, result)


def main() -> None:
    """Serve on standard input and output; everything that libraries print goes to standard error."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # a death here is expected and reported: it must not leave a core file behind

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, replies)
