"""Everything that is known to end or hang a process that uses the bindings, tried through public functions.

Run as a program, this tries each case, one line of output for each: its name and the first line of the error message.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import CtrlDepError
from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.mlir import ir, passmanager
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.model import PassCall, Pipeline
from neuron_ctrldep.passes.pipeline import add_to_pass_manager, parse_pipeline, run_pipeline

TWO = "func.func @f() { return }\nfunc.func @g() { return }"


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


def nested_by_hand(depth: int) -> ir.Module:
    context = mlir.make_context()
    module = ir.Module.create(ir.Location.unknown(context))
    block = module.body
    with context, ir.Location.unknown():
        for _ in range(depth):
            with ir.InsertionPoint(block):
                block = ir.Operation.create("builtin.module", regions=1).regions[0].blocks.append()
    return module


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
