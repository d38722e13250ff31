"""The judge itself: what it excuses is shown from the source, and what nothing excuses is lost."""

from __future__ import annotations

import itertools
import random

import pytest

from neuron_ctrldep.chain import CheckResult, Options, check, lower
from neuron_ctrldep.checker import CheckedEdge, Checker, of_hlo, of_program
from neuron_ctrldep.checker.facts import SourceFacts
from neuron_ctrldep.checker.program import EmittedFunction
from neuron_ctrldep.checker.source import SourceBlock, SourceInstruction
from neuron_ctrldep.errors import CtrlDepError, InputError
from neuron_ctrldep.hlo.child import Child
from neuron_ctrldep.hlo.module import load_hlo
from neuron_ctrldep.penguin.model import Program
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.penguin.weights import WeightNames
from tests.generators.hlo import module_of_seed


def checked(text: str | bytes, options: Options | None = None) -> CheckResult:
    result = check(text.encode() if isinstance(text, str) else text, options=options, file="m")
    assert isinstance(result, CheckResult)
    return result


def verdicts(text: str | bytes, options: Options | None = None) -> list[tuple[str, str, str, str]]:
    return [(edge.src, edge.dst, edge.verdict, edge.reason) for edge in checked(text, options).edges]


# --- what has a reason in the source ----------------------------------------------------------------------------------

BRANCHES = """HloModule m
b0 {
  p = f32[4] parameter(0)
  ROOT n0 = f32[4] negate(p)
}
b1 {
  p1 = f32[4] parameter(0)
  ROOT n1 = f32[4] cosine(p1)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  i = s32[] parameter(2)
  a = f32[4] sine(y)
  t = f32[4] tanh(x), control-predecessors={a}
  two = s32[] constant(2)
  one = s32[] constant(1)
  zero = s32[] constant(0)
  less = pred[] compare(two, one), direction=LT
  c = f32[4] conditional(INDEX, t, x), branch_computations={b0, b1}
  d = f32[4] negate(c)
  ROOT r = (f32[4], f32[4]) tuple(d, a)
}
"""
DEAD = ("a", "t", "dropped", "the successor was removed as dead")
KEPT = ("a", "t", "kept", "")


@pytest.mark.parametrize(
    ("index", "expected"),
    # An index out of range takes the last branch too, but canonicalize leaves such a conditional as it is.
    [("i", KEPT), ("zero", KEPT), ("one", DEAD), ("two", KEPT)],
)
def test_what_only_a_branch_that_never_runs_reads_is_dead(index: str, expected: tuple[str, ...]) -> None:
    assert verdicts(BRANCHES.replace("INDEX", index)) == [expected]


def test_a_false_predicate_takes_the_second_branch() -> None:
    text = BRANCHES.replace("INDEX", "less").replace(
        "branch_computations={b0, b1}", "true_computation=b0, false_computation=b1"
    )
    # StableHLO's canonicalize folds no comparison, so the branch is still there; MHLO's does.
    assert verdicts(text) == [KEPT]
    assert verdicts(text, Options(dialect="mhlo")) == [DEAD]


def test_what_a_branch_ignores_is_dead() -> None:
    text = BRANCHES.replace("INDEX", "i").replace("negate(p)", "iota(), iota_dimension=0")
    assert verdicts(text) == [DEAD]


def test_an_element_that_a_branch_ignores_is_dead_and_one_that_it_reads_is_not() -> None:
    text = """HloModule m
b0 {{
  p = (f32[4], f32[4]) parameter(0)
  ROOT n0 = f32[4] get-tuple-element(p), index={0}
}}
b1 {{
  p1 = f32[4] parameter(0)
  ROOT n1 = f32[4] cosine(p1)
}}
ENTRY e {{
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  i = s32[] parameter(2)
  a = f32[4] sine(y)
  t = f32[4] tanh(x), control-predecessors={{a}}
  both = (f32[4], f32[4]) tuple(t, y)
  c = f32[4] conditional(i, both, x), branch_computations={{b0, b1}}
  ROOT r = (f32[4], f32[4]) tuple(c, a)
}}
"""
    assert verdicts(text.format(0)) == [KEPT]
    assert verdicts(text.format(1)) == [DEAD]


def test_an_edge_in_a_branch_that_never_runs_is_dropped() -> None:
    text = BRANCHES.replace("INDEX", "one").replace("negate(p)", "negate(p), control-predecessors={s}")
    text = text.replace("p = f32[4] parameter(0)\n", "p = f32[4] parameter(0)\n  s = f32[4] sine(p)\n", 1)
    assert verdicts(text)[0] == ("s", "n0", "dropped", "the computation never runs: a constant decides so")


LOOP = """HloModule m
body {
  p = (f32[4], f32[4], s32[]) parameter(0)
  p0 = f32[4] get-tuple-element(p), index=0
  p1 = f32[4] get-tuple-element(p), index=1
  p2 = s32[] get-tuple-element(p), index=2
  u = f32[4] custom-call(p0), custom_call_target="U", custom_call_has_side_effect=true
  v = f32[4] negate(p0), control-predecessors={u}
  ROOT t = (f32[4], f32[4], s32[]) tuple(v, p1, p2)
}
cond {
  q = (f32[4], f32[4], s32[]) parameter(0)
  q2 = s32[] get-tuple-element(q), index=2
  two = s32[] constant(2)
  ROOT lt = pred[] compare(LEFT, two), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  n = s32[] parameter(2)
  a = f32[4] sine(y)
  carried = f32[4] tanh(x), control-predecessors={a}
  init = (f32[4], f32[4], s32[]) tuple(x, carried, n)
  w = (f32[4], f32[4], s32[]) while(init), condition=cond, body=body
  w0 = f32[4] get-tuple-element(w), index=TAKEN
  ROOT r = (f32[4], f32[4]) tuple(w0, a)
}
"""


@pytest.mark.parametrize(("taken", "is_needed"), [("0", False), ("1", True)])
def test_what_a_loop_only_hands_on_is_needed_if_it_is_taken_out(taken: str, is_needed: bool) -> None:
    module = load_hlo(LOOP.replace("LEFT", "q2").replace("TAKEN", taken).encode())
    needed = SourceFacts(of_hlo(module)).needed
    assert (("e", "carried") in needed) == is_needed
    # What the condition or an effect in the body reads, in whatever turn, is needed.
    assert {("e", "n"), ("e", "x"), ("body", "v"), ("body", "p2")} <= needed


def test_a_loop_that_never_runs_is_gone_in_mhlo_and_there_in_stablehlo() -> None:
    text = LOOP.replace("LEFT", "two").replace("TAKEN", "0")
    assert verdicts(text)[0] == ("u", "v", "kept", "")
    assert verdicts(text, Options(dialect="mhlo"))[0] == (
        *("u", "v", "dropped", "the computation never runs: a constant decides so"),
    )


@pytest.mark.parametrize(
    ("successor", "reader", "reason"),
    [
        ("and(x, k)", "add(t, y)", "the successor was folded to a constant"),
        ("get-dimension-size(y), dimensions={0}", "add(t, y)", "the successor was folded to a constant"),
        ("add(x, x)", "select(yes, y, t)", "the successor was removed as dead"),
    ],
)
def test_what_constants_decide_was_folded(successor: str, reader: str, reason: str) -> None:
    shape = "s32[]" if "size" in successor else "s32[4]"
    text = f"""HloModule m
ENTRY e {{
  x = {shape} parameter(0)
  y = {shape} parameter(1)
  z = s32[4] parameter(2)
  a = s32[4] negate(z)
  k = {shape} constant(ZERO)
  yes = {shape.replace("s32", "pred")} constant(TRUE)
  t = {shape} {successor}, control-predecessors={{a}}
  u = {shape} {reader}
  ROOT r = ({shape}, s32[4]) tuple(u, a)
}}
"""
    text = text.replace("size(y)", "size(z)")
    same = ("0", "true") if "size" in successor else ("{0, 0, 0, 0}", "{true, true, true, true}")
    mixed = ("{0, 0, 0, 1}", "{true, true, true, false}")
    mhlo = Options(dialect="mhlo")
    folded = text.replace("ZERO", same[0]).replace("TRUE", same[1])
    assert verdicts(folded, mhlo) == [("a", "t", "dropped", reason)]
    if "size" not in successor:
        assert verdicts(text.replace("ZERO", mixed[0]).replace("TRUE", mixed[1]), mhlo) == [("a", "t", "kept", "")]


def test_a_branch_that_nothing_takes_needs_nothing_of_what_it_shares() -> None:
    # Both calls run one computation; that of the dead one needs no argument.
    text = """HloModule m
f {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] sine(x)
  b = f32[4] cosine(x)
  dead = f32[4] call(a), to_apply=f
  ROOT r = f32[4] call(b), to_apply=f
}
"""
    needed = SourceFacts(of_hlo(load_hlo(text.encode()))).needed
    assert {("e", "r"), ("e", "b"), ("f", "p")} <= needed
    assert not {("e", "dead"), ("e", "a")} & needed


def test_an_effect_that_is_not_in_the_program_needs_nothing_there() -> None:
    text = LOOP.replace("LEFT", "q2").replace("TAKEN", "0").replace("tuple(w0, a)", "tuple(y, a)")
    blocks = of_hlo(load_hlo(text.encode()))
    # The loop runs for the effect in it alone; what decides how often it does is needed with it.
    assert {("e", "w"), ("e", "n"), ("body", "u")} <= SourceFacts(blocks).needed
    assert not {("e", "w"), ("e", "n")} & SourceFacts(blocks, {"w", "v"}).needed
    assert ("body", "u") in SourceFacts(blocks, set()).needed  # gone without a reason


def test_a_size_that_is_known_only_at_run_time_is_no_constant() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[<=4] parameter(0)
  ROOT t = s32[] get-dimension-size(x), dimensions={0}
}
"""
    facts = SourceFacts(of_hlo(load_hlo(text.encode())))
    assert facts.constant(("e", "t")) is None


def test_elements_that_the_importer_names_like_their_tuple_are_no_predecessors() -> None:
    text = """HloModule m
body {
  b = (f32[4], s32[]) parameter(0)
  b0 = f32[4] get-tuple-element(b), index=0
  b1 = s32[] get-tuple-element(b), index=1
  n = f32[4] negate(b0)
  ROOT t = (f32[4], s32[]) tuple(n, b1)
}
cond {
  c = (f32[4], s32[]) parameter(0)
  c1 = s32[] get-tuple-element(c), index=1
  two = s32[] constant(2)
  ROOT lt = pred[] compare(c1, two), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  g = (f32[4], s32[]) custom-call(x), custom_call_target="G"
  f = f32[4] sine(x), control-predecessors={g}
  w = (f32[4], s32[]) while(g), condition=cond, body=body
  w0 = f32[4] get-tuple-element(w), index=0
  ROOT r = f32[4] add(f, w0)
}
"""
    assert verdicts(text) == [("g", "f", "kept", "")]


@pytest.mark.parametrize(
    ("predecessor", "reason"),
    [
        ("(f32[4], f32[4]) tuple(x, x)", "the predecessor stands for parameters: there before the block runs"),
        ("f32[4] get-tuple-element(q), index=0", "the predecessor stands for parameters: there before the block runs"),
        ("(f32[4], f32[4]) tuple(k, k)", "the predecessor stands for constants: there before the block runs"),
        ("() tuple()", "the predecessor is an empty tuple: there is nothing to wait for"),
        ("f32[4] constant({1, 2, 3, 4})", "the predecessor is a constant: there before the block runs"),
    ],
)
def test_a_predecessor_that_is_there_before_has_the_reason_of_its_kind(predecessor: str, reason: str) -> None:
    text = f"""HloModule m
ENTRY e {{
  x = f32[4] parameter(0)
  q = (f32[4], f32[4]) parameter(1)
  k = f32[4] constant({{1, 2, 3, 5}})
  p = {predecessor}
  ROOT s = f32[4] sine(x), control-predecessors={{p}}
}}
"""
    assert verdicts(text) == [("p", "s", "dropped", reason)]


# --- what has none ----------------------------------------------------------------------------------------------------

TWINS = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  p = f32[4] sine(x)
  q = f32[4] sine(x)
  s = f32[4] cosine(y), control-predecessors={q}
  ROOT r = (f32[4], f32[4], f32[4]) tuple(p, q, s)
}
"""


def test_an_instruction_that_was_merged_stands_for_both() -> None:
    result = checked(TWINS, Options(on_unreifiable="warn"))
    assert [edge.verdict for edge in result.edges] == ["kept"]
    # CSE leaves p alone in the place of both, and nothing orders it before s.
    assert [edge.verdict for edge in result.without_reification] == ["lost"]


def judged(text: str, program: Program) -> list[CheckedEdge]:
    blocks = of_hlo(load_hlo(text.encode()))
    return Checker(blocks, of_program(program)).run()


@pytest.mark.parametrize("name", ["a", "s"])
def test_an_end_that_is_needed_and_not_there_is_lost(name: str) -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] sine(x)
  s = f32[4] cosine(x), control-predecessors={a}
  ROOT r = f32[4] add(a, s)
}
"""
    program = lower(text.encode()).penguin()
    assert [edge.verdict for edge in judged(text, read_penguin(program))] == ["kept"]
    other = read_penguin(program.replace(f'tensor_op_name="{name}"', 'tensor_op_name="another"'))
    (edge,) = judged(text, other)
    which = "predecessor" if name == "a" else "successor"
    assert (edge.verdict, edge.reason) == (
        "lost",
        f"the {which} is not in the emitted program, though something needs it",
    )


def test_what_comes_after_a_tuple_comes_after_what_that_comes_after() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  a = f32[4] sine(x)
  m = f32[4] tanh(y)
  t = (f32[4], f32[4]) tuple(m, y), control-predecessors={a}
  g = f32[4] get-tuple-element(t), index=0
  z = f32[4] cosine(y), control-predecessors={g}
  ROOT r = ((f32[4], f32[4]), f32[4], f32[4]) tuple(t, z, a)
}
"""
    program = lower(text.encode()).penguin()
    assert {edge.verdict for edge in judged(text, read_penguin(program))} <= {"kept", "dropped"}
    bare = "\n".join(line for line in program.splitlines() if "dst=z" not in line or "src=a" not in line)
    assert bare.count("add_dep_edge") == program.count("add_dep_edge") - 1
    reasons = {(edge.src, edge.dst): edge.reason for edge in judged(text, read_penguin(bare)) if edge.verdict == "lost"}
    behind = "nothing in the emitted program orders the predecessor before what comes after the successor: 'z'"
    assert reasons == {("a", "t"): behind}


def test_an_edge_that_the_program_loses_is_never_excused() -> None:
    """Sabotage: without its dependency edges a program holds what data implies, and the judge calls the rest lost."""
    lost = 0
    with Child() as child:
        for number in range(40):
            module = load_hlo(module_of_seed(number).encode(), child=child)
            try:
                text = lower(module, child=child).penguin(weights=WeightNames())
            except CtrlDepError:
                continue
            blocks = of_hlo(module)
            whole, bare = read_penguin(text), read_penguin(text)
            for function in bare.functions:
                function.dep_edges.clear()
            judge = [Checker(blocks, of_program(program)).run() for program in (whole, bare)]
            for before, after in zip(*judge, strict=True):
                lost += after.verdict == "lost"
                successor = blocks[before.block].instructions[before.dst]
                # What has no operand cannot wait; its readers do, and the end of the block always does.
                if before.verdict in ("kept", "implied") and successor.operands:
                    assert after.verdict in ("implied", "lost"), f"seed {number}: {before} {after}"
    assert lost > 20


MERGED = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  tok = token[] after-all()
  start = (f32[4], u32[], token[]) send(x, tok), channel_id=1
  work = f32[4] negate(x), control-predecessors={start}
  other = f32[4] cosine(x)
  done = token[] send-done(start), channel_id=1, control-predecessors={WORK}
  last = f32[4] exponential(x), control-predecessors={done}
  ROOT r = (f32[4], f32[4], f32[4]) tuple(work, last, other)
}
"""


def test_a_done_that_became_one_with_its_start_waits_or_what_comes_after_it_does() -> None:
    kept = [("done", "last", "kept", ""), ("start", "work", "kept", "")]
    assert sorted(verdicts(MERGED.replace("WORK", "other"))) == sorted([*kept, ("other", "done", "kept", "")])
    # Work that the start precedes cannot come before the one operation; it can before what comes after the done.
    text = MERGED.replace("WORK", "work")
    waits = ("work", "done", "implied", "what reads the successor waits in its place")
    assert sorted(verdicts(text)) == sorted([*kept, waits])
    program = read_penguin(lower(text.encode()).penguin())
    for function in program.functions:
        function.dep_edges[:] = [edge for edge in function.dep_edges if (edge.src, edge.dst) != ("work", "last")]
    assert sorted((edge.src, edge.verdict) for edge in judged(text, program)) == [
        *[("done", "kept"), ("start", "kept"), ("work", "lost")],
    ]


# --- what the source is taken for -------------------------------------------------------------------------------------


def test_control_predecessors_may_stand_after_their_successors() -> None:
    text = TWINS.replace("sine(x)\n  s", "tanh(x)\n  s")
    module = load_hlo(text.encode())
    instructions = list(module.proto.computations[0].instructions)
    order = ["x", "y", "p", "s", "q", "r"]
    names = {one.name: one for one in instructions}
    copies = [type(names[name])() for name in order]
    for copy, name in zip(copies, order, strict=True):
        copy.CopyFrom(names[name])
    del module.proto.computations[0].instructions[:]
    module.proto.computations[0].instructions.extend(copies)
    backward = checked(module.to_bytes())
    assert backward.as_json() == checked(text).as_json()
    assert [edge.verdict for edge in backward.edges] == ["kept"]


WIRED = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] sine(x)
  w = f32[4] custom-call(a, x), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
  s = f32[4] tan(w)
  u = f32[4] abs(w)EDGE
  ROOT r = (f32[4], f32[4]) tuple(s, u)
}
"""


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ("", [("a", "w")]),
        # One reader of the wire op has the edge of its own; the other still waits because of the wire op alone.
        (", control-predecessors={a}", [("a", "u"), ("a", "w")]),
    ],
)
def test_wire_ops_of_hlo_hold_edges(edge: str, expected: list[tuple[str, str]]) -> None:
    found = verdicts(WIRED.replace("EDGE", edge))
    assert [(src, dst) for src, dst, _, _ in found] == expected
    assert {verdict for _, _, verdict, _ in found} == {"kept"}


def test_frontend_attributes_of_hlo_hold_edges() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  a = f32[4] sine(x), frontend_attributes={ctrldep.id="7"}
  cs = (f32[4], f32[4], u32[]) copy-start(y)
  cd = f32[4] copy-done(cs), frontend_attributes={ctrldep.after="7,8"}
  ROOT r = (f32[4], f32[4]) tuple(a, cd)
}
"""
    assert verdicts(text) == [("a", "cd", "kept", "")]


def test_without_reification_mlir_loses_attribute_edges_too() -> None:
    text = """func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = stablehlo.sine %a {mhlo.frontend_attributes = {ctrldep.id = "1", other = "x"}} : tensor<4xf32>
  %s = stablehlo.cosine %b {mhlo.frontend_attributes = {ctrldep.after = "1"}} : tensor<4xf32>
  return %p, %s : tensor<4xf32>, tensor<4xf32>
}"""
    result = checked(text)
    assert [edge.verdict for edge in result.edges] == ["kept"]
    assert [edge.verdict for edge in result.without_reification] == ["lost"]


def test_regions_of_mlir_that_never_run_or_capture() -> None:
    text = """func.func @main(%a: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {{
  %k = stablehlo.constant dense<1> : tensor<i32>
  %p = stablehlo.sine %a : tensor<4xf32> loc("p")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %a) {{has_side_effect = true}} :
    (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.tanh %w : tensor<4xf32> loc("s")
  %c = "stablehlo.case"({index}) ({{
    %u = stablehlo.negate %s : tensor<4xf32> loc("u")
    %v = stablehlo.custom_call @AwsNeuronControlDep(%u, %a) {{has_side_effect = true}} :
      (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = stablehlo.abs %v : tensor<4xf32> loc("t")
    stablehlo.return %t : tensor<4xf32>
  }}, {{
    stablehlo.return %a : tensor<4xf32>
  }}) : (tensor<i32>) -> tensor<4xf32>
  return %c, %p : tensor<4xf32>, tensor<4xf32>
}}"""
    assert verdicts(text.format(index="%i")) == [("p", "s", "kept", ""), ("u", "t", "kept", "")]
    assert verdicts(text.format(index="%k")) == [
        ("p", "s", "dropped", "the successor was removed as dead"),
        ("u", "t", "dropped", "the computation never runs: a constant decides so"),
    ]


def test_ops_outside_functions_are_no_program() -> None:
    text = """%0 = stablehlo.constant dense<1.0> : tensor<4xf32>
%1 = stablehlo.sine %0 : tensor<4xf32>"""
    with pytest.raises(InputError, match=r"m: error: the module has no function to check"):
        checked(text)


def test_shapes_that_protobuf_cannot_read_are_one_message() -> None:
    shape = "(" * 110 + "f32[4]" + ")" * 110
    text = f"HloModule m\nENTRY e {{\n  ROOT x = {shape} parameter(0)\n}}\n"
    with pytest.raises(InputError, match="nested too deeply"):
        checked(text)


# --- graphs -----------------------------------------------------------------------------------------------------------


def test_a_cycle_of_dependencies_is_a_fault() -> None:
    text = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %s = stablehlo.sine %a {mhlo.frontend_attributes = {ctrldep.id = "1", ctrldep.after = "2"}} : tensor<4xf32> loc("s")
  %t = stablehlo.tanh %s {mhlo.frontend_attributes = {ctrldep.id = "2", ctrldep.after = "1"}} : tensor<4xf32> loc("t")
  return %t : tensor<4xf32>
}"""
    with pytest.raises(InputError, match="make a cycle: 's' waits for 't' waits for 's'"):
        checked(text)


def function(edges: list[tuple[int, int]], size: int) -> EmittedFunction:
    found = EmittedFunction({f"n{node}": [node] for node in range(size)})
    for src, dst in edges:
        found.successors.setdefault(src, set()).add(dst)
    return found


def test_a_cycle_is_named_in_its_order_and_what_follows_it_is_not() -> None:
    found = function([(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 5)], 6).cycle()
    assert sorted(found) == ["n1", "n2", "n3"]
    assert found[(found.index("n1") + 1) % 3] == "n2"
    assert function([(0, 1), (1, 2), (0, 2)], 3).cycle() == []


def test_paths_between_sets_are_those_between_all_pairs() -> None:
    random_edges = random.Random(20261130)
    for _ in range(60):
        size = 9
        edges = [p for p in itertools.combinations(range(size), 2) if random_edges.random() < 0.3]
        graph = function(edges, size)
        reached = {n: {n} for n in range(size)}
        for src, dst in sorted(edges, reverse=True):
            reached[src] |= reached[dst]
        for _ in range(20):
            sources = random_edges.sample(range(size), 3)
            targets = random_edges.sample(range(size), 3)
            expected = all(t in reached[s] for s in sources for t in targets)
            assert graph.orders(sources, targets) == expected, (edges, sources, targets)


def test_many_pairs_take_one_sweep() -> None:
    # Nine million pairs: a search for each would take hours.
    many = 3000
    edges = [(n, many) for n in range(many)] + [(many, many + 1 + n) for n in range(many)]
    graph = function(edges, 2 * many + 1)
    assert graph.orders(range(many), range(many + 1, 2 * many + 1))
    graph.successors[0].clear()
    assert not graph.orders(range(many), range(many + 1, 2 * many + 1))


def test_constants_behind_each_other_do_not_recurse_without_end() -> None:
    names = [f"c{n}" for n in range(5000)]
    instructions = {"c0": SourceInstruction("c0", "constant", [], value=True)}
    for before, name in itertools.pairwise(names):
        instructions[name] = SourceInstruction(name, "not", [before])
    facts = SourceFacts({"e": SourceBlock("e", instructions, names[-1], [], is_entry=True)})
    assert facts.constant(("e", "c1")) is False
    assert facts.constant(("e", names[-1])) is None  # too far to know
    assert ("e", "c4000") in facts.needed
