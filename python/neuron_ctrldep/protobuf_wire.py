"""What is read of protobuf's wire format without protobuf, which takes long to import (Protobuf, "Encoding")."""

from __future__ import annotations

_LONGEST_VARINT = 10


def first_field(data: bytes) -> tuple[bytes, bytes] | None:
    """The content of field 1 and what is behind it, when ``data`` starts with a length-delimited field 1.

    Of data that is cut off the content is what there is.
    """
    if data[:1] != b"\x0a":
        return None
    length = 0
    for number, byte in enumerate(data[1 : 1 + _LONGEST_VARINT]):
        length |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            start = number + 2
            return data[start : start + length], data[start + length :]
    return None
