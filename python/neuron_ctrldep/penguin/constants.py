"""Values of constants: one number, an array, or, where neither can hold it, text.

The bindings read the types that numpy has; complex numbers, bfloat16, the float8 family and small integers are read
from MLIR's own text, which is exact. In an array they are stored as what ``.npy`` can hold: floats that numpy does not
have as their bits (``uint8``, ``uint16``), small integers as ``int8`` / ``uint8``.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.penguin.api import SUPPORT_DTYPES

Number: TypeAlias = bool | int | float | complex
Array: TypeAlias = np.ndarray[Any, Any]

_VALUE = re.compile(r"value = (dense(?:_resource)?<.*>) : (tensor<[^>]*(?:<[^>]*>)?[^>]*>)", re.DOTALL)
_DENSE = re.compile(r"dense<([^>]*)>")
"""No element holds a ``>``."""
_RESOURCE = re.compile(r'dense_resource<("(?:[^"\\]|\\.)*"|[^>]*)>')
_RESOURCE_BLOB = re.compile(r'("(?:[^"\\]|\\.)*"|[\w.$-]+): "0x([0-9A-Fa-f]*)"')
_TOKEN = re.compile(r"true|false|[-+]?0x[0-9A-Fa-f]+|[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?")

_NUMPY = {
    "i1": np.dtype(np.bool_),
    "index": np.dtype(np.int64),
    **{f"{p}i{w}": np.dtype(f"{k}{w // 8}") for w in (8, 16, 32, 64) for p, k in (("", "i"), ("s", "i"), ("u", "u"))},
    "i2": np.dtype(np.int8),
    "i4": np.dtype(np.int8),
    "ui2": np.dtype(np.uint8),
    "ui4": np.dtype(np.uint8),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}


class Resources:
    """The blobs that ``dense_resource`` names in a module. The bindings show them only in text, which is made once."""

    def __init__(self, module: ir.Operation) -> None:
        self._module = module
        self._blobs: dict[str, str] | None = None

    def get(self, name: str) -> bytes | None:
        """The bytes of a blob, without the four in front that give their alignment; ``None`` if there is none."""
        if self._blobs is None:
            _, _, section = self._module.get_asm(large_elements_limit=1).rpartition("{-#")
            self._blobs = {match[1]: match[2] for match in _RESOURCE_BLOB.finditer(section)}
        blob = self._blobs.get(name)
        return bytes.fromhex(blob)[4:] if blob is not None else None


def read_constant(op: ir.Operation, resources: Resources) -> Number | Array | str:
    """The value of a constant op.

    Args:
        op: the op.
        resources: of its module.

    Returns:
        A number for a scalar or a splat; an array for what has several values (or none); the text of the attribute
        where neither can hold it.
    """
    try:
        value = op.attributes["value"]
    except TypeError:
        # The bindings have no class for dense complex numbers and raise.
        match = _VALUE.search(op.get_asm(print_generic_op_form=True))
        return _from_text(match[1], op.results[0].type, resources) if match else op.get_asm()
    if isinstance(value, (ir.IntegerAttr, ir.FloatAttr, ir.BoolAttr)):
        return _number(value.value)
    if isinstance(value, ir.DenseElementsAttr):
        if value.is_splat:
            return _number(value.get_splat_value().value)
        try:
            return np.asarray(value)
        except (TypeError, ValueError):
            pass  # a type that numpy does not have
    return _from_text(str(value), op.results[0].type, resources)


def _number(value: object) -> Number:
    if isinstance(value, (bool, int, float, complex)):
        return value
    raise TypeError(f"a constant that is no number: {value!r}")


def _from_text(text: str, kind: ir.Type, resources: Resources) -> Number | Array | str:
    """Read MLIR's spelling of a dense attribute."""
    if not isinstance(kind, ir.RankedTensorType):
        return text
    shape = [kind.get_dim_size(i) for i in range(kind.rank)]
    element = str(kind.element_type)
    storage = _storage(element)
    if storage is None:
        return text
    resource = _RESOURCE.match(text)
    if resource is not None:
        blob = resources.get(resource[1])
        return text if blob is None else _from_bytes(blob, element, storage, shape, text)
    dense = _DENSE.match(text)
    if dense is None:
        return text
    body = dense[1]
    if body.startswith('"0x'):
        return _from_bytes(bytes.fromhex(body[3:].partition('"')[0]), element, storage, shape, text)
    values = _parse_numbers(body, element, storage)
    if values is None:
        return text
    count = int(np.prod(shape, dtype=np.int64))
    if len(values) == 1 and count >= 1:
        return _scalar(values, element)
    return values.reshape(shape) if len(values) == count else text


def _storage(element: str) -> np.dtype[Any] | None:
    """The numpy type that a file holds for an element type."""
    if element in SUPPORT_DTYPES:
        return np.dtype(np.uint16 if element == "bf16" else np.uint8)
    return _NUMPY.get(element)


def _from_bytes(blob: bytes, element: str, storage: np.dtype[Any], shape: list[int], text: str) -> Number | Array | str:
    """Values from MLIR's raw little-endian bytes."""
    if element == "i1":
        # One bit each in a dense attribute, one byte each in a resource.
        count = int(np.prod(shape, dtype=np.int64))
        if len(blob) != count:
            bits = np.unpackbits(np.frombuffer(blob, np.uint8), bitorder="little")
            return bits[:count].astype(np.bool_).reshape(shape) if len(bits) >= count else text
    little = storage.newbyteorder("<") if storage.itemsize > 1 else storage
    if len(blob) % little.itemsize:
        return text
    values = np.frombuffer(blob, little).astype(storage)
    if element in ("i2", "i4"):
        # A byte each, of which MLIR fills only the low bits.
        sign = 1 << (int(element[1:]) - 1)
        values = (values & (2 * sign - 1) ^ sign) - sign
    if values.size == 1:
        return _scalar(values, element)
    return values.reshape(shape) if values.size == int(np.prod(shape, dtype=np.int64)) else text


def _scalar(values: Array, element: str) -> Number:
    if element in SUPPORT_DTYPES:
        values = values.view(np.dtype(getattr(ml_dtypes, SUPPORT_DTYPES[element]))).astype(np.float64)
    return _number(values.reshape(-1)[0].item())


def _parse_numbers(body: str, element: str, storage: np.dtype[Any]) -> Array | None:
    tokens = _TOKEN.findall(body)
    is_complex = element.startswith("complex")
    float_type: np.dtype[Any] | None = None
    if element in SUPPORT_DTYPES:
        float_type = np.dtype(getattr(ml_dtypes, SUPPORT_DTYPES[element]))
    elif is_complex:
        float_type = np.dtype(np.float32 if element == "complex<f32>" else np.float64)
    elif storage.kind == "f":
        float_type = storage
    try:
        if float_type is None:
            words = {"true": 1, "false": 0}
            return np.array([words[t] if t in words else int(t, 0) for t in tokens], storage)
        floats = np.array([_bits_or_float(t, float_type) for t in tokens], float_type)
    except (ValueError, OverflowError):
        return None
    if is_complex:
        return floats.view(storage)
    return floats.view(storage) if storage.kind == "u" else floats


def _bits_or_float(token: str, float_type: np.dtype[Any]) -> Any:
    """MLIR prints infinities and NaNs as bit patterns."""
    if "0x" in token:
        return np.array(int(token, 16), f"u{float_type.itemsize}").view(float_type)
    return float(token)
