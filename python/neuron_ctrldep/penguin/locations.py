"""What an operation is called and where it comes from; the printer asks once for each operation."""

from __future__ import annotations

from typing import TypeAlias

from neuron_ctrldep.control_dep import instruction_name
from neuron_ctrldep.mlir import ir, source_location

Place: TypeAlias = tuple[str, int, int]
NOWHERE: Place = ("", 0, 0)


def place_of(location: ir.Location) -> Place:
    """The first file, line and column inside ``location``; of a call site, the callee's."""
    current = location
    try:
        while True:
            if type(current) is ir.UnknownLoc:
                return NOWHERE
            if isinstance(current, ir.NameLoc):
                current = current.child_loc
            elif isinstance(current, ir.FileLineColLoc):
                file = current.filename
                return (getattr(file, "value", file), current.start_line, current.start_col)
            elif isinstance(current, ir.CallSiteLoc):
                current = current.callee
            elif isinstance(current, ir.FusedLoc):
                return next((place for inner in current.locations if (place := place_of(inner)) != NOWHERE), NOWHERE)
            else:
                return NOWHERE
    except UnicodeDecodeError:
        found = source_location(location)
        return (found.file, found.line, found.column) if found is not None else NOWHERE


def name_and_place(op: ir.Operation) -> tuple[str, str, int, int]:
    """:func:`instruction_name`, and file, line and column, in one reading of the location."""
    location = op.location
    if type(location) is ir.NameLoc and len(op.attributes) == 0:
        # Most ops: nothing but the location can name them.
        try:
            name = location.name_str
        except UnicodeDecodeError:
            name = ""
        if "/" in name:
            name = name.rstrip("/").rpartition("/")[2]
        if name:
            return name, *place_of(location.child_loc)
    return instruction_name(op), *place_of(location)
