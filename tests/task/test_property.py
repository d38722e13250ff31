"""Section 8 of task.md on random programs: no pass takes an ordering away, no added edge is implied by others."""

import os

import pytest

from tests.generators.task import TaskProgram
from tests.task.judge import judge

PROGRAMS = int(os.environ.get("CTRLDEP_TASK_PROGRAMS", "500"))
BATCH = 25


@pytest.mark.parametrize("start", range(0, PROGRAMS, BATCH))
def test_the_passes_keep_every_ordering(start):
    for seed in range(start, min(start + BATCH, PROGRAMS)):
        program = TaskProgram(seed)
        verdict = judge(program.text)
        assert not verdict.faults, f"seed {seed}:\n{program.text}\n" + "\n".join(verdict.faults)
