"""auto-derive-task-dependencies as a library: determinism, repetition, shapes that could take too long."""

from __future__ import annotations

import pytest

from neuron_ctrldep.errors import PassError
from neuron_ctrldep.mlir import parse_module, verify
from neuron_ctrldep.passes.pipeline import run_pipeline
from neuron_ctrldep.task.derive import auto_derive_task_dependencies
from neuron_ctrldep.task.directions import derive_call_directions
from neuron_ctrldep.task.verify import verify_task_module
from tests.task.support import program

CHAIN = program("""
    %a = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%k = %a) -> (tensor<64xf32>) {
      func.call @R(%t) : (tensor<64xf32>) -> ()
      %b = func.call @M(%k, %i) : (tensor<64xf32>, index) -> tensor<64xf32>
      scf.yield %b : tensor<64xf32>
    }
    %w = func.call @W(%t) : (tensor<64xf32>) -> tensor<64xf32>
    func.call @R(%l) : (tensor<64xf32>) -> ()
""")


def derived(text, **options):
    module = parse_module(text)
    with module.context, module.location:
        result = auto_derive_task_dependencies(module, **options)
    verify(module)
    verify_task_module(module)
    return module, result


def test_same_input_same_bytes():
    assert str(derived(CHAIN)[0]) == str(derived(CHAIN)[0])


def test_directions_are_derived_first_where_they_are_missing():
    module = parse_module(CHAIN)
    with module.context, module.location:
        derive_call_directions(module)
        auto_derive_task_dependencies(module)
    assert str(module) == str(derived(CHAIN)[0])


def test_a_second_run_adds_no_edge():
    module, first = derived(CHAIN)
    assert first.edges == 3  # in the chain, after it, and from the readers to the writer of %t
    with module.context, module.location:
        second = auto_derive_task_dependencies(module)
    assert second.edges == 0


def test_what_it_did_is_counted():
    _, result = derived(CHAIN)
    # C after P or itself, the writer of %t after all readers, the last reader after the loop; the readers get none.
    assert (result.slots, result.fallbacks) == (2, [])
    assert result.marks == 2  # the function and the loop body


def test_unstructured_control_flow_is_an_error_and_changes_nothing():
    text = program("    cf.br ^end\n  ^end:")
    module = parse_module(text)
    before = str(module)
    with pytest.raises(PassError, match="structured control flow"):
        run_pipeline(module, "builtin.module(auto-derive-task-dependencies{analyze-auto-scopes=true})")
    assert str(module) == before


READ = "func.call @R(%s) : (tensor<64xf32>) -> ()"
WRITE = "%w{k} = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>"


@pytest.mark.parametrize(
    "statement",
    [
        f"scf.if %p {{\n{READ}\n{WRITE}\n}}",
        f"scf.for %i{{k}} = %c0 to %n step %c1 {{\n{READ}\n{WRITE}\n}}",
        f"scf.parallel (%i{{k}}) = (%c0) to (%n) step (%c1) {{\n{READ}\n}}",
        READ,
    ],
    ids=["branches", "loops", "parallel loops", "readers"],
)
def test_many_statements_of_one_kind(statement):
    """Some kinds took minutes when their cost grew with the square; the figures are in benchmarks."""

    def derive(count):
        condition = "    %p = arith.cmpi eq, %n, %c0 : index\n"
        body = condition + "\n".join(statement.replace("{k}", str(k)) for k in range(count)) + "\n"
        module = parse_module(program(body + "    %z = func.call @W(%s) : (tensor<64xf32>) -> tensor<64xf32>\n"))
        with module.context, module.location:
            return auto_derive_task_dependencies(module)

    assert derive(640).fallbacks == []
