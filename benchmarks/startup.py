"""Whole processes: each tool against ``python -c "import jaxlib.mlir.ir"``, medians of 9 runs in turn."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

REFERENCE = [sys.executable, "-c", "import jaxlib.mlir.ir"]
MODULE = "module { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> } }"


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def measure(runs: int = 9) -> list[dict[str, str]]:
    """One row for each command."""
    tools = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "module.mlir"
        file.write_text(MODULE)
        opt = str(tools / "neuron-ctrldep-opt")
        flatten = "--stablehlo-flatten-control-dep-tuple-operands"
        commands = {
            "neuron-ctrldep-opt --version": [opt, "--version"],
            "neuron-ctrldep-opt, empty pipeline": [opt, str(file)],
            "neuron-ctrldep-opt, one flatten": [opt, flatten, str(file)],
            "neuron-ctrldep --version": [str(tools / "neuron-ctrldep"), "--version"],
            "neuron-ctrldep-translate --version": [str(tools / "neuron-ctrldep-translate"), "--version"],
            "neuron-ctrldep-hlo-opt --version": [str(tools / "neuron-ctrldep-hlo-opt"), "--version"],
        }
        rows = []
        for name, command in commands.items():
            _seconds(command), _seconds(REFERENCE)
            ratios = [_seconds(command) / _seconds(REFERENCE) for _ in range(runs)]
            rows.append({"command": name, "times the reference": f"{statistics.median(ratios):.2f}"})
    return rows
