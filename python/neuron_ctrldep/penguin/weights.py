"""Where constants go that are too big to print: ``.npy`` files beside the program."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from neuron_ctrldep.files import write_output
from neuron_ctrldep.penguin.names import identifier


class WeightSink(Protocol):
    """Takes the constants of a program."""

    def add(self, name: str, array: np.ndarray[Any, Any]) -> str:
        """Take ``array``, the constant bound to the identifier ``name``; returns what ``weight_load`` is given."""
        ...


class WeightDirectory:
    """Writes ``<stem>.<name>.npy`` files into a directory when the ``with`` block ends without an exception.

    Args:
        directory: where to write.
        stem: of the program's file, so that two programs in one directory do not overwrite each other's weights.
        prefix: what ``weight_load`` is given before the name of the file: the directory, when it is not the program's
            own; such a directory is made when it is missing.
    """

    def __init__(self, directory: Path, stem: str, *, prefix: str = "") -> None:
        self._directory = directory
        self._stem = identifier(stem).strip("_") or "weights"
        self._prefix = prefix
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._taken: set[str] = set()

    def add(self, name: str, array: np.ndarray[Any, Any]) -> str:
        """See :class:`WeightSink`."""
        base = f"{self._stem}.{name}"
        file = f"{base}.npy"
        number = 1
        # Some file systems do not tell upper case from lower case.
        while file.casefold() in self._taken:
            file = f"{base}-{number}.npy"
            number += 1
        self._taken.add(file.casefold())
        self._arrays[file] = array
        return self._prefix + file

    def write(self) -> None:
        """Write all arrays, each file whole or not at all.

        Raises:
            InputError: a file cannot be written.
        """
        if self._prefix and self._arrays:
            # Where this fails, writing says why.
            with contextlib.suppress(OSError):
                self._directory.mkdir(exist_ok=True)
        for file, array in self._arrays.items():
            stream = io.BytesIO()
            np.save(stream, array, allow_pickle=False)
            write_output(str(self._directory / file), stream.getvalue())

    def __enter__(self) -> WeightDirectory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.write()


class WeightNames:
    """Names the files and writes none: for readers of the program who do not care for the values."""

    def add(self, name: str, array: np.ndarray[Any, Any]) -> str:
        """See :class:`WeightSink`."""
        return f"{name}.npy"
