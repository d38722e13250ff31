"""Views of ops, functions and modules: what they read, and what rebuilding keeps."""

from __future__ import annotations

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.dialect import Barrier, PlainTask, Submit, is_id_tensor, is_storage, is_task_id, walk
from neuron_ctrldep.task.loops import trip_count
from neuron_ctrldep.task.program import Scope, TaskModule, enclosing_scopes, join
from tests.task.support import KERNELS, main_of, parse, program

TWO_TASKS = """
    %a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "P"}
        : (tensor<64xf32>) -> (tensor<64xf32>, !task.id) loc("here")
    %b, %q = "task.submit"(%a, %c4, %p, %p) {callee = @M, operandSegmentSizes = array<i32: 2, 1, 1>,
        allow_early_resolve, arg_directions = ["InOut", "Scalar"], arg_direction_overrides = array<i64: 0>,
        compiler_dep_hazards = ["raw+waw"]} : (tensor<64xf32>, index, !task.id, !task.id) -> (tensor<64xf32>, !task.id)
    %j = "task.barrier"(%q) : (!task.id) -> !task.id
"""


def test_a_submit_reads_its_groups_and_attributes():
    tasks, main = main_of(parse(program(TWO_TASKS)))
    first, second = tasks.tasks(main)
    assert isinstance(second, Submit)
    assert (len(second.args), len(second.deps), len(second.compiler_deps), len(second.outputs)) == (2, 1, 1, 1)
    assert second.args[0] == first.outputs[0]
    assert second.deps == second.compiler_deps == [first.id]
    assert second.callee == "M"
    assert second.name is None
    assert second.arg_directions == ("InOut", "Scalar")
    assert second.arg_direction_overrides == (0,)
    assert second.compiler_dep_hazards == ("raw+waw",)
    assert second.allow_early_resolve
    assert not first.allow_early_resolve
    assert first.arg_directions is None
    assert is_task_id(second.id.type)
    assert tasks.kernel(second).directions == ("inout", None)


def test_rebuilding_keeps_attributes_location_and_uses():
    module = parse(program(TWO_TASKS))
    tasks, main = main_of(module)
    first, second = tasks.tasks(main)
    location = str(first.operation.location)
    rebuilt = first.rebuild(deps=[])
    assert rebuilt.name == "P"
    assert str(rebuilt.operation.location) == location
    assert second.deps == [rebuilt.id]
    changed = second.rebuild(deps=[], compiler_deps=[rebuilt.id, rebuilt.id], hazards=["war", "waw"])
    assert changed.deps == []
    assert changed.compiler_deps == [rebuilt.id, rebuilt.id]
    assert changed.compiler_dep_hazards == ("war", "waw")
    assert changed.arg_directions == ("InOut", "Scalar")
    barrier = next(Barrier(op) for op in walk(main.operation) if Barrier.matches(op))
    assert barrier.ids == [changed.id]
    assert changed.rebuild(compiler_deps=[]).compiler_dep_hazards is None
    assert module.verify()


def test_attributes_are_set_and_removed():
    module = parse(program(TWO_TASKS))
    tasks, main = main_of(module)
    task = next(tasks.tasks(main))
    task.arg_directions = ("OutputExisting",)
    task.allow_early_resolve = True
    task.name = None
    assert task.arg_directions == ("OutputExisting",)
    assert 'arg_directions = ["OutputExisting"]' in str(task.operation)
    assert "allow_early_resolve" in str(task.operation)
    assert "task.name" not in str(task.operation)
    task.allow_early_resolve = False
    assert "allow_early_resolve" not in str(task.operation)


def test_a_plain_task_becomes_a_submit():
    module = parse(
        program(
            '%a = func.call @W(%s) {task.name = "P", arg_directions = ["InOut"]} '
            ': (tensor<64xf32>) -> tensor<64xf32> loc("x")\n func.call @R(%a) : (tensor<64xf32>) -> ()'
        )
    )
    tasks, main = main_of(module)
    first, second = tasks.tasks(main)
    assert isinstance(first, PlainTask)
    assert first.id is None
    submit = first.to_submit()
    assert submit.name == "P"
    assert submit.arg_directions == ("InOut",)
    assert second.args == submit.outputs
    second.to_submit(compiler_deps=[submit.id], hazards=["raw"])
    parse(str(module))
    assert [task.callee for task in tasks.tasks(main)] == ["W", "R"]
    assert 'compiler_dep_hazards = ["raw"]' in str(module)


def test_types():
    context = parse(program("")).context
    kinds = {
        text: ir.Type.parse(text, context)
        for text in (
            "tensor<4xf32>",
            "tensor<*xf32>",
            "memref<4xf32>",
            "memref<*xf32>",
            "index",
            "!task.id",
            "tensor<4x!task.id>",
            "tensor<?x!task.id>",
            "tensor<2x2x!task.id>",
        )
    }
    assert [text for text, kind in kinds.items() if is_storage(kind)] == [
        "tensor<4xf32>",
        "tensor<*xf32>",
        "memref<4xf32>",
        "memref<*xf32>",
    ]
    assert [text for text, kind in kinds.items() if is_id_tensor(kind)] == ["tensor<4x!task.id>", "tensor<?x!task.id>"]
    assert [text for text, kind in kinds.items() if is_task_id(kind)] == ["!task.id"]


def kernel(text: str, name: str = "K"):
    return TaskModule.of(parse(f"module {{ {text} }}")).kernels[name]


def test_aliases_without_a_body_are_out_and_inout_parameters_in_order():
    found = kernel("""
      func.func private @K(tensor<4xf32> {task.direction = "in"}, tensor<8xf32> {task.direction = "out"},
          tensor<4xf32> {task.direction = "inout"}) -> (tensor<4xf32>, index, tensor<8xf32>)
          attributes {task.kind = "kernel"}""")
    # The second result is no storage; parameter 1 was passed over by the first result, so the third has none left.
    assert found.aliases == (2, None, None)


def test_aliases_of_a_body_are_read_from_its_return():
    found = kernel("""
      func.func private @W(tensor<4xf32> {task.direction = "out"}) -> (tensor<4xf32> {task.aliases = 0 : i64})
          attributes {task.kind = "kernel"}
      func.func @K(%a: tensor<4xf32> {task.direction = "inout"}, %b: tensor<4xf32> {task.direction = "out"}, %n: index)
          -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {task.kind = "kernel"} {
        %c = arith.constant 1 : index
        %w = func.call @W(%b) : (tensor<4xf32>) -> tensor<4xf32>
        %l = scf.for %i = %c to %n step %c iter_args(%k = %a) -> (tensor<4xf32>) {
          %v = func.call @W(%k) : (tensor<4xf32>) -> tensor<4xf32>
          scf.yield %v : tensor<4xf32>
        }
        %m = scf.for %i = %c to %n step %c iter_args(%k = %a) -> (tensor<4xf32>) {
          scf.yield %b : tensor<4xf32>
        }
        %e = tensor.empty() : tensor<4xf32>
        return %w, %l, %m, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
      }""")
    # Through a call; through a loop that hands on what it got; one of two; storage that is no parameter.
    assert found.aliases == (1, 0, None, None)


def test_directions_of_wrappers_are_joined_through_recursion():
    tasks = TaskModule.of(
        parse("""module {
      func.func private @W(tensor<4xf32> {task.direction = "out"}) attributes {task.kind = "kernel"}
      func.func private @M(tensor<4xf32> {task.direction = "inout"}) attributes {task.kind = "kernel"}
      func.func @A(%x: tensor<4xf32> {task.direction = "in"}, %y: tensor<4xf32> {task.direction = "in"},
          %z: tensor<4xf32> {task.direction = "inout"}) attributes {task.kind = "kernel", task.group} {
        func.call @W(%x) : (tensor<4xf32>) -> ()
        func.call @W(%z) : (tensor<4xf32>) -> ()
        func.call @B(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
        return
      }
      func.func @B(%x: tensor<4xf32> {task.direction = "in"}, %y: tensor<4xf32> {task.direction = "in"})
          attributes {task.kind = "kernel", task.group} {
        func.call @A(%x, %y, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
        return
      }
      func.func @C(%x: tensor<4xf32> {task.direction = "in"}) attributes {task.kind = "kernel"} {
        func.call @M(%x) : (tensor<4xf32>) -> ()
        return
      }
    }""")
    )
    # B hands its second parameter to the third of A (inout), and A its first to the second of B.
    assert tasks.kernels["A"].directions == ("inout", "inout", "inout")
    assert tasks.kernels["B"].directions == ("inout", "inout")
    # Only wrappers are joined: what another kernel declares is its word.
    assert tasks.kernels["C"].directions == ("in",)
    assert join("in", "out") == "out"
    assert join(None, "in") == "in"
    assert join(None, None) is None


def test_scopes_and_trip_counts():
    module = parse(
        program("""
      scf.execute_region no_inline {
        scf.for %i = %c1 to %c8 step %c4 { func.call @R(%s) : (tensor<64xf32>) -> () }
        scf.for %i = %c0 to %n step %c1 { }
        scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c8) step (%c1, %c1) { }
        scf.parallel (%i, %j) = (%c0, %c8) to (%n, %c4) step (%c1, %c1) { }
        scf.forall (%i, %j) in (3, %n) { }
        scf.forall (%i, %j) = (0, 0) to (5, 5) step (2, 1) { }
        scf.yield
      } {task.scope = "manual", task.owner = "compiler"}""")
    )
    tasks, main = main_of(module)
    (task,) = tasks.tasks(main)
    (scope,) = enclosing_scopes(task.operation)
    assert scope.mode == "manual"
    assert scope.by_compiler
    assert Scope.of(main.operation) is None
    loops = [op for op in walk(module) if op.name in ("scf.for", "scf.parallel", "scf.forall")]
    assert [trip_count(loop) for loop in loops] == [2, None, 32, 0, None, 15]


def test_kernels_are_no_tasks_of_the_orchestration():
    module = parse(
        "module {"
        + KERNELS
        + """
      func.func @G(%x: tensor<64xf32> {task.direction = "out"}) attributes {task.kind = "kernel", task.group} {
        %r = func.call @W(%x) : (tensor<64xf32>) -> tensor<64xf32>
        return
      }
      func.func private @helper()
      func.func @main(%x: tensor<64xf32>) attributes {task.kind = "orchestration"} {
        func.call @helper() : () -> ()
        func.call @G(%x) : (tensor<64xf32>) -> ()
        return
      }
    }"""
    )
    tasks, main = main_of(module)
    assert [task.callee for task in tasks.tasks(main)] == ["G"]
    assert main.auto_scope
    main.auto_scope = False
    assert not main.auto_scope
