"""Python passes that the tests run."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from neuron_ctrldep.errors import PassError
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.passes.base import Pass, Statistics


@dataclasses.dataclass(frozen=True)
class Everything(Pass):
    """One option of each type."""

    name = "test-everything"
    summary = "Options of all types"
    anchor = "any"

    flag: bool = False
    count: int = 3
    ratio: float = 0.5
    text: str = "plain"
    mode: Literal["first", "second"] = "first"
    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = (1, 2)
    maybe: str | None = None

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        statistics.add("runs")


@dataclasses.dataclass(frozen=True)
class Trace(Pass):
    """Notes the ops it ran on."""

    name = "test-trace"
    summary = "Note the ops"
    anchor = "any"
    seen: ClassVar[list[str]] = []

    label: str = ""

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        symbol = ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else op.name
        self.seen.append(self.label + symbol)
        statistics.add("runs")


@dataclasses.dataclass(frozen=True)
class OnFunctions(Trace):
    """The same, on functions only."""

    name = "test-on-functions"
    anchor = "func.func"


@dataclasses.dataclass(frozen=True)
class Refuse(Pass):
    """Fails on the function it is told to."""

    name = "test-refuse"
    summary = "Fail"
    anchor = "func.func"

    function: str = "f"

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        if ir.StringAttr(op.attributes["sym_name"]).value == self.function:
            raise PassError("refused", location=source_location(op.location))


REGISTERED = {cls.name: f"passes_for_tests:{cls.__name__}" for cls in (Everything, Trace, OnFunctions, Refuse)}
