"""What operations are called and where they come from; the printer asks once for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
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


Named: TypeAlias = tuple[str, str, int, int]
"""What :func:`instruction_name` says of an op, and its file, line and column."""

_BEFORE, _BETWEEN, _AFTER = 'loc(fused["', '", "', '"])'
_ONLY_A_NAME = re.compile(r'loc\("([^"\\]*[^"\\/])"\)')


def names_and_places(ops: Sequence[ir.Operation]) -> list[Named]:
    """The name and place of each of ``ops``.

    MLIR sets up its printer for each location that it prints, which takes longer than the printing. Where all locations
    are names and nothing else, as an import from HLO leaves them, they are therefore printed as one.
    """
    names = _printed_at_once([op.location for op in ops])
    if names is None:
        return [_name_and_place(op) for op in ops]
    return [
        (name.rpartition("/")[2], *NOWHERE)
        if name and not name.endswith("/") and _is_named_by_location(op)
        else _name_and_place(op)
        for op, name in zip(ops, names, strict=True)
    ]


def _printed_at_once(locations: Sequence[ir.Location]) -> list[str] | None:
    """The names that ``locations`` are; ``None`` where one is more than a name, stands twice, or holds an escape."""
    if len(locations) < 2 or not all(isinstance(location, ir.NameLoc) for location in locations):
        return None
    text = str(ir.Location.fused(locations, context=locations[0].context))
    names = text[len(_BEFORE) : -len(_AFTER)].split(_BETWEEN)
    # MLIR escapes quotes in names: if there are but those around as many names as locations, the text is all names.
    is_list = text.startswith(_BEFORE) and text.endswith(_AFTER) and text.count('"') == 2 * len(names)
    return names if is_list and "\\" not in text and len(names) == len(locations) else None


def _is_named_by_location(op: ir.Operation) -> bool:
    """Whether nothing but the location can name ``op``; so it is with most ops."""
    attributes = op.attributes
    if len(attributes) and (FRONTEND_ATTRIBUTES in attributes or SYMBOL in attributes):
        return False
    return op.name != "stablehlo.async_start"


def _name_and_place(op: ir.Operation) -> Named:
    location = op.location
    if _is_named_by_location(op):
        match = _ONLY_A_NAME.fullmatch(str(location))
        if match is not None:
            return match[1].rpartition("/")[2], *NOWHERE
    return instruction_name(op), *place_of(location)
