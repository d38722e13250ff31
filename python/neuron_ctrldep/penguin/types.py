"""MLIR types as shapes and data types of Penguin, as expressions; each type is read once."""

from __future__ import annotations

from dataclasses import dataclass

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.penguin import api
from neuron_ctrldep.penguin.literals import string


@dataclass(frozen=True, slots=True)
class TensorForm:
    """``shape`` and ``dtype`` are expressions; ``layout`` is a parameter's; ``needs_support`` says what to import."""

    shape: str
    dtype: str
    layout: str
    needs_support: bool


def tensor_form(kind: ir.Type) -> TensorForm:
    """What ``kind`` is in Penguin.

    A dynamic dimension is ``"?"``. What is no plain ranked tensor (tokens, tuples, async bundles, buffers, unranked
    tensors, tensors with an encoding) and has no data type there is kept as the text of the type.
    """
    shape = "()"
    layout = ""
    dtype = ""
    if isinstance(kind, ir.RankedTensorType):
        sizes = [string("?") if kind.is_dynamic_dim(i) else str(kind.get_dim_size(i)) for i in range(kind.rank)]
        shape = "(" + ", ".join(sizes) + ("," if len(sizes) == 1 else "") + ")"
        layout = api.LAYOUTS.get(len(sizes), "")
        if kind.encoding is None:
            element = str(kind.element_type)
            if element in api.STRING_DTYPES:
                dtype = string(api.STRING_DTYPES[element])
            elif element in api.SUPPORT_DTYPES:
                return TensorForm(shape, api.support_dtype(api.SUPPORT_DTYPES[element]), layout, True)
            else:
                dtype = string(element)
    elif (scalar := str(kind)) in api.STRING_DTYPES:
        dtype = string(api.STRING_DTYPES[scalar])
    return TensorForm(shape, dtype or string(str(kind)), layout, False)
