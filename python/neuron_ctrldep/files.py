"""Reading inputs and writing outputs: ``-`` is stdin / stdout, and an output is whole or not there."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import sys
from pathlib import Path

from neuron_ctrldep.errors import InputError, SourceLocation

_PACKED = {
    b"\x1f\x8b": "gzip data; unpack it first (gunzip)",
    b"PK\x03\x04": "a zip archive; unpack it first (unzip)",
    b"BZh91AY&SY": "bzip2 data; unpack it first (bunzip2)",
    b"\xfd7zXZ\0": "xz data; unpack it first (unxz)",
    b"\x28\xb5\x2f\xfd": "Zstandard data; unpack it first (unzstd)",
}
"""What packed files start with (RFC 1952, PKWARE APPNOTE 4.3.7, RFC 8878, the format pages of bzip2 and xz)."""


def refuse_packed(data: bytes, file: str) -> None:
    """Say how to unpack ``data`` that is packed; no program starts as such data does.

    Raises:
        InputError: it is packed.
    """
    for magic, words in _PACKED.items():
        if data.startswith(magic):
            raise InputError(f"this is {words}", location=SourceLocation(file))


def read_bytes(path: str) -> bytes:
    """The content of a file, or of stdin for ``-``, without the mark that some editors put before UTF-8 text.

    Raises:
        InputError: the file is missing or cannot be read, or is packed.
    """
    data = _read(path)
    refuse_packed(data, path)
    return without_mark(data)


def _read(path: str) -> bytes:
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


def without_mark(data: bytes) -> bytes:
    """``data`` without the byte order mark before it (U+FEFF), so that columns are those which editors show.

    No binary input starts with one.
    """
    return data.removeprefix(codecs.BOM_UTF8)


def decode_utf8(data: bytes, file: str) -> str:
    """The text of ``data``, without a byte order mark.

    Raises:
        InputError: ``data`` is not UTF-8; the location is the first bad byte.
    """
    data = without_mark(data)
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

    A link stays, and what it points to is written. What is no regular file (a device, a pipe) is written to as it is.

    Raises:
        InputError: the output cannot be written.
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    if path == "-":
        _write_stdout(payload)
        return
    try:
        status = _status(path)
        descriptor = None if status is None else _descriptor_of(status)
        if status is not None and stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(21, "is a directory")
        if descriptor is None and (status is None or stat.S_ISREG(status.st_mode)):
            # Only now: what a link of the system's points to (/dev/stdout to a pipe) need not have a path.
            _replace(Path(os.path.realpath(path)), payload, None if status is None else status.st_mode & 0o777)
        else:
            with os.fdopen(os.open(path, os.O_WRONLY) if descriptor is None else os.dup(descriptor), "wb") as stream:
                stream.write(payload)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write the file: {reason}", location=SourceLocation(path)) from error
    except ValueError as error:  # a NUL in the path
        raise InputError(f"cannot write the file: {error}", location=SourceLocation(repr(path))) from error


def _status(path: str) -> os.stat_result | None:
    """What is known of the file that ``path`` leads to; ``None`` when it is not there."""
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None


def _descriptor_of(status: os.stat_result) -> int | None:
    """Stdout or stderr, when it is the file behind them: replaced, it would lose what else is written there."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(status, os.fstat(descriptor)):
                return descriptor
    return None


def _replace(target: Path, payload: bytes, mode: int | None) -> None:
    """Write a regular file beside ``target`` and put it in its place; ``None`` is the mode of any new file."""
    import tempfile  # not at the top: it is slow to import, and most runs write to stdout

    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(payload)
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        Path(beside).chmod(mode)  # mkstemp makes files private to the user
        Path(beside).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(beside).unlink()
        raise


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
