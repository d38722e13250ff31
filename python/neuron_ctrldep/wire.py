"""How edges are spelled on the wire: the names HLO and MLIR share. Pure Python; no protobuf, no MLIR.

An edge travels in one of two carriers: as an operand of a wire op (a custom call to :data:`TARGET`), or as frontend
attributes on its two ends, where no operand can hold it.
"""

from __future__ import annotations

from collections.abc import Iterable

TARGET = "AwsNeuronControlDep"
"""The custom call target that marks a wire op; nothing else does (seed, ``hilo::isControlDep``)."""

API_VERSION = 1
"""``API_VERSION_ORIGINAL`` (seed: ``api_version = 1``)."""

HAS_CONTROL_DEPS = "has_control_deps"
"""Frontend attribute of a module in which edges were reified; its value is ``"1"`` (seed, phase 3)."""

FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
"""The MLIR attribute in which XLA's importer keeps HLO frontend attributes: a dictionary of strings."""

ID = "ctrldep.id"
"""Frontend attribute of a predecessor whose edges no operand carries: its id, unique in the module."""

AFTER = "ctrldep.after"
"""Frontend attribute of a successor: the ids of its predecessors, in order, joined with ``,``."""

DONE_ID = "ctrldep.done.id"
"""As :data:`ID`, put on a start but meant for the done that belongs to it."""

DONE_AFTER = "ctrldep.done.after"
"""As :data:`AFTER`, put on a start but meant for the done that belongs to it."""

NAME = "ctrldep.name"
"""Frontend attribute that keeps an HLO instruction's name where its location would lose it."""

BARRIER = "ctrldep.barrier"
"""Frontend attribute of an optimization barrier that stands for a wire op: predecessors first, data last."""


def parse_ids(text: str) -> list[str]:
    """The ids in an ``after`` list, in order."""
    return [part for part in text.split(",") if part]


def format_ids(ids: Iterable[str]) -> str:
    """The inverse of :func:`parse_ids`."""
    return ",".join(ids)
