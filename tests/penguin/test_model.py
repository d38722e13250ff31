"""The model: edges of functions, what lowering makes of them, and schedules. Expected values by hand."""

import pytest

from neuron_ctrldep.edges import DependencyEdge, EdgeKind
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.penguin.model import Function, Operation, bir_dependencies
from neuron_ctrldep.penguin.scheduling import schedule

ORDERED, ANTI, OUTPUT, FLOW = EdgeKind.ORDERED, EdgeKind.ANTI, EdgeKind.OUTPUT, EdgeKind.FLOW


def edge(src, dst, kind=ORDERED):
    return DependencyEdge(src, dst, kind)


def function(*edges, operations=()):
    made = Function(operations=list(operations))
    for one in edges:
        made.add_dep_edge(one)
    return made


def op(name, *srcs, regions=()):
    return Operation((name,), "np.abs", "mhlo.unary", srcs, regions=regions)


def test_kinds_are_numbered_as_bir_does():
    assert [kind.value for kind in (ORDERED, ANTI, OUTPUT, FLOW)] == [1, 2, 3, 4]
    assert edge("a", "b", FLOW).serialize() == {"kind": "FLOW", "src": "a", "dst": "b"}


def test_a_pair_is_there_once_for_each_kind():
    made = function(edge("a", "b"), edge("a", "b"), edge("a", "b", FLOW), edge("a", "a"))
    assert made.dep_edges == [edge("a", "b"), edge("a", "b", FLOW)]
    made.remove_dep_edge(edge("a", "b"))
    assert made.dep_edges == [edge("a", "b", FLOW)]
    with pytest.raises(ValueError, match="not in list"):
        made.remove_dep_edge(edge("a", "b"))


def test_edges_of_an_instruction():
    made = function(edge("a", "c"), edge("b", "c", ANTI), edge("c", "d"), edge("c", "d", FLOW), edge("c", "e"))
    assert made.dep_edges_for_inst("c") == [edge("a", "c"), edge("b", "c", ANTI)]
    assert made.depending_insts("c") == ["d", "e"]
    assert made.dep_edges_for_inst("a") == []


def test_replacing_an_instruction():
    made = function(edge("a", "b"), edge("b", "c", FLOW), edge("x", "c"))
    made.replace_inst_in_dependencies("b", "x")
    assert made.dep_edges == [edge("a", "x"), edge("x", "c", FLOW), edge("x", "c")]
    # An edge between the old and the new one falls away, and equal edges become one.
    made.replace_inst_in_dependencies("a", "x")
    assert made.dep_edges == [edge("x", "c", FLOW), edge("x", "c")]


def test_replacing_an_instruction_by_several():
    made = function(edge("a", "b"), edge("b", "c", FLOW))
    made.replace_with_list_in_dependencies("b", ["b0", "b1"])
    assert made.dep_edges == [edge("a", "b0"), edge("a", "b1"), edge("b0", "c", FLOW), edge("b1", "c", FLOW)]
    made.replace_with_list_in_dependencies("c", [])
    assert made.dep_edges == [edge("a", "b0"), edge("a", "b1")]


def test_lowering_keeps_the_greatest_kind_for_each_target():
    made = function(
        edge("a", "d", ANTI), edge("b", "d"), edge("a", "d", FLOW), edge("a", "d", OUTPUT), edge("a", "e", OUTPUT),
        edge("a", "e", ANTI),
    )  # fmt: skip
    assert bir_dependencies(made) == [edge("a", "d", FLOW), edge("b", "d"), edge("a", "e", OUTPUT)]


def test_schedules_hold_data_and_dependencies():
    made = function(edge("d", "b"), operations=[op("a"), op("b", "a"), op("c", "b"), op("d"), op("e")])
    orders = {tuple(schedule(made, seed)) for seed in range(40)}
    assert len(orders) > 5, "the seed decides"
    for order in orders:
        assert sorted(order) == ["a", "b", "c", "d", "e"]
        assert order.index("a") < order.index("b") < order.index("c")
        assert order.index("d") < order.index("b")
    assert schedule(made, 3) == schedule(made, 3)


def test_what_a_region_reads_or_waits_for_its_operation_does():
    body = Function(id=1, operations=[op("inside", "a"), op("later")], dep_edges=[edge("d", "later")])
    made = function(operations=[op("loop", regions=(body,)), op("a"), op("d")])
    for seed in range(20):
        assert schedule(made, seed)[-1] == "loop"
    assert schedule(body) == ["inside", "later"] or schedule(body) == ["later", "inside"]


def test_a_cycle_is_named():
    made = function(edge("c", "a"), edge("c", "z"), operations=[op("a"), op("b", "a"), op("c", "b"), op("z")])
    with pytest.raises(
        InputError, match=r"the dependencies of v0 form a cycle: (a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c);"
    ):
        schedule(made)


def test_a_cycle_inside_a_region_is_found_in_the_region_only():
    body = Function(id=1, operations=[op("x"), op("y", "x")], dep_edges=[edge("y", "x")])
    made = function(operations=[op("loop", regions=(body,))])
    assert schedule(made) == ["loop"]
    with pytest.raises(InputError, match="cycle"):
        schedule(body)
