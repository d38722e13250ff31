"""materialize-runtime-scopes: where scopes go, what they yield, and that a second run changes nothing."""

from __future__ import annotations

import re
import sys

import pytest

from neuron_ctrldep.mlir import verify
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.task.dialect import walk
from neuron_ctrldep.task.program import Scope, enclosing_scopes
from neuron_ctrldep.task.scopes import MaterializeRuntimeScopes, materialize_runtime_scopes
from tests.task.support import corpus_files, main_of, parse, program


def task(name: str) -> str:
    return f'func.call @R(%s) {{task.name = "{name}"}} : (tensor<64xf32>) -> ()'


def scopes_of(module) -> dict[str, list[str]]:
    """For each task the modes of the scopes around it, outermost first."""
    tasks, main = main_of(module)
    return {t.name: [s.mode for s in enclosing_scopes(t.operation)][::-1] for t in tasks.tasks(main)}


def materialized(body: str, attributes: str = ""):
    module = parse(program(body, attributes))
    made = materialize_runtime_scopes(module)
    verify(module)
    parse(str(module))
    again = str(module)
    assert materialize_runtime_scopes(module) == {"auto": 0, "manual": 0}
    assert str(module) == again
    assert "task.auto_manual" not in again
    assert "task.auto_scope = false" in again
    return module, made


def test_a_marked_body_is_one_manual_scope():
    body = f"scf.for %i = %c0 to %c4 step %c1 {{ {task('A')} }} {{task.auto_manual}}\n{task('B')}"
    module, made = materialized(body, "task.auto_manual")
    assert made == {"auto": 0, "manual": 1}
    assert scopes_of(module) == {"A": ["manual"], "B": ["manual"]}


def test_every_loop_body_and_branch_that_holds_a_task_is_a_scope_of_its_own():
    body = f"""
      %b = arith.cmpi eq, %n, %c0 : index
      {task("body")}
      scf.for %i = %c0 to %c4 step %c1 {{
        scf.parallel (%j) = (%c0) to (%c4) step (%c1) {{ {task("parallel")} }}
      }}
      scf.forall (%i) in (4) {{ {task("forall")} }} {{task.auto_manual}}
      scf.if %b {{ {task("then")} }} else {{ {task("else")} }} {{task.auto_manual = array<i1: false, true>}}
      scf.index_switch %n {{task.auto_manual = array<i1: false, true>}}
      case 1 {{ {task("case")} scf.yield }}
      default {{ }}
      scf.while : () -> () {{ scf.condition(%b) }} do {{
        {task("while")}
        scf.for %i = %c0 to %c4 step %c1 {{ {task("in while")} }} {{task.auto_manual}}
        scf.yield
      }}
      scf.for %i = %c0 to %c4 step %c1 {{ }}
    """
    module, made = materialized(body)
    assert scopes_of(module) == {
        "body": ["auto"],
        "parallel": ["auto", "auto", "auto"],
        "forall": ["auto", "manual"],
        "then": ["auto", "auto"],
        "else": ["auto", "manual"],
        "case": ["auto", "manual"],
        "while": ["auto"],
        "in while": ["auto", "manual"],
    }
    assert made == {"auto": 4, "manual": 4}
    scopes = [Scope.of(op) for op in walk(module) if Scope.of(op)]
    assert all(scope.by_compiler for scope in scopes)
    assert all("no_inline" in scope.operation.attributes for scope in scopes)


def test_nothing_is_put_inside_a_manual_scope():
    loop = "scf.for %i = %c0 to %c4 step %c1 {{ {} }}"
    body = f"""
      scf.execute_region no_inline {{ {loop.format(task("A"))} scf.yield }} {{task.scope = "manual"}}
      scf.execute_region no_inline {{ {loop.format(task("B"))} scf.yield }} {{task.scope = "auto"}}
      {loop.format(loop.replace("%i", "%j").format(task("C")))} {{task.auto_manual}}"""
    module, _ = materialized(body)
    assert scopes_of(module) == {
        "A": ["auto", "manual"],
        "B": ["auto", "auto", "auto"],
        "C": ["auto", "manual"],
    }


def test_scopes_yield_what_is_used_behind_them():
    body = """
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %s, %m = %t) -> (tensor<64xf32>, tensor<64xf32>) {
        %a = func.call @W(%k) : (tensor<64xf32>) -> tensor<64xf32>
        scf.yield %m, %a : tensor<64xf32>, tensor<64xf32>
      }
      %none = "task.invalid"() : () -> !task.id
      %e = tensor.empty() : tensor<4x!task.id>
      %p = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%none) -> !task.id {
        %x, %id = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>}
            : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
        scf.reduce(%id : !task.id) { ^bb0(%l: !task.id, %rr: !task.id):
          %both = "task.barrier"(%l, %rr, %id) : (!task.id, !task.id, !task.id) -> !task.id
          scf.reduce.return %both : !task.id }
      }
      %f = scf.forall (%j) in (4) shared_outs(%o = %e) -> (tensor<4x!task.id>) {
        %x, %id = "task.submit"(%r#0) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>}
            : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
        %one = tensor.from_elements %id : tensor<1x!task.id>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %one into %o[%j] [1] [1] : tensor<1x!task.id> into tensor<4x!task.id>
        }
      }"""
    module, made = materialized(body)
    assert made == {"auto": 4, "manual": 0}
    text = str(module)
    # The loop's own carried value is no result of the scope; what the task wrote is.
    assert re.search(r"scf.yield %arg\d+, %\d+ : tensor<64xf32>, tensor<64xf32>", text)
    assert "scf.execute_region -> !task.id no_inline" in text
    assert "scf.execute_region -> tensor<1x!task.id> no_inline" in text


def test_functions_in_explicit_mode_and_without_tasks():
    module = parse(program(task("A"), "task.auto_scope = false"))
    before = str(module)
    assert materialize_runtime_scopes(module) == {"auto": 0, "manual": 0}
    assert str(module) == before
    module, made = materialized("scf.for %i = %c0 to %c4 step %c1 { }")
    assert made == {"auto": 0, "manual": 0}


@pytest.mark.parametrize("path", corpus_files("*.mlir"), ids=lambda path: path and path.stem)
def test_corpus(path):
    module = parse(path.read_text())
    statistics = Statistics()
    MaterializeRuntimeScopes().run(module, statistics)
    verify(module)
    parse(str(module))
    assert set(statistics.as_dict()) == set(MaterializeRuntimeScopes.counters)


def test_deep_nesting_needs_no_deep_recursion():
    depth = sys.getrecursionlimit() // 3
    body = "".join(f"scf.for %i{d} = %c0 to %c4 step %c1 {{\n" for d in range(depth)) + task("A") + "}\n" * depth
    module = parse(program(body))
    assert materialize_runtime_scopes(module) == {"auto": depth + 1, "manual": 0}
