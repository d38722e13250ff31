"""The passes by name. A pass module is imported only when its pass is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from neuron_ctrldep.errors import PipelineError
from neuron_ctrldep.passes.base import Pass, default_of, option_types

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


def claims() -> dict[str, list[str]]:
    """All registered names, this package's first, then entry points by name; each with the targets that claim it.

    The first target of a name of this package is its own, and is the one that counts.
    """
    from importlib.metadata import entry_points  # takes as long to import as all that is imported here

    found = {name: [place] for name, place in BUILTIN.items()}
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: (p.name, p.value)):
        places = found.setdefault(point.name, [])
        if point.value not in places:
            places.append(point.value)
    return found


def names() -> list[str]:
    """The names of all registered passes, in registration order."""
    return list(claims())


def target(name: str) -> str | None:
    """Where the pass ``name`` is, as ``module:Class``; ``None`` when there is none. Nothing is imported.

    Raises:
        PipelineError: two other packages claim the name.
    """
    if name in BUILTIN:
        return BUILTIN[name]
    places = claims().get(name, [])
    if len(places) > 1:
        raise PipelineError(
            f"two passes are registered as '{name}': {' and '.join(places)}; rename one or uninstall its package"
        )
    return places[0] if places else None


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
    fault = _fault(found)
    if fault:
        raise PipelineError(f"pass '{name}': {place} is not sound: {fault}")
    return found


def _fault(cls: type[Pass]) -> str:
    """What would fail later, where nothing can be told of it: class variables of other types, defaults that raise."""
    for word in ("name", "summary", "description", "anchor"):
        if not isinstance(getattr(cls, word), str):
            return f"its {word} is not a str"
    counters = cls.counters
    if not (isinstance(counters, Mapping) and all(isinstance(word, str) for word in (*counters, *counters.values()))):
        return "its counters are not a mapping of str to str"
    for key, option in cls.options().items():
        try:
            default_of(option)
        except (Exception, SystemExit) as error:
            return f"the default of its option {key} cannot be made: {_words(error)}"
    return ""


def _words(error: BaseException) -> str:
    return "it ends the process" if isinstance(error, SystemExit) else str(error)
