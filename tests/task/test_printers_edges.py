"""--task-to-edges and --task-to-penguin: which tasks an id may stand for, and how far back."""

from __future__ import annotations

import pytest

from neuron_ctrldep.edges import EdgeKind
from neuron_ctrldep.orchestration.cpp import print_orchestration
from neuron_ctrldep.orchestration.task_edges import task_edges
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.penguin.tasks import print_tasks
from neuron_ctrldep.task.to_control_deps import convert_tasks_to_control_deps
from tests.task.support import corpus_files, parse, program


def submit(name: str, deps="", types="", sizes="1, 0, 0", extra="") -> str:
    return (
        f'%{name}o, %{name} = "task.submit"(%s{deps}) {{callee = @W, operandSegmentSizes = array<i32: {sizes}>{extra}, '
        f'task.name = "{name}"}} : (tensor<64xf32>{types}) -> (tensor<64xf32>, !task.id)'
    )


def after(name: str, *deps: str, kind="!task.id") -> str:
    return submit(name, "".join(f", {d}" for d in deps), f", {kind}" * len(deps), f"1, {len(deps)}, 0")


def deps(body: str, task: str) -> list[tuple[str, int | None]]:
    """The predecessors of a task, with their distances."""
    found = task_edges(parse(program(body)))["functions"]["main"]["tasks"][task]["deps"]
    assert all(entry["source"] == "user" and entry["hazards"] == [] for entry in found)
    return [(entry["task"], entry["distance"]) for entry in found]


NONE = '%none = "task.invalid"() : () -> !task.id\n'
CASES = {
    "an id": (submit("P") + "\n" + after("C", "%P"), "C", [("P", 0)]),
    "no task": (NONE + after("C", "%none"), "C", []),
    "a barrier of barriers": (
        submit("P") + "\n" + submit("Q") + '\n%a = "task.barrier"(%P) : (!task.id) -> !task.id'
        '\n%b = "task.barrier"(%a, %Q) : (!task.id, !task.id) -> !task.id\n' + after("C", "%b"),
        "C",
        [("P", 0), ("Q", 0)],
    ),
    "both sides of a branch": (
        "%is = arith.cmpi eq, %n, %c0 : index\n"
        f"%i = scf.if %is -> (!task.id) {{ {submit('P')}\nscf.yield %P : !task.id }} "
        f"else {{ {submit('Q')}\nscf.yield %Q : !task.id }}\n" + after("C", "%i"),
        "C",
        [("P", 0), ("Q", 0)],
    ),
    "a select": (
        submit("P") + "\n" + submit("Q") + "\n%is = arith.cmpi eq, %n, %c0 : index\n"
        "%i = arith.select %is, %P, %Q : !task.id\n" + after("C", "%i"),
        "C",
        [("P", 0), ("Q", 0)],
    ),
    "the iteration before": (
        NONE + f"%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {{ {after('P', '%k')}\n"
        "scf.yield %P : !task.id }",
        "P",
        [("P", 1)],
    ),
    "before the loop or the iteration before": (
        submit("A") + f"\n%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %A) -> (!task.id) {{ {after('P', '%k')}\n"
        "scf.yield %P : !task.id }",
        "P",
        [("A", 0), ("P", 1)],
    ),
    "two iterations before, by rotation": (
        NONE
        + "%f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none, %m = %none) -> (!task.id, !task.id) {\n"
        + after("P", "%m")
        + "\nscf.yield %P, %k : !task.id, !task.id }",
        "P",
        [("P", 2)],
    ),
    "all iterations before, in a tensor": (
        "%e = tensor.empty() : tensor<4x!task.id>\n"
        "%f = scf.for %i = %c0 to %c4 step %c1 iter_args(%k = %e) -> (tensor<4x!task.id>) {\n"
        + after("P", "%k", kind="tensor<4x!task.id>")
        + "\n%x = tensor.insert %P into %k[%i] : tensor<4x!task.id>\nscf.yield %x : tensor<4x!task.id> }",
        "P",
        [("P", 1)],  # the nearest of them
    ),
    "all iterations before, joined": (
        NONE + f"%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {{ {after('P', '%k')}\n"
        '%x = "task.barrier"(%k, %P) : (!task.id, !task.id) -> !task.id\nscf.yield %x : !task.id }',
        "P",
        [("P", 1)],
    ),
    "what came before the loop stays in a join": (
        submit("A") + f"\n%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %A) -> (!task.id) {{ {after('P', '%k')}\n"
        '%x = "task.barrier"(%k, %P) : (!task.id, !task.id) -> !task.id\nscf.yield %x : !task.id }',
        "P",
        [("A", 0), ("P", 1)],
    ),
    "every second iteration before, joined": (
        NONE
        + "%f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none, %m = %none) -> (!task.id, !task.id) {\n"
        + after("P", "%m")
        + '\n%x = "task.barrier"(%P, %m) : (!task.id, !task.id) -> !task.id\n'
        + "scf.yield %x, %k : !task.id, !task.id }",
        "P",
        [("P", 2)],
    ),
    "an iteration before, if a branch ran": (
        NONE
        + "%is = arith.cmpi eq, %n, %c0 : index\n"
        + "%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {\n"
        + after("P", "%k")
        + "\n%x = scf.if %is -> (!task.id) { scf.yield %P : !task.id } else { scf.yield %k : !task.id }\n"
        + "scf.yield %x : !task.id }",
        "P",
        [("P", None)],
    ),
    "one of several in a tensor": (
        NONE
        + "%f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none, %m = %none) -> (!task.id, !task.id) {\n"
        + "%t1 = tensor.from_elements %k, %m : tensor<2x!task.id>\n%x = tensor.extract %t1[%c1] : tensor<2x!task.id>\n"
        + after("P", "%x")
        + "\nscf.yield %P, %k : !task.id, !task.id }",
        "P",
        [("P", None)],  # which slot is not looked at
    ),
    "a tensor in which a slot was set anew": (
        NONE
        + "%f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none, %m = %none) -> (!task.id, !task.id) {\n"
        + "%t1 = tensor.from_elements %k, %m : tensor<2x!task.id>\n"
        + "%x = tensor.insert %none into %t1[%i] : tensor<2x!task.id>\n"
        + after("P", "%x", kind="tensor<2x!task.id>")
        + "\nscf.yield %P, %k : !task.id, !task.id }",
        "P",
        [("P", None)],  # the nearest may be the one that is gone
    ),
    "the outer iteration before, whichever inner one": (
        NONE + "%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {\n"
        f"%g = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (!task.id) {{ {after('P', '%k')}\n"
        '%x = "task.barrier"(%m, %P) : (!task.id, !task.id) -> !task.id\n'
        "scf.yield %x : !task.id }\nscf.yield %g : !task.id }",
        "P",
        [("P", 1)],
    ),
    "after a loop": (
        NONE + f"%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {{ {submit('P')}\n"
        "scf.yield %P : !task.id }\n" + after("C", "%f"),
        "C",
        [("P", 0)],
    ),
    "an inner loop of the outer iteration before": (
        NONE + "%f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %none) -> (!task.id) {\n"
        f"%g = scf.for %j = %c0 to %n step %c1 iter_args(%m = %k) -> (!task.id) {{ {after('P', '%m')}\n"
        "scf.yield %P : !task.id }\nscf.yield %g : !task.id }",
        "P",
        [("P", None)],  # one iteration of the inner loop, or the last one of the outer iteration before
    ),
    "in the same outer iteration": (
        "scf.for %i = %c0 to %n step %c1 {\n"
        + submit("P")
        + "\nscf.for %j = %c0 to %n step %c1 {\n"
        + after("C", "%P")
        + "\n} }",
        "C",
        [("P", 0)],
    ),
    "a while loop": (
        NONE + "%w:2 = scf.while (%k = %none, %m = %c0) : (!task.id, index) -> (!task.id, index) {\n"
        "%is = arith.cmpi eq, %m, %n : index\nscf.condition(%is) %k, %m : !task.id, index\n} do {\n"
        f"^bb0(%k: !task.id, %m: index):\n{after('P', '%k')}\nscf.yield %P, %m : !task.id, index }}\n"
        + after("C", "%w#0"),
        "P",
        [("P", 1)],
    ),
    "a parallel loop": (
        NONE
        + "%p = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%none) -> !task.id {\n"
        + submit("P")
        + "\nscf.reduce(%P : !task.id) { ^bb0(%l: !task.id, %r: !task.id):\n"
        '%x = "task.barrier"(%l, %r) : (!task.id, !task.id) -> !task.id\nscf.reduce.return %x : !task.id } }\n'
        + after("C", "%p"),
        "C",
        [("P", 0)],
    ),
    "a loop that collects": (
        "%e = tensor.empty() : tensor<4x!task.id>\n"
        "%p = scf.forall (%j) in (4) shared_outs(%o = %e) -> (tensor<4x!task.id>) {\n"
        + submit("P")
        + "\n%t1 = tensor.from_elements %P : tensor<1x!task.id>\nscf.forall.in_parallel { tensor.parallel_insert_slice "
        "%t1 into %o[%j] [1] [1] : tensor<1x!task.id> into tensor<4x!task.id> } }\n"
        + after("C", "%p", kind="tensor<4x!task.id>"),
        "C",
        [("P", 0)],
    ),
    "a scope": (
        f"%i = scf.execute_region -> !task.id no_inline {{ {submit('P')}\nscf.yield %P : !task.id }} "
        '{task.scope = "manual"}\n' + after("C", "%i"),
        "C",
        [("P", 0)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_id_may_stand_for(name):
    body, task, expected = CASES[name]
    assert deps(body, task) == expected


def test_an_id_through_many_loops():
    """Each loop multiplies the ways an id can take; only their number is to grow, not the time for each."""
    depth = 300
    before = ["%none", *(f"%k{d}" for d in range(depth))]
    heads = [
        f"%r{d} = scf.for %i{d} = %c0 to %n step %c1 iter_args(%k{d} = {before[d]}) -> (!task.id) {{"
        for d in range(depth)
    ]
    tails = [f"scf.yield {'%P' if d == depth - 1 else f'%r{d + 1}'} : !task.id }}" for d in reversed(range(depth))]
    body = NONE + "\n".join([*heads, after("P", f"%k{depth - 1}"), *tails])
    assert deps(body, "P") == [("P", None)]


def test_sources_and_hazards():
    body = (
        submit("P", extra=', arg_directions = ["OutputExisting"]')
        + "\n"
        + submit("Q")
        + "\n"
        + submit(
            "C",
            ", %P, %P, %Q",
            ", !task.id, !task.id, !task.id",
            "1, 1, 2",
            ', compiler_dep_hazards = ["war+waw", "raw"]',
        )
    )
    found = task_edges(parse(program(body)))["functions"]["main"]["tasks"]
    assert found["P"] == {"directions": ["OutputExisting"], "deps": []}
    assert found["C"]["deps"] == [
        {"task": "P", "source": "user", "hazards": [], "distance": 0},
        {"task": "P", "source": "compiler", "hazards": ["war", "waw"], "distance": 0},
        {"task": "Q", "source": "compiler", "hazards": ["raw"], "distance": 0},
    ]


def test_equal_tasks_without_results_and_places():
    """Their hashes are equal in the bindings: as keys they would take minutes."""
    count = 10_000
    body = "func.call @R(%s) : (tensor<64xf32>) -> () loc(unknown)\n" * count
    assert len(task_edges(parse(program(body)))["functions"]["main"]["tasks"]) == count


def test_names_that_are_not_utf8():
    kernels = r'func.func private @"K\FF"(tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}'
    module = parse(program(r'func.call @"K\FF"(%s) {task.name = "n\FE"} : (tensor<64xf32>) -> ()', kernels=kernels))
    assert list(task_edges(module)["functions"]["main"]["tasks"]) == [r'"n\FE"']
    read_penguin(print_tasks(module), "x.py")
    assert print_orchestration(module).isascii()
    convert_tasks_to_control_deps(module)
    assert module.verify()


def test_names_are_unique():
    call = "func.call @R(%s) {} : (tensor<64xf32>) -> ()"
    named = [
        call.format('{task.name = "A"}'),
        call.format(""),
        call.format('{task.name = "A"}'),
        call.format('{task.name = "task_1"}'),
        call.format('{task.name = "A_1"}'),
    ]
    tasks = task_edges(parse(program("\n".join(named))))["functions"]["main"]["tasks"]
    assert list(tasks) == ["A", "task_1_1", "A_2", "task_1", "A_1"]


def test_the_tree_of_scopes_and_the_fallbacks():
    call = 'func.call @R(%s) {{task.name = "{}"}} : (tensor<64xf32>) -> ()'
    body = f"""
      {call.format("outside")}
      scf.execute_region no_inline {{
        scf.for %i = %c0 to %c4 step %c1 {{
          scf.execute_region no_inline {{ {call.format("inner")}
            scf.yield }} {{task.scope = "auto", task.fallback = "a gather"}}
        }}
        {call.format("outer")}
        scf.yield
      }} {{task.scope = "auto"}}
      scf.execute_region no_inline {{ scf.yield }} {{task.scope = "manual", task.owner = "compiler"}}"""
    found = task_edges(parse(program(body, 'task.fallback = "too many roots"')))["functions"]["main"]
    assert found["scopes"] == {
        "mode": None,
        "owner": None,
        "tasks": ["outside"],
        "scopes": [
            {
                "mode": "auto",
                "owner": "user",
                "tasks": ["outer"],
                "scopes": [{"mode": "auto", "owner": "user", "tasks": ["inner"], "scopes": []}],
            },
            {"mode": "manual", "owner": "compiler", "tasks": [], "scopes": []},
        ],
    }
    assert found["fallbacks"] == [
        {"scope": [], "reason": "too many roots"},
        {"scope": [0, 0], "reason": "a gather"},
    ]


# --- Penguin ----------------------------------------------------------------------------------------------------------


def test_penguin_kinds():
    body = (
        submit("P")
        + "\n"
        + submit("Q")
        + "\n"
        + submit(
            "C",
            ", %P, %P, %Q, %P",
            ", !task.id, !task.id, !task.id, !task.id",
            "1, 1, 3",
            ', compiler_dep_hazards = ["raw", "war+waw", "raw"]',
        )
    )
    function = read_penguin(print_tasks(parse(program(body))), "x.py").functions[0]
    assert [(edge.src, edge.dst, edge.kind) for edge in function.dep_edges] == [
        ("P", "C", EdgeKind.ORDERED),
        ("P", "C", EdgeKind.FLOW),
        ("Q", "C", EdgeKind.ANTI),
        ("Q", "C", EdgeKind.OUTPUT),
    ]


def test_penguin_names_carried_edges_in_an_attribute():
    text = print_tasks(parse(program(CASES["before the loop or the iteration before"][0])))
    (edge,) = read_penguin(text, "x.py").functions[0].dep_edges
    assert (edge.src, edge.dst) == ("A", "P")
    assert 'attrs={"carried": "P:ORDERED"}' in text


def test_penguin_operands_are_the_tensors_that_an_argument_may_denote():
    body = """
      %e = tensor.empty() : tensor<64xf32>
      %f = scf.for %i = %c0 to %n step %c1 iter_args(%k = %s) -> (tensor<64xf32>) {
        %a = func.call @W(%k) {task.name = "A"} : (tensor<64xf32>) -> tensor<64xf32>
        scf.yield %e : tensor<64xf32>
      }
      func.call @R(%f) {task.name = "B"} : (tensor<64xf32>) -> ()"""
    text = print_tasks(parse(program(body)))
    assert text.count("srcs=[input_0, tensor_empty]") == 2
    read_penguin(text, "x.py")


@pytest.mark.parametrize("path", corpus_files("*.mlir"), ids=lambda path: path and path.stem)
def test_corpus(path):
    module = parse(path.read_text())
    assert task_edges(module) == task_edges(module)
    read_penguin(print_tasks(module), path.name)
