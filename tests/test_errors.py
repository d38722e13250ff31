"""Faults as objects: what a program that catches them, or sends them to another process, relies on."""

from __future__ import annotations

import pickle

import pytest

from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, PassError, PipelineError, SourceLocation


@pytest.mark.parametrize("kind", [InputError, PassError, PipelineError])
def test_a_fault_is_the_same_in_another_process(kind: type[CtrlDepError]) -> None:
    note = Diagnostic("note", "here", SourceLocation("a.mlir", 2, 1))
    error = kind("wrong", location=SourceLocation("a.mlir", 1, 3), notes=[note], source="one\ntwo\n")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.render(), again.diagnostics) == (str(error), error.render(), error.diagnostics)
    assert str(error).startswith("a.mlir:1:3: error: wrong")
