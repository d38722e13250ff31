"""The builder: programs like those of the shared corpus, and faults that point at the user's line."""

from __future__ import annotations

import inspect
import textwrap

import pytest

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.orchestration.task_edges import task_edges
from neuron_ctrldep.task import builder as t
from tests.task.support import main_of


def deps(module, task):
    found = task_edges(module)["functions"]["main"]["tasks"][task]["deps"]
    return [(entry["task"], entry["distance"]) for entry in found]


def kernels(program: t.Program) -> tuple[t.Kernel, t.Kernel]:
    return program.kernel("W", t.Out(t.tensor(64))), program.kernel("R", t.In(t.tensor(64)))


def test_two_phases_with_an_id_tensor():
    program = t.Program()
    write, read = kernels(program)
    with program.orchestration(s=t.tensor(64), t=t.tensor(64)) as main, main.manual_scope():
        with main.for_(0, 8, carry=[main.id_tensor(8)]) as producers:
            task = main.submit(write, main.storage("s"), name="P")
            producers.yield_(producers.ids(0).insert(task.id, producers.index))
        with main.for_(0, 4):
            main.submit(read, main.storage("t"), deps=producers.results, name="C")
    module = program.build()
    assert deps(module, "C") == [("P", 0)]
    assert task_edges(module)["functions"]["main"]["scopes"]["scopes"][0]["mode"] == "manual"


def test_loops_hand_values_on():
    program = t.Program()
    write, read = kernels(program)
    with program.orchestration(s=t.tensor(64), u=t.tensor(64), n=t.index) as main:
        with main.for_(0, main.index("n"), carry=[main.storage("s"), main.storage("u"), main.no_task()]) as loop:
            task = main.submit(write, loop.storage(0), deps=[loop.id(2)], name="P")
            loop.yield_(loop.storage(1), task.output, task.id)
        main.submit(read, loop.results[0], deps=[loop.results[2]], name="C")
        with main.while_([main.index("n"), main.no_task()]) as down:
            with down.test() as (left, last):
                down.condition(left > 0, left, last)
            with down.body() as (left, last):
                task = main.submit(write, main.storage("s"), deps=[last], name="Q")
                down.yield_(left - 1, task.id)
        main.submit(read, main.storage("s"), deps=[down.results[1]], name="D")
    module = program.build()
    assert deps(module, "P") == [("P", 1)]
    assert deps(module, "C") == [("P", 0)]
    assert deps(module, "Q") == [("Q", 1)]
    assert deps(module, "D") == [("Q", 0)]


def test_branches_scopes_and_parallel_loops():
    program = t.Program()
    write, read = kernels(program)
    with program.orchestration(auto_scope=False, s=t.tensor(64), n=t.index) as main:
        s = main.storage("s")
        with main.auto_scope() as scope:
            with main.if_(main.index("n").equals(3)) as branch:
                with branch.then() as side:
                    side.yield_(main.submit(write, s, name="A").id)
                with branch.otherwise() as side:
                    side.yield_(main.no_task())
            with main.if_(main.index("n") < 3) as alone, alone.then():
                main.call(read, s, name="B", directions=["Input"], no_dep=[])
            with main.parallel(0, main.index("n"), 2):
                main.call(read, s, name="P", no_dep=[0])
            with main.forall(4) as collect:
                collect.collect(main.submit(read, s, name="F").id)
            scope.yield_(main.barrier(collect.collected, *branch.results))
        main.submit(write, s, deps=[scope.results[0], main.ids(scope.results[0])], name="C", allow_early_resolve=True)
    module = program.build()
    assert deps(module, "C") == [("F", 0), ("A", 0)]
    tasks, function = main_of(module)
    by_name = {task.name: task for task in tasks.tasks(function)}
    assert by_name["P"].arg_direction_overrides == (0,)
    assert by_name["B"].arg_directions == ("Input",)
    assert by_name["C"].allow_early_resolve
    assert not function.auto_scope


def test_views_of_tensors_and_buffers():
    program = t.Program()
    tile = program.kernel("tile", t.InOut(t.memref(4, 8)), t.index, t.scalar("f32"), returns=[])
    square = program.kernel("square", t.In(t.tensor(8, 8)))
    with program.orchestration(m=t.memref(16, 8), s=t.tensor(64), x=t.scalar("f32")) as main:
        with main.for_(0, 4) as loop:
            window = main.storage("m").slice([loop.index * 4, 0], [4, 8])
            main.submit(tile, window, 1 + loop.index, main.parameters["x"])
        main.call(square, main.storage("s").reshape(8, 8))
        main.call(square, main.empty(4, 16).reshape(8, 8))
        main.call(tile, main.alloc(32).reshape(4, 8), 0, main.parameters["x"])
        assert main.storage("m").slice([8, 0], [2, 4], [2, 2]).value.type == window.value.type.parse(
            "memref<2x4xf32, strided<[16, 2], offset: 64>>", window.value.context
        )
    text = str(program.build())
    assert "memref<4x8xf32, strided<[8, 1], offset: ?>>" in text
    assert "tensor.expand_shape" in text


def test_the_example_of_the_documentation():
    lines = inspect.getdoc(t).split("\n\n")[2:4]
    names: dict = {}
    exec(textwrap.dedent("\n".join(lines)), names)  # noqa: S102 - our own text
    assert deps(names["module"], "total") == [("fill", 0)]


def test_the_names_are_those_of_the_package():
    import neuron_ctrldep as nc

    assert sorted(nc.task.__all__) == sorted(t.__all__)
    assert nc.task.Program is t.Program
    assert all(getattr(nc.task, name) is getattr(t, name) for name in t.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nc.task.nothing


def line_of(fragment: str) -> int:
    """The line of this file that holds ``fragment`` first."""
    source = inspect.getsource(inspect.getmodule(line_of))
    return next(i for i, line in enumerate(source.split("\n"), 1) if fragment in line)


def test_faults_point_at_the_line_that_made_them():
    program = t.Program()
    write, _ = kernels(program)
    with program.orchestration(s=t.tensor(32)) as main:
        main.submit(write, main.storage("s"))  # wrong shape
    with pytest.raises(InputError, match="must be tensor<64xf32>") as caught:
        program.build()
    assert caught.value.diagnostics[0].location.file == __file__
    assert caught.value.diagnostics[0].location.line == line_of("# wrong shape")


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda p, m, w: m.submit(w), "kernel 'W' takes 1 arguments; found 0"),
        (lambda p, m, w: p.kernel("W"), "there is a function 'W' already"),
        (lambda p, m, w: p.kernel("K", t.In(t.tensor(4, dtype="f33"))), "'tensor<4xf33>' is no type"),
        (lambda p, m, w: p.kernel("K", t.In(t.tensor(4)), returns=[1]), "it has 1 parameters"),
        (lambda p, m, w: m.storage("n"), "expected a Storage, found a Index"),
        (lambda p, m, w: bool(m.index("n") < 3), "use if_ instead of if"),
        (lambda p, m, w: m.storage("s").slice([0, 0], [1, 1]), "needs 1 offsets, sizes and strides"),
        (lambda p, m, w: m.storage("s").reshape(3, 3), "cannot be reshaped"),
    ],
)
def test_mistakes_are_told_at_once(mistake, message):
    program = t.Program()
    write, _ = kernels(program)
    with program.orchestration(s=t.tensor(64), n=t.index) as main:
        with pytest.raises(InputError) as caught:
            mistake(program, main, write)
        assert message in str(caught.value)
        assert caught.value.diagnostics[0].location.file == __file__
