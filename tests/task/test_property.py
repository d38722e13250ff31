"""Section 8 of task.md on random programs: no pass takes an ordering away, no added edge is implied by others."""

import os

import pytest

from tests.generators.task import TaskProgram
from tests.task.judge import judge

PROGRAMS = int(os.environ.get("CTRLDEP_TASK_PROGRAMS", "500"))
BATCH = 25

JOINTLY = (993, 1002, 1210, 1516, 1537, 1677, 1751, 1829, 1941)
JOINTLY += (2195, 2545, 2593, 2882, 2898, 3414, 3535, 4110, 4207, 4584)
"""Programs in which two edges together imply what neither does alone, through branches and loops inside loops."""


def check(seed):
    program = TaskProgram(seed)
    verdict = judge(program.text)
    assert not verdict.faults, f"seed {seed}:\n{program.text}\n" + "\n".join(verdict.faults)


@pytest.mark.parametrize("start", range(0, PROGRAMS, BATCH))
def test_the_passes_keep_every_ordering(start):
    for seed in range(start, min(start + BATCH, PROGRAMS)):
        check(seed)


@pytest.mark.parametrize("seed", JOINTLY)
def test_no_edge_is_added_that_others_imply_together(seed):
    check(seed)
