"""Task programs written in Python, without op text: kernels, scopes, loops, submits and their dependencies.

A program that fills a buffer tile by tile, each tile by one task, and then reads the whole of it::

    from neuron_ctrldep.task import builder as t

    program = t.Program()
    fill = program.kernel("fill", t.Out(t.tensor(16)))
    total = program.kernel("total", t.In(t.tensor(64)))
    with program.orchestration("main", s=t.tensor(64)) as main:
        s = main.storage("s")
        with main.manual_scope():
            with main.for_(0, 4, carry=[main.id_tensor(4)]) as loop:
                tile = s.slice([loop.index * 16], [16])
                ids = loop.ids(0).insert(main.submit(fill, tile, name="fill").id, loop.index)
                loop.yield_(ids)
            main.submit(total, s, deps=[loop.results[0]], name="total")
    module = program.build()

Every op is located at the line that made it, so what the verifier and the passes say points into the user's file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from neuron_ctrldep.mlir import ir, make_context, verify
from neuron_ctrldep.task.builder_function import Function, Kernel, Submitted
from neuron_ctrldep.task.builder_regions import Branch, Forall, Loop, Region, While
from neuron_ctrldep.task.builder_values import (
    Condition,
    IdTensor,
    In,
    Index,
    InOut,
    Number,
    Out,
    Parameter,
    Storage,
    TaskId,
    Type,
    Value,
    emit,
    fail,
    here,
    index,
    memref,
    scalar,
    tensor,
    wrap,
)
from neuron_ctrldep.task.dialect import (
    ALIASES,
    AUTO_SCOPE,
    DIRECTION,
    KIND,
)
from neuron_ctrldep.task.verify import verify_task_module

__all__ = [
    "Branch",
    "Condition",
    "Forall",
    "Function",
    "IdTensor",
    "In",
    "InOut",
    "Index",
    "Kernel",
    "Loop",
    "Number",
    "Out",
    "Parameter",
    "Program",
    "Region",
    "Storage",
    "Submitted",
    "TaskId",
    "Type",
    "Value",
    "While",
    "index",
    "memref",
    "scalar",
    "tensor",
]


class Program:
    """A module being written."""

    def __init__(self) -> None:
        self._context = make_context(allow_unregistered=True)
        self._module = ir.Module.create(here(self._context)).operation
        self._functions: set[str] = set()

    def kernel(self, name: str, *parameters: Parameter | Type, returns: Sequence[int] | None = None) -> Kernel:
        """Declare a kernel.

        Args:
            name: its symbol.
            parameters: storage with its direction (:func:`In`, :func:`Out`, :func:`InOut`), and numbers.
            returns: the parameters it hands back as results; by default all that it writes, in order.
        """
        types = [self._type(p.type if isinstance(p, Parameter) else p) for p in parameters]
        if returns is None:
            returns = [i for i, p in enumerate(parameters) if isinstance(p, Parameter) and p.direction != "in"]
        if any(not 0 <= i < len(types) for i in returns):
            fail(f"kernel '{name}' returns parameter {list(returns)}; it has {len(types)} parameters")
        i64 = ir.IntegerType.get_signless(64, self._context)
        results = [types[i] for i in returns]
        attributes = self._function_attributes(name, types, results, parameters)
        attributes["sym_visibility"] = ir.StringAttr.get("private", self._context)
        attributes[KIND] = ir.StringAttr.get("kernel", self._context)
        aliases = [{ALIASES: ir.IntegerAttr.get(i64, i)} for i in returns]
        attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(a, self._context) for a in aliases], self._context)
        self._function(attributes)
        return Kernel(name, tuple(types), tuple(results))

    @contextlib.contextmanager
    def orchestration(
        self, name: str = "main", *, auto_scope: bool = True, **parameters: Type | Parameter
    ) -> Iterator[Function]:
        """Write an orchestration function in a ``with`` block.

        Args:
            name: its symbol.
            auto_scope: whether the compiler is to place the scopes.
            parameters: by name; a direction is optional.
        """
        types = [self._type(p.type if isinstance(p, Parameter) else p) for p in parameters.values()]
        attributes = self._function_attributes(name, types, [], list(parameters.values()))
        attributes[KIND] = ir.StringAttr.get("orchestration", self._context)
        attributes[AUTO_SCOPE] = ir.BoolAttr.get(auto_scope, self._context)
        operation = self._function(attributes)
        location = here(self._context)
        block = ir.Block.create_at_start(operation.regions[0], types, [location] * len(types))
        with self._context, ir.InsertionPoint(block):
            yield Function(self._context, dict(zip(parameters, map(wrap, block.arguments), strict=True)))
            emit(self._context, "func.return", [], [])

    def build(self) -> ir.Operation:
        """The module, a ``builtin.module`` that MLIR's verifier and ``verify-task`` accept.

        Raises:
            InputError: with a diagnostic at each line of the program that is at fault.
        """
        verify(self._module)
        verify_task_module(self._module)
        return self._module

    def _type(self, type_: Type) -> ir.Type:
        try:
            return ir.Type.parse(type_.text, self._context)
        except (ir.MLIRError, ValueError):
            fail(f"'{type_.text}' is no type")

    def _function(self, attributes: dict[str, ir.Attribute]) -> ir.Operation:
        with ir.InsertionPoint(self._module.regions[0].blocks[0]):
            return emit(self._context, "func.func", [], [], attributes, regions=1)

    def _function_attributes(
        self, name: str, types: list[ir.Type], results: list[ir.Type], parameters: Sequence[Type | Parameter]
    ) -> dict[str, ir.Attribute]:
        if name in self._functions:
            fail(f"there is a function '{name}' already")
        self._functions.add(name)
        context = self._context
        directions = [
            {DIRECTION: ir.StringAttr.get(p.direction, context)} if isinstance(p, Parameter) else {} for p in parameters
        ]
        return {
            "sym_name": ir.StringAttr.get(name, context),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, results, context), context),
            "arg_attrs": ir.ArrayAttr.get([ir.DictAttr.get(d, context) for d in directions], context),
        }
