"""The judge of section 8: what the passes may not do to a program, by replaying it before and after."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_ctrldep.inputs import load_mlir
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.pipeline import run_pipeline
from neuron_ctrldep.task.check import _Script
from neuron_ctrldep.task.dialect import PlainTask, Submit
from neuron_ctrldep.task.program import Scope, TaskModule, enclosing_scopes
from neuron_ctrldep.task.replay import Instance, Run, is_ordered, run

WAYS = 5
"""Ways through a program that are compared in order, and as many again at random."""

LEAST_TO_REFUTE, MOST_TO_REFUTE = 4, 400
"""Random ways that may show that an edge says what no other does: some for each program, many for a suspect."""

DERIVE = "builtin.module(auto-derive-task-dependencies{analyze-auto-scopes=true})"
MATERIALIZE = "builtin.module(materialize-runtime-scopes)"


@dataclass(frozen=True)
class Verdict:
    """What is wrong with what the passes made of a program; empty when nothing is."""

    faults: list[str]
    fell_back: bool
    edges: int


def judge(text: str) -> Verdict:
    """Run the passes on a program and compare it with what it was."""
    before = load_mlir(text.encode(), file="program.mlir")
    run_pipeline(before, "builtin.module(derive-call-directions)")
    # A text round trip, so that the two do not share a context.
    derived = load_mlir(str(before).encode(), file="program.mlir")
    run_pipeline(derived, DERIVE)
    made = load_mlir(str(derived).encode(), file="program.mlir")
    run_pipeline(made, MATERIALIZE)
    faults: list[str] = []
    old, new, final = TaskModule.of(before), TaskModule.of(derived), TaskModule.of(made)
    fell_back = "task.fallback" in str(derived)
    redundant: dict[tuple[str, int], bool] = {}
    for decisions in _ways(old):
        first = run(old, "main", choose=decisions(), trips=(0, 1, 2, 3))
        ordered = {_pair(a, b) for a, b, _, _ in first.conflicts() if is_ordered(a, b)}
        for stage, module in (("derive", new), ("materialize", final)):
            after = run(module, "main", choose=decisions(), trips=(0, 1, 2, 3))
            faults += _lost(stage, after, ordered)
        explicit = run(new, "main", choose=decisions(), trips=(0, 1, 2, 3), tracking=False)
        if not fell_back:
            faults += _not_explicit(explicit)
    for seed in range(MOST_TO_REFUTE):
        # That two branches ask the same question is nothing the pass has to know: each decides anew.
        choose = random.Random(seed).randrange
        one = run(new, "main", choose=choose, trips=(0, 1, 2, 3), tracking=False, correlated=False)
        _note_redundant(one, redundant)
        if seed >= LEAST_TO_REFUTE and not any(redundant.values()):
            break
    faults += [
        f"edge {number} of {task} is implied by the others" for (task, number), is_one in redundant.items() if is_one
    ]
    edges = sum(len(task.compiler_deps) for task in new.tasks(new.orchestrations["main"]))
    return Verdict(list(dict.fromkeys(faults)), fell_back, edges)


def _ways(module: TaskModule) -> Iterator[object]:
    """Ways to decide, each as something that makes the same decisions every time it is called."""
    decisions: list[int] | None = []
    for _ in range(WAYS):
        script = _Script(decisions)
        run(module, "main", choose=script, trips=(0, 1, 2, 3))
        taken = [one for one, _ in script._made]
        yield lambda taken=taken: _Script(taken)
        decisions = script.following()
        if decisions is None:
            return
    for seed in range(WAYS):
        yield lambda seed=seed: random.Random(seed).randrange


def _pair(a: Instance, b: Instance) -> tuple[object, object]:
    return a.key(), b.key()


def _lost(stage: str, after: Run, ordered: set[tuple[object, object]]) -> Iterator[str]:
    for earlier, later, view, hazards in after.conflicts():
        if is_ordered(earlier, later):
            continue
        where = f"{hazards} {_pair(earlier, later)} on {view.root}"
        if _pair(earlier, later) in ordered:
            yield f"{stage}: ordered before, not now: {where}"
        elif any(_is_compiler_manual(one) for one in (earlier, later)):
            yield f"{stage}: a race in a scope that became MANUAL: {where}"


def _is_compiler_manual(instance: Instance) -> bool:
    scope = next(enclosing_scopes(instance.task.operation), None)
    return scope is not None and scope.by_compiler and scope.mode == "manual"


def _is_analysed(instance: Instance) -> bool:
    """In an AUTO scope, or outside every scope of a function whose scopes the compiler places."""
    scopes: list[Scope] = list(enclosing_scopes(instance.task.operation))
    if scopes:
        return all(scope.mode == "auto" for scope in scopes)
    parent: ir.Operation = instance.task.operation
    while parent.name != "func.func":
        parent = parent.parent.operation
    attributes = parent.attributes
    return attributes["task.auto_scope"].value if "task.auto_scope" in attributes else True


def _not_explicit(explicit: Run) -> Iterator[str]:
    for earlier, later, view, hazards in explicit.conflicts():
        if _is_analysed(earlier) and _is_analysed(later) and not is_ordered(earlier, later):
            yield f"derive: a hazard without an explicit edge: {hazards} {_pair(earlier, later)} on {view.root}"


def _note_redundant(explicit: Run, redundant: dict[tuple[str, int], bool]) -> None:
    """Keep for each added edge whether, in every run so far, the others said all it says."""
    for instance in explicit.instances:
        if isinstance(instance.task, PlainTask):
            continue
        assert isinstance(instance.task, Submit)
        users = len(instance.task.deps)
        for number, waits in enumerate(instance.waits):
            others = 0
            for other in itertools.chain(instance.waits[:number], instance.waits[number + 1 :]):
                others |= other
            if number >= users:
                key = (instance.task.name or "?", number - users)
                redundant[key] = redundant.get(key, True) and not waits & ~others and bool(waits)
