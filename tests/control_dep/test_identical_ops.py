"""Thousands of equal ops: the bindings give them all one hash, so a dictionary keyed by ops would take minutes here."""

import pytest

from neuron_ctrldep.checker import of_mlir
from neuron_ctrldep.control_dep import control_edges
from neuron_ctrldep.mlir import parse_module
from neuron_ctrldep.penguin.printer import print_penguin

MANY = 20_000
T = "tensor<f32>"
WIRE = "stablehlo.custom_call @AwsNeuronControlDep"


@pytest.fixture(scope="module")
def module():
    """Equal constants, equal ops that are predecessors of one wire op, and equal ops that wait for one of these."""
    predecessors = [f"%n{number}" for number in range(MANY)]
    lines = [
        f"func.func @main(%a: {T}) -> ({T}, {T}) {{",
        *(f"%c{number} = stablehlo.constant dense<1.0> : {T}" for number in range(MANY)),
        *(f"{name} = stablehlo.negate %a : {T}" for name in predecessors),
        f"%w = {WIRE}(%n0, %a) {{has_side_effect = true}} : ({T}, {T}) -> {T}",
        *(f"%s{number} = stablehlo.abs %w : {T}" for number in range(MANY)),
        f"%v = {WIRE}({', '.join(predecessors)}, %a) {{has_side_effect = true}} : "
        f"({', '.join([T] * (MANY + 1))}) -> {T}",
        f"%r = stablehlo.sine %v : {T}",
        f"return %r, %s0 : {T}, {T}",
        "}",
    ]
    return parse_module("\n".join(lines))


def test_edges(module):
    edges = control_edges(module).edges
    assert len(edges) == 2 * MANY
    assert [edge.dst.name for edge in edges] == ["stablehlo.abs"] * MANY + ["stablehlo.sine"] * MANY
    assert edges[0].src == edges[MANY].src
    assert edges[MANY].src != edges[MANY + 1].src


def test_emission(module):
    lines = print_penguin(module).splitlines()
    assert sum("add_dep_edge" in line for line in lines) == 2 * MANY


def test_checker_inputs(module):
    (block,) = of_mlir(module).values()
    assert len(block.edges) == 2 * MANY
    assert len({name for name in block.instructions if "negate" in name}) == MANY
