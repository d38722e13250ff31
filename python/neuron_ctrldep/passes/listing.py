"""The list of all passes, for people: names, summaries, options with their defaults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args, get_origin

from neuron_ctrldep.errors import PipelineError
from neuron_ctrldep.passes import registry
from neuron_ctrldep.passes.base import Pass, default_of, format_value, option_types
from neuron_ctrldep.passes.cpp import CppPasses
from neuron_ctrldep.passes.cpp_names import CANDIDATES

_COLUMN = 58


def render_list() -> str:
    """All passes, in the form of mlir-opt's ``--list-passes``: those defined in Python, then those of the bindings."""
    cpp = CppPasses()
    lines = ["Passes:"]
    for name, places in registry.claims().items():
        try:
            lines += _python_rows(name, places, hidden=cpp.exists(name))
        except PipelineError as error:
            lines.append(_row(f"  --{name}", f"(cannot be loaded: {error.diagnostics[0].message})"))
        except Exception as error:  # whatever is wrong with a pass of another package, the others are shown
            lines.append(_row(f"  --{name}", f"(cannot be shown: {error})"))
    lines.append("C++ passes of the bindings:")
    for name in CANDIDATES:
        if cpp.exists(name):
            anchor = cpp.anchor(name)
            lines.append(_row(f"  --{name}", "" if anchor == "any" else f"(on {anchor})"))
            lines += [_row(f"    --{key}", f"(default: {text or 'none'})") for key, text in cpp.options(name).items()]
    return "\n".join(lines) + "\n"


def _python_rows(name: str, places: Sequence[str], *, hidden: bool) -> list[str]:
    """The rows of a pass defined in Python, which ``places`` claim to be."""
    cls = registry.find(name)
    if cls is None:
        return []
    words = cls.summary + _where(cls)
    if name in registry.BUILTIN:
        words += "".join(f" (this name is also claimed by {place}, which is not used)" for place in places[1:])
    elif hidden:
        words += " (hidden by the C++ pass of this name)"
    options = [_row(f"    --{key}=<{kind}>", help_text) for key, kind, help_text in describe_options(cls)]
    return [_row(f"  --{name}", words), *options]


def _row(left: str, right: str) -> str:
    """One line, whatever line ends the words of other packages hold."""
    return f"{left:<{_COLUMN}} -   {' '.join(right.splitlines())}".rstrip() if right else left


def _where(cls: type[Pass]) -> str:
    return "" if cls.anchor == "builtin.module" else f" (on {cls.anchor})"


def describe_options(cls: type[Pass]) -> Iterator[tuple[str, str, str]]:
    """Of each option of a pass: its name, what values it takes, and what it does with its default."""
    hints = option_types(cls)
    for key, option in cls.options().items():
        words = str(option.metadata.get("help", "")).strip()
        default = f"(default: {format_value(default_of(option)) or 'none'})"
        yield key, describe_type(hints[option.name]), f"{words} {default}".strip()


def describe_type(hint: Any) -> str:
    """The values of an option, in words: ``bool``, ``a|b``, ``int,...``."""
    origin = get_origin(hint)
    if origin is Literal:
        return "|".join(map(str, get_args(hint)))
    if origin is tuple:
        return f"{describe_type(get_args(hint)[0])},..."
    if origin is None:
        return {str: "string", bool: "bool", int: "int", float: "number"}.get(hint, str(hint))
    inner = [argument for argument in get_args(hint) if argument is not type(None)]
    return describe_type(inner[0])
