"""Nothing that is known to end a process can be reached: each attempt brings an error message."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXPECTED = {
    "anchor_of_another_op": "can't run 'gpu.module' pass manager on 'builtin.module' op",
    "anchor_that_is_no_op": "there is no such operation",
    "pass_pipeline_on_another_op": "restricted to 'builtin.module' on a PassManager intended to run on 'func.func'",
    "pass_pipeline_inside_an_option": "is a pass pipeline; an option takes single passes only",
    "python_pass_on_another_op": "restricted to 'func.func' on a PassManager intended to run on 'builtin.module'",
    "add_to_the_running_pass_manager": "a pass cannot add passes to the pass manager that runs it",
    "pass_erases_its_root": "'func.func' at -:1:1 cannot be removed: the pass runs on it or inside it",
    "pass_erases_the_module": "'builtin.module' at -:0:0 cannot be removed: the pass runs on it or inside it",
    "pass_erases_its_root_for_a_pass_manager": "'builtin.module' at -:0:0 cannot be removed",
    "pass_erases_its_parent": "'builtin.module' at -:0:0 cannot be removed: the pass runs on it or inside it",
    "pass_detaches_its_root": "'func.func' at -:1:1 cannot be removed: the pass runs on it or inside it",
    "pass_erases_its_root_by_symbol": "'func.func' at -:1:1 cannot be removed: the pass runs on it or inside it",
    "pattern_erases_the_root": "'func.func' at -:1:1 cannot be removed: the pass runs on it or inside it",
    "pattern_replaces_the_root": "'func.func' at -:1:1 cannot be removed: the pass runs on it or inside it",
    "pass_erases_an_op_with_uses": "'arith.addi' at -:1:37 cannot be erased: its results have uses",
    "pattern_erases_an_op_with_uses": "'arith.addi' at -:1:37 cannot be erased: its results have uses",
    "pass_erases_an_argument_with_uses": "argument 0 cannot be erased: it has uses",
    "pass_adds_a_pass_with_op_name": "PassManager.add with op_name ends the process",
    "pass_inserts_an_unregistered_symbol": "'no.op' is an unregistered operation",
    "pass_attaches_a_trait_to_an_unregistered_op": "'no.op' is an unregistered operation",
    "pass_prints_at_module_scope_in_threads": "enable_ir_printing(print_module_scope=True) ends the process",
    "pass_raises_what_cannot_be_said": "pass 'given' raised Silent: it cannot say what",
    "pass_nests_regions": "regions are nested 6000 deep",
    "pass_nests_regions_for_a_pass_manager": "regions are nested 6000 deep",
    "op_that_a_pass_removed": "the operation is no longer part of a module",
    "op_whose_function_a_pass_removed": "the operation is no longer part of a module",
    "edges_of_a_removed_op": "the operation is no longer part of a module",
    "edges_outlive_their_module": "error: stablehlo.sine stablehlo.cosine",
    "program_of_regions_by_hand": "regions are nested 5000 deep",
    "graph_of_regions_by_hand": "regions are nested 5000 deep",
    "what_is_no_module": "expected an MLIR module (an ir.Module or its operation), not str",
    "forked_after_threads_ran": "the threads of the module's context stayed behind",
    "forked_with_a_context_that_was_never_seen": "the threads of the module's context stayed behind",
    "pass_raises_inside_a_walk": "error: func.return is at fault",
    "forked_with_a_module": "it ran",
    "pass_erases_its_sibling": "pass 'given' raised ValueError: done",
    "pass_recurses": "pass 'given' raised RecursionError",
    "regions_in_text": "regions are nested more than 1000 deep",
    "regions_in_bytecode": "regions are nested 5000 deep",
    "regions_by_hand": "regions are nested 5000 deep",
    "brackets_in_attributes": "brackets are nested more than 1000 deep",
    "brackets_in_types": "brackets are nested more than 1000 deep",
    "minus_signs": "more than 1000 minus signs in a row",
    "pipelines_nested": "pipelines are nested more than 100 deep",
    "bytes_that_are_not_utf8": "not UTF-8 text: byte 0xff at offset 20",
    "names_that_are_not_utf8": "a name with bytes that are not UTF-8",
    "files_that_are_not_utf8": "redefinition of symbol named 'a'",
    "nul_in_text": "the text holds a NUL byte",
    "half_of_a_bytecode": "error: ",
    "magic_number_alone": "error: ",
}


@pytest.fixture(scope="module")
def messages() -> dict[str, str]:
    child = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("killers.py"))],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    lines = child.stdout.splitlines()
    assert child.returncode == 0, f"died with {child.returncode} after {lines[-1:]}: {child.stderr[-500:]}"
    return dict(line.split(": ", 1) for line in lines if re.match(r"\w+: ", line))


def test_all_cases_ran(messages: dict[str, str]) -> None:
    assert messages.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_killer(messages: dict[str, str], name: str) -> None:
    assert EXPECTED[name] in messages[name]
