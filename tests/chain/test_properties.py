"""Section 6 of control-dep.md, from HLO to the emitted program, on generated modules.

For every control edge the successor is reachable from the predecessor in what was emitted, or a report says why not;
without the pass the edges are lost; and values do not change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

from neuron_ctrldep.chain import CheckResult, Options, check, lower
from neuron_ctrldep.checker import of_hlo, of_program
from neuron_ctrldep.checker.source import SourceBlock
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.hlo.child import Child
from neuron_ctrldep.hlo.importer import import_hlo
from neuron_ctrldep.hlo.module import load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.passes.pipeline import run_pipeline
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.penguin.weights import WeightNames
from tests.generators.hlo import hlo_modules, module_of_seed

MODULES = int(os.environ.get("CTRLDEP_HLO_MODULES", "120"))
BATCH = 20


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child() as process:
        yield process


def checked(text: str, child: Child, options: Options | None = None) -> CheckResult | None:
    """The check of a module; ``None`` when XLA's importer cannot take it even untouched."""
    try:
        result = check(text.encode(), options=options, file="generated.hlo", child=child)
    except InputError as error:
        message = str(error)
        # Only MHLO has a reason of its own to refuse: it has no form for some asynchronous ops.
        if "the untouched module fails as well" in message or "has no MHLO form" in message:
            return None
        raise AssertionError(f"{message}\n{text}") from error
    assert isinstance(result, CheckResult)
    return result


@pytest.mark.parametrize("start", range(0, MODULES, BATCH))
def test_no_edge_is_lost(start: int, child: Child) -> None:
    taken = 0
    for number in range(start, start + BATCH):
        text = module_of_seed(number)
        result = checked(text, child)
        if result is not None:
            taken += 1
            assert not result.lost, f"seed {number}\n{result and result.render()}\n{text}"
    assert taken > BATCH // 2, "most generated modules are to be importable"


@seed(20261130)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=hlo_modules())
def test_no_edge_is_lost_whatever_hypothesis_draws(text: str) -> None:
    with Child() as process:
        result = checked(text, process)
    assert result is None or not result.lost, f"{result and result.render()}\n{text}"


@pytest.mark.parametrize("options", [Options(rewire="all"), Options(dialect="mhlo"), Options(strip_control_edges=True)])
def test_no_edge_is_lost_with_options(options: Options, child: Child) -> None:
    for number in range(20):
        text = module_of_seed(number)
        result = checked(text, child, options)
        assert result is None or not result.lost, f"seed {number}\n{result and result.render()}\n{text}"


def test_without_reification_the_same_chain_keeps_no_edge_directly(child: Child) -> None:
    kept = lost = 0
    for number in range(30):
        result = checked(module_of_seed(number), child)
        if result is not None:
            without = result.as_json()["without_reification"]
            # An edge that a wire op of the module itself already carries is no loss of this chain.
            kept += without["kept"] if "AwsNeuronControlDep" not in module_of_seed(number) else 0
            lost += without["lost"]
    assert kept == 0
    assert lost > 50


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_values_do_not_change(start: int, child: Child) -> None:
    running = pytest.importorskip("tests.chain.running", exc_type=ImportError)
    for number in range(start, start + 10):
        text = module_of_seed(number, runnable=True)
        module = load_hlo(text.encode(), child=child)
        expected = running.results_of(import_hlo(module, child=child))
        preserve_control_deps(module)
        reified = import_hlo(module, child=child)
        run_pipeline(
            reified,
            "builtin.module(canonicalize,cse,stablehlo-flatten-control-dep-tuple-operands,"
            "control-deps-to-optimization-barrier)",
        )
        for one, other in zip(expected, running.results_of(reified), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"seed {number}\n{text}")


NO_INSTRUCTIONS = frozenset({"tuple", "get-tuple-element", "add-dependency", "constant", "parameter"})
"""Opcodes of what cannot wait: what comes after one of these comes after its control predecessors."""


def through_packaging(block: SourceBlock) -> Iterator[tuple[str, str]]:
    """The pairs that HLO orders by control edges, directly or through what is no instruction."""
    after: dict[str, list[tuple[str, bool]]] = {name: [] for name in block.instructions}
    for name, instruction in block.instructions.items():
        for operand in instruction.operands:
            after[operand].append((name, False))
    for src, dst in block.edges:
        if block.instructions[src].opcode != "parameter":  # such an edge orders nothing (section 2)
            after[src].append((dst, True))
    for first, instruction in block.instructions.items():
        if instruction.opcode in NO_INSTRUCTIONS:
            continue
        seen = {(first, False)}
        stack = [(first, False)]
        while stack:
            current, by_control = stack.pop()
            for name, is_control in after[current]:
                state = (name, by_control or is_control)
                if state in seen:
                    continue
                seen.add(state)
                if block.instructions[name].opcode in NO_INSTRUCTIONS:
                    stack.append(state)
                elif state[1]:
                    yield first, name


@pytest.mark.parametrize("start", range(0, MODULES, BATCH))
def test_order_through_tuples_and_constants_is_kept(start: int, child: Child) -> None:
    """A stronger reading of section 6: two edges with a tuple between them order what stands at their other ends."""
    pairs = False
    for number in range(start, start + BATCH):
        module = load_hlo(module_of_seed(number).encode(), child=child)
        if checked(module_of_seed(number), child) is None:
            continue
        blocks = of_hlo(module)
        program = read_penguin(lower(module, child=child).penguin(weights=WeightNames()))
        for function in of_program(program):
            for block in blocks.values():
                if not block.is_entry:
                    continue
                for src, dst in through_packaging(block):
                    if src in function.nodes and dst in function.nodes:
                        pairs = True
                        assert any(
                            function.reaches(s, d) or s == d for s in function.nodes[src] for d in function.nodes[dst]
                        ), f"seed {number}: {src} -> {dst}\n{module_of_seed(number)}"
    assert pairs, "some generated modules are to have such pairs"
