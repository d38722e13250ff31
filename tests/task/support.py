"""What the tests of task programs share."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_ctrldep.errors import CtrlDepError
from neuron_ctrldep.mlir import ir, parse_module
from neuron_ctrldep.task.program import TaskModule
from neuron_ctrldep.task.verify import verify_task_module

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "task"

KERNELS = """
  func.func private @W(tensor<64xf32> {task.direction = "out"})
      -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
  func.func private @R(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}
  func.func private @M(tensor<64xf32> {task.direction = "inout"}, index)
      -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
"""


def program(body: str, attributes: str = "", kernels: str = KERNELS) -> str:
    """A module with some kernels and an orchestration function ``@main(%s, %t, %n)``."""
    extra = f", {attributes}" if attributes else ""
    return f"""module {{
{kernels}
  func.func @main(%s: tensor<64xf32>, %t: tensor<64xf32>, %n: index)
      attributes {{task.kind = "orchestration"{extra}}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
{body}
    return
  }}
}}
"""


def parse(text: str) -> ir.Operation:
    """The module, checked like every input."""
    module = parse_module(text, file="test.mlir")
    verify_task_module(module, source=text)
    return module


def main_of(module: ir.Operation):
    """The task module and its function main."""
    tasks = TaskModule.of(module)
    return tasks, tasks.orchestrations["main"]


def messages(text: str) -> list[str]:
    """The messages of all faults of a module, without their severities; none for a good one."""
    try:
        parse(text)
    except CtrlDepError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


def corpus_files(pattern: str) -> list[Path]:
    """Files of the shared corpus; a test over them is skipped where it is absent."""
    found = sorted(CORPUS.glob(pattern))
    return found or [pytest.param(None, marks=pytest.mark.skip("the corpus is absent"))]  # type: ignore[list-item]
