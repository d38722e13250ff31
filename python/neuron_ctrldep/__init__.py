"""Control dependencies that survive a compiler.

    >>> import neuron_ctrldep as nc
    >>> module = nc.load("program.hlo")             # HLO or MLIR: a path, bytes, or a JAX object
    >>> report = nc.preserve_control_deps(module)   # each control edge becomes an operand
    >>> mlir = nc.import_hlo(module)                # StableHLO (or dialect="mhlo")
    >>> nc.run(mlir, "builtin.module(canonicalize,stablehlo-flatten-control-dep-tuple-operands)")
    >>> print(nc.to_penguin(mlir))                  # Penguin Python with its add_dep_edge calls

or all of it at once: ``nc.lower("program.hlo").penguin()``; ``nc.check("program.hlo")`` proves that nothing was lost.
Names are imported when they are first used, so that ``import neuron_ctrldep`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neuron_ctrldep import task
    from neuron_ctrldep.chain import CheckResult, Lowered, Options, check, lower
    from neuron_ctrldep.control_dep import ControlDep, control_edges, is_control_dep
    from neuron_ctrldep.edges import DependencyEdge, DependencyGraph, EdgeKind
    from neuron_ctrldep.errors import CtrlDepError, InputError, PassError, PipelineError
    from neuron_ctrldep.hlo.importer import export_hlo, import_hlo
    from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
    from neuron_ctrldep.loading import load
    from neuron_ctrldep.passes.base import Pass
    from neuron_ctrldep.passes.pipeline import add_to_pass_manager
    from neuron_ctrldep.passes.pipeline import run_pipeline as run
    from neuron_ctrldep.penguin.printer import print_penguin as to_penguin

_EXPORTS = {
    "CheckResult": "chain",
    "ControlDep": "control_dep",
    "CtrlDepError": "errors",
    "DependencyEdge": "edges",
    "DependencyGraph": "edges",
    "EdgeKind": "edges",
    "InputError": "errors",
    "Lowered": "chain",
    "Options": "chain",
    "Pass": "passes.base",
    "PassError": "errors",
    "PipelineError": "errors",
    "add_to_pass_manager": "passes.pipeline",
    "check": "chain",
    "control_edges": "control_dep",
    "export_hlo": "hlo.importer",
    "import_hlo": "hlo.importer",
    "is_control_dep": "control_dep",
    "load": "loading",
    "lower": "chain",
    "preserve_control_deps": "hlo.preserve_control_deps",
    "run": "passes.pipeline:run_pipeline",
    "to_penguin": "penguin.printer:print_penguin",
}
"""Public name to the module that defines it, with the name it has there when that differs."""

__all__ = [
    "CheckResult",
    "ControlDep",
    "CtrlDepError",
    "DependencyEdge",
    "DependencyGraph",
    "EdgeKind",
    "InputError",
    "Lowered",
    "Options",
    "Pass",
    "PassError",
    "PipelineError",
    "add_to_pass_manager",
    "check",
    "control_edges",
    "export_hlo",
    "import_hlo",
    "is_control_dep",
    "load",
    "lower",
    "preserve_control_deps",
    "run",
    "task",
    "to_penguin",
]


def __getattr__(name: str) -> Any:
    if name == "task":
        return importlib.import_module(f"{__name__}.task")
    target = _EXPORTS.get(name)
    if target is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = target.partition(":")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
