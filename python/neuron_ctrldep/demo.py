"""``neuron-ctrldep demo``: the chain on a shipped example, with what it shows explained in a screenful."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from neuron_ctrldep.chain import CheckResult, check, lower
from neuron_ctrldep.checker import summary
from neuron_ctrldep.files import resource
from neuron_ctrldep.hlo.child import Child
from neuron_ctrldep.penguin.weights import WeightNames

EXAMPLE = ("examples", "dropout_step.hlo")
"""A training step with dropout and donated buffers, compiled by JAX for the CPU (``examples/make_demo.py``)."""


def run_demo(*, as_json: bool = False) -> str:
    """Run the chain on the example.

    Args:
        as_json: give the JSON of ``neuron-ctrldep check`` instead of the explanation.
    """
    path = resource(*EXAMPLE)
    name = f"{EXAMPLE[0]}/{EXAMPLE[1]}"
    with Child() as child:
        return _run(path, name, child, as_json=as_json)


def _run(path: Path, name: str, child: Child, *, as_json: bool) -> str:
    result = check(path, file=name, child=child)
    assert isinstance(result, CheckResult)
    if as_json:
        return json.dumps(result.as_json(), indent=2) + "\n"
    wire_ops: list[str] = []

    def collect(stage: str, made: Any) -> None:
        if stage == "stablehlo":
            wire_ops.extend(line.strip() for line in str(made).splitlines() if "@AwsNeuronControlDep" in line)

    lowered = lower(path, file=name, on_stage=collect, child=child)
    text = lowered.penguin(weights=WeightNames())
    dependency_lines = [line for line in text.splitlines() if ".add_dep_edge(" in line]
    source = [
        f"{edge.src} -> {edge.dst}   ({kept.verdict} with reification, {kept_without.verdict} without)"
        for edge, kept, kept_without in zip(result.edges, result.edges, result.without_reification, strict=True)
    ]
    bare = summary(result.without_reification)
    kept = summary(result.edges)
    sections = [
        (
            f"1. Found: {len(result.edges)} control dependencies in {name}\n"
            "   (a JAX training step, compiled by XLA for the CPU; no data says that these come in this order)",
            source,
        ),
        (
            "2. Reified and imported: each edge is now an operand of a side-effecting custom call (predecessors\n"
            f"   first, the forwarded value last). MLIR cannot lose an operand. The first of {len(wire_ops)}:",
            wire_ops[:1],
        ),
        ("3. Printed as Penguin Python, after canonicalize, CSE and flatten:", dependency_lines),
        (
            f"4. Proved by reading the program back: {kept['kept']} kept, {kept['implied']} implied by a path, "
            f"{kept['dropped']} dropped with a reason, {kept['lost']} LOST.",
            [],
        ),
        (
            f"   The same chain without reification keeps {bare['kept']} and loses {bare['lost']} of {bare['edges']}.",
            [],
        ),
        (
            "Next: neuron-ctrldep lower YOUR.hlo -o out.py; neuron-ctrldep check YOUR.hlo; "
            "neuron-ctrldep view YOUR.hlo -o deps.html",
            [],
        ),
    ]
    lines: list[str] = []
    for title, body in sections:
        lines += [title, *(f"     {line}" for line in body), *([""] if body else [])]
    return "\n".join(lines) + "\n"
