"""Task programs as Penguin Python: a flat list of the tasks, and the explicit edges between them with their kinds.

Loops and branches have no statement: a task stands once, where it stands in the program, and reads every tensor that
an argument may denote. An edge from one iteration to the next has no line, as the graph would be a cycle; the task
names it in its attribute ``carried``.
"""

from __future__ import annotations

from typing import Any

from neuron_ctrldep.edges import EdgeKind
from neuron_ctrldep.mlir import entry, ir
from neuron_ctrldep.orchestration.task_edges import edges_of, task_names
from neuron_ctrldep.penguin import api, text
from neuron_ctrldep.penguin.literals import string
from neuron_ctrldep.penguin.literals import strings as string_map
from neuron_ctrldep.penguin.locations import place_of
from neuron_ctrldep.penguin.names import Names
from neuron_ctrldep.penguin.types import TensorForm, tensor_form
from neuron_ctrldep.task.dialect import Task, is_storage
from neuron_ctrldep.task.origins import Origins
from neuron_ctrldep.task.program import Orchestration, TaskModule

_KINDS = {"raw": EdgeKind.FLOW, "war": EdgeKind.ANTI, "waw": EdgeKind.OUTPUT}


def print_tasks(module: ir.Operation | ir.Module) -> str:
    """The program that builds the task graph of all orchestration functions of ``module`` in Penguin."""
    tasks = TaskModule.of(entry(module))
    printer = _Printer(tasks)
    for number, function in enumerate(tasks.orchestrations.values()):
        printer.function(number, function)
    head = text.header(dependencies=printer.has_dependencies, scipy=False, support=printer.needs_support, weights=False)
    return "\n".join([*head, *printer.lines, *text.footer(), ""])


class _Printer:
    def __init__(self, tasks: TaskModule) -> None:
        self.lines: list[str] = []
        self.has_dependencies = False
        self.needs_support = False
        self._tasks = tasks
        self._names = Names()
        self._values: dict[ir.Value, str] = {}
        self._inputs = 0
        self._ops = 0

    def function(self, number: int, function: Orchestration) -> None:
        """Print one orchestration function as ``v<number>``."""
        self.lines.append(text.function_start(number, [f"orchestration={function.name}"]))
        if function.has_body:
            for index, argument in enumerate(function.body.arguments):
                self._parameter(number, argument, function.declared_directions[index])
            self._body(function)
        self.lines.append(text.function_end(number))

    def _parameter(self, function: int, argument: ir.Value, direction: str | None) -> None:
        form = self._form(argument.type)
        attributes = {"direction": direction} if direction is not None else {}
        self.lines.append(text.parameter(self._inputs, function, form.shape, form.dtype, form.layout, attributes))
        self._values[argument] = f"input_{self._inputs}"
        self._inputs += 1

    def _body(self, function: Orchestration) -> None:
        names = task_names(function, self._tasks)
        origins = Origins(function.operation.regions[0], call_alias=self._call_alias, views=True)
        printed: dict[str, str] = {}
        for task, name in names.items():
            edges = edges_of(task, names)
            # Every edge of distance 0 comes from a task further up; one from the task itself or from further down can
            # only come from an earlier iteration.
            forward = [edge for edge in edges if edge["task"] in printed and edge["distance"] in (0, None)]
            carried = [edge for edge in edges if edge not in forward]
            printed[name] = self._task(task, name, origins, carried)
            for edge in forward:
                for kind in _kinds(edge):
                    self.has_dependencies = True
                    self.lines.append(text.dependency(printed[edge["task"]], printed[name], kind))

    def _call_alias(self, op: ir.Operation, result: int) -> int | None:
        task = self._tasks.task(op)
        aliases = self._tasks.kernel(task).aliases if task is not None else ()
        return aliases[result] if result < len(aliases) else None

    def _task(self, task: Task, name: str, origins: Origins, carried: list[dict[str, Any]]) -> str:
        sources = [
            source
            for argument in task.args
            if is_storage(argument.type)
            for source in (self._root(root) for root in origins.roots(argument))
        ]
        identifiers = [self._names.fresh(name) for _ in range(len(task.outputs) or 1)]
        attributes = {}
        if task.arg_directions is not None:
            attributes["directions"] = ",".join(task.arg_directions)
        if carried:
            texts = dict.fromkeys(f"{edge['task']}:{kind.name}" for edge in carried for kind in _kinds(edge))
            attributes["carried"] = ",".join(texts)
        self._statement(task.operation, name, task.callee, identifiers, task.outputs, sources, attributes)
        return identifiers[0]

    def _root(self, root: ir.Value) -> str:
        """The identifier of a tensor that is no parameter; its statement is printed where it is read first."""
        if root not in self._values:
            op = root.owner.owner.operation if isinstance(root, ir.BlockArgument) else root.owner.operation
            identifier = self._names.fresh(op.name)
            self._statement(op, op.name, op.name, [identifier], [root], [], {})
        return self._values[root]

    def _statement(
        self,
        op: ir.Operation,
        name: str,
        callee: str,
        identifiers: list[str],
        results: list[ir.Value],
        sources: list[str],
        attributes: dict[str, str],
    ) -> None:
        forms = [self._form(result.type) for result in results]
        for result, identifier in zip(results, identifiers, strict=False):
            self._values[result] = identifier
        file, line, column = place_of(op.location)
        self.lines.append(
            text.tensor_op(
                identifiers,
                string(callee),
                api.XLA_OP,
                srcs=sources,
                dsts=[text.tensor(i, form.shape, form.dtype) for i, form in zip(identifiers, forms, strict=False)],
                location=text.DebugLocation(name, file, line, column, self._ops),
                keywords=f"attrs={string_map(attributes)}, " if attributes else "",
            )
        )
        self._ops += 1

    def _form(self, type_: ir.Type) -> TensorForm:
        if isinstance(type_, ir.MemRefType):
            type_ = ir.RankedTensorType.get(type_.shape, type_.element_type, loc=ir.Location.unknown(type_.context))
        form = tensor_form(type_)
        self.needs_support |= form.needs_support
        return form


def _kinds(edge: dict[str, Any]) -> list[EdgeKind]:
    return [_KINDS[hazard] for hazard in edge["hazards"]] or [EdgeKind.ORDERED]
