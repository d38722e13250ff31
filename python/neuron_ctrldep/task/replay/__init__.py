"""Run task programs on the model of ``task.md`` section 1, with loops unrolled: the judge of the analysis.

It shares no code with :mod:`~neuron_ctrldep.task.derive`: storage is byte addresses compared by numpy's exact overlap
solver, order is a set of completed instances behind each task id.
"""

from neuron_ctrldep.task.replay.handlers import Unsupported
from neuron_ctrldep.task.replay.interpreter import run
from neuron_ctrldep.task.replay.model import Access, Instance, Run, Step, is_ordered

__all__ = ["Access", "Instance", "Run", "Step", "Unsupported", "is_ordered", "run"]
