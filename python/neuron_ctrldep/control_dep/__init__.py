"""The wire op and the edges it carries: recognise, view, build, read back."""

from neuron_ctrldep.control_dep.edges import ControlEdge, ControlEdges, UncountedEdge
from neuron_ctrldep.control_dep.op import (
    CUSTOM_CALLS,
    ControlDep,
    build_control_dep,
    fault_of,
    frontend_attributes,
    is_control_dep,
)
from neuron_ctrldep.control_dep.reader import control_edges, read_edges
from neuron_ctrldep.control_dep.structure import (
    called_functions,
    instruction_name,
    is_constant,
    is_transparent,
    main_function,
    producers,
    reachable_functions,
)

__all__ = [
    "CUSTOM_CALLS",
    "ControlDep",
    "ControlEdge",
    "ControlEdges",
    "UncountedEdge",
    "build_control_dep",
    "called_functions",
    "control_edges",
    "fault_of",
    "frontend_attributes",
    "instruction_name",
    "is_constant",
    "is_control_dep",
    "is_transparent",
    "main_function",
    "producers",
    "reachable_functions",
    "read_edges",
]
