"""Text of an input as Python literals: whatever it holds, it stays inside one string literal of one line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def string(text: str) -> str:
    """``text`` as a Python string literal in double quotes: ASCII, one line, and equal to ``text`` when evaluated."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escaped = text.encode("unicode_escape").decode("ascii")
    return '"' + escaped.replace('"', '\\"') + '"'


def strings(mapping: Mapping[str, str]) -> str:
    """A dictionary of strings."""
    return "{" + ", ".join(f"{string(key)}: {string(value)}" for key, value in mapping.items()) + "}"


def string_tuple(items: Iterable[str]) -> str:
    """A tuple of strings, with the trailing comma that a tuple of one needs."""
    texts = [string(item) for item in items]
    return "(" + ", ".join(texts) + ",)" if texts else "()"


def number(value: bool | int | float | complex) -> str:
    """A number; evaluated, it is ``value`` to the last bit (all NaNs are ``float('nan')``)."""
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    if isinstance(value, float):
        if math.isnan(value):
            return "float('nan')"
        if math.isinf(value):
            return "float('inf')" if value > 0 else "-float('inf')"
    return repr(value)
