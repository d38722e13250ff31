"""``--mlir-pass-pipeline-crash-reproducer``: the reproducer that is left when a pipeline fails, or ends the process."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import Diagnostic
from neuron_ctrldep.files import write_output
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.execute import Observer
from neuron_ctrldep.passes.model import PassCall, Pipeline
from neuron_ctrldep.passes.printing import symbol_of
from neuron_ctrldep.passes.reproducer import reproducer_of


def pending_file(path: str, process: int) -> Path:
    """Where ``process`` keeps what would have to be in ``path`` if it ended now."""
    return Path(f"{path}.{process}.pending")


def keep_pending(path: str, process: int) -> bool:
    """Make what ``process``, which has ended, kept the file at ``path``; whether there was something."""
    try:
        pending_file(path, process).replace(path)
    except OSError:
        return False
    return True


@dataclass
class CrashReproducer(Observer):
    """Keeps the reproducer up to date while a pipeline runs.

    Args:
        path: of the file.
        local: reproduce with the failing pass alone, on the module as it was before that pass.
        disable_threading: goes into the file.
        verify_each: goes into the file.
    """

    path: str
    local: bool = False
    disable_threading: bool = False
    verify_each: bool = True

    def __post_init__(self) -> None:
        self._text = ""
        self._failed: list[str] = []
        self._place: ir.Location | None = None

    def start(self, op: ir.Operation, pipeline: Pipeline) -> None:
        """``pipeline`` is about to run on the top-level ``op``."""
        self._place = op.location
        self._keep(op, pipeline)

    def _keep(self, op: ir.Operation, pipeline: Pipeline) -> None:
        self._text = reproducer_of(op, pipeline, disable_threading=self.disable_threading, verify_each=self.verify_each)
        # In place, not beside: it is there for a process that ends without a word, at any time.
        with contextlib.suppress(OSError):
            pending_file(self.path, os.getpid()).write_text(self._text, encoding="utf-8")

    def before(self, call: PassCall, op: ir.Operation) -> None:
        """Keep the module as it is before the pass."""
        if not self.local or self._failed:
            return
        pipeline, around = Pipeline(op.name, (call,)), op
        while (parent := mlir.parent_of(around)) is not None:
            pipeline, around = Pipeline(parent.name, (pipeline,)), parent
        self._keep(around, pipeline)

    def failed(self, call: PassCall, op: ir.Operation) -> None:
        """Remember what failed."""
        if not self._failed:
            self._place = op.location
        self._failed.append(f"`{call.class_name}` on '{op.name}' operation{symbol_of(op, ': @')}")

    def drop(self) -> None:
        """All is well."""
        with contextlib.suppress(OSError):
            pending_file(self.path, os.getpid()).unlink()

    def write(self) -> Diagnostic:
        """Write the file; what to tell the user about it.

        Raises:
            InputError: it cannot be written.
        """
        self.drop()
        write_output(self.path, self._text)
        place = mlir.source_location(self._place) if self._place is not None else None
        what = (self._failed or [""])[0] if self.local else f"[{', '.join(self._failed)}]"
        note = f"Pipeline failed while executing {what}: reproducer generated at `{self.path}`"
        return Diagnostic(
            "error",
            "Failures have been detected while processing an MLIR pass pipeline",
            place,
            (Diagnostic("note", note, place),),
        )
