"""The judge itself: storage against numpy's own slicing, races in small programs, and that the judge can say no."""

import itertools

import numpy as np
import pytest

from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.task.check import check_tasks
from neuron_ctrldep.task.replay.storage import Free, Root, View
from tests.generators.task import TaskProgram
from tests.task import judge as judging
from tests.task.support import program

ROOT = Root(0, "s")
WHOLE = View(ROOT, 0, (6, 8), (32, 4), 4)
ELEMENTS = np.arange(48).reshape(6, 8)

VIEWS = [
    (WHOLE, ELEMENTS),
    (WHOLE.cut([1, 2], [2, 3], [1, 1], 2), ELEMENTS[1:3, 2:5]),
    (WHOLE.cut([0, 0], [6, 4], [1, 2], 2), ELEMENTS[:, 0::2]),
    (WHOLE.cut([0, 1], [6, 4], [1, 2], 2), ELEMENTS[:, 1::2]),
    (WHOLE.cut([5, 0], [1, 8], [1, 1], 1), ELEMENTS[5]),
    (WHOLE.transposed([1, 0]).cut([7, 0], [1, 6], [1, 1], 1), ELEMENTS.T[7]),
    (WHOLE.collapsed([[0, 1]]).cut([40], [8], [1], 1), ELEMENTS.reshape(48)[40:]),
    (WHOLE.expanded((2, 3, 8), [[0, 1], [2]]).cut([1, 2, 0], [1, 1, 8], [1, 1, 1], 1), ELEMENTS.reshape(2, 3, 8)[1, 2]),
    (WHOLE.reinterpreted(16, [4], [8]), ELEMENTS.reshape(48)[16:48:8]),
    (WHOLE.bytes_at(160, (8,), 4), ELEMENTS.reshape(48)[40:48]),
]


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(range(len(VIEWS)), 2)))
def test_views_overlap_where_numpy_finds_a_common_element(first, second):
    (a, one), (b, other) = VIEWS[first], VIEWS[second]
    common = bool(np.intersect1d(one, other).size)
    assert a.overlaps(b) == common
    assert b.overlaps(a) == common


def test_what_is_not_known_overlaps():
    assert View(None).overlaps(WHOLE)
    assert not View(Root(1, "t"), 0, (4,), (4,), 4).overlaps(WHOLE)
    # An offset that could be another leaves all of what it is cut from.
    free = WHOLE.cut([Free(0), 0], [1, 8], [1, 1], 2)
    assert free.overlaps(WHOLE.cut([5, 0], [1, 8], [1, 1], 2))


def races(body):
    text = program(f'scf.execute_region no_inline {{\n{body}\nscf.yield\n}} {{task.scope = "manual"}}')
    found = check_tasks(load_mlir(text.encode()))
    return [(race.first, race.second, race.hazards, race.distance) for race in found.races]


def submit(name, callee, value, *deps):
    types = ", ".join(["tensor<64xf32>", *["!task.id"] * len(deps)])
    results = "tensor<64xf32>, !task.id" if callee == "W" else "!task.id"
    binding = f"%{name}_out, %{name}" if callee == "W" else f"%{name}"
    return (
        f'{binding} = "task.submit"({", ".join([value, *deps])}) {{callee = @{callee}, task.name = "{name}", '
        f"operandSegmentSizes = array<i32: 1, {len(deps)}, 0>}} : ({types}) -> ({results})"
    )


def test_manual_tasks_race_unless_an_edge_orders_them():
    assert races(submit("p", "W", "%s") + "\n" + submit("c", "R", "%s")) == [("p", "c", "raw", 0)]
    assert races(submit("p", "W", "%s") + "\n" + submit("c", "R", "%s", "%p")) == []
    assert races(submit("p", "R", "%s") + "\n" + submit("c", "R", "%s")) == []
    assert races(submit("p", "W", "%s") + "\n" + submit("c", "R", "%t")) == []


def test_iterations_race_with_their_distance():
    assert races(f"scf.for %i = %c0 to %n step %c1 {{\n{submit('p', 'W', '%s')}\n}}") == [("p", "p", "waw", 1)]


def test_the_judge_says_no_wherever_the_pass_had_to_add_an_edge(monkeypatch):
    needing = [seed for seed in range(20) if judging.judge(TaskProgram(seed).text).edges]
    assert needing
    # The same judge over a pass that derives nothing.
    monkeypatch.setattr(judging, "DERIVE", "builtin.module(derive-call-directions)")
    failed = [seed for seed in range(20) if judging.judge(TaskProgram(seed).text).faults]
    assert failed == needing
