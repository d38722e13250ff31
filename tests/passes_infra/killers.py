"""Everything that is known to end or hang a process that uses the bindings, tried through public functions.

Run as a program, this tries each case, one line of output for each: its name and the first line of the error message.
"""

from __future__ import annotations

import gc
import os
import signal
import warnings
from collections.abc import Callable

from neuron_ctrldep import mlir
from neuron_ctrldep.control_dep import control_edges
from neuron_ctrldep.errors import CtrlDepError, InputError, PassError
from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.mlir import ir, passmanager, rewrite
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.model import PassCall, Pipeline
from neuron_ctrldep.passes.pipeline import add_to_pass_manager, parse_pipeline, run_pipeline
from neuron_ctrldep.penguin.printer import print_penguin
from neuron_ctrldep.view.from_mlir import graph_of

TWO = "func.func @f() { return }\nfunc.func @g() { return }"
EDGE = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %a = stablehlo.sine %x : tensor<f32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%a, %x) {has_side_effect = true}
         : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.cosine %w : tensor<f32>
  return %b : tensor<f32>
}"""
USES = "func.func @f(%x: i32) -> i32 { %y = arith.addi %x, %x : i32 return %y : i32 }"


def make_pass(body: Callable[[ir.Operation], object], on: str = "builtin.module") -> Pass:
    class Given(Pass):
        name = "given"
        summary = ""
        anchor = on

        def run(self, op: ir.Operation, statistics: Statistics) -> None:
            body(op)

    return Given()


def run(body: Callable[[ir.Operation], object], on: str = "builtin.module", source: str = TWO) -> None:
    call = PassCall("given", make_pass(body, on))
    nested = call if on == "builtin.module" else Pipeline(on, (call,))
    run_pipeline(mlir.parse_module(source), Pipeline("builtin.module", (nested,)))


def nest(block: ir.Block, depth: int) -> None:
    for _ in range(depth):
        with ir.InsertionPoint(block), ir.Location.unknown(block.owner.context):
            block = ir.Operation.create("builtin.module", regions=1).regions[0].blocks.append()


def nested_by_hand(depth: int) -> ir.Module:
    module = ir.Module.create(ir.Location.unknown(mlir.make_context()))
    nest(module.body, depth)
    return module


def first_op(op: ir.Operation) -> ir.Operation:
    return op.regions[0].blocks[0].operations[0].operation


def rewrite_with(
    name: str, body: Callable[[ir.OpView, rewrite.PatternRewriter], None]
) -> Callable[[ir.Operation], None]:
    """A pass that applies one pattern to the ops called ``name``."""

    def apply(op: ir.Operation) -> None:
        patterns = rewrite.RewritePatternSet()
        patterns.add(name, body)
        rewrite.walk_and_apply_patterns(op, patterns.freeze())

    return apply


CASES: dict[str, Callable[[], object]] = {}


def case(function: Callable[[], object]) -> Callable[[], object]:
    CASES[function.__name__] = function
    return function


@case
def anchor_of_another_op() -> None:
    run_pipeline(mlir.parse_module(TWO), "gpu.module(cse)")


@case
def anchor_that_is_no_op() -> None:
    run_pipeline(mlir.parse_module(TWO), "builtin.module(no.op(cse))")


@case
def pass_pipeline_on_another_op() -> None:
    parse_pipeline("builtin.module(func.func(sdy-export-pipeline))")


@case
def pass_pipeline_inside_an_option() -> None:
    parse_pipeline("builtin.module(inline{op-pipelines=func.func(sdy-export-pipeline)})")


@case
def python_pass_on_another_op() -> None:
    manager = passmanager.PassManager("builtin.module", context=(module := mlir.parse_module(TWO)).context)
    add_to_pass_manager(manager, make_pass(lambda op: None, on="func.func"))
    manager.run(module)


@case
def add_to_the_running_pass_manager() -> None:
    module = mlir.parse_module(TWO)
    manager = passmanager.PassManager("builtin.module", context=module.context)
    add_to_pass_manager(manager, make_pass(lambda op: add_to_pass_manager(manager, "cse")))
    manager.run(module)


@case
def pass_erases_its_root() -> None:
    run(lambda op: op.erase(), on="func.func")


@case
def pass_erases_the_module() -> None:
    run(lambda op: op.erase())
    gc.collect()


@case
def pass_erases_its_root_for_a_pass_manager() -> None:
    module = mlir.parse_module(TWO)
    manager = passmanager.PassManager("builtin.module", context=module.context)
    add_to_pass_manager(manager, make_pass(lambda op: op.erase()))
    manager.run(module)


@case
def pass_erases_its_parent() -> None:
    run(lambda op: op.parent.erase(), on="func.func")


@case
def pass_detaches_its_root() -> None:
    run(lambda op: op.detach_from_parent(), on="func.func")


@case
def pass_erases_its_root_by_symbol() -> None:
    def body(op: ir.Operation) -> None:
        del ir.SymbolTable(op.parent)["f"]

    run(body, on="func.func")


@case
def pattern_erases_the_root() -> None:
    pattern = rewrite_with("func.func", lambda op, rewriter: rewriter.erase_op(op))
    run(lambda op: pattern(op.parent), on="func.func")


@case
def pattern_replaces_the_root() -> None:
    pattern = rewrite_with("func.func", lambda op, rewriter: rewriter.replace_op(op, []))
    run(lambda op: pattern(op.parent), on="func.func")


@case
def pass_erases_an_op_with_uses() -> None:
    run(lambda op: first_op(op).erase(), on="func.func", source=USES)


@case
def pattern_erases_an_op_with_uses() -> None:
    run(rewrite_with("arith.addi", lambda op, rewriter: rewriter.erase_op(op)), source=USES)


@case
def pass_erases_an_argument_with_uses() -> None:
    run(lambda op: op.regions[0].blocks[0].erase_argument(0), on="func.func", source=USES)


@case
def pass_adds_a_pass_with_op_name() -> None:
    def body(op: ir.Operation) -> None:
        passmanager.PassManager("builtin.module", op.context).add(lambda op, _: None, op_name="func.func")

    run(body)


@case
def pass_inserts_an_unregistered_symbol() -> None:
    def body(op: ir.Operation) -> None:
        op.context.allow_unregistered_dialects = True
        symbol = ir.Operation.create("no.op", attributes={"sym_name": ir.StringAttr.get("n")})
        ir.SymbolTable(op).insert(symbol)

    run(body)


@case
def pass_attaches_a_trait_to_an_unregistered_op() -> None:
    def body(op: ir.Operation) -> None:
        op.context.allow_unregistered_dialects = True
        ir.IsTerminatorTrait.attach("no.op", op.context)

    run(body)


@case
def pass_prints_at_module_scope_in_threads() -> None:
    def body(op: ir.Operation) -> None:
        passmanager.PassManager("builtin.module", op.context).enable_ir_printing(print_module_scope=True)

    module = mlir.parse_module(TWO, context=mlir.make_context(multithreading=True))
    run_pipeline(module, Pipeline("builtin.module", (PassCall("given", make_pass(body)),)))


@case
def pass_raises_what_cannot_be_said() -> None:
    class Silent(BaseException):
        def __str__(self) -> str:
            raise ValueError

    def body(op: ir.Operation) -> None:
        raise Silent

    run(body)


@case
def pass_nests_regions() -> None:
    run(lambda op: nest(op.regions[0].blocks[0], 6000))


@case
def pass_nests_regions_for_a_pass_manager() -> None:
    module = mlir.parse_module(TWO)
    manager = passmanager.PassManager("builtin.module", context=module.context)
    add_to_pass_manager(manager, make_pass(lambda op: nest(op.regions[0].blocks[0], 6000)))
    add_to_pass_manager(manager, "cse")
    manager.run(module)


@case
def op_that_a_pass_removed() -> None:
    module = mlir.parse_module(USES.replace("return %y", "return %x"))
    op = first_op(first_op(module))
    run_pipeline(module, "builtin.module(canonicalize)")
    run_pipeline(op, "any(cse)")


@case
def op_whose_function_a_pass_removed() -> None:
    module = mlir.parse_module("func.func private @f() { return }")
    op = first_op(module)
    run_pipeline(module, "builtin.module(symbol-dce)")
    run_pipeline(op, "func.func(cse)")


@case
def edges_of_a_removed_op() -> None:
    module = mlir.parse_module("func.func private @f() { return }")
    op = first_op(module)
    run_pipeline(module, "builtin.module(symbol-dce)")
    control_edges(op)


@case
def edges_outlive_their_module() -> None:
    edges = control_edges(mlir.parse_module(EDGE)).edges
    gc.collect()
    mlir.parse_module(EDGE)
    raise InputError(" ".join(f"{edge.src.name} {edge.dst.name}" for edge in edges))


@case
def program_of_regions_by_hand() -> None:
    print_penguin(nested_by_hand(5000))


@case
def graph_of_regions_by_hand() -> None:
    graph_of(nested_by_hand(5000))


@case
def what_is_no_module() -> None:
    control_edges("module {}")  # type: ignore[arg-type]


@case
def forked_after_threads_ran() -> None:
    module = mlir.parse_module(TWO, context=mlir.make_context(multithreading=True))
    run_pipeline(module, "builtin.module(func.func(cse))")
    in_a_fork(lambda: run_pipeline(module, "builtin.module(func.func(cse))"))


@case
def forked_with_a_context_that_was_never_seen() -> None:
    context = ir.Context()
    module = ir.Module.parse("module { module {} module {} }", context)
    in_a_fork(lambda: run_pipeline(module, "builtin.module(builtin.module(cse))"))


@case
def pass_raises_inside_a_walk() -> None:
    def visit(op: ir.Operation) -> ir.WalkResult:
        raise PassError(f"{op.name} is at fault")

    run(lambda op: op.walk(visit))


@case
def forked_with_a_module() -> None:
    module = mlir.parse_module(TWO)
    run_pipeline(module, "builtin.module(func.func(cse))")

    def child() -> None:
        run_pipeline(module, "builtin.module(func.func(cse))")
        raise InputError("it ran")

    in_a_fork(child)


def in_a_fork(body: Callable[[], object]) -> None:
    """Run ``body`` in a process forked off; its error is raised here."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 and newer warn where there are threads
        child = os.fork()
    if not child:
        signal.alarm(20)  # a hang ends as a death
        try:
            body()
        except CtrlDepError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        message = said.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise AssertionError(f"the fork died with {status}")
    raise InputError(message)


@case
def pass_erases_its_sibling() -> None:
    def body(op: ir.Operation) -> None:
        parent = mlir.parent_of(op)
        assert parent is not None
        for other in list(parent.regions[0].blocks[0].operations):
            if other.operation != op:
                other.operation.erase()
        raise ValueError("done")

    run(body, on="func.func")


@case
def pass_recurses() -> None:
    def body(op: ir.Operation) -> None:
        body(op)

    run(body)


@case
def regions_in_text() -> None:
    mlir.parse_module("module {" * 5000 + "}" * 5000)


@case
def regions_in_bytecode() -> None:
    load_mlir(mlir.to_bytecode(nested_by_hand(5000).operation))


@case
def regions_by_hand() -> None:
    run_pipeline(nested_by_hand(5000), "builtin.module(cse)")


@case
def brackets_in_attributes() -> None:
    mlir.parse_module("module attributes {a.b = " + "[" * 50000 + "]" * 50000 + "} {}")


@case
def brackets_in_types() -> None:
    mlir.parse_module("func.func private @f(" + "tuple<" * 50000 + "i32" + ">" * 50000 + ")")


@case
def minus_signs() -> None:
    mlir.parse_module("#m = affine_map<(d0) -> (" + "-" * 200000 + "d0)>")


@case
def pipelines_nested() -> None:
    parse_pipeline("any(" * 100000 + ")" * 100000)


@case
def bytes_that_are_not_utf8() -> None:
    load_mlir(b'func.func private @"\xff"()')


@case
def names_that_are_not_utf8() -> None:
    mlir.parse_module('func.func private @"a\\FF"() func.func private @"a\\FF"()')


@case
def files_that_are_not_utf8() -> None:
    mlir.parse_module('func.func private @a() loc("\\FF":1:2) func.func private @a() loc("\\FF":1:2)')


@case
def nul_in_text() -> None:
    mlir.parse_module("module {}\0")


@case
def half_of_a_bytecode() -> None:
    data = mlir.to_bytecode(mlir.parse_module(TWO))
    load_mlir(data[: len(data) // 2])


@case
def magic_number_alone() -> None:
    load_mlir(mlir.BYTECODE_MAGIC)


def main() -> None:
    for name, function in CASES.items():
        print(name, end=": ", flush=True)
        try:
            function()
            print("no error", flush=True)
        except CtrlDepError as error:
            print(str(error).splitlines()[0], flush=True)


if __name__ == "__main__":
    main()
