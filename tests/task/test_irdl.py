"""The IRDL file: current, and with the same verdict as ours where IRDL can express the rule."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from neuron_ctrldep.task.irdl import irdl_text
from tests.task.support import ROOT, messages, program

FILE = ROOT / "dialects" / "task.irdl.mlir"


def test_the_file_is_current():
    assert FILE.read_text() == irdl_text(), "run: python -m neuron_ctrldep.task.irdl > dialects/task.irdl.mlir"


def mlir_opt() -> str | None:
    spec = importlib.util.find_spec("mlir")
    inside = [str(Path(p, "bin", "mlir-opt")) for p in (spec.submodule_search_locations or [])] if spec else []
    return next((found for name in ["mlir-opt-22", *inside] if (found := shutil.which(name))), None)


SUBMIT = '"task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>)'
PROGRAMS = {
    "valid submit": (True, f"%a, %p = {SUBMIT} -> (tensor<64xf32>, !task.id)"),
    "valid barrier of ids": (
        True,
        '%i = "task.invalid"() : () -> !task.id\n%b = "task.barrier"(%i, %i) : (!task.id, !task.id) -> !task.id',
    ),
    "valid barrier of nothing": (True, '%b = "task.barrier"() : () -> !task.id'),
    "valid id tensor": (
        True,
        '%e = tensor.empty() : tensor<3x!task.id>\n%b = "task.barrier"(%e) : (tensor<3x!task.id>) -> !task.id',
    ),
    "no callee": (
        False,
        '%a, %p = "task.submit"(%s) {operandSegmentSizes = array<i32: 1, 0, 0>} '
        ": (tensor<64xf32>) -> (tensor<64xf32>, !task.id)",
    ),
    "callee is a string": (
        False,
        '%a, %p = "task.submit"(%s) {callee = "W", operandSegmentSizes = '
        "array<i32: 1, 0, 0>} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)",
    ),
    "no segment sizes": (
        False,
        '%a, %p = "task.submit"(%s) {callee = @W} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)',
    ),
    "segments do not add up": (
        False,
        '%a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = '
        "array<i32: 1, 1, 0>} : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)",
    ),
    "two segments": (
        False,
        '%a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0>} '
        ": (tensor<64xf32>) -> (tensor<64xf32>, !task.id)",
    ),
    "no id": (False, f"%a = {SUBMIT} -> tensor<64xf32>"),
    "no result": (
        False,
        '"task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64xf32>) -> ()',
    ),
    "barrier without a result": (False, '"task.barrier"() : () -> ()'),
    "barrier of another type": (False, '%b = "task.barrier"() : () -> index'),
    "invalid with an operand": (False, '%b = "task.invalid"(%c0) : (index) -> !task.id'),
    "unknown op": (False, '"task.wait"() : () -> ()'),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_our_verdict(name):
    valid, body = PROGRAMS[name]
    assert (messages(program(body)) == []) == valid


@pytest.mark.skipif(mlir_opt() is None, reason="LLVM's mlir-opt is not there")
def test_the_verdict_of_mlir_opt(tmp_path):
    path = tmp_path / "all.mlir"
    # One run for all: a chunk that is at fault does not stop the others with --verify-diagnostics, and each fault is
    # expected where it is, so a wrong verdict in either direction fails the run.
    chunks = []
    for valid, body in PROGRAMS.values():
        lines = body.split("\n")
        if not valid:
            lines.insert(len(lines) - 1, "// expected-error@+1 {{}}")
        chunks.append(program("\n".join(lines)))
    path.write_text("\n// -----\n".join(chunks))
    run = subprocess.run(
        [mlir_opt(), f"--irdl-file={FILE}", "--split-input-file", "--verify-diagnostics", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
