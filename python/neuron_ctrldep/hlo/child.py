"""A child process that runs XLA's parser, printer, importer and exporter, and the report of how it failed."""

from __future__ import annotations

import contextlib
import json
import re
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

from neuron_ctrldep.hlo.worker import read_frame, write_frame

TIMEOUT = 600.0
"""Seconds that one request may take. The importer needs about one for 100,000 instructions."""

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from neuron_ctrldep.hlo.worker import main; main()"

# The last words of XLA (absl: "F0000 00:00:00.000000 1 file.cc:1] …") and of LLVM.
_LAST_WORDS = re.compile(rb"^(?:F\d{4} [^\n]*?\] (?P<xla>[^\n]+)|LLVM ERROR: (?P<llvm>[^\n]+))", re.MULTILINE)


class RequestError(Exception):
    """Why a request brought nothing back.

    Args:
        kind: ``refused`` (an exception or diagnostics of ``stage``), ``died`` or ``timeout``.
        message: one line or more.
        stage: what the child was doing.
        diagnostics: of MLIR, as dictionaries with ``message``, ``location`` (as printed) and ``notes``.
    """

    def __init__(
        self,
        kind: Literal["refused", "died", "timeout"],
        message: str,
        stage: str = "import",
        diagnostics: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.stage = stage
        self.diagnostics = diagnostics


class Child:
    """XLA in a process of its own, started when first needed and again after a death.

    One child serves any number of requests, one at a time; use it as a context manager, or close it.

    Args:
        timeout: seconds that one request may take before the child is ended.
    """

    def __init__(self, *, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parse(self, text: bytes) -> bytes:
        """HLO text to a serialized ``HloModuleProto``. Raises as :meth:`import_hlo` does."""
        return self._request({"task": "parse"}, text)

    def print(self, proto: bytes) -> bytes:
        """A serialized ``HloModuleProto`` to HLO text. Raises as :meth:`import_hlo` does."""
        return self._request({"task": "print"}, proto)

    def import_hlo(self, proto: bytes, dialect: str) -> bytes:
        """A serialized ``HloModuleProto`` to verified MLIR bytecode of ``dialect``.

        Raises:
            RequestError: it brought nothing back; the child is usable afterwards.
        """
        return self._request({"task": "import", "dialect": dialect}, proto)

    def export_hlo(self, bytecode: bytes) -> bytes:
        """MLIR bytecode to a serialized ``HloModuleProto``. Raises as :meth:`import_hlo` does."""
        return self._request({"task": "export"}, bytecode)

    def close(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _forget(process)
        log, self._log = self._log, None
        if log is not None:
            log.close()

    def _start(self) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        # XLA logs to standard error, whole stack traces when it dies. A file takes any amount without a reader.
        log = self._log = tempfile.TemporaryFile()  # noqa: SIM115 (close() closes it)
        root = str(Path(__file__).resolve().parents[2])
        # -S and the parent's own path: the site packages are not searched again, which halves the start-up time.
        path = json.dumps([root, *(str(Path(entry).resolve()) for entry in sys.path)])
        try:
            process = self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START, path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        except OSError as error:  # no interpreter to start (an embedded Python), or no room for a process
            self.close()
            raise RequestError("died", f"it cannot be started: {error}") from error
        return process, log

    def _request(self, header: dict[str, Any], payload: bytes) -> bytes:
        if self._process is None or self._log is None:
            process, log = self._start()
        else:
            process, log = self._process, self._log
        log_start = log.seek(0, 2)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_frame(process.stdin, header, payload)
            if not _wait_for(process.stdout, self._timeout):
                self.close()
                raise RequestError("timeout", f"it did not end within {self._timeout:g} s")
            reply, result = read_frame(process.stdout)
        except (EOFError, BrokenPipeError):
            message = _how_it_died(process.wait(), log, log_start)
            self.close()
            raise RequestError("died", message) from None
        except BaseException:
            self.close()  # interrupted: a late reply must not answer the next request
            raise
        if reply["stage"] != "done":
            raise RequestError("refused", reply["message"], reply["stage"], reply["diagnostics"])
        return result


def _wait_for(stream: IO[bytes], seconds: float) -> bool:
    """Whether ``stream`` has something to read (its end included) within ``seconds``."""
    with (
        selectors.DefaultSelector() as selector
    ):  # not select(): a program may have more files open than that can count
        selector.register(stream, selectors.EVENT_READ)
        return bool(selector.select(seconds))


@contextlib.contextmanager
def or_new(child: Child | None) -> Iterator[Child]:
    """``child``, or a new one for the block."""
    if child is not None:
        yield child
        return
    with Child() as new:
        yield new


def _forget(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _how_it_died(code: int, log: IO[bytes], start: int) -> str:
    log.seek(start)
    text = log.read()
    words = _LAST_WORDS.search(text)
    if words is not None:
        return (words["xla"] or words["llvm"]).decode(errors="replace").strip()
    if code >= 0:
        last = text.decode(errors="replace").strip().rpartition("\n")[2]
        return f"it exited with status {code}" + (f": {last}" if last else "")
    with contextlib.suppress(ValueError):
        return f"it ended with {signal.Signals(-code).name}"
    return f"it ended with signal {-code}"
