"""verify-task: one rule broken at a time, all faults at once, and the verdict on the shared corpus."""

from __future__ import annotations

import re

import pytest

from neuron_ctrldep.errors import InputError, PassError
from neuron_ctrldep.mlir import parse_module
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.task.verify import VerifyTask
from tests.task.support import KERNELS, corpus_files, messages, parse, program


@pytest.mark.parametrize("path", corpus_files("verify/*.mlir"), ids=lambda path: path and path.stem)
def test_corpus(path):
    assert (messages(path.read_text()) == []) == path.name.startswith("ok_")


@pytest.mark.parametrize("path", corpus_files("*.mlir"), ids=lambda path: path and path.stem)
def test_corpus_programs_are_valid(path):
    assert messages(path.read_text()) == []


def submit(
    callee="@W", args="%s", types="tensor<64xf32>", sizes="1, 0, 0", extra="", results="tensor<64xf32>, !task.id"
):
    count = results.count(",") + 1
    return (
        f'%r:{count} = "task.submit"({args}) {{callee = {callee}, operandSegmentSizes = array<i32: {sizes}>{extra}}} '
        f": ({types}) -> ({results})"
    )


CASES = {
    # symbols
    submit("@nowhere"): "runs @nowhere, which does not exist in this module",
    submit("@main"): 'runs @main, which is not a kernel (task.kind = "kernel")',
    # arguments and results
    submit("@M"): "has 1 argument(s), but @M has 2",
    submit("@M", "%s, %s", "tensor<64xf32>, tensor<64xf32>", "2, 0, 0"): (
        "argument #1 of @M must be index, in any layout; found tensor<64xf32>"
    ),
    submit(
        results="tensor<32xf32>, !task.id"
    ): "result #0 of @W must be tensor<64xf32>, in any layout; found tensor<32xf32>",
    submit("@R"): "has 1 result(s), but @R has 0",
    # dependencies
    submit(args="%s, %n", types="tensor<64xf32>, index", sizes="1, 1, 0"): (
        "operand #1 (deps) must be !task.id or tensor<N x !task.id>; found index"
    ),
    submit(args="%s, %t", types="tensor<64xf32>, tensor<64xf32>", sizes="1, 0, 1"): (
        "operand #1 (compiler_deps) must be !task.id or tensor<N x !task.id>; found tensor<64xf32>"
    ),
    # directions
    submit(extra=', arg_directions = ["Input"]'): (
        "argument #0 is 'out' in @W: expected Output, OutputExisting, InOut, NoDep; found Input"
    ),
    submit(extra=", arg_directions = []"): "'arg_directions' has 0 entries; there are 1 arguments",
    submit(extra=', arg_directions = ["Inout"]'): (
        "attribute 'arg_directions' must be an array of "
        '"Scalar" | "Input" | "Output" | "InOut" | "OutputExisting" | "NoDep"; found ["Inout"]'
    ),
    submit("@M", "%s, %n", "tensor<64xf32>, index", "2, 0, 0", ', arg_directions = ["InOut", "Input"]'): (
        "argument #1 is not storage, so its direction is Scalar; found Input"
    ),
    submit(extra=", arg_direction_overrides = array<i64: 1>"): (
        "'arg_direction_overrides' names slot 1; there are 1 arguments"
    ),
    submit(extra=", arg_direction_overrides = array<i64: -1>"): (
        "'arg_direction_overrides' names slot -1; there are 1 arguments"
    ),
    submit("@M", "%s, %n", "tensor<64xf32>, index", "2, 0, 0", ", arg_direction_overrides = array<i64: 1>"): (
        "'arg_direction_overrides' names slot 1, which is not storage: index"
    ),
    submit(extra=", arg_direction_overrides = [0]"): (
        "attribute 'arg_direction_overrides' must be array<i64: slots…>; found [0]"
    ),
    # other attributes
    submit(
        extra=", allow_early_resolve = true"
    ): "attribute 'allow_early_resolve' must be a unit attribute; found true",
    submit(extra=", task.name = 3"): "attribute 'task.name' must be a string; found 3 : i64",
    submit(extra=', compiler_dep_hazards = ["raw"]'): (
        "'compiler_dep_hazards' has 1 entries; there are 0 compiler_deps"
    ),
    "func.call @R(%s) {allow_early_resolve = false} : (tensor<64xf32>) -> ()": (
        "attribute 'allow_early_resolve' must be a unit attribute; found false"
    ),
    # loops
    "scf.for %i = %c0 to %c4 step %c0 { }": "has the step 0; a step is at least 1",
    # MLIR's own verifier knows this one.
    "scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c0) { }": "constant step operand must be positive",
    "scf.forall (%i) = (0) to (8) step (-1) { }": "has the step -1; a step is at least 1",
    # scopes
    'scf.execute_region no_inline { scf.yield } {task.scope = "AUTO"}': (
        'attribute \'task.scope\' must be "auto" or "manual"; found "AUTO"'
    ),
    'scf.execute_region { scf.yield } {task.scope = "auto"}': (
        "is a scope and needs no_inline, or canonicalization dissolves it"
    ),
    'scf.execute_region no_inline { scf.yield } {task.owner = "compiler"}': (
        "'task.scope' and 'task.owner' belong on a scf.execute_region that is a scope"
    ),
    'scf.execute_region no_inline { scf.yield } {task.scope = "auto", task.owner = "me"}': (
        'attribute \'task.owner\' must be "compiler" or absent; found "me"'
    ),
    # marks
    "scf.for %i = %c0 to %c4 step %c1 { } {task.auto_manual = 1}": (
        "attribute 'task.auto_manual' must be a unit attribute; found 1 : i64"
    ),
    "%x = arith.addi %n, %n {task.auto_manual} : index": (
        "attribute 'task.auto_manual' belongs on a function, a loop or a branch"
    ),
    # control flow
    'scf.execute_region { %x = "task.invalid"() : () -> !task.id }': (
        "has a block that ends with 'task.invalid', not with a terminator such as scf.yield"
    ),
    "scf.execute_region { cf.br ^x\n ^x: scf.yield }": (
        "has several blocks; an orchestration function is written with structured control flow (scf) only"
    ),
}


@pytest.mark.parametrize("body", CASES)
def test_one_fault(body):
    assert messages(program(body)) == [f"'{body_op(body)}' op {CASES[body]}"]


def body_op(body: str) -> str:
    return re.search(r"(task|func|scf|arith)\.\w+", body)[0]


FUNCTIONS = {
    'func.func private @K() attributes {task.kind = "kernl"}': (
        'attribute \'task.kind\' must be "kernel" or "orchestration"; found "kernl"'
    ),
    'func.func private @K(tensor<4xf32>) attributes {task.kind = "kernel"}': (
        "parameter #0 is storage and needs a 'task.direction': what the kernel does with it"
    ),
    'func.func private @K(tensor<4xf32> {task.direction = "both"}) attributes {task.kind = "kernel"}': (
        'parameter #0: \'task.direction\' must be one of "in", "out", "inout"; found "both"'
    ),
    'func.func private @K(tensor<4xf32> {task.direction = "out"}) -> (tensor<4xf32> {task.aliases = 1 : i64}) '
    'attributes {task.kind = "kernel"}': (
        "result #0: 'task.aliases' must be the index of one of the 1 parameters; found 1 : i64"
    ),
    'func.func private @K(tensor<4xf32> {task.direction = "out"}) -> (tensor<8xf32> {task.aliases = 0 : i64}) '
    'attributes {task.kind = "kernel"}': (
        "result #0: 'task.aliases' says that parameter #0 is handed back, but tensor<8xf32> does not fit tensor<4xf32>"
    ),
    'func.func private @K() attributes {task.kind = "kernel", task.group = 1}': (
        "attribute 'task.group' must be a unit attribute; found 1 : i64"
    ),
    'func.func @K() attributes {task.kind = "orchestration", task.auto_scope = "no"} { return }': (
        "attribute 'task.auto_scope' must be true or false; found \"no\""
    ),
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_one_fault_in_a_function(text):
    assert messages(f"module {{ {text} }}") == [f"'func.func' op {FUNCTIONS[text]}"]


@pytest.mark.parametrize(
    "body",
    [
        submit(extra=', arg_directions = ["NoDep"], arg_direction_overrides = array<i64: 0>, allow_early_resolve'),
        submit("@M", "%s, %n", "tensor<64xf32>, index", "2, 0, 0", ', arg_directions = ["OutputExisting", "Scalar"]'),
        "scf.for %i = %c0 to %c4 step %n { }",
        "scf.if %b { } {task.auto_manual = array<i1: true, false>}",
        'scf.execute_region no_inline { scf.execute_region no_inline { scf.yield } {task.scope = "manual"}\n'
        'scf.yield } {task.scope = "manual"}',
        '%e = tensor.empty(%n) : tensor<?x!task.id>\n%x = "task.barrier"(%e) : (tensor<?x!task.id>) -> !task.id',
    ],
)
def test_valid(body):
    assert messages(program("%b = arith.cmpi eq, %n, %c0 : index\n" + body)) == []


def test_the_layout_of_storage_may_differ_but_not_its_space():
    kernels = """
      func.func private @K(memref<4xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
      func.func @o(%a: memref<4xf32, strided<[2], offset: 1>>, %b: memref<4xf32, 1>)
          attributes {task.kind = "orchestration"} {
        %p = "task.submit"(%a) {callee = @K, operandSegmentSizes = array<i32: 1, 0, 0>}
            : (memref<4xf32, strided<[2], offset: 1>>) -> !task.id
        %q = "task.submit"(%b) {callee = @K, operandSegmentSizes = array<i32: 1, 0, 0>} : (memref<4xf32, 1>) -> !task.id
        return
      }"""
    assert messages(f"module {{ {kernels} }}") == [
        "'task.submit' op argument #0 of @K must be memref<4xf32>, in any layout; found memref<4xf32, 1>"
    ]


def test_directions_of_a_wrapper_are_its_effective_ones():
    kernels = (
        KERNELS
        + """
      func.func @G(%x: tensor<64xf32> {task.direction = "in"}) attributes {task.kind = "kernel", task.group} {
        %r = func.call @W(%x) : (tensor<64xf32>) -> tensor<64xf32>
        return
      }"""
    )
    call = 'func.call @G(%s) {arg_directions = ["Input"]} : (tensor<64xf32>) -> ()'
    assert messages(program(call, kernels=kernels)) == [
        "'func.call' op argument #0 is 'out' in @G: expected Output, OutputExisting, InOut, NoDep; found Input"
    ]


def test_all_faults_are_reported_in_program_order_with_their_places():
    text = program(
        submit("@nowhere") + "\n    scf.for %i = %c0 to %c4 step %c0 { }\n" + submit("@main").replace("%r", "%q")
    )
    with pytest.raises(InputError) as caught:
        parse(text)
    lines = [diagnostic.location.line for diagnostic in caught.value.diagnostics]
    assert len(lines) == 3
    assert lines == sorted(lines)
    assert "test.mlir:" in str(caught.value)
    assert "scf.for" in caught.value.render().split("step is at least 1")[1].split("\n")[1]


def test_malformed_ops_in_a_kernel_are_reported_and_not_stumbled_over():
    text = """module {
      func.func @K(%x: tensor<4xf32> {task.direction = "in"}) -> tensor<4xf32>
          attributes {task.kind = "kernel", task.group} {
        %a, %b = "task.submit"(%x) {callee = [1], operandSegmentSizes = array<i32: 9, 0, 0>}
            : (tensor<4xf32>) -> (tensor<4xf32>, !task.id)
        return %a : tensor<4xf32>
      }
    }"""
    assert len(messages(text)) == 2


def test_the_pass_raises_a_pass_error_and_changes_nothing():
    module = parse_module(program(submit("@nowhere")))
    before = str(module)
    with pytest.raises(PassError, match="does not exist"):
        VerifyTask().run(module, Statistics())
    assert str(module) == before
