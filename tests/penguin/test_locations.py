"""Names and places of operations: many asked at once say what each says alone, whatever their locations hold."""

from __future__ import annotations

import pytest

from neuron_ctrldep.mlir import parse_module
from neuron_ctrldep.penguin.locations import Named, names_and_places

# Locations as MLIR spells them, and the name and place that an op there has, by hand.
CASES = {
    'loc("add.1")': ("add.1", "", 0, 0),
    'loc("jit(f)/mul")': ("mul", "", 0, 0),
    'loc("jit(f)/mul/")': ("mul", "", 0, 0),
    'loc("/")': ("stablehlo.abs", "", 0, 0),
    'loc("a, b")': ("a, b", "", 0, 0),
    'loc("a\\22, \\22b")': ('a", "b', "", 0, 0),
    'loc("back\\\\slash")': ("back\\slash", "", 0, 0),
    'loc("\\FF")': ("\\xff", "", 0, 0),
    'loc("fused[")': ("fused[", "", 0, 0),
    'loc("\u00e9t\u00e9.1")': ("\u00e9t\u00e9.1", "", 0, 0),
    'loc("outer"("f.py":3:4))': ("outer", "f.py", 3, 4),
    'loc("outer"("inner"))': ("outer", "", 0, 0),
    'loc("f.py":1:2)': ("stablehlo.abs", "f.py", 1, 2),
    'loc(fused["x.1", "y.2"])': ("x.1", "", 0, 0),
    'loc(fused["add.1", "add.3"])': ("add.1", "", 0, 0),
    'loc(callsite("callee" at "caller"))': ("callee", "", 0, 0),
    "loc(unknown)": ("stablehlo.abs", "", 0, 0),
}


def told(locations: list[str], attributes: str = "") -> list[Named]:
    """What is said of ops at ``locations``, all asked at once."""
    lines = [f"%{i} = stablehlo.abs %a {attributes} : tensor<f32> {where}" for i, where in enumerate(locations)]
    module = parse_module("\n".join(["func.func @main(%a: tensor<f32>) {", *lines, "return", "}"]))
    function = module.regions[0].blocks[0].operations[0].operation
    return names_and_places([op.operation for op in function.regions[0].blocks[0].operations][: len(locations)])


@pytest.mark.parametrize("where", CASES)
def test_one(where: str) -> None:
    assert told([where]) == [CASES[where]]


@pytest.mark.parametrize("where", CASES)
def test_among_names(where: str) -> None:
    names = ['loc("first")', 'loc("add.3")']
    expected = [("first", "", 0, 0), CASES[where], ("add.3", "", 0, 0)]
    assert told([names[0], where, names[1]]) == expected


@pytest.mark.parametrize("where", CASES)
def test_twice(where: str) -> None:
    """MLIR keeps one of two equal locations in a fused one."""
    assert told([where, 'loc("last")', where]) == [CASES[where], ("last", "", 0, 0), CASES[where]]


def test_all_at_once() -> None:
    assert told(list(CASES)) == list(CASES.values())


def test_none() -> None:
    assert names_and_places([]) == []


@pytest.mark.parametrize(
    "attributes", ['{mhlo.frontend_attributes = {ctrldep.name = "own"}}', '{neuron.symName = "own"}']
)
def test_an_attribute_comes_before_the_location(attributes: str) -> None:
    own = ("own", "", 0, 0)
    assert told(['loc("add.1")', 'loc("add.2")'], attributes) == [own, own]


def test_other_attributes_do_not_count() -> None:
    expected = [("add.1", "", 0, 0), ("add.2", "", 0, 0)]
    assert told(['loc("add.1")', 'loc("add.2")'], '{test.name = "other"}') == expected
