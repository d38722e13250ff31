"""The C++ passes of the bindings: which there are, what they may run on, and faults of their options."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections.abc import Iterator

from neuron_ctrldep.errors import PipelineError
from neuron_ctrldep.mlir import ir, passmanager, register_cpp_passes
from neuron_ctrldep.passes.cpp_names import LIST_OPTIONS
from neuron_ctrldep.passes.syntax import Element, Option, Source, parse_options

_RESTRICTED = re.compile(r"Can't add pass '([^']*)' restricted to '([^']*)'")
_NO_OPTION = re.compile(r"no such option (\S*)")
_INNER = re.compile(r"PassPipeline Parser:\d+:(\d+): error: (.*)\n(.*)\n")
_NOT_ADDED = re.compile(r"failed to add `([^`]*)` with options")
_UNKNOWN = "does not refer to a registered pass"


class CppPasses:
    """Asks the bindings about C++ passes. There is no list to read: a pipeline is parsed, and its error is read."""

    def __init__(self) -> None:
        register_cpp_passes()
        self._context = ir.Context()
        self._anchors: dict[str, str | None] = {}

    def _parse(self, text: str) -> tuple[str, str]:
        """``(printed, "")`` of a pipeline that parses, else ``("", messages)``."""
        # MLIR prints what is wrong with an option's value to the process's stderr and leaves it out of the exception.
        noise: list[str] = []
        try:
            with captured_stderr(noise) if "{" in text else contextlib.nullcontext():
                printed = str(passmanager.PassManager.parse(text, context=self._context))
            for line in noise:  # a pipeline that parses is silent: this is from other threads
                print(line, file=sys.stderr)
            return printed, ""
        except (ValueError, ir.MLIRError) as error:
            return "", "\n".join([*noise, str(error)])

    def exists(self, name: str) -> bool:
        """Whether a C++ pass or pass pipeline is registered as ``name``."""
        return self._find(name) is not None

    def anchor(self, name: str) -> str:
        """The op that the pass ``name`` is restricted to; ``any`` when it is not."""
        return self._find(name) or "any"

    def _find(self, name: str) -> str | None:
        if name not in self._anchors:
            self._anchors[name] = self._probe(name)
        return self._anchors[name]

    def _probe(self, name: str) -> str | None:
        """What ``name`` is restricted to; ``None`` when there is no such pass."""
        if not re.fullmatch(r"[\w.+-]+", name) or _UNKNOWN in self._parse(f"any({name})")[1]:
            return None
        if self._is_pass_pipeline(name):
            return "builtin.module"
        # On an op that no pass is restricted to, the refusal names the one it is restricted to.
        match = _RESTRICTED.search(self._parse(f"no.op({name})")[1])
        return match[2] if match else "any"

    def _is_pass_pipeline(self, name: str) -> bool:
        """Whether ``name`` stands for several passes. On an op that one of them does not fit, MLIR ends the process."""
        printed, _ = self._parse(f"any({name})")
        return bool(printed) and not re.match(rf"any\({re.escape(name)}[{{)]", printed)

    def check(self, element: Element, anchor: str, source: Source) -> tuple[str, str]:
        """The options as the bindings take them, and the pass with all its options spelled out, as MLIR prints it.

        Raises:
            PipelineError: an option does not exist or its value does not fit, or the pass cannot run on ``anchor``.
        """
        restriction = self.anchor(element.name)
        if restriction != "any" and anchor not in ("any", restriction):
            raise source.error(element.offset, misplaced(element.name, restriction, anchor))
        self._check_inner_pipelines(element, source)
        options = (element.options or "").strip()
        printed, messages = self._parse(f"{anchor}({_spell(element.name, options)})")
        end = element.options_offset + len(element.options or "")
        given = parse_options(source, element.options_offset, end) if messages and element.options else []
        if given:
            options = self._plain_booleans(element, given, anchor, source)
            printed, messages = self._parse(f"{anchor}({_spell(element.name, options)})")
        if not messages:
            full = printed[len(anchor) + 1 : -1].strip()
            # Not everything that MLIR prints reads back (a value with spaces); then what was given stands for itself.
            reads_back = self._parse(f"{anchor}({full})")[0] == printed
            return options, full if reads_back else _spell(element.name, options)
        for option in given:
            self._check_option(element, option, anchor, source)
        raise source.error(
            element.offset, f"pass '{element.name}' does not take these options: {_first_line(messages)}"
        )

    def _plain_booleans(self, element: Element, given: list[Option], anchor: str, source: Source) -> str:
        """The options with ``true`` or ``false`` for the other spellings of LLVM 22, which later bindings refuse."""
        spelled: list[str] = []
        for option in given:
            raw = source.text[option.offset : _end_of(option, source)]
            _, messages = self._parse(f"{anchor}({element.name}{{{raw}}})")
            spelled.append(_BOOLEAN.sub(_plain_boolean, raw) if "invalid value for boolean" in messages else raw)
        return " ".join(spelled)

    def _check_inner_pipelines(self, element: Element, source: Source) -> None:
        """Refuse pass pipelines in the options of a pass (``inline``): MLIR ends the process where they do not fit."""
        for word in re.finditer(r"[\w.-]+", element.options or ""):
            if self.exists(word[0]) and self._is_pass_pipeline(word[0]):
                offset = element.options_offset + word.start()
                raise source.error(offset, f"'{word[0]}' is a pass pipeline; an option takes single passes only")

    def _check_option(self, element: Element, option: Option, anchor: str, source: Source) -> None:
        """Raise at ``option`` if it alone is refused."""
        raw = source.text[option.offset : _end_of(option, source)]
        _, messages = self._parse(f"{anchor}({element.name}{{{raw}}})")
        if not messages:
            return
        start, end = option.value_offset, option.value_offset + len(option.value)
        inner = _fault_within(source.text[start:end], element.name, messages)
        if inner:
            raise source.error(start + inner[0], inner[1])
        if _NO_OPTION.search(messages):
            known = ", ".join(self.options(element.name)) or "none"
            raise source.error(
                option.offset, f"no such option {option.key} of pass '{element.name}'; its options: {known}"
            )
        raise source.error(option.value_offset, f"option '{option.key}' of pass '{element.name}': {_reason(messages)}")

    def options(self, name: str) -> dict[str, str]:
        """The options of a C++ pass, with their default texts: what MLIR prints for it, then lists, which are empty."""
        lists = dict.fromkeys(LIST_OPTIONS.get(name, ()), "")
        printed, _ = self._parse(f"any({name})")
        match = re.fullmatch(rf"any\({re.escape(name)}\{{(.*)\}}\)", printed, re.DOTALL)
        if match is None:
            return lists
        try:
            return {option.key: option.value for option in parse_options(Source(match[1]), 0, len(match[1]))} | lists
        except PipelineError:
            # A pipeline of several passes, or a value that MLIR does not print as it reads it.
            return lists


def misplaced(name: str, restriction: str, anchor: str) -> str:
    """What is wrong with a pass that stands in a pipeline on another op, in MLIR's words, and what to do."""
    advice = f"'{restriction}({name})'" if anchor == "builtin.module" else f"move it to '{restriction}(...)'"
    return (
        f"Can't add pass '{name}' restricted to '{restriction}' on a PassManager intended to run on '{anchor}', "
        f"did you intend to nest? {advice}"
    )


def _spell(name: str, options: str) -> str:
    return f"{name}{{{options}}}" if options else name


_WORD = "(TRUE|True|FALSE|False|)"
_BOOLEAN = re.compile(rf"""=(?:"{_WORD}"|'{_WORD}'|\{{{_WORD}\}}|{_WORD})(?=[\s}}]|$)""")


def _plain_boolean(match: re.Match[str]) -> str:
    return "=false" if any(group and group.lower() == "false" for group in match.groups()) else "=true"


def _end_of(option: Option, source: Source) -> int:
    end = option.value_offset + len(option.value)
    # The quotes or braces that were taken off belong to the raw text.
    return end + 1 if end > option.offset and source.text[option.value_offset - 1] in "'\"{" else end


def _fault_within(value: str, name: str, messages: str) -> tuple[int, str] | None:
    """Where in ``value``, an option of the pass ``name``, and what is wrong with a pipeline in it; ``None`` if nothing.

    MLIR shows the line of the inner pipeline and counts the column in it, or names the inner pass that it cannot add.
    """
    shown = _INNER.search(messages)
    if shown:
        found = _words_in(shown[3], value)
        return (found[0] + int(shown[1]) - 1 if found else 0), shown[2]
    added = _NOT_ADDED.search(messages)
    if added is None or added[1] == name:
        return None
    found = _words_in(added[1], value)
    # Of several passes of one name, MLIR does not tell which it means.
    return (found[0] if len(found) == 1 else 0), f"pass '{added[1]}': {_reason(messages)}"


def _words_in(text: str, value: str) -> list[int]:
    """Where ``text`` stands in ``value`` as whole words."""
    return [match.start() for match in re.finditer(rf"(?<![\w.-]){re.escape(text)}(?![\w.-])", value)]


def _reason(messages: str) -> str:
    reason = re.search(r"for the \S* option: (.*)", messages) or re.search(r"no such option \S*", messages)
    return reason[reason.lastindex or 0] if reason else _first_line(messages)


def _first_line(messages: str) -> str:
    return next((line.strip() for line in messages.splitlines() if line.strip()), "unknown reason")


_redirecting = threading.Lock()
"""The process has one file descriptor 2, whatever threads run pipelines."""


@contextlib.contextmanager
def captured_stderr(lines: list[str]) -> Iterator[None]:
    """Within the block, what the process writes to file descriptor 2 goes to ``lines``. One thread at a time."""
    import tempfile

    with _redirecting, tempfile.TemporaryFile() as sink:
        if sys.stderr is not None:  # as in a program without a console
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
        saved = None
        with contextlib.suppress(OSError):  # the descriptor may be closed
            saved = os.dup(2)
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            if saved is None:
                os.close(2)
            else:
                os.dup2(saved, 2)
                os.close(saved)
            sink.seek(0)
            lines += sink.read().decode("utf-8", "replace").splitlines()
