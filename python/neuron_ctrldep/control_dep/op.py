"""The wire op: recognise it, view it, build it. What it means is in ``docs/`` and in seed "The Wire Op".

A wire op is a custom call to ``AwsNeuronControlDep`` with operands ``(p0 … p_{k-1}, D)``: it forwards the data ``D``
and orders its result after every predecessor ``p``. It exists in StableHLO and MHLO with the same attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neuron_ctrldep.mlir import ir, text_of
from neuron_ctrldep.wire import API_VERSION, FRONTEND_ATTRIBUTES, TARGET

CUSTOM_CALLS = {"stablehlo": "stablehlo.custom_call", "mhlo": "mhlo.custom_call"}
"""The custom call op of each dialect that can hold a wire op."""

_CUSTOM_CALL_NAMES = frozenset(CUSTOM_CALLS.values())


def is_control_dep(op: ir.Operation | ir.OpView) -> bool:
    """Whether ``op`` is a wire op: a StableHLO or MHLO custom call whose target is exactly :data:`TARGET`."""
    operation = op.operation
    if operation.name not in _CUSTOM_CALL_NAMES:
        return False
    attributes = operation.attributes
    if "call_target_name" not in attributes:
        return False
    target = attributes["call_target_name"]
    return isinstance(target, ir.StringAttr) and target.value_bytes == TARGET.encode()


def fault_of(op: ir.Operation) -> str | None:
    """What makes this wire op illegal, as a message; ``None`` when it is legal (``control-dep.md`` section 1)."""
    operands = op.operands
    results = op.results
    if len(operands) == 0:
        return "a control dependency needs at least one operand: (predecessors…, data)"
    if len(results) != 1:
        return f"a control dependency has exactly one result, the data it forwards; found {len(results)}"
    data_type = operands[len(operands) - 1].type
    if results[0].type != data_type:
        return (
            f"the result type of a control dependency must be the type of its last operand: expected {data_type}, "
            f"found {results[0].type}"
        )
    return None


@dataclass(frozen=True, slots=True)
class ControlDep:
    """Typed view of a legal wire op."""

    operation: ir.Operation

    @property
    def predecessors(self) -> list[ir.Value]:
        """All operands but the last."""
        return list(self.operation.operands)[:-1]

    @property
    def data(self) -> ir.Value:
        """The last operand: the value that the op forwards."""
        operands = self.operation.operands
        return operands[len(operands) - 1]

    @property
    def result(self) -> ir.Value:
        """The forwarded value, ordered after every predecessor."""
        return self.operation.results[0]


def build_control_dep(
    predecessors: Sequence[ir.Value],
    data: ir.Value,
    *,
    dialect: str,
    location: ir.Location,
    ip: ir.InsertionPoint | None = None,
) -> ir.Operation:
    """Create ``(predecessors…, data) -> data`` in ``dialect`` (``"stablehlo"`` or ``"mhlo"``).

    Args:
        predecessors: values to be ordered after; may be empty.
        data: the value to forward.
        dialect: which custom call op to make.
        location: of the new op; by house rule that of the op it stands for.
        ip: where; the current insertion point by default.
    """
    context = data.context
    i32 = ir.IntegerType.get_signless(32, context)
    attributes = {
        "call_target_name": ir.StringAttr.get(TARGET, context),
        "has_side_effect": ir.BoolAttr.get(True, context),
        "api_version": ir.IntegerAttr.get(i32, API_VERSION),
    }
    return ir.Operation.create(
        CUSTOM_CALLS[dialect],
        results=[data.type],
        operands=[*predecessors, data],
        attributes=attributes,
        loc=location,
        ip=ip,
    ).operation


def string_entries(attributes: ir.DictAttr | ir.OpAttributeMap, key: str) -> dict[str, str]:
    """The dictionary of strings at ``key``, empty if there is none; entries that are not strings are left out."""
    if key not in attributes:
        return {}
    dictionary = attributes[key]
    if not isinstance(dictionary, ir.DictAttr):
        return {}
    return {entry.name: text_of(entry.attr) for entry in dictionary if isinstance(entry.attr, ir.StringAttr)}


def frontend_attributes(op: ir.Operation) -> dict[str, str]:
    """The HLO frontend attributes of ``op``."""
    return string_entries(op.attributes, FRONTEND_ATTRIBUTES)
