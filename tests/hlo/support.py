"""What the tests of HLO share."""

from __future__ import annotations

from jaxlib import _hlo


def text_to_proto(text: str) -> bytes:
    """HLO text as a serialized ``HloModuleProto``, parsed in this process: texts of tests do not end it."""
    return bytes(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
