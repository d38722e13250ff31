"""What an operation is called and where it comes from; the printer asks once for each operation."""

from __future__ import annotations

import re
from typing import TypeAlias

from neuron_ctrldep.control_dep import instruction_name
from neuron_ctrldep.control_dep.structure import SYMBOL
from neuron_ctrldep.mlir import ir, source_location
from neuron_ctrldep.wire import FRONTEND_ATTRIBUTES

Place: TypeAlias = tuple[str, int, int]
NOWHERE: Place = ("", 0, 0)


def place_of(location: ir.Location) -> Place:
    """The first file, line and column inside ``location``; of a call site, the callee's."""
    if "\\" in str(location):
        # Asking for a name or a file with bytes that are not UTF-8 ends the process; the printed form escapes them.
        found = source_location(location)
        return (found.file, found.line, found.column) if found is not None else NOWHERE
    return _place_in(location)


def _place_in(location: ir.Location) -> Place:
    current = location
    while True:
        if isinstance(current, ir.NameLoc):
            current = current.child_loc
        elif isinstance(current, ir.FileLineColLoc):
            file = current.filename
            return (getattr(file, "value", file), current.start_line, current.start_col)
        elif isinstance(current, ir.CallSiteLoc):
            current = current.callee
        elif isinstance(current, ir.FusedLoc):
            return next((place for inner in current.locations if (place := _place_in(inner)) != NOWHERE), NOWHERE)
        else:
            return NOWHERE


_ONLY_A_NAME = re.compile(r'loc\("([^"\\]*[^"\\/])"\)')


def name_and_place(op: ir.Operation) -> tuple[str, str, int, int]:
    """:func:`instruction_name`, and file, line and column."""
    location = op.location
    attributes = op.attributes
    # Most ops: nothing but the location can name them, and it holds nothing but the name.
    is_unnamed = not len(attributes) or (FRONTEND_ATTRIBUTES not in attributes and SYMBOL not in attributes)
    if is_unnamed and op.name != "stablehlo.async_start":
        match = _ONLY_A_NAME.fullmatch(str(location))
        if match is not None:
            name = match[1]
            return name.rpartition("/")[2], *NOWHERE
    return instruction_name(op), *place_of(location)
