"""The StableHLO module inside a serialized ``jax.export.Exported``, read without importing jax.

``Exported.serialize()`` writes a flatbuffer (schema: ``jax/_src/export/serialization.fbs``) whose root table holds the
module, a StableHLO portable artifact, as a byte vector. Flatbuffers, "Internals": the buffer starts with the offset of
the root table; a table starts with the signed distance back to its vtable; a vtable holds its own size, the table's
size, and the offset of each field within the table, 0 for one that is not there; a vector is a length and its elements.
"""

from __future__ import annotations

import struct

from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.mlir import BYTECODE_MAGIC

_VERSION_FIELD = 4
_MODULE_FIELD = 30
"""Offsets in the vtable of ``serialization_version`` and ``mlir_module_serialized``; fields are only ever appended."""


def read_exported(data: bytes, *, file: str = "-") -> bytes | None:
    """The serialized module in ``data``; ``None`` when ``data`` is no serialized ``Exported``.

    Raises:
        InputError: it starts as one, and its module is cut off, or not where it should be.
    """
    head_fits = False
    try:
        (table,) = struct.unpack_from("<I", data, 0)
        (back,) = struct.unpack_from("<i", data, table)
        vtable = table - back
        size, table_size = struct.unpack_from("<HH", data, vtable) if vtable >= 0 else (0, 0)
        if not (_MODULE_FIELD + 2 <= size <= 256 and size % 2 == 0 and 4 <= table_size <= 1024):
            return None
        version_at, module_at = (
            struct.unpack_from("<H", data, vtable + field)[0] for field in (_VERSION_FIELD, _MODULE_FIELD)
        )
        if not (0 < version_at < table_size and 0 < module_at < table_size):
            return None
        head_fits = True
        (offset,) = struct.unpack_from("<I", data, table + module_at)
        vector = table + module_at + offset
        (length,) = struct.unpack_from("<I", data, vector)
    except struct.error as error:
        if head_fits:
            raise _damaged(data, file) from error
        return None
    module = data[vector + 4 : vector + 4 + length]
    if not module.startswith(BYTECODE_MAGIC):
        raise _damaged(data, file)
    if len(module) < length:
        raise InputError(
            f"a serialized jax.export.Exported is cut off: its module has {length} bytes, {len(module)} are there",
            location=SourceLocation(file),
        )
    return module


def _damaged(data: bytes, file: str) -> InputError:
    return InputError(
        f"this looks like a damaged serialized jax.export.Exported: it starts as one, but its module is not in the "
        f"{len(data)} bytes that are there",
        location=SourceLocation(file),
    )
