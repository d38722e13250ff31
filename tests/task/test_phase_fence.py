"""expand-manual-phase-fence: when a barrier pays, and each reason to leave edges alone."""

from __future__ import annotations

import pytest

from neuron_ctrldep.mlir import verify
from neuron_ctrldep.task.dialect import Barrier, walk
from neuron_ctrldep.task.phase_fence import expand_manual_phase_fence
from tests.task.support import main_of, parse, program

CONSUMER = (
    '%{r}, %{q} = "task.submit"(%s, {deps}) {{callee = @W, operandSegmentSizes = array<i32: 1, {sizes}>{extra}}} '
    ": (tensor<64xf32>, {types}) -> (tensor<64xf32>, !task.id)"
)


def consumer(deps="%ids", types="tensor<8x!task.id>", sizes="1, 0", name="c", extra=""):
    return CONSUMER.format(r=f"{name}r", q=f"{name}q", deps=deps, types=types, sizes=sizes, extra=extra)


def loop(body: str, upper="%c4", lower="%c0", counter="%j") -> str:
    return f"scf.for {counter} = {lower} to {upper} step %c1 {{\n{body}\n}}"


def manual(body: str, size=8, mode="manual") -> str:
    return f"""
      %p, %id = "task.submit"(%t) {{callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>}}
          : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
      %cmp = arith.cmpi eq, %n, %c0 : index
      scf.execute_region no_inline {{
        %ids = tensor.splat %id : tensor<{size}x!task.id>
        {body}
        scf.yield
      }} {{task.scope = "{mode}"}}"""


def expand(body: str, **options) -> tuple[int, str]:
    module = parse(program(manual(body, **options)))
    made = expand_manual_phase_fence(module)
    verify(module)
    text = str(module)
    parse(text)
    assert expand_manual_phase_fence(module) == 0
    assert str(module) == text
    assert sum(Barrier.matches(op) for op in walk(module)) == made
    return made, text


PAYS = {
    "8 producers, 4 consumers": loop(consumer()),
    "the compiler's edges": loop(consumer(sizes="0, 1", extra=', compiler_dep_hazards = ["raw"]')),
    "two tasks in two iterations": loop(consumer() + "\n" + consumer(name="d"), upper="%c4", lower="%c1"),
    "nested loops": loop(loop(consumer(), counter="%k")),
    "a parallel loop": f"scf.parallel (%j) = (%c0) to (%c4) step (%c1) {{ {consumer()} }}",
    "a loop of constant size in one of run-time size": loop(loop(consumer(), counter="%k"), upper="%n"),
    "a loop below a branch": f"scf.if %cmp {{ {loop(consumer())} }}",
    "a MANUAL scope in the loop": loop(
        f'scf.execute_region no_inline {{ {consumer()}\nscf.yield }} {{task.scope = "manual"}}'
    ),
    "the tensor is read too": loop("%x = tensor.extract %ids[%j] : tensor<8x!task.id>\n" + consumer()),
}


@pytest.mark.parametrize("name", PAYS)
def test_one_barrier_before_the_loop(name):
    made, text = expand(PAYS[name])
    assert made == 1
    assert '"task.barrier"(%splat) : (tensor<8x!task.id>) -> !task.id' in text
    assert "tensor<64xf32>, tensor<8x!task.id>" not in text


ALONE = {
    "one iteration: 8 edges, not 9": loop(consumer(), upper="%c1"),
    "no loop": consumer(),
    "run-time trip count": loop(consumer(), upper="%n"),
    "a loop that runs zero times": loop(consumer(), lower="%c4"),
    "mixed with another id": loop(consumer("%ids, %id", "tensor<8x!task.id>, !task.id", "2, 0")),
    "mixed with a compiler edge": loop(consumer("%ids, %id", "tensor<8x!task.id>, !task.id", "1, 1")),
    "twice the same tensor": loop(consumer("%ids, %ids", "tensor<8x!task.id>, tensor<8x!task.id>", "2, 0")),
    "one id": loop(consumer("%id", "!task.id")),
    "under a branch in the loop": loop(f"scf.if %cmp {{ {consumer()} }}"),
    "in a while loop": (f"scf.while : () -> () {{ scf.condition(%cmp) }} do {{ {consumer()}\nscf.yield }}"),
    "the tensor is updated in the loop": loop(
        "%x = tensor.insert %id into %ids[%j] : tensor<8x!task.id>\n" + consumer()
    ),
    "the loop carries the tensor": f"""
        %f = scf.for %j = %c0 to %c4 step %c1 iter_args(%k = %ids) -> (tensor<8x!task.id>) {{
          {consumer("%k")}
          %x = tensor.insert %cq into %k[%j] : tensor<8x!task.id>
          scf.yield %x : tensor<8x!task.id>
        }}""",
    "the loop is given the tensor to carry": f"""
        %f = scf.for %j = %c0 to %c4 step %c1 iter_args(%k = %ids) -> (tensor<8x!task.id>) {{
          {consumer()}
          %x = tensor.insert %cq into %k[%j] : tensor<8x!task.id>
          scf.yield %x : tensor<8x!task.id>
        }}""",
    "made in the loop": loop("%own = tensor.splat %id : tensor<8x!task.id>\n" + consumer("%own")),
    "size known at run time only": loop(
        "%dyn = tensor.cast %ids : tensor<8x!task.id> to tensor<?x!task.id>\n" + consumer("%dyn", "tensor<?x!task.id>")
    ),
}


@pytest.mark.parametrize("name", ALONE)
def test_left_alone(name):
    assert expand(ALONE[name])[0] == 0


def test_two_producers_and_two_consumers_are_no_gain():
    # 2 * 2 = 2 + 2
    assert (
        expand(
            loop(consumer(types="tensor<2x!task.id>"), lower="%c1", upper="%two").replace(
                "scf.for", "%two = arith.constant 3 : index\nscf.for", 1
            ),
            size=2,
        )[0]
        == 0
    )
    assert (
        expand(
            loop(consumer(types="tensor<3x!task.id>"), lower="%c1", upper="%two").replace(
                "scf.for", "%two = arith.constant 3 : index\nscf.for", 1
            ),
            size=3,
        )[0]
        == 1
    )


def test_only_in_manual_scopes():
    assert expand(loop(consumer()), mode="auto")[0] == 0
    inner = f'scf.execute_region no_inline {{ {consumer()}\nscf.yield }} {{task.scope = "manual"}}'
    # The loop is in an AUTO scope, and the consumer alone in a MANUAL one.
    assert expand(loop(inner), mode="auto")[0] == 0


def test_the_hazards_of_the_edge_are_kept():
    _, text = expand(PAYS["the compiler's edges"])
    assert 'compiler_dep_hazards = ["raw"]' in text
    tasks, main = main_of(parse(text))
    _, consumer_task = tasks.tasks(main)
    assert (len(consumer_task.deps), len(consumer_task.compiler_deps)) == (0, 1)
