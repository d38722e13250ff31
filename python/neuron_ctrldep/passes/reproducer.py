"""Reproducers: a module together with the pipeline to run on it, as mlir-opt writes and reads them.

The pipeline stands in the file's metadata (MLIR: ``external_resources``, key ``mlir_reproducer``), so that the file
stays MLIR that every tool reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from neuron_ctrldep.errors import InputError, SourceLocation

_ENTRY = re.compile(r'(?P<key>\w+)\s*:\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<bool>true|false))\s*,?\s*', re.DOTALL)
_START = re.compile(r"\bmlir_reproducer\s*:\s*\{")
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|\{-#|#-\}')


@dataclass(frozen=True, slots=True)
class Reproducer:
    """How to run the module."""

    pipeline: str
    disable_threading: bool = False
    verify_each: bool = True

    def render(self, module: str) -> str:
        """The file: ``module`` and the metadata behind it."""
        escaped = "".join(_escaped(c) for c in self.pipeline)
        threading, verify = str(self.disable_threading).lower(), str(self.verify_each).lower()
        return (
            f"{module}\n\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n"
            f'      pipeline: "{escaped}",\n      disable_threading: {threading},\n      verify_each: {verify}\n'
            "    }\n  }\n#-}\n"
        )


def _escaped(c: str) -> str:
    if c in '"\\' or not c.isprintable():
        return "".join(f"\\{byte:02X}" for byte in c.encode())
    return c


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
        values[entry["key"]] = _unescaped(entry["text"]) if entry["bool"] is None else entry["bool"] == "true"
        offset = entry.end()
    pipeline = values.get("pipeline")
    if not isinstance(pipeline, str):
        raise _malformed(
            "the reproducer has no pipeline: expected 'pipeline: \"builtin.module(...)\"'", text, start - 1, file
        )
    return Reproducer(pipeline, values.get("disable_threading") is True, values.get("verify_each") is not False)


def _find(text: str) -> int | None:
    """The offset behind ``mlir_reproducer: {`` in the file's metadata; strings and comments do not count."""
    inside = 0
    for match in _STRING_OR_COMMENT.finditer(text):
        if match[0] == "{-#":
            inside = match.end()
        elif match[0] == "#-}" and inside:
            found = _START.search(text, inside, match.start())
            if found:
                return found.end()
            inside = 0
    return None


def _unescaped(text: str) -> str:
    """MLIR's string escapes: two hexadecimal digits for a byte, n, t, quote and backslash."""
    simple = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
    data = re.sub(
        rb"\\([0-9A-Fa-f]{2}|.)",
        lambda match: bytes.fromhex(match[1].decode()) if len(match[1]) == 2 else simple.get(match[1], match[1]),
        text.encode(),
    )
    return data.decode("utf-8", "replace")


def _malformed(message: str, text: str, offset: int, file: str) -> InputError:
    before = text[:offset]
    column = len(before) - before.rfind("\n")
    return InputError(message, location=SourceLocation(file, before.count("\n") + 1, column), source=text)
