"""What a pass is: a frozen dataclass whose fields are its options, with a name, words, and one method."""

from __future__ import annotations

import abc
import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

from neuron_ctrldep.errors import Diagnostic, PipelineError
from neuron_ctrldep.passes.syntax import quote, split_list

if typing.TYPE_CHECKING:
    from neuron_ctrldep.mlir import ir


class Statistics:
    """The counters of one run of one pass; they belong to the run, never to the process."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self.remarks: list[Diagnostic] = []
        """What the pass tells the user about the input; reported when it ends well."""

    def remark(self, diagnostic: Diagnostic) -> None:
        """Tell the user ``diagnostic``."""
        self.remarks.append(diagnostic)

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
        values: dict[str, Any] = {}
        for key, text in given.items():
            try:
                name, value = cls.parse_option(key, text)
            except OptionValueError as error:
                raise PipelineError(f"option '{key}' of pass '{cls.name}': {error}") from None
            values[name] = value
        return cls(**values)

    @classmethod
    def parse_option(cls, key: str, text: str) -> tuple[str, Any]:
        """The field that option ``key`` sets, and the value that ``text`` says.

        Raises:
            PipelineError: the option does not exist.
            OptionValueError: the value does not fit.
        """
        known = cls.options()
        if key not in known:
            expected = ", ".join(known) or "none"
            raise PipelineError(f"no such option {key} of pass '{cls.name}'; its options: {expected}")
        option = known[key]
        return option.name, _parse(text, option_types(cls)[option.name])

    def option_texts(self) -> dict[str, str]:
        """The options that differ from their defaults, as :meth:`from_options` takes them."""
        values = {key: (getattr(self, option.name), default_of(option)) for key, option in self.options().items()}
        return {key: format_value(value) for key, (value, default) in values.items() if value != default}


@functools.cache
def option_types(cls: type[Pass]) -> dict[str, Any]:
    """The types of the fields of a pass, by field name. May raise whatever evaluating the annotations raises."""
    return typing.get_type_hints(cls)


def default_of(option: dataclasses.Field[Any]) -> Any:
    """The value an option has when it is not given; ``None`` when it must be."""
    if option.default_factory is not dataclasses.MISSING:
        return option.default_factory()
    return None if option.default is dataclasses.MISSING else option.default


_TRUE = frozenset({"true", "TRUE", "True", "1", ""})
_FALSE = frozenset({"false", "FALSE", "False", "0"})


_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)")


class OptionValueError(ValueError):
    """An option's value does not fit. ``offset`` counts characters from the start of the value's text."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


def _parse(text: str, hint: Any) -> Any:
    origin = get_origin(hint)
    if origin is Literal:
        if text not in get_args(hint):
            raise OptionValueError(f"expected one of {', '.join(get_args(hint))}; found '{text}'")
        return text
    if origin is tuple:
        return (
            tuple(_parse_element(part, offset, get_args(hint)[0]) for part, offset in split_list(text)) if text else ()
        )
    if origin in (typing.Union, types.UnionType):
        return _parse(text, next(a for a in get_args(hint) if a is not type(None)))
    if hint is bool:
        if text not in _TRUE | _FALSE:
            raise OptionValueError(f"expected true or false; found '{text}'")
        return text in _TRUE
    if hint is int:
        if not _INTEGER.fullmatch(text):
            raise OptionValueError(f"expected an integer; found '{text}'")
        return int(text, 16 if "x" in text.lower() else 10)
    if hint is float:
        try:
            return float(text)
        except ValueError:
            raise OptionValueError(f"expected a number; found '{text}'") from None
    return text


def _parse_element(text: str, offset: int, hint: Any) -> Any:
    try:
        return _parse(text, hint)
    except OptionValueError as error:
        raise OptionValueError(str(error), offset + error.offset) from None


def format_value(value: Any) -> str:
    """The text of an option's value, without the quotes or braces that a pipeline text may need around it.

    Raises:
        PipelineError: it is a text that the grammar of pipelines cannot say.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        parts = [format_value(part) for part in value]
        text = ",".join(map(quote, parts))
        # Quotes in two parts may be taken for a pair around what is between them.
        if value and [part for part, _ in split_list(text)] != parts:
            raise PipelineError(f"a pipeline text cannot hold the list {parts!r}: its braces or quotes do not balance")
        return text
    return "" if value is None else str(value)
