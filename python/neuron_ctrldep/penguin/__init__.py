"""Penguin Python: printer, model, restricted reader.

``print_penguin(module)`` prints an MLIR module, ``read_penguin(text)`` reads the text back as a :class:`Program` and
executes nothing, ``schedule(function, seed)`` is an order in which its operations can run. Only the printer needs MLIR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_ctrldep.penguin.model import (
    Constant,
    DebugLocation,
    DependencyEdge,
    EdgeKind,
    Function,
    Operation,
    Parameter,
    Program,
    Tensor,
    Weight,
    bir_dependencies,
)
from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.penguin.scheduling import dependency_graph, schedule

if TYPE_CHECKING:
    from neuron_ctrldep.penguin.printer import edge_list, print_penguin

__all__ = [
    "Constant",
    "DebugLocation",
    "DependencyEdge",
    "EdgeKind",
    "Function",
    "Operation",
    "Parameter",
    "Program",
    "Tensor",
    "Weight",
    "bir_dependencies",
    "dependency_graph",
    "edge_list",
    "print_penguin",
    "read_penguin",
    "schedule",
]


def __getattr__(name: str) -> Any:
    if name in ("edge_list", "print_penguin"):
        from neuron_ctrldep.penguin import printer

        return getattr(printer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
