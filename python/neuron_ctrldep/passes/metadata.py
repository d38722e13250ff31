"""The metadata of MLIR text, ``{-# ... #-}``: what in it belongs to tools, its ``external_resources``.

The bindings keep the resources of dialects and forget these; mlir-opt prints them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ExternalResources = dict[str, dict[str, str]]
"""By owner and key: ``true``, ``false``, or a string with its quotes, as MLIR prints it."""

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_OUTSIDE = re.compile(rf"{_STRING}|//[^\n]*|\{{-#|#-\}}")
_TOKEN = re.compile(rf"(?P<skip>//[^\n]*|\s+)|(?P<word>{_STRING}|[\w$.-]+)|[{{}}:,]")


def metadata_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Where metadata stands in ``text``, without its brackets; strings and comments do not count."""
    if "{-#" not in text:
        return
    inside = -1
    for match in _OUTSIDE.finditer(text):
        if match[0] == "{-#":
            inside = match.end()
        elif match[0] == "#-}" and inside >= 0:
            yield inside, match.start()
            inside = -1


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``key: value`` of an owner, with the offsets of both in the text."""

    owner: str
    key: str
    key_offset: int
    value: str
    value_offset: int


def external_entries(text: str) -> Iterator[Entry]:
    """The entries of the external resources in the metadata of ``text``, which MLIR parses; values are as written."""
    for path, key, value in _entries(text):
        if value is not None and len(path) == 2:
            yield Entry(path[1], key[0], key.start(), value[0], value.start())


def external_resources(text: str) -> ExternalResources:
    """The external resources in the metadata of ``text``; an owner without entries is there, too."""
    found: ExternalResources = {}
    for path, key, value in _entries(text):
        if value is None and len(path) == 1:
            found.setdefault(key[0], {})
        elif value is not None and len(path) == 2:
            found[path[1]][key[0]] = _as_printed(value[0])
    return found


def _entries(text: str) -> Iterator[tuple[list[str], re.Match[str], re.Match[str] | None]]:
    """Of each entry in ``external_resources``: the keys around it, its own, and its value; ``None`` is a dictionary."""
    for start, end in metadata_ranges(text):
        path: list[str] = []
        key: re.Match[str] | None = None
        value_is_next = False
        for match in _TOKEN.finditer(text, start, end):
            if match["skip"]:
                continue
            if match[0] == "}":
                del path[-1:]
            elif value_is_next and key is not None:
                value = match if match["word"] else None
                if path[:1] == ["external_resources"]:
                    yield path, key, value
                if value is None:
                    path.append(key[0])
            elif match["word"]:
                key = match
            value_is_next = match[0] == ":"


def with_external_resources(module: str, resources: ExternalResources, *, limit: int | None = None) -> str:
    """The text ``module``, as MLIR prints a top-level op, with ``resources`` in the metadata at its end.

    Args:
        module: ends without a newline.
        resources: what to add.
        limit: leave out values that are longer than this many characters.
    """
    groups = {
        owner: {key: value for key, value in entries.items() if limit is None or len(value) <= limit}
        for owner, entries in resources.items()
    }
    printed = ",\n".join(
        f"    {owner}: {{\n" + ",\n".join(f"      {key}: {value}" for key, value in entries.items()) + "\n    }"
        for owner, entries in groups.items()
        if entries
    )
    if not printed:
        return module
    section = f"  external_resources: {{\n{printed}\n  }}\n#-}}"
    module = module.removesuffix(f"\n\n{{-#\n{_END}")  # the resources of dialects, with all that was too long left out
    if module.endswith(_END):
        return f"{module.removesuffix(_END)},\n{section}"
    return f"{module}\n\n{{-#\n{section}"


_END = "\n#-}"


def quoted(text: str) -> str:
    """``text`` as a string of MLIR; what :func:`unquoted` made of bytes that are not UTF-8 becomes them again."""
    return '"' + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogateescape")) + '"'


def _escaped(byte: int) -> str:
    plain = 0x20 <= byte < 0x7F and byte not in b'"\\'
    return chr(byte) if plain else f"\\{byte:02X}"


def unquoted(literal: str) -> str:
    """The text of a string of MLIR: a backslash stands before two hexadecimal digits, n, t, a quote or itself."""
    simple = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
    data = re.sub(
        rb"\\([0-9A-Fa-f]{2}|.)",
        lambda match: bytes.fromhex(match[1].decode()) if len(match[1]) == 2 else simple.get(match[1], match[1]),
        literal[1:-1].encode(),
    )
    return data.decode("utf-8", "surrogateescape")


def _as_printed(value: str) -> str:
    if not value.startswith('"'):
        return value
    blob = re.fullmatch(r'"0x([0-9A-Fa-f]*)"', value)
    return f'"0x{blob[1].upper()}"' if blob else quoted(unquoted(value))
