"""Identifiers of an emitted program: made from the names of the input, unique in the module."""

from __future__ import annotations

import builtins
import keyword
import re

from neuron_ctrldep.penguin.api import NUMPY_ALIAS, PROGRAM, SCIPY_MODULE, SUPPORT_MODULE, WEIGHT_LOAD

_RESERVED_FORM = re.compile(r"(?:m|input_|v)\d+")
_WORD = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_TO_WORD = bytes(byte if byte in _WORD else ord("_") for byte in range(256))
_LONGEST = 200
"""Longer names are cut: an identifier is there to be read."""

# The same set on every supported Python, with and without ``site``: same input, same bytes out.
_NEWER_BUILTINS = {"PythonFinalizationError", "_IncompleteInputError", "type"}
_SITE_BUILTINS = {"_", "copyright", "credits", "exit", "help", "license", "quit"}
RESERVED = frozenset(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *dir(builtins),
        *_NEWER_BUILTINS,
        *_SITE_BUILTINS,
        NUMPY_ALIAS,
        PROGRAM,
        WEIGHT_LOAD,
        SCIPY_MODULE.partition(".")[0],
        SUPPORT_MODULE.partition(".")[0],
    }
)
"""Names that no statement of an emitted program may bind."""


def identifier(name: str) -> str:
    """``name`` with every character that an ASCII identifier cannot hold replaced by ``_``."""
    text = name[:_LONGEST].replace(".", "_")
    if text.isidentifier() and text.isascii():  # most names, as add.12, at a fifth of the time
        return text
    text = text.encode("ascii", "replace").translate(_TO_WORD).decode("ascii")
    return text if text and not text[0].isdigit() else "_" + text


def is_reserved(name: str) -> bool:
    """Whether ``name`` has a meaning of its own in an emitted program."""
    # Looked at in this order because it is asked of every name: few start with one of these letters.
    return name in RESERVED or (name[0] in "miv" and _RESERVED_FORM.fullmatch(name) is not None)


class Names:
    """Gives out identifiers; one instance for each module."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def fresh(self, name: str) -> str:
        """An identifier made from ``name`` that was not given out before: ``x``, then ``x_1``, ``x_2``, and so on."""
        base = identifier(name)
        number = self._next.get(base)
        if number is None and not is_reserved(base):
            self._next[base] = 1
            return base
        number = number or 1
        while (candidate := f"{base}_{number}") in self._next or is_reserved(candidate):
            number += 1
        self._next[base] = number + 1
        self._next[candidate] = 1
        return candidate
