"""Reproducers: a module together with the pipeline to run on it, as mlir-opt writes and reads them.

The pipeline stands in the file's metadata (MLIR: ``external_resources``, key ``mlir_reproducer``), so that the file
stays MLIR that every tool reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.passes.metadata import metadata_ranges, quoted, unquoted, with_external_resources

_ENTRY = re.compile(r'(?P<key>\w+)\s*:\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<bool>true|false))\s*,?\s*', re.DOTALL)
_START = re.compile(r"\bmlir_reproducer\s*:\s*\{")

OWNER = "mlir_reproducer"
"""Whose the resources are."""


@dataclass(frozen=True, slots=True)
class Reproducer:
    """How to run the module."""

    pipeline: str
    disable_threading: bool = False
    verify_each: bool = True

    def render(self, module: str) -> str:
        """The file: ``module`` and the metadata behind it."""
        entries = {
            "pipeline": quoted(self.pipeline),
            "disable_threading": str(self.disable_threading).lower(),
            "verify_each": str(self.verify_each).lower(),
        }
        return with_external_resources(module, {OWNER: entries}) + "\n"


def read_reproducer(text: str, *, file: str = "-") -> Reproducer | None:
    """The reproducer in the metadata of ``text``; ``None`` when there is none.

    Raises:
        InputError: it is malformed.
    """
    start = _find(text)
    if start is None:
        return None
    values: dict[str, str | bool] = {}
    offset = start
    while True:
        while offset < len(text) and text[offset].isspace():
            offset += 1
        if offset < len(text) and text[offset] == "}":
            break
        entry = _ENTRY.match(text, offset)
        if entry is None:
            raise _malformed("expected 'key: value' or '}' in the reproducer", text, offset, file)
        values[entry["key"]] = _text(entry["text"]) if entry["bool"] is None else entry["bool"] == "true"
        offset = entry.end()
    pipeline = values.get("pipeline")
    if not isinstance(pipeline, str):
        raise _malformed(
            "the reproducer has no pipeline: expected 'pipeline: \"builtin.module(...)\"'", text, start - 1, file
        )
    return Reproducer(pipeline, values.get("disable_threading") is True, values.get("verify_each") is not False)


def _text(literal: str) -> str:
    """Bytes that are not UTF-8 are no pipeline; they are shown as U+FFFD in the message about it."""
    return unquoted(literal).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _find(text: str) -> int | None:
    """The offset behind ``mlir_reproducer: {`` in the metadata."""
    for start, end in metadata_ranges(text):
        found = _START.search(text, start, end)
        if found:
            return found.end()
    return None


def _malformed(message: str, text: str, offset: int, file: str) -> InputError:
    before = text[:offset]
    column = len(before) - before.rfind("\n")
    return InputError(message, location=SourceLocation(file, before.count("\n") + 1, column), source=text)
