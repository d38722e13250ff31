"""--task-to-orchestration: the C++ compiles and, against a recording run time, submits what the program says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.orchestration.cpp import print_orchestration
from tests.task.support import corpus_files, parse, program

INPUTS = Path(__file__).parent / "inputs"
COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


def run(text: str, directory: Path, *scalars: int) -> list[str]:
    """What the printed program submits, one line for each task."""
    source = directory / "program.cpp"
    source.write_text(
        text + "int main() {\n"
        f"    aicpu_orchestration_entry(ChipStorageTaskArgs{{{{{', '.join(map(str, scalars))}}}}});\n}}\n"
    )
    binary = directory / "program"
    subprocess.run(
        [
            COMPILER,
            "-std=c++17",
            "-Wall",
            "-Werror",
            "-Wno-unused-variable",
            "-Wno-unused-but-set-variable",
            "-I",
            str(INPUTS),
            str(source),
            "-o",
            str(binary),
        ],
        check=True,
    )
    return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.splitlines()


def submit(args: str, types: str, callee="W", sizes="1, 0, 0", extra="", ids="%a, %p") -> str:
    return (
        f'{ids} = "task.submit"({args}) {{callee = @{callee}, operandSegmentSizes = array<i32: {sizes}>{extra}}} '
        f": ({types}) -> (tensor<64xf32>, !task.id)"
    )


NO_DEP = ', arg_directions = ["NoDep"]'
EVERYTHING = f"""
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %none = "task.invalid"() : () -> !task.id
    %slots = tensor.empty() : tensor<3x!task.id>
    // 0, 1: a loop that swaps two buffers, and a chain of ids that starts with no task.
    %f:3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %s, %y = %t, %last = %none)
        -> (tensor<64xf32>, tensor<64xf32>, !task.id) {{
      {submit("%x, %last", "tensor<64xf32>, !task.id", sizes="1, 1, 0")}
      scf.yield %y, %a, %p : tensor<64xf32>, tensor<64xf32>, !task.id
    }}
    // 2 to 4: a parallel loop that collects ids.
    %all = scf.forall (%i) in (3) shared_outs(%o = %slots) -> (tensor<3x!task.id>) {{
      {submit("%f#0, %f#2", "tensor<64xf32>, !task.id", sizes="1, 0, 1", ids="%b, %q")}
      %one = tensor.from_elements %q : tensor<1x!task.id>
      scf.forall.in_parallel {{
        tensor.parallel_insert_slice %one into %o[%i] [1] [1] : tensor<1x!task.id> into tensor<3x!task.id>
      }}
    }}
    // 5 to 8: a parallel loop that joins ids with barriers.
    %joined = scf.parallel (%i) = (%c0) to (%c2) step (%c1) init (%none) -> !task.id {{
      {submit("%s", "tensor<64xf32>", ids="%b, %q")}
      scf.reduce(%q : !task.id) {{ ^bb0(%l: !task.id, %r: !task.id):
        %both = "task.barrier"(%l, %r) : (!task.id, !task.id) -> !task.id
        scf.reduce.return %both : !task.id
      }}
    }}
    // 9, 10: a loop with a condition; the run-time value of %n is 2.
    %w:2 = scf.while (%k = %c0, %last = %joined) : (index, !task.id) -> (index, !task.id) {{
      %go = arith.cmpi slt, %k, %n : index
      scf.condition(%go) %k, %last : index, !task.id
    }} do {{
    ^bb0(%k: index, %last: !task.id):
      {submit("%t, %last, %all", "tensor<64xf32>, !task.id, tensor<3x!task.id>", sizes="1, 2, 0", ids="%b, %q")}
      %next = arith.addi %k, %c1 : index
      scf.yield %next, %q : index, !task.id
    }}
    // 11: a branch, a window of a buffer, a number, a scope, and the same id twice.
    %is = arith.cmpi eq, %w#0, %c2 : index
    %tid = scf.if %is -> (!task.id) {{ scf.yield %w#1 : !task.id }} else {{ scf.yield %none : !task.id }}
    scf.execute_region no_inline {{
      %off = arith.muli %c2, %c16 : index
      %v = tensor.extract_slice %s[%off] [16] [1] : tensor<64xf32> to tensor<16xf32>
      %d = "task.submit"(%v, %off, %tid, %tid, %joined) {{callee = @V, arg_directions = ["OutputExisting", "Scalar"],
          operandSegmentSizes = array<i32: 2, 1, 2>, allow_early_resolve}}
          : (tensor<16xf32>, index, !task.id, !task.id, !task.id) -> !task.id
      scf.yield
    }} {{task.scope = "manual"}}
    // 12: one slot of the tensor is emptied.
    %holes = tensor.insert %none into %all[%c1] : tensor<3x!task.id>
    scf.execute_region no_inline {{
      {submit("%s, %holes", "tensor<64xf32>, tensor<3x!task.id>", sizes="1, 1, 0", extra=NO_DEP)}
      scf.yield
    }} {{task.scope = "auto"}}
"""
KERNELS = """
  func.func private @W(tensor<64xf32> {task.direction = "out"})
      -> (tensor<64xf32> {task.aliases = 0 : i64}) attributes {task.kind = "kernel"}
  func.func private @V(tensor<16xf32> {task.direction = "out"}, index) attributes {task.kind = "kernel"}
"""


@needs_compiler
def test_what_runs_is_what_the_program_says(tmp_path):
    text = print_orchestration(parse(program(EVERYTHING, kernels=KERNELS)))
    assert run(text, tmp_path, 2) == [
        "0: kernel 0 inout(arg0) after()",
        "1: kernel 0 inout(arg1) after(0)",
        "2: kernel 0 inout(arg0) after(1)",
        "3: kernel 0 inout(arg0) after(1)",
        "4: kernel 0 inout(arg0) after(1)",
        "5: kernel 0 inout(arg0)",
        "6: barrier after(5)",
        "7: kernel 0 inout(arg0)",
        "8: barrier after(6 7)",
        "9: kernel 0 inout(arg1) after(8 2 3 4)",
        "10: kernel 0 inout(arg1) after(9 2 3 4)",
        "{ manual",
        "11: kernel 1 output(arg0[32:+16]) scalar(32) early after(10 8)",
        "}",
        "{ auto",
        "12: kernel 0 no_dep(arg0) after(2 4)",
        "}",
    ]


@needs_compiler
def test_names_of_the_input_stay_in_comments(tmp_path):
    hostile = r"\22; } int x = system(\22ls\22); //\0A#error escaped\0A*/ ??/ \\"
    kernels = (
        KERNELS
        + f"""
      func.func private @"{hostile}"(tensor<64xf32> {{task.direction = "in"}}) attributes {{task.kind = "kernel"}}"""
    )
    body = f'func.call @"{hostile}"(%s) {{task.name = "{hostile}"}} : (tensor<64xf32>) -> ()'
    text = print_orchestration(parse(program(body, kernels=kernels).replace("@main", f'@"{hostile}2"')))
    assert run(text, tmp_path, 0) == ["0: kernel 2 input(arg0)"]


def test_the_order_of_a_task_is_fixed():
    """Tensors in argument order, then numbers, then dependencies, then the submit."""
    kernels = """
      func.func private @K(index, tensor<64xf32> {task.direction = "out"}, tensor<64xf32> {task.direction = "in"},
          tensor<64xf32> {task.direction = "inout"}, tensor<64xf32> {task.direction = "in"})
          attributes {task.kind = "kernel"}"""
    body = """
      %p = "task.submit"(%n, %s, %t, %s, %t) {callee = @K, operandSegmentSizes = array<i32: 5, 0, 0>,
          arg_directions = ["Scalar", "Output", "Input", "InOut", "NoDep"]}
          : (index, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> !task.id
      %q = "task.submit"(%n, %s, %t, %s, %t, %p) {callee = @K, operandSegmentSizes = array<i32: 5, 0, 1>,
          arg_directions = ["Scalar", "OutputExisting", "NoDep", "OutputExisting", "NoDep"]}
          : (index, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, !task.id) -> !task.id"""
    text = print_orchestration(parse(program(body, kernels=kernels)))
    assert text.split("// Task 0")[1].split("\n")[1:9] == [
        "    Arg params_t0;",
        "    params_t0.add_output(arg0);",
        "    params_t0.add_input(arg1);",
        "    params_t0.add_inout(arg0);",
        "    params_t0.add_no_dep(arg1);",
        "    params_t0.add_scalar(arg2);",
        "    TaskOutputTensors task_0_outs = rt_submit_aiv_task(KERNEL_0, params_t0);",
        "    PTO2TaskId v0 = task_0_outs.task_id();",
    ]
    assert text.split("// Task 1")[1].split("\n")[7:12] == [
        "    PTO2TaskId params_t1_deps[1];",
        "    uint32_t params_t1_deps_count = 0;",
        "    params_t1_deps[params_t1_deps_count++] = v0;",
        "    params_t1.set_dependencies(params_t1_deps, params_t1_deps_count);",
        "    TaskOutputTensors task_1_outs = rt_submit_aiv_task(KERNEL_0, params_t1);",
    ]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("arith.addi %n, %c4 : index", "int64_t v0 = arg2 + 4;"),
        ("arith.muli %c4, %c8 : index", "int64_t v0 = int64_t{4} * 8;"),
        ("arith.maxsi %n, %c4 : index", "int64_t v0 = arg2 > 4 ? arg2 : 4;"),
        ("arith.cmpi sle, %n, %c4 : index", "bool v0 = arg2 <= 4;"),
        (
            "arith.cmpi ult, %n, %c4 : index",
            "bool v0 = static_cast<uint64_t>(arg2) < static_cast<uint64_t>(4);",
        ),
        (
            "arith.remui %n, %c4 : index",
            "int64_t v0 = static_cast<int64_t>(static_cast<uint64_t>(arg2) % static_cast<uint64_t>(4));",
        ),
        ("arith.index_cast %n : index to i32", "int32_t v0 = static_cast<int32_t>(arg2);"),
        ("tensor.dim %s, %c0 : tensor<64xf32>", None),
    ],
)
def test_numbers(op, expected):
    text = print_orchestration(parse(program(f"%x = {op}")))
    assert ("v0" not in text) if expected is None else (f"    {expected}" in text.split("\n"))


@pytest.mark.parametrize("path", corpus_files("*.mlir"), ids=lambda path: path and path.stem)
def test_corpus_prints_the_same_every_time(path):
    texts = {print_orchestration(parse(path.read_text())) for _ in range(2)}
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%x = math.absi %n : index", "'math.absi' op has no counterpart in the run-time API"),
        ("%x = tensor.extract_slice %s[0] [16] [2] : tensor<64xf32> to tensor<16xf32>", "no view with strides"),
        ("%x = tensor.insert_slice %s into %t[0] [64] [1] : tensor<64xf32> into tensor<64xf32>", None),
        ("%x = arith.constant dense<0.0> : tensor<4xf32>", "only numbers can be constants here"),
        ("%x = arith.constant 1 : i128", "no C++ type for i128"),
        ("%x = tensor.empty() : tensor<4xf8E5M2>", "no DataType for f8E5M2"),
    ],
)
def test_what_the_run_time_cannot_do_is_an_error_at_the_op(body, message):
    module = parse(program(body))
    if message is None:
        print_orchestration(module)
        return
    with pytest.raises(InputError, match="no counterpart") as caught:
        print_orchestration(module)
    assert message in str(caught.value)
    assert caught.value.diagnostics[0].location.line == next(
        i for i, line in enumerate(program(body).split("\n"), 1) if "%x" in line
    )


def test_several_functions_and_deep_nesting():
    loops = 400
    heads = "".join(f"scf.for %i{depth} = %c0 to %c4 step %c1 {{\n" for depth in range(loops))
    body = heads + "func.call @R(%s) : (tensor<64xf32>) -> ()" + "}" * loops
    text = print_orchestration(parse(program(body)))
    assert text.count("for (int64_t") == loops
    assert text.count("{") == text.count("}")
    two = program("").replace(
        "module {", 'module { func.func @other() attributes {task.kind = "orchestration"} { return }'
    )
    assert "void orchestration_0(" in print_orchestration(parse(two))
    assert "void orchestration_1(" in print_orchestration(parse(two))


def test_a_loop_with_unsigned_bounds_is_an_error_where_that_matters():
    loop = "%last = arith.constant {} : index\nscf.for unsigned %i = %c0 to %last step %c1 {{ }}"
    with pytest.raises(InputError, match="compared as unsigned"):
        print_orchestration(parse(program(loop.format(-1))))
    assert "for (int64_t" in print_orchestration(parse(program(loop.format(4))))
