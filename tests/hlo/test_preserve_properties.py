"""What holds on every module: properties on generated ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_ctrldep.hlo.child import Child
from neuron_ctrldep.hlo.module import load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.hlo.report import CLASSES, PreserveReport
from neuron_ctrldep.wire import AFTER, DONE_AFTER, DONE_ID, HAS_CONTROL_DEPS, ID, TARGET, parse_ids
from tests.generators.hlo import WRAPPED, hlo_modules, module_of_seed
from tests.hlo.support import text_to_proto

OPTIONS: list[dict[str, Any]] = [{}, {"rewire": "all"}, {"carrier": "operand"}, {"strip_control_edges": True}]

fuzz = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def is_wire_op(instruction: Any) -> bool:
    return instruction.opcode == "custom-call" and instruction.custom_call_target == TARGET


def without_wire_ops(proto: Any) -> list[Any]:
    """What the module is to one who looks through wire ops and does not see the attributes."""
    computations = []
    for computation in proto.computations:
        data = {i.id: i.operand_ids[-1] for i in computation.instructions if is_wire_op(i)}

        def through(one: int, data: dict[int, int] = data) -> int:
            while one in data:
                one = data[one]
            return one

        instructions = {
            i.name: (i.id, i.opcode, [through(one) for one in i.operand_ids])
            for i in computation.instructions
            if i.id not in data
        }
        schedule = [one for one in proto.schedule.sequences[computation.id].instruction_ids if one not in data]
        computations.append((computation.id, through(computation.root_id), instructions, schedule))
    return computations


class Carried:
    """Tells by the edited module alone whether an edge is carried, control predecessors left aside."""

    def __init__(self, computation: Any) -> None:
        self.by_id = {i.id: i for i in computation.instructions}
        self.by_name = {i.name: i for i in computation.instructions}
        self.readers: dict[int, list[Any]] = {one: [] for one in self.by_id}
        for instruction in computation.instructions:
            for one in instruction.operand_ids:
                self.readers[one].append(instruction)
        self.root = computation.root_id

    def is_after(self, late: int, early: int) -> bool:
        """Whether ``early`` is among what ``late`` needs."""
        stack, seen = [late], set()
        while stack:
            one = stack.pop()
            if one not in seen:
                seen.add(one)
                stack += self.by_id[one].operand_ids
        return early in seen

    def by_operand(self, early: Any, late: Any) -> bool:
        return any(
            is_wire_op(self.by_id[one]) and early.id != one and self.is_after(one, early.id) for one in late.operand_ids
        )

    def by_pin(self, early: Any, late: Any) -> bool:
        readers = self.readers[late.id]
        return all(is_wire_op(one) and self.is_after(one.id, early.id) for one in readers) and self.root != late.id

    def by_attribute(self) -> bool:
        attributes = [i.frontend_attributes.map for i in self.by_id.values()]
        ids = {a[key] for a in attributes for key in (ID, DONE_ID) if key in a}
        listed = {one for a in attributes for key in (AFTER, DONE_AFTER) if key in a for one in parse_ids(a[key])}
        return bool(ids & listed)


def reify(text: str, **options: Any) -> tuple[Any, Any, PreserveReport]:
    proto = text_to_proto(text)
    before = load_hlo(proto)
    module = load_hlo(proto)
    report = preserve_control_deps(module, on_unreifiable="warn", **options)
    return before, module, report


@fuzz
@given(text=hlo_modules(importable=False), options=st.sampled_from(OPTIONS))
def test_every_edge_is_accounted_for_and_a_second_run_adds_nothing(text: str, options: dict[str, Any]) -> None:
    before, module, report = reify(text, **options)
    listed = {
        (computation.name, by_id[one], successor.name)
        for computation in before.proto.computations
        for by_id in [{i.id: i.name for i in computation.instructions}]
        for successor in computation.instructions
        for one in successor.control_predecessor_ids
    }
    assert {(d.computation, d.predecessor, d.successor) for d in report.details} == listed
    assert sum(getattr(report, one) for one in CLASSES) == report.edges == len(listed)
    assert (report.unreifiable == 0) or options.get("carrier") == "operand"
    assert all(d.reason for d in report.details if d.edge_class not in ("operand", "already"))
    stamped = module.proto.frontend_attributes.map.get(HAS_CONTROL_DEPS) == "1"
    assert stamped == bool(report.operand + report.attribute)
    once = module.to_bytes()
    assert report.changed == (once != before.to_bytes())
    again = load_hlo(once)
    second = preserve_control_deps(again, on_unreifiable="warn", **options)
    assert again.to_bytes() == once
    assert not second.changed


@fuzz
@given(text=hlo_modules(importable=False), options=st.sampled_from(OPTIONS))
def test_looking_through_the_wire_ops_gives_the_original_back(text: str, options: dict[str, Any]) -> None:
    before, module, _ = reify(text, **options)
    assert without_wire_ops(module.proto) == without_wire_ops(before.proto)


@fuzz
@given(text=hlo_modules(importable=False))
def test_what_the_report_calls_carried_is_carried(text: str) -> None:
    _, module, report = reify(text)
    carried = {computation.name: Carried(computation) for computation in module.proto.computations}
    for detail in report.details:
        computation = carried[detail.computation]
        early, late = computation.by_name[detail.predecessor], computation.by_name[detail.successor]
        if detail.edge_class == "operand":
            assert computation.by_operand(early, late)
        elif detail.edge_class == "attribute" and "nothing" not in detail.reason:
            assert computation.by_pin(early, late) or computation.by_attribute()


@fuzz
@given(text=hlo_modules())
def test_the_result_does_not_depend_on_the_run(text: str) -> None:
    proto = text_to_proto(text)  # once: XLA numbers the modules that a process reads
    results = []
    for _ in range(2):
        module = load_hlo(proto)
        preserve_control_deps(module, on_unreifiable="warn")
        results.append(module.to_bytes())
    assert results[0] == results[1]


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child() as process:
        yield process


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_xla_reads_the_result_with_the_same_control_edges(first: int, child: Child) -> None:
    def edges(text: str) -> set[tuple[str, str]]:
        found = re.findall(r"^\s*(?:ROOT )?%?([\w.]+) = .*control-predecessors=\{([^}]*)\}", text, re.MULTILINE)
        return {(name, one.strip().lstrip("%")) for name, listed in found for one in listed.split(",")}

    for seed in range(first, first + 20):
        before, module, _ = reify(module_of_seed(seed, size=12))
        printed = module.to_text(child=child)
        assert edges(printed) == edges(before.to_text(child=child))
        reread = load_hlo(text_to_proto(printed))
        assert not preserve_control_deps(reread).changed


def test_the_generator_reaches_every_class_and_every_kind() -> None:
    """Otherwise the properties above say less than they seem to."""
    opcodes: set[str] = set()
    classes: set[str] = set()
    wrapped: set[str] = set()
    scheduled = False
    for seed in range(300):
        before, _, report = reify(module_of_seed(seed, importable=False))
        classes |= {d.edge_class for d in report.details}
        scheduled |= before.proto.HasField("schedule")
        roots = {c.id: i.opcode for c in before.proto.computations for i in c.instructions if i.id == c.root_id}
        for computation in before.proto.computations:
            by_id = {i.id: i for i in computation.instructions}
            for successor in computation.instructions:
                if successor.control_predecessor_ids:
                    opcodes.add(successor.opcode)
                    if successor.opcode in ("async-done", "send-done", "recv-done"):
                        # Of a done: what its start runs, or what stands in the place of a start that is elsewhere.
                        source = by_id[successor.operand_ids[0]]
                        while source.opcode == "async-update":
                            source = by_id[source.operand_ids[0]]
                        called = source.called_computation_ids
                        wrapped.add(roots[called[0]] if called else source.opcode)
    assert classes == {"operand", "attribute", "dropped", "already"}
    assert scheduled
    assert wrapped >= {one[0] for one in WRAPPED} | {"get-tuple-element"}
    asynchronous = {"send", "send-done", "recv", "recv-done", "copy-start", "copy-done", "async-start", "async-update"}
    assert opcodes >= asynchronous | {"async-done", "while", "conditional", "call", "fusion", "tuple", "constant"}
