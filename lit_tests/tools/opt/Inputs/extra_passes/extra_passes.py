"""What another package that brings passes looks like; its entry points are in ``extra_passes-1.0.dist-info``."""

from __future__ import annotations

import dataclasses
import os
from typing import ClassVar

from neuron_ctrldep.errors import PassError
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.passes.base import Pass, Statistics


@dataclasses.dataclass(frozen=True)
class CountOps(Pass):
    """Counts; changes nothing."""

    name = "extra-count-ops"
    summary = "Count the ops directly inside each function"
    anchor = "func.func"
    counters: ClassVar = {"ops": "ops seen"}

    only: tuple[str, ...] = dataclasses.field(default=(), metadata={"help": "count these ops, or all"})

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        for child in op.regions[0].blocks[0].operations:
            statistics.add("ops", 1 if not self.only or child.operation.name in self.only else 0)


@dataclasses.dataclass(frozen=True)
class Fail(Pass):
    """Fails as a pass should."""

    name = "extra-fail"
    summary = "Refuse every function"
    anchor = "func.func"

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        raise PassError("functions are not welcome here", location=source_location(op.location))


@dataclasses.dataclass(frozen=True)
class Crash(Pass):
    """Fails as a pass should not."""

    name = "extra-crash"
    summary = "Raise an exception that is not a PassError"

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        raise KeyError("no such thing")


@dataclasses.dataclass(frozen=True)
class Die(Pass):
    """Does what a failed check in C++ does."""

    name = "extra-die"
    summary = "End the process"

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        os.abort()


@dataclasses.dataclass(frozen=True)
class Break(Pass):
    """Leaves IR that does not verify."""

    name = "extra-break"
    summary = "Erase the terminator of each function"
    anchor = "func.func"

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        block = op.regions[0].blocks[0]
        block.operations[len(block.operations) - 1].operation.erase()
