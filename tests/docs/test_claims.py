"""Claims of the sources that no other test states in one place; ``docs/faithfulness.md`` names them."""

import os
import subprocess
import sys

import pytest

import neuron_ctrldep as nc
from neuron_ctrldep import mlir
from neuron_ctrldep.hlo.module import load_hlo

from .blocks import ROOT

LOOP = ROOT / "examples" / "loop.hlo"


def test_without_reification_the_chain_loses_what_it_keeps_with_it() -> None:
    result = nc.check(LOOP)
    assert [(edge.src, edge.dst, edge.verdict) for edge in result.edges] == [
        ("new_sum", "noise", "kept"),
        ("first", "second", "kept"),
    ]
    assert [edge.verdict for edge in result.without_reification] == ["lost", "lost"]


def calls_left(flag: str, pipeline: str, calls: int = 1) -> int:
    """How many of so many wire ops, whose results nothing reads, are there after a pipeline."""
    call = (
        f"stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {{has_side_effect = {flag}}} : "
        "(tensor<f32>, tensor<f32>) -> tensor<f32>"
    )
    module = mlir.parse_module(
        f"""module {{ func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {{
          %p = stablehlo.sine %a : tensor<f32>
          %d = stablehlo.cosine %b : tensor<f32>
          {" ".join(f"%w{number} = {call}" for number in range(calls))}
          return %p, %d : tensor<f32>, tensor<f32> }} }}"""
    )
    nc.run(module, f"builtin.module({pipeline})")
    return str(module).count("@AwsNeuronControlDep")


@pytest.mark.parametrize("pipeline", ["trivial-dce", "canonicalize", "cse", "remove-dead-values"])
def test_without_the_flag_dead_code_elimination_deletes_the_call(pipeline: str) -> None:
    assert calls_left("true", pipeline) == 1
    assert calls_left("false", pipeline) == 0


def test_with_the_flag_equal_calls_are_not_merged() -> None:
    assert calls_left("true", "cse", calls=2) == 2


# Every stage whose order could come from a hash: what it prints must be the same bytes in every process.
STAGES = """
import sys
from pathlib import Path
import neuron_ctrldep as nc
from neuron_ctrldep.hlo.module import load_hlo
from neuron_ctrldep.orchestration.cpp import print_orchestration
from neuron_ctrldep.penguin.weights import WeightNames
from tests.generators.hlo import module_of_seed
for seed in range(12):
    module = load_hlo(module_of_seed(seed).encode())
    report = nc.preserve_control_deps(module, on_unreifiable="warn")
    sys.stdout.buffer.write(module.to_bytes())
    print(report.render(), flush=True)
for file in ("dropout_step.hlo", "loop.hlo", "ordered_step.bin"):
    lowered = nc.lower(Path("examples", file))
    print(lowered.module, lowered.penguin(weights=WeightNames()), nc.check(Path("examples", file)).render(), flush=True)
for file in sorted(Path("examples").glob("*.mlir")):
    module = nc.load(file)
    nc.run(module, "builtin.module(derive-call-directions,auto-derive-task-dependencies{analyze-auto-scopes=true},"
                   "materialize-runtime-scopes,expand-manual-phase-fence)")
    print(module, print_orchestration(module), flush=True)
"""


def test_the_same_bytes_whatever_the_hash_seed() -> None:
    def printed(seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", STAGES], cwd=ROOT, env=environment, capture_output=True, check=False
        )
        assert run.returncode == 0, run.stderr.decode()
        return run.stdout

    first = printed("1")
    assert b"add_dep_edge" in first
    assert b"set_dependencies" in first
    assert printed("2") == first


def test_more_than_six_predecessors() -> None:
    sources = "\n".join(f"  p{number} = f32[] negate(x)" for number in range(20))
    names = ", ".join(f"p{number}" for number in range(20))
    text = f"""HloModule many

ENTRY main {{
  x = f32[] parameter(0)
{sources}
  ROOT s = f32[] sine(x), control-predecessors={{{names}}}
}}
"""
    module = load_hlo(text.encode())
    nc.preserve_control_deps(module)
    (computation,) = module.proto.computations
    by_id = {instruction.id: instruction.name for instruction in computation.instructions}
    (call,) = [instruction for instruction in computation.instructions if instruction.opcode == "custom-call"]
    assert [by_id[operand] for operand in call.operand_ids] == [*(f"p{number}" for number in range(20)), "x"]
