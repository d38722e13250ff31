"""The second source claim by claim, each on the smallest program that shows it; ``docs/faithfulness.md`` names them."""

import pytest

import neuron_ctrldep as nc
from neuron_ctrldep import mlir
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.orchestration.task_edges import task_edges

T = "tensor<64xf32>"
V = "tensor<16xf32>"
DERIVE = "builtin.module(derive-call-directions,auto-derive-task-dependencies{analyze-auto-scopes=true})"


def kernel(name: str, *directions: str, back: int = 0, kind: str = T) -> str:
    parameters = ", ".join(f'{kind} {{task.direction = "{direction}"}}' for direction in directions)
    return (
        f"func.func private @{name}({parameters}) -> ({kind} {{task.aliases = {back} : i64}}) "
        'attributes {task.kind = "kernel"}\n'
    )


KERNELS = "".join(
    [
        kernel("W", "out"),
        kernel("R", "in"),
        kernel("U", "inout"),
        kernel("W16", "out", kind=V),
        kernel("R16", "in", kind=V),
    ]
)


def submit(
    name: str, callee: str, arg: str, deps: str = "", *, kind: str = T, back: bool = True, extra: str = ""
) -> str:
    """``%<name>, %<name>_id = callee(arg)``, after ``deps``; without ``back`` the kernel hands nothing back."""
    ids = [one for one in deps.split(",") if one]
    types = ", ".join([kind, *["!task.id"] * len(ids)])
    operands = ", ".join([arg, *ids])
    results, result_types = (f"%{name}, %{name}_id", f"({kind}, !task.id)") if back else (f"%{name}_id", "!task.id")
    return (
        f'{results} = "task.submit"({operands}) {{callee = @{callee}, operandSegmentSizes = '
        f'array<i32: 1, {len(ids)}, 0>, task.name = "{name}"{extra}}} : ({types}) -> {result_types}\n'
    )


def program(body: str, *, auto_scope: bool = True, kernels: str = "") -> ir.Operation:
    return mlir.parse_module(
        f"module {{ {KERNELS}{kernels} func.func @main(%s: {T}, %t: {T}, %n: index, %flag: i1) "
        f'attributes {{task.kind = "orchestration", task.auto_scope = {str(auto_scope).lower()}}} {{\n'
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n"
        f"{body}return }} }}"
    )


def facts(module: ir.Operation, pipeline: str = DERIVE) -> tuple[dict[tuple[str, str], str], dict[str, list[str]]]:
    """Edges (predecessor, successor) with hazards or ``user``, and the directions of each task, after a pipeline."""
    nc.run(module, pipeline)
    tasks = task_edges(module)["functions"]["main"]["tasks"]
    edges = {
        (dep["task"], name): "user" if dep["source"] == "user" else "+".join(dep["hazards"])
        for name, task in tasks.items()
        for dep in task["deps"]
    }
    return edges, {name: task["directions"] for name, task in tasks.items()}


def fallbacks(module: ir.Operation) -> list:
    return task_edges(module)["functions"]["main"]["fallbacks"]


def auto(body: str) -> str:
    return f'scf.execute_region no_inline {{ {body} scf.yield }} {{task.scope = "auto"}}\n'


def manual(body: str) -> str:
    return auto(body).replace('"auto"', '"manual"')


RAW = submit("p", "W", "%s") + submit("c", "R", "%p")


# --- overview and position --------------------------------------------------------------------------------------------


def test_it_runs_only_when_enabled():
    edges, directions = facts(program(RAW), "builtin.module(derive-call-directions,auto-derive-task-dependencies)")
    assert edges == {}
    assert directions == {"p": ["OutputExisting"], "c": ["Input"]}


def test_a_producer_edge_and_a_direction_for_a_read():
    edges, directions = facts(program(RAW))
    assert edges == {("p", "c"): "raw"}
    assert directions == {"p": ["OutputExisting"], "c": ["NoDep"]}


def test_users_edges_and_the_compilers_are_two_attributes():
    body = submit("u", "R", "%t") + submit("p", "W", "%s") + submit("c", "R", "%p", "%u_id")
    edges, _ = facts(module := program(body))
    assert edges == {("u", "c"): "user", ("p", "c"): "raw"}
    assert "array<i32: 1, 1, 1>" in str(module)  # one argument, one dep of the user, one of the compiler


def test_manual_scopes_keep_their_contract():
    edges, directions = facts(module := program(manual(RAW), auto_scope=False))
    assert edges == {}
    assert directions["c"] == ["Input"]
    assert 'task.scope = "manual"' in str(module)


def test_auto_scopes_stay_auto():
    edges, _ = facts(module := program(auto(RAW), auto_scope=False))
    assert edges == {("p", "c"): "raw"}
    assert 'task.scope = "auto"' in str(module)


def test_default_mode_analyses_the_body_and_places_no_scope():
    module = program(RAW)
    assert facts(module)[0] == {("p", "c"): "raw"}
    assert "task.scope" not in str(module)


def test_a_fully_covered_body_becomes_manual_when_scopes_are_placed():
    module = program(RAW)
    facts(module, DERIVE.removesuffix(")") + ",materialize-runtime-scopes)")
    assert 'task.owner = "compiler", task.scope = "manual"' in str(module)


# --- the algorithm ----------------------------------------------------------------------------------------------------


def test_1_a_view_has_the_root_of_its_source():
    there, back = f"%v = tensor.cast %p : {T} to tensor<?xf32>\n", f"%w = tensor.cast %v : tensor<?xf32> to {T}\n"
    body = submit("p", "W", "%s") + there + back
    assert facts(program(body + submit("c", "R", "%w")))[0] == {("p", "c"): "raw"}


def test_1_a_result_has_the_root_of_the_argument_it_hands_back():
    body = submit("p", "W", "%s") + submit("q", "U", "%p") + submit("c", "R", "%q")
    edges, _ = facts(program(body))
    assert set(edges) == {("p", "q"), ("q", "c")}


def test_2_branches_are_alternatives_and_none_is_dropped():
    body = (
        submit("a", "W", "%s")
        + submit("b", "W", "%t")
        + f"%x = scf.if %flag -> {T} {{ scf.yield %a : {T} }} else {{ scf.yield %b : {T} }}\n"
        + submit("r", "R", "%x")
    )
    assert set(facts(program(body))[0]) == {("a", "r"), ("b", "r")}


def test_3_a_loop_merges_what_comes_in_and_what_is_yielded():
    body = (
        submit("a", "W", "%s")
        + submit("b", "W", "%t")
        + f"%x = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> {T} {{ scf.yield %b : {T} }}\n"
        + submit("r", "R", "%x")
    )
    assert {("a", "r"), ("b", "r")} <= set(facts(program(body))[0])


def window(name: str, offset: str) -> str:
    return f"%{name} = tensor.extract_slice %s[{offset}] [16] [1] : {T} to {V}\n"


def two_windows(first: str, second: str) -> dict[tuple[str, str], str]:
    body = window("x", first) + window("y", second)
    body += submit("a", "W16", "%x", kind=V) + submit("b", "R16", "%y", kind=V)
    return facts(program(body))[0]


def test_4_constant_windows_are_compared():
    assert two_windows("0", "16") == {}
    assert two_windows("0", "8") == {("a", "b"): "raw"}


def test_4_a_symbolic_window_may_overlap():
    assert two_windows("0", "%n") == {("a", "b"): "raw"}


@pytest.mark.parametrize(("offset", "edges"), [("%c0", 1), ("%c64", 0)])
def test_5_byte_ranges_of_one_allocation_are_compared(offset, edges):
    kind = "memref<16xf32>"
    extra = "".join(
        f'func.func private @{name}({kind} {{task.direction = "{direction}"}}) attributes {{task.kind = "kernel"}}\n'
        for name, direction in (("WB", "out"), ("RB", "in"))
    )
    body = (
        "%c64 = arith.constant 64 : index\n%m = memref.alloc() : memref<128xi8>\n"
        f"%x = memref.view %m[%c0][] : memref<128xi8> to {kind}\n"
        f"%y = memref.view %m[{offset}][] : memref<128xi8> to {kind}\n"
    )
    body += submit("a", "WB", "%x", kind=kind, back=False) + submit("b", "RB", "%y", kind=kind, back=False)
    assert len(facts(program(body, kernels=extra))[0]) == edges


def test_6_a_user_array_covers_only_with_all_its_slots():
    def ids(last: str) -> str:
        return (
            submit("p", "W16", "%x", kind=V)
            + submit("q", "W16", "%y", kind=V)
            + '%none = "task.invalid"() : () -> !task.id\n'
            + f"%ids = tensor.from_elements %p_id, {last} : tensor<2x!task.id>\n"
            + f'%r, %r_id = "task.submit"(%s, %ids) {{callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, '
            f'task.name = "r"}} : ({T}, tensor<2x!task.id>) -> ({T}, !task.id)\n'
        )

    windows = window("x", "0") + window("y", "16")
    assert facts(program(windows + ids("%q_id")))[0] == {("p", "r"): "user", ("q", "r"): "user"}
    assert facts(program(windows + ids("%none")))[0] == {("p", "r"): "user", ("q", "r"): "raw"}


def test_7_a_scope_hands_its_accesses_to_what_follows():
    body = auto(submit("p", "W", "%s")) + auto(submit("c", "R", "%s"))
    assert ("p", "c") in facts(program(body))[0]


@pytest.mark.parametrize(
    ("first", "second", "hazard"),
    [("W", "R", "raw"), ("R", "W", "war"), ("W", "W", "waw"), ("U", "U", "raw+war+waw"), ("R", "R", None)],
)
def test_8_and_9_reads_and_writes_make_hazards_and_reads_alone_none(first, second, hazard):
    body = submit("a", first, "%s") + submit("b", second, "%s")
    assert facts(program(body))[0].get(("a", "b")) == hazard


def test_9_a_users_edge_is_not_duplicated():
    body = submit("p", "W", "%s") + submit("c", "R", "%p", "%p_id")
    assert facts(program(body))[0] == {("p", "c"): "user"}


def test_10_a_read_covered_by_the_user_looks_nothing_up():
    body = submit("p", "W", "%s") + submit("c", "R", "%p", "%p_id")
    assert facts(program(body))[1]["c"] == ["NoDep"]


def test_11_a_covered_read_write_is_still_registered():
    body = submit("p", "W", "%s") + submit("c", "U", "%p")
    assert facts(program(body))[1]["c"] == ["OutputExisting"]


def test_11_a_window_that_depends_on_run_time_values_keeps_its_direction():
    body = submit("p", "W", "%s") + window("x", "%n").replace("%s[", "%p[")
    kernels = kernel("U16", "inout", kind=V)
    _, directions = facts(program(body + submit("c", "U16", "%x", kind=V), kernels=kernels))
    assert directions["c"] == ["InOut"]


# --- fallback ---------------------------------------------------------------------------------------------------------

GATHER = f"""%ix = arith.constant dense<0> : tensor<64x1xindex>
%g = tensor.gather %s[%ix] gather_dims([0]) : ({T}, tensor<64x1xindex>) -> {T}
"""


def test_a_gather_takes_the_whole_region_back():
    edges, directions = facts(module := program(RAW + GATHER + submit("g1", "R", "%g")))
    assert edges == {}
    assert directions["c"] == ["Input"]
    assert len(fallbacks(module)) == 1


def one_of(roots: int) -> str:
    """``RAW``, and a task that reads one of so many storages: the parameter ``%s`` and empty tensors."""
    selects = "".join(
        f"%x{i} = tensor.empty() : {T}\n%y{i} = arith.select %flag, {f'%y{i - 1}' if i > 1 else '%s'}, %x{i} : {T}\n"
        for i in range(1, roots)
    )
    return RAW + selects + submit("r", "R", f"%y{roots - 1}")


@pytest.mark.parametrize("roots", [2, 4])
def test_up_to_four_alternatives_are_analysed(roots):
    edges, _ = facts(module := program(one_of(roots)))
    assert edges == {("p", "c"): "raw", ("p", "r"): "raw"}
    assert fallbacks(module) == []


@pytest.mark.parametrize("roots", [5, 6])
def test_more_than_four_alternatives_take_the_region_back(roots):
    edges, _ = facts(module := program(one_of(roots)))
    assert edges == {}
    assert len(fallbacks(module)) == 1


def test_storage_that_cannot_be_resolved_takes_the_region_back():
    unknown = f"func.func private @anything() -> {T}\n"
    body = RAW + f"%q = func.call @anything() : () -> {T}\n" + submit("r", "U", "%q")
    edges, _ = facts(module := program(body, kernels=unknown))
    assert edges == {}
    assert len(fallbacks(module)) == 1


def test_a_fallback_keeps_the_users_edges():
    body = RAW + GATHER + submit("g1", "R", "%g", "%p_id")
    assert facts(program(body))[0] == {("p", "g1"): "user"}


def test_a_producer_without_an_id_gets_one():
    body = f'%p = func.call @W(%s) {{task.name = "p"}} : ({T}) -> {T}\n' + submit("c", "R", "%p")
    edges, _ = facts(module := program(body))
    assert edges == {("p", "c"): "raw"}
    assert fallbacks(module) == []


def test_a_producer_in_a_loop_is_waited_for():
    body = f"scf.for %i = %c0 to %n step %c1 {{ {submit('p', 'W', '%s')} }}\n" + submit("c", "R", "%s")
    edges, _ = facts(module := program(body))
    assert ("p", "c") in edges
    assert fallbacks(module) == []


def test_in_a_manual_scope_there_is_no_fallback():
    module = program(manual(RAW + GATHER + submit("g1", "R", "%g")), auto_scope=False)
    assert facts(module)[0] == {}
    assert fallbacks(module) == []


# --- default-path changes and properties ------------------------------------------------------------------------------


def test_ids_survive_dead_code_elimination():
    module = program(RAW)
    nc.run(module, f"builtin.module(canonicalize,cse,{DERIVE.removeprefix('builtin.module(')}")
    nc.run(module, "builtin.module(canonicalize,cse)")
    assert facts(module, "builtin.module(verify-task)")[0] == {("p", "c"): "raw"}


def arguments(module: ir.Operation) -> dict[str, list[tuple[str, int]]]:
    """For each task its arguments: of which task they are a result, or ``parameter``, and its number."""
    found: dict[str, list[tuple[str, int]]] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "task.submit":
            count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
            found[ir.StringAttr(op.attributes["task.name"]).value] = [origin(v) for v in list(op.operands)[:count]]
        return ir.WalkResult.ADVANCE

    def origin(value: ir.Value) -> tuple[str, int]:
        if isinstance(value.owner, ir.Block):
            return "parameter", ir.BlockArgument(value).arg_number
        return ir.StringAttr(value.owner.attributes["task.name"]).value, ir.OpResult(value).result_number

    module.walk(visit)
    return found


def test_resolved_directions_stay_legal_and_arguments_are_not_rewritten():
    # All of them are the storage of %s, so that a pass could pass any for any.
    module = program(RAW + submit("d", "U", "%c") + submit("e", "R", "%p"))
    written = {"p": [("parameter", 0)], "c": [("p", 0)], "d": [("c", 0)], "e": [("p", 0)]}
    assert arguments(module) == written
    edges, directions = facts(module)
    assert edges
    assert directions["c"] == ["NoDep"]  # rewritten
    nc.run(module, "builtin.module(verify-task)")
    assert arguments(module) == written


def test_directions_that_are_there_are_kept():
    extra = ', arg_directions = ["NoDep"]'
    body = submit("p", "W", "%s") + submit("c", "R", "%p", extra=extra)
    edges, directions = facts(program(body))
    assert directions["c"] == ["NoDep"]
    assert edges == {}  # what the user wrote is the user's promise: no hazard


# --- points left open -------------------------------------------------------------------------------------------------


def test_by_default_no_edge_is_implied_by_others():
    body = submit("a", "W", "%s") + submit("b", "U", "%a") + submit("r", "R", "%b")
    assert set(facts(program(body))[0]) == {("a", "b"), ("b", "r")}
    pipeline = DERIVE.replace("=true}", "=true keep-redundant=true}")
    assert set(facts(program(body), pipeline)[0]) == {("a", "b"), ("b", "r"), ("a", "r")}


def test_parameters_are_distinct_unless_they_are_said_to_alias():
    body = submit("p", "W", "%s") + submit("c", "R", "%t")
    assert facts(program(body))[0] == {}
    pipeline = DERIVE.replace("=true}", "=true may-alias-args=true}")
    assert facts(program(body), pipeline)[0] == {("p", "c"): "raw"}


def test_what_the_orchestrator_reads_keeps_its_direction():
    body = RAW + "%e = tensor.extract %p[%c0] : tensor<64xf32>\n" + submit("d", "U", "%p")
    assert facts(program(body))[1]["d"] == ["InOut"]
