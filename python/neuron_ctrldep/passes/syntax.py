"""The text of pass pipelines: names, nesting and options, each with its column. Pure text; no pass is looked up here.

The grammar is MLIR's (``mlir::parsePassPipeline``, ``PassOptions::parseFromString``): ``anchor(element, …)`` where an
element is ``name``, ``name{option=value …}`` or again ``anchor(…)``. A value may be in quotes or in braces, which are
taken off; inside them spaces, commas and braces stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from neuron_ctrldep.errors import PipelineError, SourceLocation

DUMP_HEADER = re.compile(r"\s*Pass Manager with \d+ passes:\s*\n")
"""The line ``--dump-pass-pipeline`` starts with, as in mlir-opt; it is skipped so that the whole dump parses back."""

MAX_DEPTH = 100
"""Deeper nesting of pipelines is refused: no module is that deep, and MLIR's own parser recurses."""

_CLOSERS = {"{": "}", "(": ")", "[": "]", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class Source:
    """A text with the name messages call it, and the errors at its offsets."""

    text: str
    file: str = "pass-pipeline"

    def location(self, offset: int) -> SourceLocation:
        """Line and column of ``offset``."""
        before = self.text[:offset]
        return SourceLocation(self.file, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)

    def error(self, offset: int, message: str) -> PipelineError:
        """The error to raise for what is at ``offset``."""
        return PipelineError(message, location=self.location(offset), source=self.text)


@dataclass(slots=True)
class Element:
    """One element of a pipeline: a pass (``inner`` is ``None``) or a nested pipeline. Offsets count from 0."""

    name: str
    offset: int
    options: str | None = None
    options_offset: int = 0
    inner: list[Element] | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One ``key=value`` of an option text; a key alone has an empty value."""

    key: str
    offset: int
    value: str
    value_offset: int


def parse_pipeline_text(source: Source) -> Element:
    """The outermost element, which is always a nested pipeline: ``anchor(…)``.

    Raises:
        PipelineError: at the offending column of the whole text.
    """
    text = source.text
    header = DUMP_HEADER.match(text)
    start = header.end() if header else 0
    elements = _parse_list(source, start)
    top = elements[0]
    if len(elements) > 1:
        raise source.error(elements[1].offset, "expected one pipeline, 'anchor(...)', and nothing behind it")
    if top.inner is None:
        wrapped = f"builtin.module({text[start:].strip()})" if top.name else "builtin.module(...)"
        raise source.error(
            top.offset,
            "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'"
            f"; write '{wrapped}'",
        )
    return top


def parse_pass_list(source: Source) -> list[Element]:
    """The elements of a list that stands without an anchor: ``name,name{option=value}``.

    Raises:
        PipelineError: at the offending column.
    """
    return _parse_list(source, 0)


def parse_element_text(source: Source) -> Element:
    """The one pass that the text names: ``name`` or ``name{options}``.

    Raises:
        PipelineError: it is malformed, or says more than one pass.
    """
    elements = _parse_list(source, 0)
    if len(elements) > 1 or elements[0].inner is not None:
        offset = elements[1].offset if len(elements) > 1 else elements[0].offset
        raise source.error(offset, "expected one pass: 'name' or 'name{options}'")
    return elements[0]


def _parse_list(source: Source, offset: int) -> list[Element]:
    """The elements from ``offset`` up to the end of the text."""
    text = source.text
    elements: list[Element] = []
    # An explicit stack: the depth of the nesting comes from the input. One entry: the list, and where its '(' is.
    stack: list[tuple[list[Element], int]] = []
    current, current_open = elements, -1
    while True:
        element, offset = _parse_head(source, offset)
        current.append(element)
        if offset < len(text) and text[offset] == "(" and element.options is None:
            if not element.name:
                raise source.error(offset, "expected an operation name before '(', e.g. 'func.func(...)'")
            if len(stack) >= MAX_DEPTH:
                raise source.error(element.offset, f"pipelines are nested more than {MAX_DEPTH} deep")
            element.inner = []
            stack.append((current, current_open))
            current, current_open = element.inner, offset
            offset += 1
            closing = _skip_space(text, offset)
            if not (closing < len(text) and text[closing] == ")"):
                continue
            offset = closing
        elif not element.name and stack and len(current) == 1 and offset >= len(text):
            raise _not_closed(source, current_open)
        elif not element.name:
            # `anchor()` never gets here; everything else without a name is a stray comma or a missing pass.
            raise _empty(source, element, elements)
        while True:
            offset = _skip_space(text, offset)
            if offset >= len(text):
                if stack:
                    raise _not_closed(source, current_open)
                return elements
            if text[offset] != ")":
                break
            if not stack:
                raise source.error(
                    offset, "encountered extra closing ')' creating unbalanced parentheses while parsing pipeline"
                )
            current, current_open = stack.pop()
            offset += 1
        if text[offset] != ",":
            raise source.error(offset, "expected ',' after parsing pipeline")
        offset += 1


def _not_closed(source: Source, opened: int) -> PipelineError:
    return source.error(opened, "encountered unbalanced parentheses while parsing pipeline: '(' is not closed")


def _empty(source: Source, element: Element, elements: list[Element]) -> PipelineError:
    if element is elements[0] and element.options is None and not source.text[element.offset :].strip():
        return source.error(
            element.offset,
            "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'; "
            "the pipeline is empty",
        )
    return source.error(
        element.offset, "expected a pass name or a nested pipeline; '' does not refer to a registered pass"
    )


def _skip_space(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset


def _parse_head(source: Source, offset: int) -> tuple[Element, int]:
    """A name and its options, and the offset behind them."""
    text = source.text
    offset = _skip_space(text, offset)
    end = offset
    while end < len(text) and text[end] not in ",(){}":
        end += 1
    element = Element(text[offset:end].rstrip(), offset)
    if end < len(text) and text[end] == "}":
        raise source.error(end, "encountered extra closing '}' while parsing pipeline")
    broken = re.search(r"\s", element.name)
    if broken:
        behind = _skip_space(text, offset + broken.start())
        raise source.error(behind, f"expected ',' after '{element.name[: broken.start()]}'")
    if end < len(text) and text[end] == "{":
        close = _find_brace(text, end)
        if close < 0:
            raise source.error(end, "missing closing '}' while processing pass options")
        element.options, element.options_offset = text[end + 1 : close], end + 1
        end = close + 1
        behind = _skip_space(text, end)
        if behind < len(text) and text[behind] == "(":
            raise source.error(behind, "expected ',' after parsing pipeline: a nested pipeline takes no options")
    return element, end


def _find_brace(text: str, opened: int) -> int:
    depth = 0
    for offset in range(opened, len(text)):
        if text[offset] == "{":
            depth += 1
        elif text[offset] == "}":
            depth -= 1
            if depth == 0:
                return offset
    return -1


def parse_options(source: Source, start: int, end: int) -> list[Option]:
    """The options in ``source.text[start:end]``, in order.

    Raises:
        PipelineError: a value without a key, or a quote or brace that is not closed.
    """
    text = source.text
    options: list[Option] = []
    offset = start
    while True:
        while offset < end and text[offset].isspace():
            offset += 1
        if offset >= end:
            return options
        key_start = offset
        while offset < end and text[offset] != "=" and not text[offset].isspace():
            offset += 1
        key = text[key_start:offset]
        if offset >= end or text[offset] != "=":
            options.append(Option(key, key_start, "", offset))
            continue
        if not key:
            raise source.error(key_start, "expected an option name before '='")
        value_start = offset = offset + 1
        while offset < end and not text[offset].isspace():
            if text[offset] in "'\"{":
                close = _skip_group(text, offset, end)
                if close < 0:
                    raise source.error(
                        offset, f"missing closing '{_CLOSERS[text[offset]]}' in the value of option '{key}'"
                    )
                offset = close
            offset += 1
        value, shift = unwrap(text[value_start:offset])
        options.append(Option(key, key_start, value, value_start + shift))


def _skip_group(text: str, offset: int, end: int) -> int:
    """The offset of what closes the quote or brace at ``offset``; -1 when nothing does."""
    if text[offset] != "{":
        return text.find(text[offset], offset + 1, end)
    depth = 0
    while offset < end:
        c = text[offset]
        if c in "'\"":
            close = text.find(c, offset + 1, end)
            # A quote that is not closed stands for itself, as in MLIR.
            offset = close if close >= 0 else offset
        elif c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                return offset
        offset += 1
    return -1


def unwrap(value: str) -> tuple[str, int]:
    """``value`` without the quotes or braces around the whole of it, and how many characters went from its front."""
    if len(value) >= 2 and value[0] in "'\"{" and _skip_group(value, 0, len(value)) == len(value) - 1:
        return value[1:-1], 1
    return value, 0


def split_list(value: str) -> list[tuple[str, int]]:
    """The parts of a list value between its commas, unwrapped, each with its offset; commas in groups do not count."""
    parts: list[tuple[str, int]] = []
    start = offset = 0
    while True:
        if offset >= len(value) or value[offset] == ",":
            raw = value[start:offset]
            lead = len(raw) - len(raw.lstrip())
            part, shift = unwrap(raw.strip())
            parts.append((part, start + lead + shift))
            if offset >= len(value):
                return parts
            start = offset + 1
        elif value[offset] in "'\"{":
            close = _skip_group(value, offset, len(value))
            offset = close if close >= 0 else offset
        offset += 1


def quote(value: str) -> str:
    """``value`` as one option value or list element that reads back as itself when it stands alone.

    Raises:
        PipelineError: its braces do not balance and it holds quotes of both kinds, which the grammar cannot say.
    """
    if value and not re.search(r"[\s,'\"{}=()]", value):
        return value
    # A quote pairs with the next of its kind, even one in the value of another option. In quotes of the other kind it
    # stands for itself; braces are for values without quotes, and the last resort for those with both kinds.
    wrappings = [f"'{value}'"] if '"' in value else [f'"{value}"'] if "'" in value else [f"{{{value}}}", f'"{value}"']
    for wrapped in (*wrappings, f"{{{value}}}"):
        if unwrap(wrapped) == (value, 1):
            return wrapped
    raise PipelineError(f"a pipeline text cannot hold the value {value!r}: its braces or quotes do not balance")


def spell_pass(name: str, options: Mapping[str, str]) -> str:
    """``name{option=value …}``, which reads back as the same options.

    Raises:
        PipelineError: the grammar cannot say these values together: a brace without its other half ends the options
            too early, and quotes in values that need braces pair with each other.
    """
    if not options:
        return name
    text = f"{name}{{{' '.join(f'{key}={quote(value)}' for key, value in options.items())}}}"
    source = Source(text)
    try:
        element = parse_element_text(source)
        end = element.options_offset + len(element.options or "")
        read = [(option.key, option.value) for option in parse_options(source, element.options_offset, end)]
    except PipelineError:
        read = []
    if read != list(options.items()):
        said = ", ".join(f"{key} = {value!r}" for key, value in options.items())
        raise PipelineError(
            f"a pipeline text cannot hold the options of pass '{name}': {said}: their braces or quotes do not balance"
        )
    return text
