"""``verify-task``: every rule of the task dialect, with all faults reported at their ops in program order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, PassError
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.task.attributes import get_attribute, text_of
from neuron_ctrldep.task.dialect import (
    ALIASES,
    AUTO_MANUAL,
    AUTO_SCOPE,
    BRANCHES,
    DIRECTION,
    DIRECTIONS,
    GROUP,
    HAZARDS,
    KIND,
    LEGAL_ARG_DIRECTIONS,
    LOOPS,
    OPS,
    OWNER,
    SCALAR,
    SCOPE,
    Submit,
    Task,
    is_storage,
    ops_of,
    walk,
)
from neuron_ctrldep.task.loops import dimensions
from neuron_ctrldep.task.program import (
    Kernel,
    Orchestration,
    Scope,
    TaskModule,
    enclosing_scopes,
    entry_attributes,
    fits,
    text_attribute,
)


def verify_task_module(
    module: ir.Operation | ir.Module, *, source: str | None = None, error: type[CtrlDepError] = InputError
) -> None:
    """Check all rules of the task dialect on a module that MLIR's own verifier accepts.

    Args:
        module: a ``builtin.module``.
        source: the text it was parsed from, for the source lines in the messages.
        error: what to raise.

    Raises:
        InputError: (or ``error``) with one diagnostic for each fault, in program order.
    """
    faults = list(task_faults(module.operation))
    if faults:
        raise error(diagnostics=faults, source=source)


def task_faults(module: ir.Operation) -> Iterator[Diagnostic]:
    """The faults :func:`verify_task_module` raises, as diagnostics."""
    tasks = TaskModule.of(module)
    orchestrated = {function.operation for function in tasks.orchestrations.values()}
    in_orchestration = False
    for op in walk(module):
        if op.name == "func.func":
            in_orchestration = op in orchestrated
        for message in _faults(op, tasks, in_orchestration):
            yield _at(op, message)


def _at(op: ir.Operation, message: str) -> Diagnostic:
    name = text_attribute(op, "task.name") or text_attribute(op, "sym_name")
    named = f" ({name!r})" if name is not None and source_location(op.location) is None else ""
    return Diagnostic("error", f"'{op.name}' op{named} {message}", source_location(op.location))


def _faults(op: ir.Operation, tasks: TaskModule, in_orchestration: bool) -> Iterator[str]:
    name = op.name
    if name.startswith("task."):
        definition = OPS.get(name)
        if definition is None:
            yield f"is not an op of the task dialect; it has {', '.join(OPS)}"
            return
        structural = list(definition.faults(op))
        yield from structural
        if structural:
            return
    elif name == "func.func":
        yield from _function_faults(op, tasks)
    elif name in LOOPS:
        yield from _step_faults(op)
    task = tasks.task(op)
    if task is not None:
        yield from _task_faults(task, tasks)
    attributes = op.attributes
    if SCOPE in attributes or OWNER in attributes:
        yield from _scope_faults(op)
    if AUTO_MANUAL in attributes:
        yield from _mark_faults(op)
    for region in op.regions:
        yield from _block_faults(region, in_orchestration)


def _block_faults(region: ir.Region, in_orchestration: bool) -> Iterator[str]:
    blocks = list(region.blocks)
    if in_orchestration and len(blocks) > 1:
        yield "has several blocks; an orchestration function is written with structured control flow (scf) only"
    for block in blocks:
        try:
            ir.InsertionPoint.at_block_terminator(block)
        except ValueError:
            # To MLIR an op that it does not know may well be a terminator.
            last = ops_of(block)[-1:]
            if last and last[0].name.startswith("task."):
                yield f"has a block that ends with '{last[0].name}', not with a terminator such as scf.yield"


# --- functions --------------------------------------------------------------------------------------------------------


def _function_faults(op: ir.Operation, tasks: TaskModule) -> Iterator[str]:
    attributes = op.attributes
    kind = text_attribute(op, KIND)
    if KIND in attributes and kind not in ("kernel", "orchestration"):
        yield f'attribute \'{KIND}\' must be "kernel" or "orchestration"; found {attributes[KIND]}'
    if AUTO_SCOPE in attributes and not isinstance(attributes[AUTO_SCOPE], ir.BoolAttr):
        yield f"attribute '{AUTO_SCOPE}' must be true or false; found {attributes[AUTO_SCOPE]}"
    if GROUP in attributes and not isinstance(attributes[GROUP], ir.UnitAttr):
        yield f"attribute '{GROUP}' must be a unit attribute; found {attributes[GROUP]}"
    function: Kernel | Orchestration | None
    name = text_of(attributes["sym_name"])
    function = tasks.kernels.get(name) if kind == "kernel" else tasks.orchestrations.get(name)
    if function is None or function.operation != op:
        return
    for index, entry in enumerate(function.parameter_attributes):
        if DIRECTION in entry and function.declared_directions[index] is None:
            choices = ", ".join(f'"{choice}"' for choice in DIRECTIONS)
            yield f"parameter #{index}: '{DIRECTION}' must be one of {choices}; found {entry[DIRECTION]}"
        elif (
            isinstance(function, Kernel)
            and is_storage(function.parameter_types[index])
            and function.directions[index] is None
        ):
            yield f"parameter #{index} is storage and needs a '{DIRECTION}': what the kernel does with it"
    if isinstance(function, Kernel):
        yield from _alias_faults(function)


def _alias_faults(kernel: Kernel) -> Iterator[str]:
    for index, entry in enumerate(entry_attributes(kernel.operation, "res_attrs", len(kernel.result_types))):
        if ALIASES not in entry:
            continue
        parameter = kernel.explicit_aliases[index]
        if parameter is None or not 0 <= parameter < len(kernel.parameter_types):
            yield (
                f"result #{index}: '{ALIASES}' must be the index of one of the {len(kernel.parameter_types)} "
                f"parameters; found {entry[ALIASES]}"
            )
        elif not is_storage(kernel.result_types[index]) or not fits(
            kernel.result_types[index], kernel.parameter_types[parameter]
        ):
            yield (
                f"result #{index}: '{ALIASES}' says that parameter #{parameter} is handed back, but "
                f"{kernel.result_types[index]} does not fit {kernel.parameter_types[parameter]}"
            )


# --- tasks ------------------------------------------------------------------------------------------------------------


def _task_faults(task: Task, tasks: TaskModule) -> Iterator[str]:
    if not isinstance(task, Submit):
        structural = list(type(task).faults(task.operation))
        yield from structural
        if structural:
            return
    kernel = tasks.kernels.get(task.callee)
    if kernel is None:
        yield (
            f'runs @{task.callee}, which is not a kernel ({KIND} = "kernel")'
            if task.callee in tasks.functions
            else f"runs @{task.callee}, which does not exist in this module"
        )
        return
    arguments = [argument.type for argument in task.args]
    if isinstance(task, Submit):  # of a call, MLIR's own verifier checks this
        yield from _signature_faults("argument", arguments, kernel.parameter_types, kernel)
        outputs = [output.type for output in task.outputs]
        yield from _signature_faults("result", outputs, kernel.result_types, kernel)
        yield from _hazard_faults(task)
    if len(arguments) != len(kernel.parameter_types):
        return
    yield from _direction_faults(task, kernel, arguments)
    for slot in task.arg_direction_overrides or ():
        if not 0 <= slot < len(arguments):
            yield f"'arg_direction_overrides' names slot {slot}; there are {len(arguments)} arguments"
        elif not is_storage(arguments[slot]):
            yield f"'arg_direction_overrides' names slot {slot}, which is not storage: {arguments[slot]}"


def _signature_faults(what: str, found: list[ir.Type], expected: list[ir.Type], kernel: Kernel) -> Iterator[str]:
    if len(found) != len(expected):
        yield f"has {len(found)} {what}(s), but @{kernel.name} has {len(expected)}"
        return
    for index, (given, wanted) in enumerate(zip(found, expected, strict=True)):
        if not fits(given, wanted):
            yield f"{what} #{index} of @{kernel.name} must be {wanted}, in any layout; found {given}"


def _direction_faults(task: Task, kernel: Kernel, arguments: list[ir.Type]) -> Iterator[str]:
    directions = task.arg_directions
    if directions is None:
        return
    if len(directions) != len(arguments):
        yield f"'arg_directions' has {len(directions)} entries; there are {len(arguments)} arguments"
        return
    for index, (direction, type_) in enumerate(zip(directions, arguments, strict=True)):
        declared = kernel.directions[index]
        if not is_storage(type_):
            if direction != SCALAR:
                yield f"argument #{index} is not storage, so its direction is {SCALAR}; found {direction}"
        elif declared is not None and direction not in LEGAL_ARG_DIRECTIONS[declared]:
            legal = ", ".join(LEGAL_ARG_DIRECTIONS[declared])
            yield f"argument #{index} is '{declared}' in @{kernel.name}: expected {legal}; found {direction}"


def _hazard_faults(task: Submit) -> Iterator[str]:
    hazards = task.compiler_dep_hazards
    if hazards is None:
        return
    if len(hazards) != len(task.compiler_deps):
        yield f"'compiler_dep_hazards' has {len(hazards)} entries; there are {len(task.compiler_deps)} compiler_deps"
    for entry in hazards:
        kinds = entry.split("+")
        if kinds != [kind for kind in HAZARDS if kind in kinds]:
            yield f"'compiler_dep_hazards': expected {', '.join(HAZARDS)}, joined by + in this order; found \"{entry}\""


# --- scopes and loops -------------------------------------------------------------------------------------------------


def _scope_faults(op: ir.Operation) -> Iterator[str]:
    scope = Scope.of(op)
    if scope is None:
        yield f"'{SCOPE}' and '{OWNER}' belong on a scf.execute_region that is a scope"
        return
    mode = text_attribute(op, SCOPE)
    if mode not in ("auto", "manual"):
        yield f'attribute \'{SCOPE}\' must be "auto" or "manual"; found {op.attributes[SCOPE]}'
    if OWNER in op.attributes and text_attribute(op, OWNER) != "compiler":
        yield f"attribute '{OWNER}' must be \"compiler\" or absent; found {op.attributes[OWNER]}"
    if "no_inline" not in op.attributes:
        yield "is a scope and needs no_inline, or canonicalization dissolves it"
    if mode == "auto" and any(outer.mode == "manual" for outer in enclosing_scopes(op)):
        yield "is an AUTO scope inside a MANUAL one; make it MANUAL, or move it out"


def _step_faults(op: ir.Operation) -> Iterator[str]:
    for dimension in dimensions(op):
        step = dimension.step.constant
        if step is not None and step < 1:
            yield f"has the step {step}; a step is at least 1"


def _mark_faults(op: ir.Operation) -> Iterator[str]:
    mark = get_attribute(op, AUTO_MANUAL)
    if op.name in BRANCHES:
        if not isinstance(mark, ir.DenseBoolArrayAttr) or len(list(mark)) != len(op.regions):
            yield f"attribute '{AUTO_MANUAL}' must be array<i1> with one entry per region; found {mark}"
    elif op.name != "func.func" and op.name not in LOOPS:
        yield f"attribute '{AUTO_MANUAL}' belongs on a function, a loop or a branch"
    elif not isinstance(mark, ir.UnitAttr):
        yield f"attribute '{AUTO_MANUAL}' must be a unit attribute; found {mark}"


@dataclass(frozen=True)
class VerifyTask(Pass):
    """The pass; see :func:`verify_task_module`."""

    name: ClassVar[str] = "verify-task"
    summary: ClassVar[str] = "Check the rules of the task dialect"
    description: ClassVar[str] = """\
Changes nothing. Reports each op that breaks a rule of the task dialect: its structure, callees that are not kernels,
arguments and results that do not fit the kernel, directions that do not fit the parameter, an AUTO scope inside a
MANUAL one, a loop step that is a constant below 1, and malformed task attributes.

```mlir
// Rejected: @W declares its parameter "out".
func.call @W(%s) {arg_directions = ["Input"]} : (tensor<64xf32>) -> tensor<64xf32>
```
"""

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Raise what is wrong with ``op``."""
        verify_task_module(op, error=PassError)
