"""The passes by name. A pass module is imported only when its pass is asked for."""

from __future__ import annotations

import importlib

from neuron_ctrldep.errors import PipelineError
from neuron_ctrldep.passes.base import Pass, option_types

ENTRY_POINT_GROUP = "neuron_ctrldep.passes"
"""Other packages register passes here: entry point name = pass name, value = ``module:Class``."""

_CONTROL = "neuron_ctrldep.passes"
_TASK = "neuron_ctrldep.task"

BUILTIN: dict[str, str] = {
    "flatten-control-dep-tuple-operands": f"{_CONTROL}.flatten:FlattenMhlo",
    "stablehlo-flatten-control-dep-tuple-operands": f"{_CONTROL}.flatten:FlattenStablehlo",
    "verify-control-deps": f"{_CONTROL}.verify:VerifyControlDeps",
    "strip-control-deps": f"{_CONTROL}.strip:StripControlDeps",
    "prune-control-deps": f"{_CONTROL}.prune:PruneControlDeps",
    "control-deps-to-optimization-barrier": f"{_CONTROL}.optimization_barrier:ControlDepsToOptimizationBarrier",
    "verify-task": f"{_TASK}.verify:VerifyTask",
    "derive-call-directions": f"{_TASK}.directions:DeriveCallDirections",
    "auto-derive-task-dependencies": f"{_TASK}.derive:AutoDeriveTaskDependencies",
    "materialize-runtime-scopes": f"{_TASK}.scopes:MaterializeRuntimeScopes",
    "expand-manual-phase-fence": f"{_TASK}.phase_fence:ExpandManualPhaseFence",
    "convert-tasks-to-control-deps": f"{_TASK}.to_control_deps:ConvertTasksToControlDeps",
}
"""Pass name to ``module:Class``."""


def _targets() -> dict[str, str]:
    """All registered names with their targets, this package's first, then entry points by name.

    Raises:
        PipelineError: two passes claim one name.
    """
    from importlib.metadata import entry_points  # takes as long to import as all that is imported here

    targets = dict(BUILTIN)
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: (p.name, p.value)):
        if point.name in targets and targets[point.name] != point.value:
            raise PipelineError(
                f"two passes are registered as '{point.name}': {targets[point.name]} and {point.value}; "
                "rename one of them or uninstall its package"
            )
        targets[point.name] = point.value
    return targets


def names() -> list[str]:
    """The names of all registered passes, in registration order."""
    return list(_targets())


def target(name: str) -> str | None:
    """Where the pass ``name`` is, as ``module:Class``; ``None`` when there is none. Nothing is imported.

    Raises:
        PipelineError: two passes claim one name.
    """
    return BUILTIN.get(name) or _targets().get(name)


def find(name: str) -> type[Pass] | None:
    """The pass class registered as ``name``, imported now; ``None`` when there is none.

    Raises:
        PipelineError: its module cannot be imported, or holds something else.
    """
    place = target(name)
    if place is None:
        return None
    module, _, attribute = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # a module of another package may do anything when it is imported
        raise PipelineError(f"pass '{name}' cannot be loaded from {place}: {_words(error)}") from error
    if not (isinstance(found, type) and issubclass(found, Pass)):
        raise PipelineError(f"pass '{name}': {place} is not a Pass")
    try:
        option_types(found)
    except Exception as error:
        raise PipelineError(f"pass '{name}': the types of the options of {place} cannot be read: {error}") from error
    missing = [word for word in ("name", "summary") if not hasattr(found, word)] + sorted(found.__abstractmethods__)
    if missing:
        raise PipelineError(f"pass '{name}': {place} does not define {', '.join(missing)}")
    return found


def _words(error: BaseException) -> str:
    return "it ends the process" if isinstance(error, SystemExit) else str(error)
