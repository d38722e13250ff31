"""Where an operation comes from, as file, line and column; the printer asks once for each operation."""

from __future__ import annotations

from typing import TypeAlias

from neuron_ctrldep.mlir import ir, source_location

Place: TypeAlias = tuple[str, int, int]
NOWHERE: Place = ("", 0, 0)


def place_of(location: ir.Location) -> Place:
    """The first file, line and column inside ``location``; of a call site, the callee's."""
    current = location
    try:
        while True:
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
