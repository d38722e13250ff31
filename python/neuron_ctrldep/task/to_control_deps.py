"""``convert-tasks-to-control-deps``: task programs in the vocabulary of the other half of the package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from neuron_ctrldep.control_dep import build_control_dep
from neuron_ctrldep.errors import Diagnostic, PassError
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.task.attributes import SEGMENT_SIZES, text_of
from neuron_ctrldep.task.buffers_as_tensors import has_tensor_form, tensor_of, to_tensor_form, touches_buffers
from neuron_ctrldep.task.dialect import (
    AUTO_MANUAL,
    AUTO_SCOPE,
    DIRECTION,
    FALLBACK,
    KIND,
    Barrier,
    Invalid,
    Submit,
    Task,
    constant_int,
    is_id_tensor,
    is_storage,
    is_task_id,
    ops_of,
    replace_op,
    terminator_of,
    walk,
)
from neuron_ctrldep.task.names import task_names
from neuron_ctrldep.task.program import Orchestration, Scope, TaskModule, text_attribute
from neuron_ctrldep.wire import API_VERSION, FRONTEND_ATTRIBUTES, NAME, TARGET


def convert_tasks_to_control_deps(module: ir.Operation | ir.Module) -> dict[str, int]:
    """Rewrite all orchestration functions of ``module`` in place; kernels that nothing calls any more are erased.

    Returns:
        How many tasks became calls (``"tasks"``), and how many wire ops were made (``"wire_ops"``).

    Raises:
        PassError: some storage has no StableHLO form; the module is unchanged.
    """
    operation = module.operation
    tasks = TaskModule.of(operation)
    faults = [fault for function in tasks.orchestrations.values() for fault in _faults(function, tasks)]
    if faults:
        raise PassError(diagnostics=faults)
    counts = {"tasks": 0, "wire_ops": 0}
    with operation.context, operation.location:
        for function in tasks.orchestrations.values():
            if function.has_body:
                _Conversion(function, tasks, counts).run()
            _strip_attributes(function)
        _erase_unused_kernels(tasks)
    return counts


# --- what cannot be converted -----------------------------------------------------------------------------------------


def _faults(function: Orchestration, tasks: TaskModule) -> Iterator[Diagnostic]:
    for op in walk(function.operation):
        where = source_location(op.location)
        task = tasks.task(op)
        if task is None:
            if touches_buffers(op) and not has_tensor_form(op):
                yield Diagnostic("error", f"'{op.name}' op on buffers has no form on tensors", where)
            continue
        if task.callee == TARGET:
            yield Diagnostic("error", f"'{op.name}' op runs a kernel called {TARGET}, the name of control deps", where)
        for value in (*task.args, *task.outputs):
            if not _has_hlo_form(value.type):
                message = f"'{op.name}' op has an operand or result that StableHLO cannot hold: {value.type}"
                yield Diagnostic("error", message, where)


def _has_hlo_form(type_: ir.Type) -> bool:
    if is_storage(type_):
        return isinstance(type_, ir.RankedTensorType | ir.MemRefType) and _is_hlo_element(type_.element_type)
    return isinstance(type_, ir.IndexType) or _is_hlo_element(type_)


def _is_hlo_element(type_: ir.Type) -> bool:
    """Whether StableHLO has tensors of ``type_`` (StableHLO specification, "Types")."""
    if isinstance(type_, ir.IntegerType):
        return type_.width in (1, 2, 4, 8, 16, 32, 64) and not type_.is_signed
    if isinstance(type_, ir.ComplexType):
        return isinstance(type_.element_type, ir.F32Type | ir.F64Type)
    return isinstance(type_, ir.FloatType) and str(type_) not in ("f80", "f128", "tf32")


# --- the rewrite ------------------------------------------------------------------------------------------------------


class _Conversion:
    """One function. Ids become tokens; where only edges use an id, a result of the task stands for it."""

    def __init__(self, function: Orchestration, tasks: TaskModule, counts: dict[str, int]) -> None:
        self._function = function
        self._tasks = tasks
        self._counts = counts
        self._context = function.operation.context
        self._token = ir.Type.parse("!stablehlo.token", self._context)

    def run(self) -> None:
        names = (name for _, name in task_names(self._function, self._tasks).items())
        self._retype_function()
        ops = list(walk(self._function.operation))
        for op in ops:
            self._retype(op)
        for op in ops:
            task = self._tasks.task(op)
            if task is not None:
                self._convert_task(task, next(names))
            elif op.name == Barrier.op_name:
                tokens = self._tokens(Barrier(op).ids, op)
                replace_op(op, [self._after_all(tokens, op)])
            elif op.name == Invalid.op_name:
                replace_op(op, [self._after_all([], op)])
            else:
                to_tensor_form(op)
        # Innermost first, so that an outer scope moves what inner ones left behind.
        for op in [op for op in walk(self._function.operation) if Scope.of(op) is not None][::-1]:
            _dissolve(op)

    def _retype(self, op: ir.Operation) -> None:
        """Ids that control flow and tensors hold are tokens from here on; those of submits follow in their turn."""
        if op.name != Submit.op_name:
            for result in op.results:
                self._retype_value(result)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self._retype_value(argument)

    def _retype_function(self) -> None:
        function = self._function
        inputs = [self._retyped(type_) for type_ in function.parameter_types]
        results = [self._retyped(type_) for type_ in function.result_types]
        function.operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
        for argument, type_ in zip(function.body.arguments, inputs, strict=True):
            argument.set_type(type_)

    def _retype_value(self, value: ir.Value) -> None:
        value.set_type(self._retyped(value.type))

    def _retyped(self, type_: ir.Type) -> ir.Type:
        if is_task_id(type_):
            return self._token
        return ir.RankedTensorType.get(type_.shape, self._token) if is_id_tensor(type_) else tensor_of(type_)

    def _convert_task(self, task: Task, name: str) -> None:
        op = task.operation
        predecessors = self._predecessors([*task.deps, *task.compiler_deps], op)
        operands = [argument if is_storage(argument.type) else self._as_tensor(argument, op) for argument in task.args]
        if predecessors:
            self._counts["wire_ops"] += 1
            slot = next((slot for slot, argument in enumerate(task.args) if is_storage(argument.type)), None)
            if slot is None:
                operands.append(self._after_all([], op))
                slot = len(operands) - 1
            operands[slot] = build_control_dep(
                predecessors, operands[slot], dialect="stablehlo", location=op.location, ip=ir.InsertionPoint(op)
            ).results[0]
        outputs = task.outputs
        wants_token = task.id is not None and (not outputs or not _only_dependencies(task.id))
        call = ir.Operation.create(
            "stablehlo.custom_call",
            results=[*(_tensor_type(output.type) for output in outputs), *([self._token] if wants_token else [])],
            operands=operands,
            attributes={
                "call_target_name": ir.StringAttr.get(task.callee),
                "has_side_effect": ir.BoolAttr.get(True),
                "api_version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), API_VERSION),
                FRONTEND_ATTRIBUTES: ir.DictAttr.get({NAME: ir.StringAttr.get(name)}),
            },
            loc=op.location,
            ip=ir.InsertionPoint(op),
        ).operation
        self._counts["tasks"] += 1
        results = list(call.results)
        values = [self._as_scalar(value, output.type, op) for value, output in zip(results, outputs, strict=False)]
        if task.id is not None:
            values.append(results[-1] if wants_token else results[0])
        replace_op(op, values)

    def _predecessors(self, deps: Sequence[ir.Value], op: ir.Operation) -> list[ir.Value]:
        """What the wire op names, each once: the value that stands for a dependency, or each slot of a tensor."""
        once: dict[ir.Value, None] = {}
        for dep in deps:
            if _is_token_tensor(dep.type):
                once.update(dict.fromkeys(self._tokens([dep], op)))
            elif not _is_empty_token(dep):
                once[dep] = None
        return list(once)

    def _tokens(self, ids: Sequence[ir.Value], op: ir.Operation) -> list[ir.Value]:
        tokens: list[ir.Value] = []
        for value in ids:
            if not _is_token_tensor(value.type):
                tokens.append(value)
            elif isinstance(value, ir.OpResult) and value.owner.operation.name == "tensor.from_elements":
                tokens += value.owner.operation.operands
            elif value.type.is_dynamic_dim(0):
                tokens.append(self._join(value, op))
            else:
                for slot in range(value.type.get_dim_size(0)):
                    index = self._create("arith.constant", [], ir.IndexType.get(), op, value=self._index(slot))
                    tokens.append(self._create("tensor.extract", [value, index], self._token, op))
        return tokens

    def _join(self, tensor: ir.Value, op: ir.Operation) -> ir.Value:
        """One token after all of a tensor whose size is known at run time: a loop over its slots."""
        index = ir.IndexType.get()
        zero, one = (self._create("arith.constant", [], index, op, value=self._index(n)) for n in (0, 1))
        size = self._create("tensor.dim", [tensor, zero], index, op)
        first = self._after_all([], op)
        loop = ir.Operation.create(
            "scf.for",
            results=[self._token],
            operands=[zero, size, one, first],
            regions=1,
            loc=op.location,
            ip=ir.InsertionPoint(op),
        ).operation
        block = ir.Block.create_at_start(loop.regions[0], [index, self._token], [op.location] * 2)
        ip = ir.InsertionPoint(block)
        token = self._create("tensor.extract", [tensor, block.arguments[0]], self._token, op, ip=ip)
        joined = self._create("stablehlo.after_all", [block.arguments[1], token], self._token, op, ip=ip)
        ir.Operation.create("scf.yield", operands=[joined], loc=op.location, ip=ip)
        return loop.results[0]

    def _index(self, value: int) -> ir.Attribute:
        return ir.IntegerAttr.get(ir.IndexType.get(), value)

    def _after_all(self, tokens: Sequence[ir.Value], op: ir.Operation) -> ir.Value:
        return self._create("stablehlo.after_all", tokens, self._token, op)

    def _create(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result: ir.Type,
        op: ir.Operation,
        *,
        ip: ir.InsertionPoint | None = None,
        **attributes: ir.Attribute,
    ) -> ir.Value:
        return ir.Operation.create(
            name,
            results=[result],
            operands=list(operands),
            attributes=attributes,
            loc=op.location,
            ip=ip if ip is not None else ir.InsertionPoint(op),
        ).operation.results[0]

    def _as_tensor(self, scalar: ir.Value, op: ir.Operation) -> ir.Value:
        """A number as a tensor without dimensions; an index as one of 64 bits."""
        type_ = _tensor_type(scalar.type)
        constant = constant_int(scalar)
        if constant is not None:
            value = ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(type_.element_type, constant))
            return self._create("stablehlo.constant", [], type_, op, value=value)
        if isinstance(scalar.type, ir.IndexType):
            scalar = self._create("arith.index_cast", [scalar], type_.element_type, op)
        return self._create("tensor.from_elements", [scalar], type_, op)

    def _as_scalar(self, value: ir.Value, wanted: ir.Type, op: ir.Operation) -> ir.Value:
        if is_storage(wanted):
            return value
        scalar = self._create("tensor.extract", [value], value.type.element_type, op)
        return self._create("arith.index_cast", [scalar], wanted, op) if isinstance(wanted, ir.IndexType) else scalar


def _tensor_type(type_: ir.Type) -> ir.Type:
    if is_storage(type_):
        return tensor_of(type_)
    element = ir.IntegerType.get_signless(64) if isinstance(type_, ir.IndexType) else type_
    return ir.RankedTensorType.get([], element)


def _is_token_tensor(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and str(type_.element_type) == "!stablehlo.token"


def _is_empty_token(value: ir.Value) -> bool:
    if not isinstance(value, ir.OpResult):
        return False
    op = value.owner.operation
    return op.name == "stablehlo.after_all" and len(op.operands) == 0


def _only_dependencies(task_id: ir.Value) -> bool:
    """Whether only submits use an id, so that any result of its task can stand for it."""
    return all(
        use.owner.operation.name == Submit.op_name
        and use.operand_number >= use.owner.operation.attributes[SEGMENT_SIZES][0]
        for use in task_id.uses
    )


def _dissolve(scope: ir.Operation) -> None:
    """Move what a scope holds to where the scope stands."""
    terminator = terminator_of(scope.regions[0])
    for op in ops_of(scope.regions[0].blocks[0])[:-1]:
        op.move_before(scope)
    replace_op(scope, list(terminator.operands))


def _strip_attributes(function: Orchestration) -> None:
    op = function.operation
    for name in (KIND, AUTO_SCOPE, AUTO_MANUAL, FALLBACK):
        if name in op.attributes:
            del op.attributes[name]
    if "arg_attrs" in op.attributes:
        kept = [
            ir.DictAttr.get({key: value for key, value in entry.items() if key != DIRECTION})
            for entry in function.parameter_attributes
        ]
        op.attributes["arg_attrs"] = ir.ArrayAttr.get(kept)
    for inner in walk(op):
        if AUTO_MANUAL in inner.attributes:
            del inner.attributes[AUTO_MANUAL]


def _erase_unused_kernels(tasks: TaskModule) -> None:
    """Erase the kernels that no function which is not a kernel calls, directly or through others."""
    called: dict[str, None] = {}
    work = [op for name, op in tasks.functions.items() if name not in tasks.kernels]
    while work:
        for op in walk(work.pop()):
            callee = text_of(op.attributes["callee"]) if op.name == "func.call" else None
            if callee in tasks.kernels and callee not in called:
                called[callee] = None
                work.append(tasks.functions[callee])
    for name, kernel in tasks.kernels.items():
        if name not in called and text_attribute(kernel.operation, KIND) == "kernel":
            kernel.operation.erase()


@dataclass(frozen=True)
class ConvertTasksToControlDeps(Pass):
    """The pass; see :func:`convert_tasks_to_control_deps`."""

    name: ClassVar[str] = "convert-tasks-to-control-deps"
    summary: ClassVar[str] = "Turn task programs into StableHLO calls ordered by control dependencies"
    description: ClassVar[str] = """\
Each task becomes a `stablehlo.custom_call` to its kernel, and all the explicit edges that end at it become the
predecessors of one wire op on its first storage operand. An id that only edges use is replaced by a result of its task;
other ids (carried by loops, kept in tensors, joined by barriers) become tokens, a barrier `stablehlo.after_all`. Scopes
dissolve. Numbers become tensors without dimensions, buffers tensors of their shape. The calls still mean tasks on
storage: what orders them is the wire ops. Then the flatten passes, the printers and `check` apply.

```mlir
// Before
%a, %p = "task.submit"(%s) {callee = @W, operandSegmentSizes = array<i32: 1, 0, 0>, task.name = "P"}
    : (tensor<64xf32>) -> (tensor<64xf32>, !task.id)
%r, %q = "task.submit"(%t, %p) {callee = @R, operandSegmentSizes = array<i32: 1, 1, 0>, task.name = "C"}
    : (tensor<64xf32>, !task.id) -> (tensor<64xf32>, !task.id)
// After
%a = stablehlo.custom_call @W(%s) {…} : (tensor<64xf32>) -> tensor<64xf32>
%d = stablehlo.custom_call @AwsNeuronControlDep(%a, %t) {…} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
%r = stablehlo.custom_call @R(%d) {…} : (tensor<64xf32>) -> tensor<64xf32>
```
"""
    counters: ClassVar[dict[str, str]] = {
        "tasks": "tasks that became calls",
        "wire-ops": "control dependencies made",
    }

    def run(self, op: ir.Operation, statistics: Statistics) -> None:
        """Convert ``op``, a module."""
        counts = convert_tasks_to_control_deps(op)
        statistics.add("tasks", counts["tasks"])
        statistics.add("wire-ops", counts["wire_ops"])
