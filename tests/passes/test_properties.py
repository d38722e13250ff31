"""Properties of the passes on generated modules: random nests of tuples, elements, wire ops and regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_ctrldep.control_dep import is_control_dep
from neuron_ctrldep.mlir import ir, make_context, parse_module, verify
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.passes.flatten import flatten
from neuron_ctrldep.passes.optimization_barrier import control_deps_to_optimization_barrier
from neuron_ctrldep.passes.prune import prune_control_deps
from neuron_ctrldep.passes.strip import strip_control_deps
from neuron_ctrldep.passes.verify import verify_control_deps

CONTEXT = make_context()
EXAMPLES = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))

# --- generated modules ------------------------------------------------------------------------------------------------

F32 = "tensor<f32>"
Type = str | tuple  # a tuple of types is a tuple type


def spell(kind: Type, dialect: str) -> str:
    if isinstance(kind, tuple):
        return f"tuple<{', '.join(spell(element, dialect) for element in kind)}>"
    return kind.replace("D.", f"{dialect}.")


TYPES: list[Type] = [F32, F32, "!D.token", (), (F32,), (F32, "!D.token"), ((F32, F32), ()), ((F32,), (F32, (F32,)))]


@dataclass
class Writer:
    """Writes one function; ``draw`` decides."""

    draw: Any
    dialect: str
    empty_data: bool
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def ops(self, visible: list[tuple[str, Type]], number: int, depth: int) -> None:
        """Append ``number`` ops that read ``visible`` values, which grows."""
        for _ in range(number):
            kinds = ["tuple", "element", "wire", "wire", "call", "abs", *(["if"] if depth < 2 else [])]
            getattr(self, self.draw(st.sampled_from(kinds)))(visible, depth)

    def any_of(self, visible: list[tuple[str, Type]], accept: Any = lambda kind: True) -> tuple[str, Type] | None:
        fitting = [value for value in visible if accept(value[1])]
        return self.draw(st.sampled_from(fitting)) if fitting else None

    def emit(self, visible: list[tuple[str, Type]], kind: Type, text: str) -> None:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        visible.append((name, kind))

    def call_op(self, target: str, operands: list[tuple[str, Type]], kind: Type, attributes: str) -> str:
        names = ", ".join(name for name, _ in operands)
        types = ", ".join(spell(t, self.dialect) for _, t in operands)
        return (
            f"{self.dialect}.custom_call @{target}({names}) {{{attributes}}} : ({types}) -> {spell(kind, self.dialect)}"
        )

    def tuple(self, visible: list[tuple[str, Type]], depth: int) -> None:
        elements = [self.any_of(visible) for _ in range(self.draw(st.integers(0, 3)))]
        kind = tuple(t for _, t in elements)
        names = ", ".join(name for name, _ in elements)
        self.emit(visible, kind, f"{self.dialect}.tuple {names} : {spell(kind, self.dialect)}")

    def element(self, visible: list[tuple[str, Type]], depth: int) -> None:
        source = self.any_of(visible, lambda kind: isinstance(kind, tuple) and kind)
        if source is not None:
            name, kind = source
            index = self.draw(st.integers(0, len(kind) - 1))
            self.emit(
                visible,
                kind[index],
                f"{self.dialect}.get_tuple_element {name}[{index}] : ({spell(kind, self.dialect)}) -> "
                f"{spell(kind[index], self.dialect)}",
            )

    def wire(self, visible: list[tuple[str, Type]], depth: int) -> None:
        predecessors = [self.any_of(visible) for _ in range(self.draw(st.integers(0, 3)))]
        data = self.any_of(visible, lambda kind: self.empty_data or not holds_empty(kind))
        attributes = self.draw(st.sampled_from(["has_side_effect = true", "api_version = 2 : i32", "test.mark"]))
        self.emit(visible, data[1], self.call_op("AwsNeuronControlDep", [*predecessors, data], data[1], attributes))

    def call(self, visible: list[tuple[str, Type]], depth: int) -> None:
        operands = [self.any_of(visible) for _ in range(self.draw(st.integers(0, 2)))]
        kind = self.draw(st.sampled_from(TYPES))
        self.emit(visible, kind, self.call_op("opaque", operands, kind, f'test.id = "{self.count}"'))

    def abs(self, visible: list[tuple[str, Type]], depth: int) -> None:
        name, _ = self.any_of(visible, lambda kind: kind == F32)
        self.emit(visible, F32, f'{self.dialect}.abs {name} {{test.id = "{self.count}"}} : {F32}')

    def if_(self, visible: list[tuple[str, Type]], depth: int) -> None:
        identity = self.count
        name = self.name()
        self.lines.append(f'{name} = "{self.dialect}.if"(%cond) ({{')
        for branch in range(2):
            inner = list(visible)
            self.ops(inner, self.draw(st.integers(0, 3)), depth + 1)
            result, _ = self.any_of(inner, lambda kind: kind == F32)
            self.lines.append(f"{self.dialect}.return {result} : {F32}")
            self.lines.append("}, {" if branch == 0 else "})")
        self.lines[-1] += f' {{test.id = "{identity}"}} : (tensor<i1>) -> {F32}'
        visible.append((name, F32))


setattr(Writer, "if", Writer.if_)


def holds_empty(kind: Type) -> bool:
    return isinstance(kind, tuple) and (not kind or any(holds_empty(element) for element in kind))


@st.composite
def modules(draw: Any, dialect: str, *, empty_data: bool = True) -> str:
    writer = Writer(draw, dialect, empty_data)
    arguments: list[tuple[str, Type]] = [(f"%a{i}", kind) for i, kind in enumerate(TYPES)]
    visible = list(arguments)
    writer.ops(visible, draw(st.integers(1, 14)), 0)
    results = [writer.any_of(visible) for _ in range(draw(st.integers(0, 3)))]
    signature = ", ".join(f"{name}: {spell(kind, dialect)}" for name, kind in arguments)
    types = ", ".join(spell(kind, dialect) for _, kind in results)
    names = ", ".join(name for name, _ in results)
    end = f"return {names} : {types}" if results else "return"
    body = "\n  ".join([*writer.lines, end])
    return f"module {{\nfunc.func @main(%cond: tensor<i1>, {signature}) -> ({types}) {{\n  {body}\n}}\n}}\n"


# --- what a module means ----------------------------------------------------------------------------------------------


def expand(kind: ir.Type, symbol: Any) -> Any:
    """A symbolic value: a Python tuple for a tuple type, so that taking apart and packing again is no change."""
    if isinstance(kind, ir.TupleType):
        return tuple(expand(kind.get_type(i), (symbol, i)) for i in range(kind.num_types))
    return ("value", symbol)


def meaning(module: ir.Operation) -> list[Any]:
    """What every instruction computes, in order; wire ops and barriers forward their data."""
    trace: list[Any] = []
    values: dict[ir.Value, Any] = {}

    def run(block: ir.Block) -> None:
        for argument in block.arguments:
            values[argument] = expand(argument.type, ("argument", argument.arg_number))
        for view in block.operations:
            op = view.operation
            operands = [values[value] for value in op.operands]
            local = op.name.partition(".")[2]
            if is_control_dep(op):
                values[op.results[0]] = operands[-1]
            elif local == "optimization_barrier":
                for result, operand in zip(op.results, operands, strict=True):
                    values[result] = operand
            elif local == "tuple":
                values[op.results[0]] = tuple(operands)
            elif local == "get_tuple_element":
                values[op.results[0]] = operands[0][op.attributes["index"].value]
            else:
                name = op.attributes["test.id"].value if "test.id" in op.attributes else op.name
                trace.append((name, operands))
                for region in op.regions:
                    for inner in region.blocks:
                        run(inner)
                for result in op.results:
                    values[result] = expand(result.type, ("result", name))

    for function in module.regions[0].blocks[0].operations:
        run(function.operation.regions[0].blocks[0])
    return trace


Edges = set[tuple[str, str]]


def edges(module: ir.Operation) -> Edges:
    """``(p, S)`` for each instruction ``S`` and each ``p`` that it reads or is ordered after, directly.

    Elements of known tuples stand for themselves only. A use in a region is a use by the ops around it, too.
    """
    found: Edges = set()

    def sources(value: ir.Value, path: tuple[int, ...]) -> set[str]:
        if isinstance(value, ir.BlockArgument):
            return {f"argument {value.arg_number}"}
        op = value.owner.operation
        local = op.name.partition(".")[2]
        operands = list(op.operands)
        if is_control_dep(op):
            return sources(operands[-1], path).union(*(sources(p, ()) for p in operands[:-1]))
        if local == "optimization_barrier":
            return set().union(*(sources(operand, ()) for operand in operands))
        if local == "tuple":
            return sources(operands[path[0]], path[1:]) if path else set().union(*(sources(o, ()) for o in operands))
        if local == "get_tuple_element":
            return sources(operands[0], (op.attributes["index"].value, *path))
        return {op.attributes["test.id"].value}

    def visit(op: ir.Operation) -> ir.WalkResult:
        users = []
        around = op
        while around.name != "builtin.module":
            if "test.id" in around.attributes:
                users.append((around, around.attributes["test.id"].value))
            around = around.parent.operation
        if "test.id" in op.attributes or op.name.endswith("return"):
            for value in op.operands:
                for source in sources(value, ()):
                    for user, name in users:
                        if not inside(source, user):
                            found.add((source, name))
                    if op.name.endswith("return"):
                        found.add((source, f"return {len(users)}"))
        return ir.WalkResult.ADVANCE

    def inside(name: str, user: ir.Operation) -> bool:
        names: set[str] = set()

        def collect(op: ir.Operation) -> ir.WalkResult:
            if "test.id" in op.attributes:
                names.add(op.attributes["test.id"].value)
            return ir.WalkResult.ADVANCE

        user.walk(collect)
        return name in names

    module.walk(visit)
    return found


def closure(direct: Edges) -> Edges:
    after: dict[str, set[str]] = {}
    for source, user in direct:
        after.setdefault(source, set()).add(user)
    reached: Edges = set()
    for start in after:
        stack = [start]
        seen: set[str] = set()
        while stack:
            for user in after.get(stack.pop(), ()):
                if user not in seen:
                    seen.add(user)
                    stack.append(user)
        reached |= {(start, user) for user in seen}
    return reached


def ops_of(module: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def parse(text: str) -> ir.Operation:
    return parse_module(text, context=CONTEXT)


# --- properties -------------------------------------------------------------------------------------------------------

DIALECTS = st.sampled_from(["stablehlo", "mhlo"])


@EXAMPLES
@given(data=st.data(), dialect=DIALECTS)
def test_flatten_changes_no_value_and_no_order(data: st.DataObject, dialect: str) -> None:
    module = parse(data.draw(modules(dialect)))
    values, order = meaning(module), edges(module)
    statistics = Statistics()
    flatten(module, dialect=dialect, statistics=statistics)
    verify(module)
    verify_control_deps(module, require_flat=True)
    assert meaning(module) == values
    if statistics["edges-dropped"]:
        assert edges(module) <= order
    else:
        assert edges(module) == order


@EXAMPLES
@given(data=st.data(), dialect=DIALECTS)
def test_flatten_again_changes_nothing(data: st.DataObject, dialect: str) -> None:
    module = parse(data.draw(modules(dialect)))
    flatten(module, dialect=dialect)
    ops, text = ops_of(module), str(module)
    statistics = Statistics()
    flatten(module, dialect=dialect, statistics=statistics)
    assert statistics["ops-rebuilt"] == 0
    assert ops_of(module) == ops
    assert str(module) == text


@EXAMPLES
@given(data=st.data(), dialect=DIALECTS)
def test_flatten_leaves_the_other_dialect_alone(data: st.DataObject, dialect: str) -> None:
    module = parse(data.draw(modules(dialect)))
    ops, text = ops_of(module), str(module)
    flatten(module, dialect="mhlo" if dialect == "stablehlo" else "stablehlo")
    assert ops_of(module) == ops
    assert str(module) == text


@EXAMPLES
@given(data=st.data(), dialect=DIALECTS)
def test_flatten_loses_no_order_without_empty_tuples(data: st.DataObject, dialect: str) -> None:
    module = parse(data.draw(modules(dialect, empty_data=False)))
    statistics = Statistics()
    flatten(module, dialect=dialect, statistics=statistics)
    assert statistics["edges-dropped"] == 0


@EXAMPLES
@given(data=st.data(), dialect=DIALECTS, is_flat=st.booleans())
def test_strip_leaves_values_only(data: st.DataObject, dialect: str, is_flat: bool) -> None:
    module = parse(data.draw(modules(dialect)))
    values = meaning(module)
    if is_flat:
        flatten(module, dialect=dialect)
    strip_control_deps(module)
    verify(module)
    assert meaning(module) == values
    assert not any(is_control_dep(op) for op in ops_of(module))


@EXAMPLES
@given(data=st.data(), dialect=DIALECTS)
def test_barriers_change_no_value_and_lose_no_order(data: st.DataObject, dialect: str) -> None:
    module = parse(data.draw(modules(dialect, empty_data=False)))
    values, order = meaning(module), edges(module)
    statistics = Statistics()
    control_deps_to_optimization_barrier(module, statistics=statistics)
    verify(module)
    assert meaning(module) == values
    assert edges(module) >= order or statistics["edges-dropped"]
    assert not any(is_control_dep(op) for op in ops_of(module))


@EXAMPLES
@given(data=st.data(), dialect=DIALECTS, is_flat=st.booleans())
def test_prune_keeps_what_reaches_what(data: st.DataObject, dialect: str, is_flat: bool) -> None:
    module = parse(data.draw(modules(dialect)))
    if is_flat:
        flatten(module, dialect=dialect)
    values, order = meaning(module), closure(edges(module))
    prune_control_deps(module)
    verify(module)
    assert meaning(module) == values
    assert closure(edges(module)) == order
    text = str(module)
    prune_control_deps(module)
    assert str(module) == text


@pytest.mark.parametrize("dialect", ["stablehlo", "mhlo"])
@EXAMPLES
@given(data=st.data())
def test_prune_leaves_nothing_to_prune(dialect: str, data: st.DataObject) -> None:
    """Dropping one more predecessor of a wire op in a flat module would lose an order."""
    module = parse(data.draw(modules(dialect, empty_data=False)))
    flatten(module, dialect=dialect)
    prune_control_deps(module)
    order = closure(edges(module))
    for op in ops_of(module):
        if not is_control_dep(op):
            continue
        operands = list(op.operands)
        for number, predecessor in enumerate(operands[:-1]):
            op.operands[number] = operands[-1]  # as if it were not there
            is_needed = closure(edges(module)) != order
            op.operands[number] = predecessor
            users = instructions_that_read(op)
            assert is_needed or not users or "return" in users, f"{op} does not need operand {number} in\n{module}"


def instructions_that_read(op: ir.Operation) -> set[str]:
    found: set[str] = set()
    stack = list(op.results)
    while stack:
        for use in stack.pop().uses:
            user = use.owner.operation
            if user.name.endswith("return"):
                found.add("return")
            elif "test.id" in user.attributes:
                found.add(user.attributes["test.id"].value)
            else:
                stack += list(user.results)
    return found
