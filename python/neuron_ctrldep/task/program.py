"""Typed views of a module with tasks: kernels, orchestration functions, scopes, and the tasks between them.

A :class:`TaskModule` is read once from a module and answers all lookups by name in constant time. It is a snapshot of
the *functions*; the bodies of orchestration functions may be rewritten while it is in use.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.task.attributes import get_attribute, text_of
from neuron_ctrldep.task.dialect import (
    ALIASES,
    AUTO_SCOPE,
    DIRECTION,
    DIRECTIONS,
    FALLBACK,
    GROUP,
    KIND,
    OWNER,
    SCOPE,
    Direction,
    PlainTask,
    ScopeMode,
    Submit,
    Task,
    is_storage,
    ops_of,
    walk,
)
from neuron_ctrldep.task.origins import Origins


def text_attribute(op: ir.Operation, name: str) -> str | None:
    """The value of the string attribute ``name``; ``None`` when it is absent or no string."""
    attribute = get_attribute(op, name)
    return text_of(attribute) if isinstance(attribute, ir.StringAttr) else None


def entry_attributes(op: ir.Operation, which: str, count: int) -> list[dict[str, ir.Attribute]]:
    """The attributes of each parameter (``which="arg_attrs"``) or result (``"res_attrs"``) of a function."""
    attributes = op.attributes
    if which not in attributes:
        return [{} for _ in range(count)]
    return [{entry.name: entry.attr for entry in dictionary} for dictionary in attributes[which]]


class _Function:
    """What kernels and orchestration functions share."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        function_type = operation.attributes["function_type"].value
        self.name: str = text_of(operation.attributes["sym_name"])
        """The symbol, without ``@``."""
        self.parameter_types: list[ir.Type] = list(function_type.inputs)
        self.result_types: list[ir.Type] = list(function_type.results)
        self.parameter_attributes = entry_attributes(operation, "arg_attrs", len(self.parameter_types))
        self.declared_directions: tuple[Direction | None, ...] = tuple(
            _direction(attributes) for attributes in self.parameter_attributes
        )
        """``task.direction`` of each parameter as written; ``None`` where it is absent."""

    @property
    def has_body(self) -> bool:
        """Whether it is a definition rather than a declaration."""
        return len(self.operation.regions[0].blocks) != 0

    @property
    def body(self) -> ir.Block:
        """The entry block."""
        return self.operation.regions[0].blocks[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(@{self.name})"


def _direction(attributes: dict[str, ir.Attribute]) -> Direction | None:
    attribute = attributes.get(DIRECTION)
    text = text_of(attribute) if isinstance(attribute, ir.StringAttr) else None
    return next((direction for direction in DIRECTIONS if direction == text), None)


class Kernel(_Function):
    """A ``func.func`` with ``task.kind = "kernel"``."""

    def __init__(self, operation: ir.Operation) -> None:
        super().__init__(operation)
        self.is_group = GROUP in operation.attributes
        """Whether it is a wrapper that only forwards its parameters to other kernels."""
        self.directions: tuple[Direction | None, ...] = self.declared_directions
        """The effective direction of each parameter: declared, joined with what the kernels inside a wrapper do."""
        self.aliases: tuple[int | None, ...] = ()
        """For each result the parameter it hands back; ``None``: no storage, or storage that is not known."""

    @cached_property
    def explicit_aliases(self) -> tuple[int | None, ...]:
        """``task.aliases`` of each result as written."""
        return tuple(
            attributes[ALIASES].value if isinstance(attributes.get(ALIASES), ir.IntegerAttr) else None
            for attributes in entry_attributes(self.operation, "res_attrs", len(self.result_types))
        )


class Orchestration(_Function):
    """A ``func.func`` with ``task.kind = "orchestration"``."""

    @property
    def auto_scope(self) -> bool:
        """Whether scopes are still to be placed by the compiler."""
        attributes = self.operation.attributes
        return attributes[AUTO_SCOPE].value if AUTO_SCOPE in attributes else True

    @auto_scope.setter
    def auto_scope(self, value: bool) -> None:
        self.operation.attributes[AUTO_SCOPE] = ir.BoolAttr.get(value, self.operation.context)

    @property
    def fallback(self) -> str | None:
        """Why its virtual region fell back, if it did."""
        return text_attribute(self.operation, FALLBACK)


@dataclass(frozen=True)
class Scope:
    """A ``scf.execute_region`` with ``task.scope``."""

    operation: ir.Operation

    @classmethod
    def of(cls, op: ir.Operation | ir.OpView) -> Scope | None:
        """The scope that ``op`` is, if it is one."""
        operation = op.operation
        if operation.name == "scf.execute_region" and SCOPE in operation.attributes:
            return cls(operation)
        return None

    @property
    def mode(self) -> ScopeMode:
        """``"auto"`` or ``"manual"``."""
        return "manual" if text_attribute(self.operation, SCOPE) == "manual" else "auto"

    @property
    def by_compiler(self) -> bool:
        """Whether a pass made it."""
        return text_attribute(self.operation, OWNER) == "compiler"

    @property
    def fallback(self) -> str | None:
        """Why its region of analysis fell back, if it did."""
        return text_attribute(self.operation, FALLBACK)


def enclosing_scopes(op: ir.Operation) -> Iterator[Scope]:
    """The scopes around ``op``, innermost first."""
    parent = op.parent
    while parent is not None:
        scope = Scope.of(parent)
        if scope is not None:
            yield scope
        parent = parent.operation.parent


class TaskModule:
    """The functions of a module by what they are; see the text of this file."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        self.functions: dict[str, ir.Operation] = {}
        """All functions of the module by symbol."""
        self.kernels: dict[str, Kernel] = {}
        """All kernels by symbol, in program order."""
        self.orchestrations: dict[str, Orchestration] = {}
        """All orchestration functions by symbol, in program order."""
        for op in ops_of(operation.regions[0].blocks[0]):
            if op.name != "func.func":
                continue
            name = text_of(op.attributes["sym_name"])
            self.functions[name] = op
            kind = text_attribute(op, KIND)
            if kind == "kernel":
                self.kernels[name] = Kernel(op)
            elif kind == "orchestration":
                self.orchestrations[name] = Orchestration(op)
        self._resolve_aliases()
        self._resolve_directions()

    @classmethod
    def of(cls, module: ir.Operation | ir.Module) -> TaskModule:
        """Read ``module``, a ``builtin.module`` that verifies."""
        return cls(module.operation)

    def task(self, op: ir.Operation | ir.OpView) -> Task | None:
        """The task that ``op`` is, if it is one: a submit, or a call to a kernel."""
        operation = op.operation
        if operation.name == Submit.op_name:
            return Submit(operation)
        if operation.name == PlainTask.op_name and text_of(operation.attributes["callee"]) in self.kernels:
            return PlainTask(operation)
        return None

    def tasks(self, root: ir.Operation | _Function) -> Iterator[Task]:
        """The tasks below ``root`` in program order. The one last yielded may be replaced meanwhile."""
        for op in walk(root.operation):
            task = self.task(op)
            if task is not None:
                yield task

    def kernel(self, task: Task) -> Kernel:
        """The kernel that ``task`` runs; it exists in a module that passed ``verify-task``."""
        return self.kernels[task.callee]

    # --- calls ---

    def calls(self, root: ir.Operation) -> list[str]:
        """The functions called below ``root`` that are no kernels."""
        called = [text_of(op.attributes["callee"]) for op in walk(root) if op.name == "func.call"]
        return [name for name in dict.fromkeys(called) if name not in self.kernels]

    def reached(self, names: Iterable[str]) -> list[str]:
        """The functions ``names`` and all that they call, kernels apart."""
        found = dict.fromkeys(names)
        stack = list(found)
        while stack:
            function = self.functions.get(stack.pop())
            for name in self.calls(function) if function is not None else ():
                if name not in found:
                    found[name] = None
                    stack.append(name)
        return list(found)

    def may_submit(self, names: Iterable[str]) -> bool:
        """Whether a call of one of the functions ``names`` may submit tasks, as far as their bodies say."""
        bodies = [self.functions[name] for name in self.reached(names) if name in self.functions]
        return any(self.task(op) is not None for body in bodies for op in walk(body))

    # --- what bodies of kernels say -----------------------------------------------------------------------------------

    def _resolve_aliases(self) -> None:
        """``task.aliases``; else, with a body, its return; else the out and inout parameters in order."""
        # Callees first, so that a return that forwards a call's result finds that callee's aliases. Members of a cycle
        # of calls see an unresolved callee as one without aliases: that loses precision, never a hazard.
        for kernel in self._callees_first():
            derived: tuple[int | None, ...]
            derived = self._returned_parameters(kernel) if kernel.has_body else _parameters_in_order(kernel)
            kernel.aliases = tuple(
                (explicit if explicit is not None else found) if is_storage(type_) else None
                for explicit, found, type_ in zip(kernel.explicit_aliases, derived, kernel.result_types, strict=True)
            )

    def _callees_first(self) -> list[Kernel]:
        order: list[Kernel] = []
        seen: set[str] = set()
        for root in self.kernels:
            stack: list[tuple[str, Iterator[str]]] = []
            if root not in seen:
                seen.add(root)
                stack.append((root, iter(self._inner_callees(root))))
            while stack:
                name, rest = stack[-1]
                callee = next(rest, None)
                if callee is None:
                    stack.pop()
                    order.append(self.kernels[name])
                elif callee not in seen:
                    seen.add(callee)
                    stack.append((callee, iter(self._inner_callees(callee))))
        return order

    def _inner_callees(self, name: str) -> list[str]:
        return [task.callee for task in self._inner_tasks(self.kernels[name])]

    def _inner_tasks(self, kernel: Kernel) -> list[Task]:
        """The tasks in a kernel's body; those that ``verify-task`` is going to reject are left out."""
        if not kernel.has_body:
            return []
        return [task for task in self.tasks(kernel) if self._is_sound(task)]

    def _is_sound(self, task: Task) -> bool:
        return not any(type(task).faults(task.operation)) and task.callee in self.kernels

    def _returned_parameters(self, kernel: Kernel) -> tuple[int | None, ...]:
        origins = self._origins(kernel, views=False)
        found: list[set[int | None]] = [set() for _ in kernel.result_types]
        for block in kernel.operation.regions[0].blocks:
            terminator = ir.InsertionPoint.at_block_terminator(block).ref_operation.operation
            if terminator.name == "func.return":
                for parameters, value in zip(found, terminator.operands, strict=True):
                    parameters |= origins.of(value)
        return tuple(next(iter(parameters)) if len(parameters) == 1 else None for parameters in found)

    def _origins(self, kernel: Kernel, *, views: bool) -> Origins:
        def call_alias(op: ir.Operation, result: int) -> int | None:
            task = self.task(op)
            if task is None or not self._is_sound(task):
                return None
            aliases = self.kernels[task.callee].aliases
            alias = aliases[result] if result < len(aliases) else None
            return alias if alias is not None and 0 <= alias < len(op.operands) else None

        return Origins(kernel.operation.regions[0], call_alias=call_alias, views=views)

    def _resolve_directions(self) -> None:
        """Join the directions through wrappers to the least fixed point (work list: each slot rises twice at most)."""
        effective: dict[tuple[str, int], Direction | None] = {}
        forwarded_from: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for kernel in self.kernels.values():
            for index, direction in enumerate(kernel.declared_directions):
                effective[kernel.name, index] = direction
            if kernel.is_group and kernel.has_body:
                origins = self._origins(kernel, views=True)
                for task in self._inner_tasks(kernel):
                    for slot, argument in enumerate(task.args):
                        for parameter in origins.of(argument):
                            if parameter is not None:
                                forwarded_from.setdefault((task.callee, slot), []).append((kernel.name, parameter))
        work = deque(slot for slot, direction in effective.items() if direction is not None)
        while work:
            inner = work.popleft()
            for outer in forwarded_from.get(inner, ()):
                joined = join(effective[outer], effective[inner])
                if joined != effective[outer]:
                    effective[outer] = joined
                    work.append(outer)
        for kernel in self.kernels.values():
            kernel.directions = tuple(effective[kernel.name, i] for i in range(len(kernel.parameter_types)))


def join(a: Direction | None, b: Direction | None) -> Direction | None:
    """The greater of two directions (``inout > out > in``); ``None`` is below all."""
    known: list[Direction] = [direction for direction in (a, b) if direction is not None]
    return max(known, key=DIRECTIONS.index) if known else None


def fits(argument: Any, parameter: Any) -> bool:
    """Whether storage of type ``argument`` may stand where ``parameter`` is declared: the layout may differ."""
    if argument == parameter:
        return True
    if isinstance(argument, ir.RankedTensorType) and isinstance(parameter, ir.RankedTensorType):
        return argument.shape == parameter.shape and argument.element_type == parameter.element_type
    if isinstance(argument, ir.MemRefType) and isinstance(parameter, ir.MemRefType):
        return (
            argument.shape == parameter.shape
            and argument.element_type == parameter.element_type
            # As text: the bindings refuse to compare an attribute with None, the default space.
            and str(argument.memory_space) == str(parameter.memory_space)
        )
    return False


def _parameters_in_order(kernel: Kernel) -> tuple[int | None, ...]:
    """For a kernel without a body: each result hands back the next out or inout parameter whose type fits it."""
    taken = {index for index in kernel.explicit_aliases if index is not None}
    candidates = deque(
        index
        for index, direction in enumerate(kernel.declared_directions)
        if direction in ("out", "inout") and index not in taken
    )
    found: list[int | None] = []
    for explicit, type_ in zip(kernel.explicit_aliases, kernel.result_types, strict=True):
        alias: int | None = None
        if explicit is None and is_storage(type_):
            while candidates and alias is None:
                index = candidates.popleft()
                alias = index if fits(type_, kernel.parameter_types[index]) else None
        found.append(alias)
    return tuple(found)
