"""Claims of the sources that no other test states in one place; ``docs/faithfulness.md`` names them."""

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


def test_without_the_flag_the_edge_is_lost() -> None:
    def left(flag: str) -> int:
        call = (
            f"stablehlo.custom_call @AwsNeuronControlDep(%p, %d) {{has_side_effect = {flag}}} : "
            "(tensor<f32>, tensor<f32>) -> tensor<f32>"
        )
        module = mlir.parse_module(
            f"""module {{ func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {{
              %p = stablehlo.sine %a : tensor<f32>
              %d = stablehlo.cosine %b : tensor<f32>
              %w = {call}
              %v = {call}
              return %p, %v : tensor<f32>, tensor<f32> }} }}"""
        )
        nc.run(module, "builtin.module(cse)")
        return str(module).count("@AwsNeuronControlDep")

    assert left("true") == 2
    assert left("false") == 1


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
