"""Running pipelines: order, nesting, failures, and what observers and pass managers see."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

import pytest
from passes_for_tests import OnFunctions, Refuse, Trace

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import CtrlDepError, Diagnostic, PassError, PipelineError
from neuron_ctrldep.mlir import ir, passmanager
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.pipeline import (
    Observer,
    PassCall,
    Pipeline,
    add_to_pass_manager,
    parse_pipeline,
    pipeline_from_flags,
    run_pipeline,
)

SOURCE = """\
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
module @inner {
  func.func @g() { return }
}
func.func @h() { return }
"""


@pytest.fixture
def module() -> ir.Operation:
    Trace.seen.clear()
    return mlir.parse_module(SOURCE, file="in.mlir")


def run_one(operation: ir.Operation, run: Callable[[ir.Operation], object], anchor: str = "builtin.module") -> None:
    class Given(Pass):
        name = "given"
        summary = ""

        def run(self, op: ir.Operation, statistics: Statistics) -> None:
            run(op)

    Given.anchor = anchor
    call = PassCall("given", Given())
    run_pipeline(
        operation, Pipeline("builtin.module", (call if anchor == "builtin.module" else Pipeline(anchor, (call,)),))
    )


def test_passes_run_in_order_and_on_each_op(module: ir.Operation) -> None:
    results = run_pipeline(
        module,
        "builtin.module(test-trace{label=1},func.func(test-trace{label=2},cse,test-trace{label=3}),"
        "builtin.module(func.func(test-trace{label=4})),any(test-trace{label=5}),symbol-dce,test-trace{label=6})",
    )
    # Neighbouring nested pipelines on different ops run op by op, as in MLIR: @inner comes between @f and @h.
    assert Trace.seen == [
        *("1builtin.module", "2f", "3f", "4g", "2h", "3h"),
        *("5f", "5inner", "5h", "6builtin.module"),
    ]
    assert [name for name, _ in results].count("cse") == 2
    assert str(module).count("arith.addi") == 1


def test_pipelines_on_the_same_op_are_merged(module: ir.Operation) -> None:
    run_pipeline(module, "builtin.module(func.func(test-trace{label=1}),func.func(test-trace{label=2}))")
    assert Trace.seen == ["1f", "2f", "1h", "2h"]


def test_any_skips_ops_that_its_passes_do_not_run_on(module: ir.Operation) -> None:
    run_pipeline(module, "builtin.module(any(test-on-functions))")
    assert Trace.seen == ["f", "h"]


def test_statistics_belong_to_each_run(module: ir.Operation) -> None:
    results = run_pipeline(module, "builtin.module(func.func(test-trace),test-trace)")
    assert [(name, statistics["runs"]) for name, statistics in results] == [("test-trace", 1)] * 3


def test_a_module_object_is_taken(module: ir.Operation) -> None:
    wrapped = ir.Module.parse("func.func private @f()", context=mlir.make_context())
    assert run_pipeline(wrapped, "builtin.module(symbol-dce)")[0][0] == "symbol-dce"
    assert "@f" not in str(wrapped)


def test_flags_nest_what_is_restricted() -> None:
    flags = [("cse", ""), ("test-on-functions", "label=x"), ("mhlo-flatten-tuple", ""), ("test-trace", "")]
    pipeline = pipeline_from_flags(flags)
    assert str(pipeline) == "builtin.module(cse,func.func(test-on-functions{label=x},mhlo-flatten-tuple),test-trace)"
    assert str(pipeline_from_flags(flags[:2], anchor="func.func")) == "func.func(cse,test-on-functions{label=x})"


# --- failures ---------------------------------------------------------------------------------------------------------


def fault_of(operation: ir.Operation, pipeline: str | Pipeline) -> Diagnostic:
    with pytest.raises(PassError) as caught:
        run_pipeline(operation, pipeline)
    return caught.value.diagnostics[0]


def test_a_refusal_is_passed_on_and_stops_the_run(module: ir.Operation) -> None:
    fault = fault_of(module, "builtin.module(func.func(test-refuse{function=h},test-trace),test-trace)")
    assert (fault.message, str(fault.location)) == ("refused", "in.mlir:10:1")
    assert Trace.seen == ["f"]


def test_an_exception_names_the_pass_and_the_op(module: ir.Operation) -> None:
    def crash(op: ir.Operation) -> None:
        raise ZeroDivisionError("by nothing")

    with pytest.raises(PassError, match=r"in.mlir:1:1: error: pass 'given' raised ZeroDivisionError: by nothing"):
        run_one(module, crash, "func.func")


def test_a_pass_does_not_give_the_exit_status(module: ir.Operation) -> None:
    with pytest.raises(PassError, match=r"pass 'given' tried to end the process"):
        run_one(module, lambda op: sys.exit(3))


@pytest.mark.parametrize("error", [PipelineError, CtrlDepError])
def test_other_faults_become_pass_errors(module: ir.Operation, error: type[CtrlDepError]) -> None:
    def crash(op: ir.Operation) -> None:
        raise error("inner")

    with pytest.raises(PassError, match="inner"):
        run_one(module, crash)


def test_what_a_pass_leaves_is_verified(module: ir.Operation) -> None:
    def breaks(op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        block.operations[len(block.operations) - 1].operation.erase()

    with pytest.raises(PassError, match="expect at least a terminator") as caught:
        run_one(module, lambda op: breaks(op.regions[0].blocks[0].operations[2].operation))
    assert "found by the verifier after pass 'given'" in str(caught.value)


def test_the_verifier_can_be_left_out(module: ir.Operation) -> None:
    class Breaks(Pass):
        name = "breaks"
        summary = ""
        anchor = "func.func"

        def run(self, op: ir.Operation, statistics: Statistics) -> None:
            block = op.regions[0].blocks[0]
            block.operations[len(block.operations) - 1].operation.erase()

    pipeline = Pipeline("builtin.module", (Pipeline("func.func", (PassCall("breaks", Breaks()),)),))
    run_pipeline(module, pipeline, verify_each=False)
    assert not _verifies(module)


def _verifies(operation: ir.Operation) -> bool:
    with mlir.collect_diagnostics(operation.context):
        try:
            return bool(operation.verify())
        except ir.MLIRError:
            return False


def test_cpp_failures_have_their_place(module: ir.Operation) -> None:
    fault = fault_of(module, "builtin.module(func.func(symbol-dce))")
    assert "does not define a symbol table" in fault.message
    assert str(fault.location) in ("in.mlir:1:1", "in.mlir:10:1")


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("func.func(cse)", "can't run 'func.func' pass manager on 'builtin.module' op"),
        ("any(test-on-functions)", "runs on 'func.func', not on 'builtin.module'"),
        ("any(mhlo-flatten-tuple)", "trying to schedule pass 'FlattenTuplePass' on an unsupported operation"),
    ],
)
def test_pipelines_on_the_wrong_op(module: ir.Operation, pipeline: str, message: str) -> None:
    assert message in fault_of(module, pipeline).message


def test_passes_do_not_run_on_ops_that_are_not_isolated(module: ir.Operation) -> None:
    for inner in ("cse", "test-trace"):
        fault = fault_of(module, f"builtin.module(func.func(arith.addi({inner})))")
        assert "not marked as 'IsolatedFromAbove'" in fault.message


def test_an_anchor_that_is_no_op_is_a_fault_at_its_column(module: ir.Operation) -> None:
    with pytest.raises(PipelineError, match=r"pass-pipeline:1:26: error: .*no such operation"):
        run_pipeline(module, "builtin.module(func.func(no.op(cse)))")


@pytest.mark.parametrize("inner", ["cse", "test-trace"])
def test_pipelines_that_ran_on_nothing_are_told_about(module: ir.Operation, inner: str) -> None:
    warnings: list[Diagnostic] = []
    text = f"builtin.module(gpu.module({inner}),func.func({inner},gpu.module({inner})),any(stablehlo-legalize-to-hlo))"
    run_pipeline(module, text, warn=warnings.append)
    # @inner is a module: any(stablehlo-legalize-to-hlo) ran on it.
    assert [w.message.split(" ran on")[0] for w in warnings] == [f"'gpu.module({inner})'"] * 2


def test_warnings_are_logged_by_default(module: ir.Operation, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="neuron_ctrldep.passes"):
        run_pipeline(module, "builtin.module(gpu.module(cse))")
    assert "ran on nothing" in caplog.text


# --- observers --------------------------------------------------------------------------------------------------------


class Recorder(Observer):
    def __init__(self) -> None:
        self.events: list[str] = []

    def before(self, call: PassCall, op: ir.Operation) -> None:
        self.events.append(f"before {call.name} on {op.name}")

    def after(self, call: PassCall, op: ir.Operation, statistics: Statistics) -> None:
        self.events.append(f"after {call.name}")

    def failed(self, call: PassCall, op: ir.Operation) -> None:
        self.events.append(f"failed {call.name}")

    def enter(self, pipeline: Pipeline, op: ir.Operation) -> None:
        self.events.append(f"enter {pipeline.anchor}")

    def leave(self, pipeline: Pipeline, op: ir.Operation) -> None:
        self.events.append(f"leave {pipeline.anchor}")


def test_observers_see_every_pass() -> None:
    recorder = Recorder()
    module = mlir.parse_module("func.func @f() { return }")
    with pytest.raises(PassError):
        run_pipeline(module, "builtin.module(cse,func.func(cse,test-refuse),symbol-dce)", observers=[recorder])
    assert recorder.events == [
        *("before cse on builtin.module", "after cse"),
        *("enter func.func", "before cse on func.func", "after cse"),
        *("before test-refuse on func.func", "failed test-refuse", "leave func.func"),
    ]


def test_with_and_without_observers_the_result_is_the_same() -> None:
    text = "builtin.module(func.func(cse,test-trace,canonicalize),any(cse),symbol-dce)"
    first, second = (mlir.parse_module(SOURCE) for _ in range(2))
    run_pipeline(first, text)
    run_pipeline(second, text, observers=[Recorder()])
    assert str(first) == str(second)


# --- the bindings' pass manager ---------------------------------------------------------------------------------------


def test_passes_go_into_a_pass_manager(module: ir.Operation) -> None:
    manager = passmanager.PassManager("builtin.module", context=module.context)
    counters = Statistics()
    add_to_pass_manager(manager, "test-trace{label=a}", statistics=counters)
    add_to_pass_manager(manager, "symbol-dce")
    add_to_pass_manager(manager, Trace("b"))
    add_to_pass_manager(manager, "canonicalize{top-down=false}")
    manager.run(module)
    assert Trace.seen == ["abuiltin.module", "bbuiltin.module"]
    assert counters["runs"] == 1


def test_faults_come_out_of_a_pass_manager(module: ir.Operation) -> None:
    manager = passmanager.PassManager("any", context=module.context)
    add_to_pass_manager(manager, OnFunctions())
    with pytest.raises(PassError, match=r"runs on 'func.func', not on 'builtin.module'"):
        manager.run(module)
    function = module.regions[0].blocks[0].operations[0].operation
    manager = passmanager.PassManager("func.func", context=module.context)
    add_to_pass_manager(manager, Refuse())
    with pytest.raises(PassError, match=r"in.mlir:1:1: error: refused"):
        manager.run(function)


@pytest.mark.parametrize("spec", ["no-such-pass", "test-trace{nope=1}", "func.func(cse)", "cse,cse", ""])
def test_what_cannot_be_added(module: ir.Operation, spec: str) -> None:
    manager = passmanager.PassManager("builtin.module", context=module.context)
    with pytest.raises(PipelineError):
        add_to_pass_manager(manager, spec)


@pytest.mark.parametrize("spec", ["mhlo-flatten-tuple", "test-on-functions", OnFunctions()])
def test_passes_on_another_op_cannot_be_added(module: ir.Operation, spec: str | Pass) -> None:
    manager = passmanager.PassManager("builtin.module", context=module.context)
    with pytest.raises(
        PipelineError, match=r"restricted to 'func.func' on a PassManager intended to run on 'builtin.module'"
    ):
        add_to_pass_manager(manager, spec)
    # This one would end the process.
    with pytest.raises(
        PipelineError, match=r"restricted to 'builtin.module' on a PassManager intended to run on 'func.func'"
    ):
        add_to_pass_manager(passmanager.PassManager("func.func", context=module.context), "sdy-export-pipeline")


def test_a_pass_may_run_a_pipeline(module: ir.Operation) -> None:
    run_one(module, lambda op: run_pipeline(op, "builtin.module(func.func(cse,test-trace))"))
    assert Trace.seen == ["f", "h"]


def test_a_cpp_pass_checked_by_hand_is_checked(module: ir.Operation) -> None:
    with pytest.raises(PipelineError, match="does not refer to a registered pass"):
        run_pipeline(module, Pipeline("builtin.module", (PassCall("made-up"),)))


def test_options_of_cpp_passes_compare_by_meaning() -> None:
    spellings = ("canonicalize", "canonicalize{ }", "canonicalize{max-iterations=10}")
    first, *others = (parse_pipeline(f"builtin.module({text})") for text in spellings)
    assert all(other == first for other in others)
    assert parse_pipeline("builtin.module(canonicalize{max-iterations=9})") != first
