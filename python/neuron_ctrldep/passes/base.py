"""What a pass is: a frozen dataclass whose fields are its options, with a name, words, and one method."""

from __future__ import annotations

import abc
import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

from neuron_ctrldep.errors import PipelineError

if typing.TYPE_CHECKING:
    from neuron_ctrldep.mlir import ir


class Statistics:
    """The counters of one run of one pass; they belong to the run, never to the process."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, name: str, amount: int = 1) -> None:
        """Add ``amount`` (may be 0, to make the counter appear) to the counter ``name``."""
        self._counts[name] = self._counts.get(name, 0) + amount

    def __getitem__(self, name: str) -> int:
        return self._counts.get(name, 0)

    def as_dict(self) -> dict[str, int]:
        """All counters by name, in name order."""
        return dict(sorted(self._counts.items()))


@dataclasses.dataclass(frozen=True)
class Pass(abc.ABC):
    """Base of all passes defined in Python.

    A subclass is a frozen dataclass; each field is an option, spelled with ``-`` for ``_`` in text. A field's type is
    ``bool``, ``int``, ``float``, ``str``, a ``Literal`` of strings, or ``tuple[X, ...]`` of one of these; each has a
    default, and ``field(metadata={"help": "…"})`` describes it.
    """

    name: ClassVar[str]
    """The name in pipelines and flags (``mlir-opt``: the pass argument)."""
    summary: ClassVar[str]
    """One line."""
    description: ClassVar[str] = ""
    """Markdown, with the IR before and after."""
    anchor: ClassVar[str] = "builtin.module"
    """The op it runs on; ``any`` runs on whatever the pipeline is nested in."""
    counters: ClassVar[Mapping[str, str]] = {}
    """Every counter the pass may report, with what it counts."""

    @abc.abstractmethod
    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Rewrite ``op`` in place.

        Raises:
            PassError: with diagnostics at the ops at fault; what was promised unchanged is unchanged.
        """

    @classmethod
    def options(cls) -> dict[str, dataclasses.Field[Any]]:
        """The options by their spelling in text."""
        return {f.name.replace("_", "-"): f for f in dataclasses.fields(cls)}

    @classmethod
    def from_options(cls, given: Mapping[str, str]) -> Self:
        """Build the pass from option texts.

        Raises:
            PipelineError: an option does not exist or its value does not fit.
        """
        return cls(**dict(cls.parse_option(key, text) for key, text in given.items()))

    @classmethod
    def parse_option(cls, key: str, text: str) -> tuple[str, Any]:
        """The field that option ``key`` sets, and the value that ``text`` says.

        Raises:
            PipelineError: the option does not exist or the value does not fit.
        """
        known = cls.options()
        if key not in known:
            expected = ", ".join(known) or "none"
            raise PipelineError(f"pass '{cls.name}' has no option '{key}'; its options: {expected}")
        option = known[key]
        hint = typing.get_type_hints(cls)[option.name]
        return option.name, _parse(text, hint, f"option '{key}' of pass '{cls.name}'")

    def option_texts(self) -> dict[str, str]:
        """The options that differ from their defaults, as :meth:`from_options` takes them."""
        texts: dict[str, str] = {}
        for key, option in self.options().items():
            value = getattr(self, option.name)
            default = option.default
            if option.default_factory is not dataclasses.MISSING:
                default = option.default_factory()
            if value != default:
                texts[key] = _format(value)
        return texts


_TRUE = frozenset({"true", "TRUE", "True", "1", ""})
_FALSE = frozenset({"false", "FALSE", "False", "0"})


def _parse(text: str, hint: Any, what: str) -> Any:
    origin = get_origin(hint)
    if origin is Literal:
        choices = get_args(hint)
        if text not in choices:
            raise PipelineError(f"{what}: expected one of {', '.join(choices)}; found '{text}'")
        return text
    if origin is tuple:
        element = get_args(hint)[0]
        return tuple(_parse(part, element, what) for part in text.split(",")) if text else ()
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in get_args(hint) if a is not type(None)]
        return _parse(text, inner[0], what)
    if hint is bool:
        if text in _TRUE:
            return True
        if text in _FALSE:
            return False
        raise PipelineError(f"{what}: expected true or false; found '{text}'")
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            raise PipelineError(
                f"{what}: expected {'an integer' if hint is int else 'a number'}; found '{text}'"
            ) from None
    return text


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(_format(part) for part in value)
    return str(value)
