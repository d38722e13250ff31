"""The metadata of MLIR text, ``{-# ... #-}``: what in it belongs to tools, its ``external_resources``.

The bindings keep the resources of dialects and forget these; mlir-opt prints them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def external_resources(text: str) -> ExternalResources:
    """The external resources in the metadata of ``text``, which MLIR parses."""
    found: ExternalResources = {}
    for start, end in metadata_ranges(text):
        path: list[str] = []
        key, value_is_next = "", False
        for match in _TOKEN.finditer(text, start, end):
            token = match[0]
            if match["skip"]:
                continue
            if token == "{":
                path.append(key)
                if path[:-1] == ["external_resources"]:
                    found.setdefault(key, {})
            elif token == "}":
                del path[-1:]
            elif match["word"] and not value_is_next:
                key = token
            elif match["word"] and path[:1] == ["external_resources"] and len(path) == 2:
                found[path[1]][key] = _as_printed(token)
            value_is_next = token == ":"
    return found


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
