"""Reading inputs and writing outputs: ``-`` is stdin / stdout, and an output is whole or not there."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from neuron_ctrldep.errors import InputError, SourceLocation


def read_bytes(path: str) -> bytes:
    """The content of a file, or of stdin for ``-``.

    Raises:
        InputError: the file is missing or cannot be read.
    """
    if path == "-":
        if sys.stdin is None:
            raise InputError("cannot read stdin: it is closed", location=SourceLocation(path))
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot read the file: {reason}", location=SourceLocation(path)) from error
    except ValueError as error:  # a NUL in the path
        raise InputError(f"cannot read the file: {error}", location=SourceLocation(repr(path))) from error


def decode_utf8(data: bytes, file: str) -> str:
    """The text of ``data``.

    Raises:
        InputError: ``data`` is not UTF-8; the location is the first bad byte.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise InputError(
            f"not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}; expected text in UTF-8",
            location=SourceLocation(file, line, column),
        ) from error


def write_output(path: str, data: str | bytes) -> None:
    """Write ``data`` to ``path`` (``-`` is stdout): beside it first, then in its place, so it is never half there.

    Raises:
        InputError: the output cannot be written.
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    if path == "-":
        _write_stdout(payload)
        return
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            # A device or a pipe (/dev/null) cannot be replaced; it is written to as it is.
            if target.is_dir():
                raise IsADirectoryError(21, "is a directory")
            target.write_bytes(payload)
            return
        import tempfile  # not at the top: it is slow to import, and most runs write to stdout

        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(payload)
            # mkstemp makes files private to the user; an output gets the mode any new file would get.
            mask = os.umask(0)
            os.umask(mask)
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask
            Path(beside).chmod(mode)
            Path(beside).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(beside).unlink()
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write the file: {reason}", location=SourceLocation(path)) from error


def _write_stdout(payload: bytes) -> None:
    if sys.stdout is None:
        raise InputError("cannot write to stdout: it is closed", location=SourceLocation("-"))
    try:
        sys.stdout.buffer.write(payload)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise  # the reader had enough; no fault
    except OSError as error:
        # What is left in the buffer would be tried again at exit, and fail again, with a traceback.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = error.strerror or str(error)
        raise InputError(f"cannot write to stdout: {reason}", location=SourceLocation("-")) from error


def resource(*parts: str) -> Path:
    """A data file that ships with the package (``dialects/…``, ``examples/…``).

    In a wheel these folders lie inside the package; in a checkout at its root.
    """
    package = Path(__file__).resolve().parent
    installed = package.joinpath(*parts)
    return installed if installed.exists() else package.parent.parent.joinpath(*parts)
