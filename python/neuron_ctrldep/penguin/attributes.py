"""Attributes of a module as the text that a program keeps of them."""

from __future__ import annotations

from neuron_ctrldep.control_dep.op import string_entries
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.wire import FRONTEND_ATTRIBUTES, HAS_CONTROL_DEPS

_CARRIER_PREFIX = "ctrldep."
"""Frontend attributes that the program says in its own way: as names and as dependency lines."""


def stamps(module: ir.Operation, main: ir.Operation | None) -> dict[str, str]:
    """``has_control_deps`` of the module or of main, if it is there."""
    for op in (module, main):
        if op is None:
            continue
        value = string_entries(op.attributes, FRONTEND_ATTRIBUTES).get(HAS_CONTROL_DEPS)
        if value is None and HAS_CONTROL_DEPS in op.attributes:
            value = str(op.attributes[HAS_CONTROL_DEPS]).strip('"')
        if value is not None:
            return {HAS_CONTROL_DEPS: value}
    return {}


def argument_attributes(function: ir.Operation | None) -> list[dict[str, str]]:
    """The attributes of each argument of ``function``, if it says any."""
    if function is None or "arg_attrs" not in function.attributes:
        return []
    return [{entry.name: str(entry.attr) for entry in one} for one in function.attributes["arg_attrs"]]


def attribute_texts(op: ir.Operation, without: frozenset[str]) -> dict[str, str]:
    """The attributes of ``op`` as MLIR prints them, sorted by name."""
    texts = {}
    attributes = op.attributes
    for name in sorted(attributes):
        if name in without:
            continue
        if name == FRONTEND_ATTRIBUTES:
            kept = {k: v for k, v in string_entries(attributes, name).items() if not k.startswith(_CARRIER_PREFIX)}
            if kept:
                entries = {key: ir.StringAttr.get(value, op.context) for key, value in kept.items()}
                texts[name] = str(ir.DictAttr.get(entries, op.context))
        else:
            texts[name] = _attribute_text(op, name)
    return texts


def _attribute_text(op: ir.Operation, name: str) -> str:
    try:
        return str(op.attributes[name])
    except TypeError as error:
        # Dense complex attributes have no class in the bindings; the message of the error holds the text.
        return str(error)
