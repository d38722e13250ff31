"""An MLIR module as Penguin Python: a program that builds the graph as objects. The module stays as it is.

What it prints is written down in ``docs/``; the statement forms are in :mod:`neuron_ctrldep.penguin.text`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TypeAlias

from neuron_ctrldep.control_dep import (
    called_functions,
    fault_of,
    instruction_name,
    is_control_dep,
    main_function,
    read_edges,
)
from neuron_ctrldep.control_dep.op import CUSTOM_CALLS
from neuron_ctrldep.control_dep.structure import is_terminator
from neuron_ctrldep.edges import DependencyEdge
from neuron_ctrldep.errors import InputError, PassError, SourceLocation
from neuron_ctrldep.mlir import entry, ir, location_names, source_location, text_of
from neuron_ctrldep.penguin import api, ops, text
from neuron_ctrldep.penguin.attributes import argument_attributes, attribute_texts, stamps
from neuron_ctrldep.penguin.constants import Array, Number, Resources, read_constant
from neuron_ctrldep.penguin.dependencies import DependencyLines, Key
from neuron_ctrldep.penguin.literals import number, string, strings
from neuron_ctrldep.penguin.locations import Named, names_and_places
from neuron_ctrldep.penguin.names import Names
from neuron_ctrldep.penguin.types import TensorForm, tensor_form
from neuron_ctrldep.penguin.weights import WeightSink
from neuron_ctrldep.wire import HAS_CONTROL_DEPS

_CUSTOM_CALL_NAMES = frozenset(CUSTOM_CALLS.values())

_BATCH = 64
"""How many ops are asked for their names at once."""


_Printing: TypeAlias = Iterator["_Printing"]
"""A generator that prints, and yields what has to be printed before it goes on; see :func:`_run`."""


def print_penguin(
    module: ir.Operation | ir.Module,
    *,
    strict: bool = False,
    edges_only: bool = False,
    weights: WeightSink | None = None,
) -> str:
    """The program that builds ``module`` in Penguin: all that main reaches, and its dependency edges.

    Args:
        module: a ``builtin.module``; wire ops in it need not be flat.
        strict: make ops outside the table an error instead of a generic statement.
        edges_only: only the dependency lines; the names in them are those of the whole program.
        weights: takes the constants that are too big to print.

    Raises:
        InputError: a wire op is illegal, control dependencies make a cycle, the module has no function, or MLIR could
            not work on it.
        PassError: ``strict`` met an op outside the table, or a constant needs ``weights`` and there is none.
    """
    printer = _Printer(entry(module), strict=strict, edges_only=edges_only, weights=weights)
    printer.print_module()
    if edges_only:
        return "".join(line + "\n" for line in printer.dependencies.lines)
    return "\n".join([*printer.header(), *printer.lines, *text.footer(), ""])


def edge_list(module: ir.Operation | ir.Module) -> list[dict[str, str]]:
    """The edges of ``module`` as ``[{"kind", "src", "dst"}]``, by the names that the input used, in their order."""
    return [
        DependencyEdge(instruction_name(edge.src), instruction_name(edge.dst), edge.kind).serialize()
        for edge in read_edges(entry(module)).edges
    ]


_Bound: TypeAlias = tuple[list[str], list[str], text.Location, Key]
"""An op with its identifiers: these, its results as tensors, where it comes from, and its key."""


class _Printer:
    """Prints one module; all counters and names are its own."""

    def __init__(self, module: ir.Operation, *, strict: bool, edges_only: bool, weights: WeightSink | None) -> None:
        self.lines: list[str] = []
        self._module = module
        self._strict = strict
        self._edges_only = edges_only
        self._weights = weights
        self._names = Names()
        self._resources = Resources(module)
        self._values: dict[ir.Value, str] = {}
        self._forms: dict[ir.Type, TensorForm] = {}
        self._nothing = module.operands  # an empty list: adding it to a list of operands copies that in C++
        self._functions = {
            text_of(op.operation.attributes["sym_name"]): op.operation
            for op in module.regions[0].blocks[0].operations
            if op.operation.name == "func.func"
        }
        self._callees: dict[str, int] = {}
        self._function_count = 0
        self._input_count = 0
        self._op_count = 0
        self._uses_scipy = False
        self._uses_support = False
        self._uses_weights = False
        self.dependencies = DependencyLines(module)

    def header(self) -> list[str]:
        """The imports that the printed lines need."""
        stamped = HAS_CONTROL_DEPS in stamps(self._module, main_function(self._module))
        return text.header(
            dependencies=stamped or bool(self.dependencies.lines),
            scipy=self._uses_scipy,
            support=self._uses_support,
            weights=self._uses_weights,
        )

    def print_module(self) -> None:
        """Print main and, where they are met first, the regions and functions that it reaches."""
        main = main_function(self._module)
        if main is None:
            raise InputError(
                "the module has no function to print; expected a func.func named main, or another",
                location=source_location(self._module.location),
            )
        attributes = [f"{HAS_CONTROL_DEPS}={value}" for key, value in stamps(self._module, main).items()]
        number = self._new_function()
        self._callees[text_of(main.attributes["sym_name"])] = number
        _run(self._function(number, attributes, list(main.regions[0].blocks), main))
        self.dependencies.check()

    # --- functions ----------------------------------------------------------------------------------------------------

    def _new_function(self) -> int:
        self._function_count += 1
        return self._function_count - 1

    def _function(
        self,
        function_number: int,
        attributes: list[str],
        blocks: list[ir.Block],
        declaration: ir.Operation | None = None,
    ) -> _Printing:
        self.lines.append(text.function_start(function_number, attributes))
        of_arguments = argument_attributes(declaration)
        for block in blocks:
            for index, argument in enumerate(block.arguments):
                extra = of_arguments[index] if index < len(of_arguments) and block == blocks[0] else {}
                self._parameter(function_number, argument, extra)
        for block in blocks:
            operations = (op.operation for op in block.operations)
            while batch := list(itertools.islice(operations, _BATCH)):
                for op, named in zip(batch, names_and_places(batch), strict=True):
                    inner = self._op(op, named)
                    if inner is not None:
                        yield inner
        self.lines.append(text.function_end(function_number))

    def _parameter(self, function: int, argument: ir.Value, attributes: dict[str, str]) -> None:
        name = f"input_{self._input_count}"
        form = self._form(argument.type)
        named = next(iter(location_names(argument.location)), "")
        extra = {"name": named, **attributes} if named else attributes
        self.lines.append(text.parameter(self._input_count, function, form.shape, form.dtype, form.layout, extra))
        self._values[argument] = name
        self._input_count += 1

    def _callee(self, name: str) -> _Printing:
        """Print a called function, unless it is printed already (or being printed: a recursive call)."""
        if name not in self._callees:
            self._callees[name] = self._new_function()
            function = self._functions[name]
            yield self._function(self._callees[name], [f"callee={name}"], list(function.regions[0].blocks), function)

    # --- operations ---------------------------------------------------------------------------------------------------

    def _op(self, op: ir.Operation, named: Named) -> _Printing | None:
        """Print ``op``; what has functions inside comes back as a generator that does it."""
        name = op.name
        rule = ops.RULES.get(name)
        form = rule(op) if callable(rule) else rule
        if form is not None:
            self._statement(op, form, self._bind(op, named))
        elif name in _CUSTOM_CALL_NAMES and is_control_dep(op):
            self._wire_op(op)
        elif name in ops.CONSTANTS:
            self._constant(op, named)
        elif name in ops.CONVERT:
            dtype = self._form(op.results[0].type).dtype
            self._statement(op, ops.Form(string(name), api.XLA_OP, f"dtype={dtype}, "), self._bind(op, named))
        elif name in ops.IOTA:
            self._iota(op, named)
        elif name in ops.CLAMP:
            self._steps(op, ops.CLAMP_STEPS, named)
        elif name in ops.CBRT and not isinstance(ir.ShapedType(op.results[0].type).element_type, ir.ComplexType):
            self._steps(op, ops.cbrt_steps(name), named)
        else:
            return self._generic(op, named)
        return None

    def _wire_op(self, op: ir.Operation) -> None:
        """Prints nothing: what reads the wire op reads its data."""
        fault = fault_of(op)
        if fault is not None:
            raise InputError(fault, location=_location(op))
        operands = op.operands
        self._values[op.results[0]] = self._source(op, operands[len(operands) - 1])

    def _iota(self, op: ir.Operation, named: Named) -> None:
        tensor = self._form(op.results[0].type)
        dimension = op.attributes["iota_dimension"].value
        keywords = f"iota_dim={dimension}, shape={tensor.shape}, dtype={tensor.dtype}, "
        form = ops.Form(api.IOTA, api.XLA_OP, keywords, frozenset({"iota_dimension"}))
        self._statement(op, form, self._bind(op, named))

    def _constant(self, op: ir.Operation, named: Named) -> None:
        bound = self._bind(op, named)
        value = read_constant(op, self._resources)
        if isinstance(value, str):
            source = f"{api.SINGLE_VALUE}(value={string(value)})"
        elif isinstance(value, Number):
            source = f"{api.SINGLE_VALUE}(value={number(value)})"
        else:
            source = f"{api.WEIGHT_LOAD}({string(self._weight(op, bound[0][0], value))})"
        form = ops.Form(string(op.name), api.XLA_OP, stands_for=frozenset({"value"}))
        self._statement(op, form, bound, srcs=[source])

    def _weight(self, op: ir.Operation, name: str, value: Array) -> str:
        if self._edges_only:
            return ""
        if self._weights is None:
            raise PassError(
                f"the constant '{instruction_name(op)}' is too big to print and there is nowhere to write it; "
                "give weights (a directory)",
                location=_location(op),
            )
        self._uses_weights = True
        return self._weights.add(name, value)

    def _generic(self, op: ir.Operation, named: Named) -> _Printing:
        """Keep everything: operands, results, attributes as text, regions and callees as functions."""
        if self._strict and op.name not in ops.STRUCTURE and not is_terminator(op):
            raise PassError(
                f"'{op.name}' ({instruction_name(op)}) has no form in Penguin; without strict it is printed as a "
                "generic statement",
                location=_location(op),
            )
        bound = self._bind(op, named)
        functions = []
        for index, region in enumerate(op.regions):
            functions.append(self._new_function())
            yield self._function(functions[-1], [f"region-of={bound[0][0]}", f"index={index}"], list(region.blocks))
        for callee in called_functions(op):
            if callee in self._functions:
                yield self._callee(callee)
                functions.append(self._callees[callee])
        extra = {"successors": ", ".join(_successors(op))} if len(op.successors) else {}
        regions = f"regions=[{', '.join(f'v{n}' for n in functions)}], " if functions else ""
        self._statement(op, ops.Form(string(op.name), api.XLA_OP, regions), bound, extra=extra)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _statement(
        self,
        op: ir.Operation,
        form: ops.Form,
        bound: _Bound,
        *,
        srcs: list[str] | None = None,
        extra: dict[str, str] | None = None,
    ) -> None:
        """Print ``op`` as one statement of ``form``."""
        names, tensors, location, key = bound
        if srcs is None:
            values = self._values
            try:
                srcs = [values[value] for value in op.operands + self._nothing]
            except KeyError:
                raise _defined_later(op) from None
        keywords = form.keywords
        if extra or len(op.attributes):
            texts = {**attribute_texts(op, form.stands_for), **(extra or {})}
            if texts:
                keywords += f"attrs={strings(texts)}, "
        if form.function.startswith(api.SCIPY_MODULE):
            self._uses_scipy = True
        self.lines.append(
            text.tensor_op(
                names, form.function, form.tag, srcs=srcs, dsts=tensors, location=location, keywords=keywords
            )
        )
        if key in self.dependencies.at:
            self.lines += self.dependencies.due(key, (names[0],))

    def _steps(self, op: ir.Operation, steps: tuple[ops.Step, ...], named: Named) -> None:
        """Print ``op`` as several statements, the last of which has its name."""
        (name,), _, location, key = self._bind(op, named)
        tensor = self._form(op.results[0].type)
        operands = [self._source(op, value) for value in op.operands]
        done: list[str] = []
        entry = ""
        for step in steps:
            is_last = len(done) == len(steps) - 1
            step_name = name if is_last else self._names.fresh(location[0])
            srcs = [operands[i] if i >= 0 else done[-i - 1] for i in step.operands]
            if not entry and any(i >= 0 for i in step.operands):
                entry = step_name
            shape = "()" if step.constant else tensor.shape
            self.lines.append(
                text.tensor_op(
                    [step_name],
                    step.function,
                    step.tag,
                    srcs=[step.constant] if step.constant else srcs,
                    dsts=[text.tensor(step_name, shape, tensor.dtype)],
                    location=location,
                )
            )
            done.append(step_name)
        if key in self.dependencies.at:
            self.lines += self.dependencies.due(key, (entry, name))

    # --- parts of a statement -----------------------------------------------------------------------------------------

    def _bind(self, op: ir.Operation, named: Named) -> _Bound:
        """Give identifiers to the results of ``op``, or one to an op without results."""
        name = named[0]
        location = (*named, self._op_count)
        self._op_count += 1
        key: Key = op
        names: list[str] = []
        tensors: list[str] = []
        results = op.results
        # By number: a loop over the results themselves ends with an exception in C++.
        for i in range(len(results)):
            value = results[i]
            if i == 0:
                key = value
            identifier = self._names.fresh(name)
            names.append(identifier)
            self._values[value] = identifier
            kind = value.type
            form = self._forms.get(kind) or self._form(kind)
            tensors.append(text.tensor(identifier, form.shape, form.dtype))
        return names or [self._names.fresh(name)], tensors, location, key

    def _source(self, op: ir.Operation, value: ir.Value) -> str:
        """The identifier of an operand."""
        name = self._values.get(value)
        if name is None:
            raise _defined_later(op)
        return name

    def _form(self, kind: ir.Type) -> TensorForm:
        form = self._forms.get(kind)
        if form is None:
            form = self._forms[kind] = tensor_form(kind)
            self._uses_support |= form.needs_support
        return form


def _run(printing: _Printing) -> None:
    """Run a generator and, before it goes on, what it yields: nesting costs no Python stack."""
    stack = [printing]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
        else:
            stack.append(inner)


def _successors(op: ir.Operation) -> list[str]:
    """The blocks that a branch goes to, by their number in the region."""
    blocks = list(op.block.region.blocks)
    return [str(blocks.index(block)) for block in op.successors]


def _defined_later(op: ir.Operation) -> InputError:
    return InputError(
        f"'{op.name}' reads a value that is defined further down, as its block stands before the block that defines "
        "it; Penguin Python needs definitions first",
        location=_location(op),
    )


def _location(op: ir.Operation) -> SourceLocation | None:
    return source_location(op.location)
