"""Programs exported from JAX: what is printed reads back as the same operations and edges, and can be scheduled."""

from pathlib import Path

import pytest

from neuron_ctrldep.control_dep import control_edges, fault_of, instruction_name, is_control_dep, reachable_functions
from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.penguin import edge_list, print_penguin, read_penguin, schedule
from tests.penguin.support import Weights

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "jax_export"


def instructions(module):
    """The names of the ops that main reaches, wire ops left out; and whether all wire ops are legal."""
    names, legal = [], True

    def visit(op):
        nonlocal legal
        if is_control_dep(op):
            legal &= fault_of(op) is None
        elif op.name != "func.func":
            names.append(instruction_name(op))
        return ir.WalkResult.ADVANCE

    for function in reachable_functions(module):
        function.walk(visit)
    return sorted(names), legal


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.mlir")), ids=lambda path: path.stem)
def test_exported_programs_come_back(path):
    module = load_mlir(path.read_bytes(), file=path.name)
    names, legal = instructions(module)
    if not legal:
        pytest.skip("its wire op is not legal; the printer says so")
    program = read_penguin(print_penguin(module, weights=Weights()))
    assert sorted({o.location.hlo_id: o.location.name for _, o in program.operations()}.values()) == names
    assert sorted(map(str, edge_list(module))) == sorted(str(edge.serialize()) for edge in program.edges())
    assert len(program.edges()) == len(control_edges(module).edges)
    for function in program.functions:
        assert len(schedule(function)) == len(function.operations)
