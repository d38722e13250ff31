"""Reproducers: a module together with the pipeline to run on it, as mlir-opt writes and reads them.

The pipeline stands in the file's metadata (MLIR: ``external_resources``, key ``mlir_reproducer``), so that the file
stays MLIR that every tool reads.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.metadata import (
    external_entries,
    external_resources,
    quoted,
    unquoted,
    with_external_resources,
)
from neuron_ctrldep.passes.model import Pipeline
from neuron_ctrldep.passes.printing import PrintFlags

OWNER = "mlir_reproducer"
"""Whose the resources are."""


@dataclass(frozen=True, slots=True)
class Reproducer:
    """How to run the module."""

    pipeline: str = ""
    """Empty, where a file names none."""
    disable_threading: bool = False
    verify_each: bool = True

    def render(self, module: str) -> str:
        """The file: ``module`` and the metadata behind it."""
        entries = {
            "pipeline": quoted(self.pipeline),
            "disable_threading": str(self.disable_threading).lower(),
            "verify_each": str(self.verify_each).lower(),
        }
        return with_external_resources(module, {OWNER: entries}) + "\n"


def reproducer_of(op: ir.Operation, pipeline: Pipeline, *, disable_threading: bool, verify_each: bool) -> str:
    """The file that runs ``pipeline`` on ``op``.

    Where every pass is in C++ it may go to any mlir-opt: then the ops are in the generic form, which all versions of
    MLIR read alike.
    """
    is_cpp = all(call.instance is None for call in pipeline.calls())
    how = Reproducer(str(pipeline), disable_threading, verify_each)
    return how.render(PrintFlags(generic=is_cpp).render(op))


def read_reproducer(text: str, *, file: str = "-") -> Reproducer | None:
    """The reproducer in the metadata of ``text``; ``None`` when there is none.

    Raises:
        InputError: it has a key or a value that is not a reproducer's.
    """
    if OWNER not in external_resources(text):
        return None
    found = Reproducer()
    for entry in external_entries(text):
        if entry.owner != OWNER:
            continue
        is_text = entry.value.startswith('"')
        if entry.key not in ("pipeline", "disable_threading", "verify_each"):
            raise _malformed(f"unknown '{OWNER}' resource key '{entry.key}'", text, entry.key_offset, file)
        if is_text != (entry.key == "pipeline"):
            expected = "'true' or 'false'" if is_text else "string"
            raise _malformed(f"expected {expected} value for key '{entry.key}'", text, entry.value_offset, file)
        value = _text(entry.value) if is_text else entry.value == "true"
        found = dataclasses.replace(found, **{entry.key: value})  # type: ignore[arg-type]
    return found


def _text(literal: str) -> str:
    """Bytes that are not UTF-8 are no pipeline; they are shown as U+FFFD in the message about it."""
    return unquoted(literal).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _malformed(message: str, text: str, offset: int, file: str) -> InputError:
    before = text[:offset]
    column = len(before) - before.rfind("\n")
    return InputError(message, location=SourceLocation(file, before.count("\n") + 1, column), source=text)
