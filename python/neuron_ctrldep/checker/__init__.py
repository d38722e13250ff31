"""Prove that no ordering was lost: compare every edge of a source with the program that was emitted for it.

The judge shares nothing with the passes it judges but names: it reads the source's own operands and control edges, and
the emitted text through :mod:`neuron_ctrldep.penguin.reader`. ``spec/control-dep.md`` section 6 is what it proves.
"""

from neuron_ctrldep.checker.from_hlo import of_hlo
from neuron_ctrldep.checker.from_mlir import of_mlir
from neuron_ctrldep.checker.from_penguin import of_program
from neuron_ctrldep.checker.judge import CheckedEdge, Checker, render, summary

__all__ = ["CheckedEdge", "Checker", "of_hlo", "of_mlir", "of_program", "render", "summary"]
