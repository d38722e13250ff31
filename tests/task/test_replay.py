"""The judge itself: storage against numpy's own slicing, races in small programs, and that the judge can say no."""

import itertools
import random

import numpy as np
import pytest

from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.task.check import check_tasks
from neuron_ctrldep.task.replay.numbers import Free, Symbol, combined
from neuron_ctrldep.task.replay.storage import Root, View
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


WINDOWS = """module {{
  func.func private @W(tensor<16xf32> {{task.direction = "out"}}) attributes {{task.kind = "kernel"}}
  func.func private @W1(tensor<1xf32> {{task.direction = "out"}}) attributes {{task.kind = "kernel"}}
  func.func private @W2(tensor<2xf32> {{task.direction = "out"}}) attributes {{task.kind = "kernel"}}
  func.func private @All(tensor<?xf32> {{task.direction = "out"}}) attributes {{task.kind = "kernel"}}
  func.func @main(%s: tensor<256xf32>, %d: tensor<?xf32>, %a: index, %b: index, %x: i32)
      attributes {{task.kind = "orchestration", task.auto_scope = false}} {{
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1 : i32
    scf.execute_region no_inline {{
      {body}
      scf.yield
    }} {{task.scope = "manual"}}
    return
  }}
}}
"""


def window(name, offset, size=16, source="%s", kind="tensor<256xf32>"):
    callee = {16: "W", 2: "W2", 1: "W1"}[size]
    cut = f"%{name} = tensor.extract_slice {source}[{offset}] [{size}] [1] : {kind} to tensor<{size}xf32>"
    return f'{cut}\nfunc.call @{callee}(%{name}) {{task.name = "{name}"}} : (tensor<{size}xf32>) -> ()\n'


def windows_race(body):
    return bool(check_tasks(load_mlir(WINDOWS.format(body=body).encode())).races)


PLUS = "%next = arith.addi %a, %c16 : index\n"
LOOP = "scf.for %i = {} to %c64 step {} {{\n{}}}\n"


@pytest.mark.parametrize(
    ("body", "is_race"),
    [
        # The same argument in both offsets: what they differ by is known.
        (window("p", "%a") + PLUS + window("q", "%next"), False),
        (window("p", "%a") + "%next = arith.addi %a, %c4 : index\n" + window("q", "%next"), True),
        (window("p", "%a") + window("q", "%b"), True),
        (window("p", "%a") + window("q", "0"), True),
        (window("p", "%a") + "%z = arith.subi %a, %a : index\n" + window("q", "%z"), True),
        # Tiles of a loop from an argument on, alone and beside a tile from the argument.
        (LOOP.format("%a", "%c16", window("p", "%i")), False),
        (LOOP.format("%a", "%c4", window("p", "%i")), True),
        (window("q", "%a") + LOOP.format("%a", "%c16", window("p", "%i")), True),
        (LOOP.format("%c0", "%c16", "%o = arith.addi %i, %a : index\n" + window("p", "%o")), False),
        (LOOP.format("%c0", "%c4", "%o = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)\n" + window("p", "%o")), False),
        (LOOP.format("%c0", "%c4", "%o = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)\n" + window("p", "%o")), True),
        (
            LOOP.format("%c0", "%c4", "%o = affine.apply affine_map<(d0)[s0] -> (d0 * 4 + s0)>(%i)[%a]\n").rstrip("}\n")
            + "\n"
            + window("p", "%o")
            + "}\n",
            False,
        ),
        # A step that is an argument is 1 at least.
        (LOOP.format("%c0", "%a", window("p", "%i", 1)), False),
        (LOOP.format("%c0", "%a", window("p", "%i", 2)), True),
        # What an argument is multiplied with, or divided by, is a number of its own.
        ("%o = arith.muli %a, %c16 : index\n%o2 = arith.addi %o, %c16 : index\n" + window("p", "%o"), False),
        ("%m = arith.muli %a, %b : index\n" + window("p", "%m") + window("q", "%a"), True),
        (
            "%m = arith.remui %a, %c4 : index\n%n = arith.remui %a, %c4 : index\n%o = arith.addi %n, %c16 : index\n"
            + window("p", "%m")
            + window("q", "%o"),
            False,
        ),
        # 32 bits may wrap around: then the next number is not 1 further on.
        (
            "%y = arith.addi %x, %one : i32\n%i = arith.index_cast %x : i32 to index\n"
            "%j = arith.index_cast %y : i32 to index\n" + window("p", "%i", 1) + window("q", "%j", 1),
            True,
        ),
        # Somewhere in one half is apart from the other half.
        (
            "%h = tensor.extract_slice %s[0] [128] [1] : tensor<256xf32> to tensor<128xf32>\n"
            + window("p", "%a", source="%h", kind="tensor<128xf32>")
            + window("q", "128"),
            False,
        ),
        # All of a buffer whose size only run time knows holds any window of it.
        (
            'func.call @All(%d) {task.name = "p"} : (tensor<?xf32>) -> ()\n'
            + window("q", "5000", source="%d", kind="tensor<?xf32>"),
            True,
        ),
        (
            '%e = tensor.empty(%a) : tensor<?xf32>\nfunc.call @All(%e) {task.name = "p"} : (tensor<?xf32>) -> ()\n'
            + window("q", "5000", source="%e", kind="tensor<?xf32>"),
            True,
        ),
    ],
)
def test_offsets_from_arguments(body, is_race):
    assert windows_race(body) == is_race


def test_an_open_offset_leaves_what_the_other_dimensions_say():
    row, other = (WHOLE.cut([Free(1), at], [1, 2], [1, 1], 2) for at in (0, 4))
    assert not row.overlaps(other)
    assert row.overlaps(WHOLE.cut([5, 1], [1, 1], [1, 1], 2))
    unknown = WHOLE.cut([None, 2], [2, 1], [1, 1], 1)
    assert not unknown.overlaps(row)
    assert unknown.overlaps(WHOLE.cut([0, 2], [1, 1], [1, 1], 2))


def test_offsets_from_arguments_against_enumeration():
    """Windows that are said to be apart have no common element, whatever the arguments are."""
    rng = random.Random(7)
    apart = 0
    for _ in range(300):
        a, b = Symbol(rng.randint(0, 3)), Symbol(rng.randint(1, 3), is_positive=True)
        whole = View(ROOT, 0, (4096,), (4,), 4)
        views, forms = [], []
        for _ in range(2):
            constant, x, y = rng.randint(0, 40), rng.choice((0, 0, 1, 2)), rng.choice((0, 1, 3))
            size = rng.randint(1, 8)
            terms = combined((frozenset({(a, x)}), 1), (frozenset({(b, y)}), 1))
            offset = Free(constant + x * a.value + y * b.value, terms) if terms else constant
            views.append(whole.cut([offset], [size], [1], 1))
            forms.append((constant, x, y, size))
        if views[0].overlaps(views[1]):
            continue
        apart += 1
        for at, by in itertools.product(range(12), range(1, 12)):
            starts = [constant + x * at + y * by for constant, x, y, _ in forms]
            first, second = (set(range(start, start + form[3])) for start, form in zip(starts, forms, strict=True))
            assert not first & second, (forms, at, by)
    assert apart > 30


def test_a_loop_with_unsigned_bounds_runs():
    bounds = "%first = arith.constant 0 : i8\n%last = arith.constant -1 : i8\n%step = arith.constant 100 : i8\n"
    assert windows_race(bounds + "scf.for unsigned %i = %first to %last step %step : i8 {\n" + window("p", "0") + "}\n")
