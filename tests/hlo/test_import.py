"""HLO to StableHLO / MHLO and back: what is kept, and how each kind of failure is reported."""

from __future__ import annotations

import pytest

from neuron_ctrldep import mlir, wire
from neuron_ctrldep.control_dep import instruction_name, is_control_dep
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.hlo.importer import Child, export_hlo, import_hlo
from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.schema import HloModuleProto
from neuron_ctrldep.mlir import ir
from tests.hlo.support import text_to_proto


@pytest.fixture(scope="module")
def child():
    with Child() as process:
        yield process


def hlo(entry: str, *computations: str) -> HloModule:
    """A module of ``computations`` and an entry ``e``; parsed in this process, which these texts cannot harm."""
    text = "HloModule m\n" + "\n".join(computations) + "\nENTRY e {\n" + entry + "\n}\n"
    return HloModule(HloModuleProto.FromString(text_to_proto(text)), "m.hlo")


def names(module: ir.Operation) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if not op.name.startswith(("builtin.", "func.")) and not op.name.endswith(".return"):
            found.append((op.name, instruction_name(op)))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def name_in_location(op: ir.Operation) -> str:
    return mlir.location_names(op.location)[0]


def refused(module: HloModule, child: Child, **options: object) -> str:
    """The message of the one error, which is one line."""
    with pytest.raises(InputError) as caught:
        import_hlo(module, child=child, **options)  # type: ignore[arg-type]
    message = caught.value.render()
    assert "\n" not in message
    assert message.startswith("m.hlo: error: ")
    return message.removeprefix("m.hlo: error: ")


# --- what is kept -----------------------------------------------------------------------------------------------------

LOOP = (
    """body {
  c = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  v = f32[4] get-tuple-element(c), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  n = f32[4] negate(v)
  ROOT r = (s32[], f32[4]) tuple(next, n)
}""",
    """cond {
  c = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  five = s32[] constant(5)
  ROOT lt = pred[] compare(i, five), direction=LT
}""",
)
SUM = """sum {
  left = f32[] parameter(0)
  right = f32[] parameter(1)
  ROOT total = f32[] add(left, right)
}"""
LOOP_ENTRY = """p = f32[4] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[4]) tuple(zero, p)
  w = (s32[], f32[4]) while(init), condition=cond, body=body
  ROOT g = f32[4] get-tuple-element(w), index=1"""


def test_computations_that_nothing_calls_are_gone(child):
    module = import_hlo(hlo(LOOP_ENTRY, *LOOP), child=child)
    functions = [op.attributes["sym_name"].value for op in module.regions[0].blocks[0].operations]
    assert functions == ["main"]  # the loop holds body and condition; their functions are dead
    assert module.verify()


def test_the_module_is_not_changed(child):
    module = hlo('p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p), metadata={op_name="jit(f)/neg"}')
    before = module.proto.SerializeToString(deterministic=True)
    import_hlo(module, child=child)
    assert module.proto.SerializeToString(deterministic=True) == before


def test_two_imports_are_equal(child):
    module = hlo(LOOP_ENTRY, *LOOP)
    first, second = (import_hlo(module, child=child).get_asm(enable_debug_info=True) for _ in range(2))
    assert first == second


def test_a_context_can_be_given(child):
    context = mlir.make_context()
    assert import_hlo(hlo("ROOT p = f32[4] parameter(0)"), context=context, child=child).context is context


def test_without_a_child_a_new_one_is_used():
    module = import_hlo(hlo("p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)"))
    assert names(module) == [("stablehlo.negate", "n")]


def test_sharding_dialect_is_understood(child):
    module = import_hlo(
        hlo("p = f32[8] parameter(0), sharding={devices=[2]<=[2]}\n  ROOT n = f32[8] negate(p)"), child=child
    )
    assert "sharding" in str(module)


# --- names ------------------------------------------------------------------------------------------------------------

META = 'metadata={op_name="jit(f)/jit(main)/mul" source_file="f.py" source_line=3}'


def test_a_location_without_op_name_is_the_name(child):
    module = import_hlo(hlo("p = f32[4] parameter(0)\n  ROOT neg.7 = f32[4] negate(p)"), child=child)
    assert names(module) == [("stablehlo.negate", "neg.7")]
    assert wire.NAME not in str(module)


def test_op_name_metadata_does_not_hide_the_name(child):
    module = import_hlo(
        hlo(
            f"""p = f32[4] parameter(0)
  m.1 = f32[4] multiply(p, p), {META}
  ROOT m.2 = f32[4] exponential(m.1), {META}"""
        ),
        child=child,
    )
    assert names(module) == [("stablehlo.multiply", "m.1"), ("stablehlo.exponential", "m.2")]
    assert "jit(f)/jit(main)/mul" in module.get_asm(enable_debug_info=True)  # and the op_name is still there


def test_names_of_parameters_are_attributes_of_arguments(child):
    module = import_hlo(hlo(f"ROOT p = f32[4] parameter(0), {META}"), child=child)
    assert '%arg0: tensor<4xf32> {mhlo.frontend_attributes = {ctrldep.name = "p"}}' in str(module)


def test_a_tuple_parameter_gets_no_attribute(child):
    # The importer flattens it, and refuses frontend attributes on what it flattens.
    module = import_hlo(
        hlo(f"p = (f32[4], f32[4]) parameter(0), {META}\n  ROOT g = f32[4] get-tuple-element(p), index=1"), child=child
    )
    assert wire.NAME not in str(module)


def test_get_tuple_element_has_the_location_of_its_source(child):
    module = import_hlo(
        hlo(
            """p = f32[4] parameter(0)
  t = (f32[4], f32[4]) custom-call(p), custom_call_target="two"
  g0 = f32[4] get-tuple-element(t), index=0
  g1 = f32[4] get-tuple-element(t), index=1
  ROOT a = f32[4] add(g0, g1)"""
        ),
        child=child,
    )
    assert [name for op, name in names(module)] == ["t", "g0", "g1", "a"]


@pytest.mark.parametrize(
    ("start", "done"),
    [
        ("(f32[4], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}", "f32[8] all-gather-done"),
        ("f32[4] all-reduce-start(p), to_apply=sum, replica_groups={{0,1}}", "f32[4] all-reduce-done"),
        ("(f32[4], f32[4]) collective-permute-start(p), source_target_pairs={{0,1}}", "f32[4] collective-permute-done"),
        ("(f32[4], f32[4], u32[]) copy-start(p)", "f32[4] copy-done"),
        ("((f32[4]), f32[4], u32[]) async-start(p), calls=wrapped", "f32[4] async-done"),
    ],
)
def test_starts_and_dones_keep_their_names(child, start, done):
    wrapped = f"""wrapped {{
  a = f32[4] parameter(0)
  ROOT inner = f32[4] custom-call(a), custom_call_target="x", {META}
}}"""
    module = import_hlo(
        hlo(
            f"p = f32[4] parameter(0)\n  the-start = {start}, {META}\n  ROOT the-done = {done}(the-start), {META}",
            SUM,
            wrapped,
        ),
        child=child,
    )
    found = {name for op, name in names(module) if op.endswith(("async_start", "async_done"))}
    assert found == {"the-start", "the-done"}


def test_a_send_and_its_done_are_one_op_with_the_name_of_the_send(child):
    module = import_hlo(
        hlo(
            f"""p = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(p, t), channel_id=1, {META}
  d = token[] send-done(s), channel_id=1, {META}
  ROOT n = f32[4] negate(p)"""
        ),
        child=child,
    )
    assert [name for op, name in names(module) if op == "stablehlo.send"] == ["s"]


def after_cse(module: ir.Operation) -> ir.Operation:
    mlir.passmanager.PassManager.parse("builtin.module(canonicalize,cse)", context=module.context).run(module)
    return module


def test_ends_of_control_edges_are_not_merged(child):
    text = """p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] negate(p){}
  x = f32[4] add(a, b)
  ROOT y = f32[4] exponential(x){}"""
    plain = after_cse(import_hlo(hlo(text.format("", "")), child=child))
    assert [name for op, name in names(plain) if op == "stablehlo.negate"] == ["a"]
    edges = after_cse(
        import_hlo(hlo(text.format(", control-predecessors={a}", ", control-predecessors={b}")), child=child)
    )
    assert [name for op, name in names(edges) if op == "stablehlo.negate"] == ["a", "b"]


def test_where_edges_were_stripped_wire_ops_tell_their_ends(child):
    module = after_cse(
        import_hlo(
            hlo(
                """p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] negate(p)
  wa = f32[4] custom-call(a, p), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
  wb = f32[4] custom-call(b, p), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
  x = f32[4] sine(wa)
  y = f32[4] cosine(wb)
  ROOT r = f32[4] add(x, y)"""
            ),
            child=child,
        )
    )
    assert [name for op, name in names(module) if op == "stablehlo.negate"] == ["a", "b"]


def test_a_name_of_an_earlier_import_is_replaced(child):
    module = import_hlo(
        hlo('p = f32[4] parameter(0)\n  ROOT new = f32[4] negate(p), frontend_attributes={ctrldep.name="old"}'),
        child=child,
    )
    assert names(module) == [("stablehlo.negate", "new")]


# --- MHLO -------------------------------------------------------------------------------------------------------------


def test_mhlo(child):
    module = import_hlo(hlo(LOOP_ENTRY, *LOOP), dialect="mhlo", child=child)
    dialects = {op.partition(".")[0] for op, _ in names(module)}
    assert dialects == {"mhlo"}


def test_a_module_without_mhlo_form_names_the_op(child):
    module = hlo(
        """p = f32[4] parameter(0)
  ag = (f32[4], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}
  ROOT d = f32[8] all-gather-done(ag)"""
    )
    assert refused(module, child, dialect="mhlo") == (
        "this module has no MHLO form: 'stablehlo.async_start' at loc(\"ag\") has none"
    )


def test_an_unknown_dialect_is_a_fault_of_the_caller(child):
    with pytest.raises(ValueError, match="dialect"):
        import_hlo(hlo("ROOT p = f32[4] parameter(0)"), dialect="chlo", child=child)  # type: ignore[arg-type]


# --- failures ---------------------------------------------------------------------------------------------------------

SEND = """p = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(p, t){}
  {}
  ROOT n = f32[4] negate(p)"""
RECV = """p = f32[4] parameter(0)
  t = token[] after-all()
  r = (f32[4], u32[], token[]) recv(t), channel_id=1
  {}
  d = (f32[4], token[]) recv-done(r), channel_id=1
  g = f32[4] get-tuple-element(d), index=0
  ROOT n = f32[4] add(p, g){}"""


@pytest.mark.parametrize("metadata", ["", f", {META}"], ids=["plain", "with op_name"])
@pytest.mark.parametrize(
    ("entry", "culprit", "reason"),
    [
        (
            SEND.format("", "d = token[] send-done(s)"),
            "ends the process on instruction 's' (send)",
            "without a channel id",
        ),
        (SEND.format(", channel_id=1", ""), "ends the process on instruction 's' (send)", "send without users"),
        (
            RECV.format("u = u32[] get-tuple-element(r), index=1", ""),
            "ends the process on instruction 'r' (recv)",
            "a recv that a get-tuple-element reads, not only its recv-done: Failed to infer result type(s)",
        ),
        (
            "p = f16[4] parameter(0)\n  ROOT a = f16[4] all-reduce(p), to_apply=sum, replica_groups={}META",
            "returns an invalid module for instruction 'a' (all-reduce)",
            "'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4xf16>'",
        ),
        (
            "p = u64[2] parameter(0)\n  s = u64[1] rng-get-and-update-state(), delta=1META\n  ROOT n = u64[2] not(p)",
            "returns an invalid module for instruction 's' (rng-get-and-update-state)",
            "Output size is 1 instead of 2",
        ),
        (
            """p = (f32[4], f32[4]) parameter(0), frontend_attributes={a="b"}
  ROOT g = f32[4] get-tuple-element(p), index=0""",
            "refuses instruction 'p' (parameter)",
            "a tuple-shaped parameter with frontend attributes",
        ),
        (
            """p = f32[4] parameter(0)
  n = f32[4] negate(p)
  a = ((f32[4], f32[4]), (f32[8], f32[8])) all-gather-start(p, n), dimensions={0}, replica_groups={{0,1}}META
  ROOT d = (f32[8], f32[8]) all-gather-done(a)META""",
            "refuses instruction 'a' (all-gather-start)",
            "Async tuple all-gather is not supported in StableHLO",
        ),
        (
            """p = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(p, t), channel_id=1
  w = ((f32[4], u32[], token[])) tuple(s)
  g = (f32[4], u32[], token[]) get-tuple-element(w), index=0
  d = token[] send-done(g), channel_id=1META
  ROOT n = f32[4] negate(p)META""",
            "refuses instruction 'd' (send-done)",
            "the operand of send-done must be a send, found get-tuple-element",
        ),
    ],
    ids=["no channel", "no users", "pipelined", "invalid", "rng state", "tuple parameter", "variadic", "done of gte"],
)
def test_each_kind_of_failure_names_the_instruction(child, entry, culprit, reason, metadata):
    message = refused(hlo(entry.replace("META", metadata), SUM), child)
    assert message.startswith(f"XLA's importer {culprit} of computation 'e': ")
    assert reason in message


def test_a_failure_inside_a_loop_is_found_there(child):
    body = (
        LOOP[0]
        .replace("ROOT r", "s = (f32[4], u32[], token[]) recv(t), channel_id=1\n  ROOT r")
        .replace("one =", "t = token[] after-all()\n  one =")
    )
    body = body.replace("ROOT r", "x = u32[] get-tuple-element(s), index=1\n  ROOT r")
    message = refused(hlo(LOOP_ENTRY, body, LOOP[1]), child)
    assert "instruction 's' (recv) of computation 'body'" in message


def test_a_failure_late_in_a_long_computation_is_found(child):
    chain = "\n".join(f"  n{i} = f32[4] negate(n{i - 1})" for i in range(1, 300))
    message = refused(
        hlo(
            RECV.format("u = u32[] get-tuple-element(r), index=1", "").replace(
                "ROOT n =", f"n0 = f32[4] negate(p)\n{chain}\n  ROOT n ="
            )
        ),
        child,
    )
    assert "instruction 'r' (recv) of computation 'e'" in message


def test_too_deep_nesting_is_named(child):
    # Fusions in fusions become regions in regions, until the importer overflows the stack.
    depth = 1500
    inner = ["fn0 {\n  a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a)\n}"]
    fusion = "fn{} {{\n  a = f32[4] parameter(0)\n  ROOT f = f32[4] fusion(a), kind=kLoop, calls=fn{}\n}}"
    inner += [fusion.format(i, i - 1) for i in range(1, depth)]
    entry = f"p = f32[4] parameter(0)\n  ROOT top = f32[4] fusion(p), kind=kLoop, calls=fn{depth - 1}"
    message = refused(hlo(entry, *inner), child)
    assert message.startswith("XLA's importer ends the process on instruction 'f.")
    assert "(fusion) of computation 'fn501': computations nested more than 500 deep: " in message


def test_the_message_says_whose_fault_it_is(child):
    broken = hlo(SEND.format(", channel_id=1", ""))
    sound = hlo("p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)")
    assert "untouched" not in refused(broken, child)
    assert refused(broken, child, original=broken).endswith(
        "; the untouched module fails as well: XLA's importer cannot take it"
    )
    assert refused(broken, child, original=sound).endswith(
        "; the untouched module imports: this is a fault of preserve-control-deps, please report it"
    )


def test_a_child_serves_on_after_a_death(child):
    refused(hlo(SEND.format(", channel_id=1", "")), child)
    assert names(import_hlo(hlo("p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)"), child=child))


def test_a_process_that_cannot_work_is_not_the_fault_of_the_module(monkeypatch):
    module = hlo("p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)")
    monkeypatch.setenv("XLA_FLAGS", "--no_such_flag=1")
    with Child() as misconfigured:
        message = refused(module, misconfigured, original=module)
    assert message == "XLA's importer cannot run here: Unknown flag in XLA_FLAGS: --no_such_flag=1"
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with Child() as missing:
        message = refused(module, missing, original=module)
    assert message.startswith("XLA's importer cannot run here: it cannot be started: ")


def test_nothing_of_xla_reaches_the_terminal(capfd):
    with pytest.raises(InputError):
        import_hlo(hlo(RECV.format("u = u32[] get-tuple-element(r), index=1", "")))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


# --- back to HLO ------------------------------------------------------------------------------------------------------

WIRE = """p = f32[4] parameter(0)
  a = f32[4] negate(p)
  w = f32[4] custom-call(a, p), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
  b = f32[4] exponential(w), control-predecessors={a}
  ROOT r = f32[4] add(a, b)"""


@pytest.mark.parametrize("dialect", ["stablehlo", "mhlo"])
def test_round_trip_keeps_wire_ops(child, dialect):
    module = export_hlo(import_hlo(hlo(WIRE), dialect=dialect, child=child), "back.hlo", child=child)
    assert module.file == "back.hlo"
    (call,) = [
        i for c in module.proto.computations for i in c.instructions if i.custom_call_target == "AwsNeuronControlDep"
    ]
    assert call.custom_call_has_side_effect
    assert len(call.operand_ids) == 2
    again = import_hlo(module, child=child)
    calls: list[ir.Operation] = []
    again.walk(lambda op: (calls.append(op) if is_control_dep(op) else None) or ir.WalkResult.ADVANCE)
    assert len(calls) == 1


def test_export_takes_a_module_and_bytes_round_trip(child):
    module = export_hlo(
        ir.Module.parse(
            "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }",
            context=mlir.make_context(),
        ),
        child=child,
    )
    assert load_hlo(module.to_bytes()).proto.computations


@pytest.mark.parametrize(
    "text",
    [
        "",
        "func.func @f() { return }",
        "func.func @main(%a: i32) -> i32 { %0 = arith.addi %a, %a : i32\n return %0 : i32 }",
    ],
    ids=["empty", "no main", "other dialect"],
)
def test_what_has_no_hlo_form_is_one_error(child, text):
    with pytest.raises(InputError, match=r"^f\.mlir: error: XLA cannot export this module to HLO: .") as caught:
        export_hlo(mlir.parse_module(text), "f.mlir", child=child)
    assert "\n" not in caught.value.render()
