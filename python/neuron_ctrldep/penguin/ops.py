"""The table of operations: which function and class tag each StableHLO, MHLO or CHLO op is in Penguin."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.penguin import api
from neuron_ctrldep.penguin.literals import number, string

DIALECTS = ("stablehlo", "mhlo", "chlo")


@dataclass(frozen=True, slots=True)
class Form:
    """What an op is in Penguin.

    ``function`` and ``keywords`` are expressions (each keyword followed by ``", "``); ``stands_for`` are the attributes
    of the op that the form says already, so that they need no text of their own.
    """

    function: str
    tag: str
    keywords: str = ""
    stands_for: frozenset[str] = frozenset()


Rule = Form | Callable[[ir.Operation], Form | None]
"""A form, or how to find it from the op; ``None`` when the table has none for this op after all."""

_ENUM_VALUE = re.compile(r"(\w+)>?\s*$")


def _enum(op: ir.Operation, name: str) -> str:
    """The value of an enumeration attribute: ``GT`` of ``#stablehlo<comparison_direction GT>``."""
    match = _ENUM_VALUE.search(str(op.attributes[name]))
    return match[1] if match else ""


def element_type(value: ir.Value) -> str:
    """The element type of a shaped value, as MLIR spells it."""
    kind = value.type
    return str(kind.element_type) if isinstance(kind, ir.ShapedType) else str(kind)


def is_integer(spelling: str) -> bool:
    """Whether an element type is an integer (of any signedness), booleans included."""
    return re.fullmatch(r"(?:[su]?i\d+|index)", spelling) is not None


def _compare(op: ir.Operation) -> Form | None:
    function = api.COMPARE_FUNCTIONS.get(_enum(op, "comparison_direction"))
    if function is None:
        return None
    stands_for = {"comparison_direction"}
    # A total order tells -0 from 0 and sorts NaNs: the function does not say it, so its text stays.
    if "compare_type" in op.attributes and _enum(op, "compare_type") != "TOTALORDER":
        stands_for.add("compare_type")
    return Form(function, api.BINARY, stands_for=frozenset(stands_for))


_DIVIDE = {key: Form(function, api.BINARY) for key, function in api.DIVIDE.items()}
_NOT = {key: Form(function, api.UNARY) for key, function in api.NOT.items()}


def _divide(op: ir.Operation) -> Form:
    return _DIVIDE["integer" if is_integer(element_type(op.operands[0])) else "float"]


def _not(op: ir.Operation) -> Form:
    return _NOT["i1" if element_type(op.operands[0]) == "i1" else "integer"]


def _rules() -> dict[str, Rule]:
    by_mnemonic: dict[str, Rule] = {
        **{mnemonic: Form(function, api.UNARY) for mnemonic, function in api.UNARY_FUNCTIONS.items()},
        **{mnemonic: Form(function, api.BINARY) for mnemonic, function in api.BINARY_FUNCTIONS.items()},
        "select": Form(api.SELECT, api.TERNARY),
        "compare": _compare,
        "divide": _divide,
        "not": _not,
    }
    return {f"{dialect}.{mnemonic}": rule for dialect in DIALECTS for mnemonic, rule in by_mnemonic.items()}


RULES = _rules()
"""Elementwise ops that are one statement, by op name."""

CONVERT = frozenset(f"{dialect}.convert" for dialect in DIALECTS)
IOTA = frozenset(f"{dialect}.iota" for dialect in DIALECTS)
CONSTANTS = frozenset({"stablehlo.constant", "mhlo.constant", "arith.constant"})
CLAMP = frozenset(f"{dialect}.clamp" for dialect in DIALECTS)
CBRT = frozenset(f"{dialect}.cbrt" for dialect in DIALECTS)

STRUCTURE = frozenset(
    {
        "func.call",
        *(f"{dialect}.{name}" for dialect in ("stablehlo", "mhlo") for name in ("tuple", "get_tuple_element")),
    }
)
"""Generic statements that are no instructions of their own; ``strict`` accepts them, and terminators."""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of an op that is several in Penguin. ``suffix`` tells intermediate results apart by name.

    ``operands`` are numbers of the op's operands, negative ones results of earlier steps (-1 is the first step's).
    """

    function: str
    tag: str
    operands: Sequence[int]
    constant: str = ""


CLAMP_STEPS = (
    Step(api.BINARY_FUNCTIONS["minimum"], api.BINARY, (1, 2)),
    Step(api.BINARY_FUNCTIONS["maximum"], api.BINARY, (-1, 0)),
)
"""``clamp(low, x, high)``: ``maximum(minimum(x, high), low)``."""


def cbrt_steps(op_name: str) -> tuple[Step, ...]:
    """``cbrt(x) = x / |x| * |x| ** (1/3)``, sign kept; of a complex number this is no cube root."""
    constant = string(op_name.partition(".")[0] + ".constant")
    return (
        Step(constant, api.XLA_OP, (), f"{api.SINGLE_VALUE}(value={number(1 / 3)})"),
        Step(api.UNARY_FUNCTIONS["abs"], api.UNARY, (0,)),
        Step(api.BINARY_FUNCTIONS["power"], api.BINARY, (-2, -1)),
        Step(api.DIVIDE["float"], api.BINARY, (0, -2)),
        Step(api.BINARY_FUNCTIONS["multiply"], api.BINARY, (-3, -4)),
    )
