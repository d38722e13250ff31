"""What a reader of edges says: the edges it found, and what looks like one and is none, with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from neuron_ctrldep.edges import EdgeKind
from neuron_ctrldep.mlir import ir

Carrier = Literal["operand", "attribute"]


@dataclass(frozen=True, slots=True)
class ControlEdge:
    """``dst`` is ordered after ``src``; both are instructions (not transparent) of one block."""

    src: ir.Operation
    dst: ir.Operation
    carrier: Carrier
    kind: EdgeKind = EdgeKind.ORDERED
    module: ir.Operation | ir.Module | None = field(default=None, repr=False, compare=False)
    """What owns ``src`` and ``dst``: kept, because they are freed with it."""


@dataclass(frozen=True, slots=True)
class UncountedEdge:
    """An edge that is written in the module but is none, and why. An end that is not there has an empty name."""

    src: str
    dst: str
    reason: str


@dataclass(frozen=True, slots=True)
class ControlEdges:
    """All edges of the functions that main reaches, and all that was found and is none.

    ``edges`` are sorted by successor in program order, then operand edges in operand order, then attribute edges by id.
    """

    edges: list[ControlEdge]
    uncounted: list[UncountedEdge]


BLOCK_ARGUMENT = "the predecessor is there before the block runs"
CONSTANT_PREDECESSOR = "the predecessor is a constant"
PREDECESSOR_REMOVED = "the predecessor was removed as dead"
SUCCESSOR_REMOVED = "the successor was removed as dead or folded away"
SUCCESSOR_TERMINATOR = "the successor is a terminator: everything in the block precedes it"
WIRE_UNUSED = "nothing uses what the control dependency forwards"
UNREACHED = "the function is not reached from main"
SAME_OPERATION = "the predecessor is the successor itself"
SUCCESSOR_ARGUMENT = "the successor is there before the block runs; what reads it waits instead"
DONE_MERGED = "start and done became one operation that already precedes the predecessor"
