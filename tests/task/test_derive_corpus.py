"""The hand-written programs of the corpus, with the facts found by enumerating runs."""

from __future__ import annotations

import json
import random

import pytest

from neuron_ctrldep.mlir import parse_module
from neuron_ctrldep.passes.pipeline import run_pipeline
from neuron_ctrldep.task.dialect import Submit
from neuron_ctrldep.task.program import TaskModule
from neuron_ctrldep.task.replay import is_ordered, run
from tests.task.support import CORPUS

PROGRAMS = sorted(CORPUS.glob("*.mlir"))
SWITCHED = "builtin.module(derive-call-directions,auto-derive-task-dependencies{analyze-auto-scopes=true})"


def runs(module):
    for seed in range(6):
        rng = random.Random(seed)
        yield run(module, "main", choose=rng.randrange, trips=(0, 1, 2, 5), tracking=False)


@pytest.mark.skipif(not PROGRAMS, reason="the corpus is not here")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_facts(path):
    facts = json.loads(path.with_suffix(".json").read_text())
    op = parse_module(path.read_text(), file=path.name)
    if not facts["analyze_auto_scopes"]:
        before = str(op)
        run_pipeline(op, "builtin.module(auto-derive-task-dependencies)")
        assert str(op) == before
        return
    run_pipeline(op, SWITCHED)
    module = TaskModule.of(op)
    if facts["fallback"] is False:
        assert "task.fallback" not in str(op)
    for one in runs(module):
        for earlier, later, _, _ in one.conflicts():
            if earlier.task.name in facts["must_follow"][later.task.name]:
                assert is_ordered(earlier, later), f"{later.key()} does not follow {earlier.key()}"
        for instance in one.instances:
            if not isinstance(instance.task, Submit):
                continue
            users = len(instance.task.deps)
            for waits in instance.waits[users:]:
                followed = {other.task.name for other in one.instances if waits >> other.number & 1}
                direct = set(facts["may_follow"][instance.task.name]) | set(facts["must_follow"][instance.task.name])
                assert reachable(followed, direct, facts), f"{instance.task.name} follows {followed}"
    for task in module.tasks(module.orchestrations["main"]):
        for predecessor, fact in facts["must_follow"][task.name].items():
            if fact["ordered_by_user"] and len(facts["must_follow"][task.name]) == 1:
                assert not task.compiler_deps, f"{task.name} after {predecessor} is the user's"


def reachable(followed, direct, facts):
    """Whether each followed task is one that may be, or comes before one of these anyway."""
    allowed = set(direct)
    for name in direct:
        allowed |= set(facts["must_follow"].get(name, ())) | set(facts["may_follow"].get(name, ()))
    return followed <= allowed
