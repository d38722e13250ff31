"""An HLO module as a protobuf: recognise it by content, check what edits rely on, write it back."""

from __future__ import annotations

import logging
import re
from typing import Any

from google.protobuf.message import DecodeError

from neuron_ctrldep.errors import Diagnostic, InputError, SourceLocation
from neuron_ctrldep.files import decode_utf8, without_mark
from neuron_ctrldep.hlo import xla
from neuron_ctrldep.hlo.child import Child
from neuron_ctrldep.hlo.order import topological_order
from neuron_ctrldep.hlo.schema import HloModuleProto, HloProto
from neuron_ctrldep.protobuf_wire import first_field

logger = logging.getLogger("neuron_ctrldep.hlo")


class HloModule:
    """One HLO module.

    Attributes:
        proto: the ``HloModuleProto``; edit it freely. Fields that the schema does not name are kept.
        file: what messages call the module.
    """

    def __init__(self, proto: Any, file: str = "-", *, original: bytes | None = None) -> None:
        self.proto = proto
        self.file = file
        self._original = original
        # XLA writes maps in any order, so "nothing changed" is told by comparing two of our own serializations.
        self._loaded = self._serialize() if original is not None else None

    def _serialize(self) -> bytes:
        return bytes(self.proto.SerializeToString(deterministic=True))

    def copy(self) -> HloModule:
        """The same module again, to edit without changing this one."""
        proto = HloModuleProto()
        proto.CopyFrom(self.proto)
        return HloModule(proto, self.file, original=self._original)

    def to_bytes(self) -> bytes:
        """The serialized ``HloModuleProto``; byte for byte what was loaded when nothing was changed since."""
        current = self._serialize()
        return self._original if self._original is not None and current == self._loaded else current

    def to_text(self, *, child: Child | None = None) -> str:
        """HLO text, printed by XLA.

        Args:
            child: the process to print in; a new one by default.

        Raises:
            InputError: XLA refuses the module.
        """
        return xla.proto_to_text(self.to_bytes(), self.file, child=child)


def load_hlo(data: bytes, file: str = "-", *, child: Child | None = None) -> HloModule:
    """Read one HLO module: HLO text, a serialized ``HloModuleProto``, or an ``HloProto`` (XLA's ``.hlo.pb`` dumps).

    Args:
        data: the content; what it is is told by the content alone.
        file: what messages call it.
        child: the process to parse text in; a new one by default.

    A constant whose values the text leaves out is a warning in the log: XLA makes some up.

    Raises:
        InputError: it is none of the three, XLA refuses it, or it breaks a rule of :func:`check_module`.
    """
    data = without_mark(data)
    if not data.strip():
        raise InputError(
            "the file is empty; expected HLO text, an HloModuleProto or an HloProto", location=SourceLocation(file)
        )
    if _is_text(data):
        # XLA writes maps in an order that changes from process to process; ours does not.
        proto = HloModuleProto()
        text = decode_utf8(data, file)
        try:
            proto.ParseFromString(xla.text_to_proto(text, file, child=child))
        except DecodeError as error:
            raise _too_deep(error, file) from error
        module = HloModule(proto, file)
        _warn_of_elided(text, file)
    else:
        module = _decode(data, file)
    check_module(module.proto, file)
    return module


_ELIDED = re.compile(r"constant\(\{\.\.\.\}\)")


def _warn_of_elided(text: str, file: str) -> None:
    found = _ELIDED.search(text)
    if found is None:
        return
    line = text.count("\n", 0, found.start()) + 1
    column = found.start() - text.rfind("\n", 0, found.start())
    message = (
        "the values of this constant are left out; XLA takes it for other values. To have them, give the module as a "
        "proto (.hlo.pb), or dump it with --xla_dump_large_constants"
    )
    warning = Diagnostic("warning", message, SourceLocation(file, line, column))
    logger.warning("%s", warning.render(text))


# Bytes that stand in no text. Every protobuf that holds a computation has some: its field tags 0x12 and 0x1a.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r"))


def _is_text(data: bytes) -> bool:
    if data.translate(None, _CONTROL) == data:
        return True
    # Text with a stray control byte is better told where it is than that it is no protobuf.
    start = data.lstrip()[:64]
    return start.startswith((b"HloModule ", b"HloModule\t", b"//", b"/*", b"ENTRY ")) and b"{" in data


def _decode(data: bytes, file: str) -> HloModule:
    """The ``HloModuleProto`` in ``data``, itself or inside an ``HloProto``."""
    wrapper = HloProto()
    try:
        wrapper.ParseFromString(data)
        inner = wrapper.hlo_module
    except DecodeError:
        inner = None
    if inner is not None and inner.computations:
        return HloModule(inner, file, original=_module_inside(data) or inner.SerializeToString())
    proto = HloModuleProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        if _DEPTH.search(str(error)):
            raise _too_deep(error, file) from error
        raise InputError(
            "neither HLO text, nor a whole HloModuleProto, nor a whole HloProto: "
            "the file is truncated, damaged or of another kind",
            location=SourceLocation(file),
        ) from None
    if not proto.computations:
        raise InputError(
            "no HLO module: a protobuf without a computation; the file is truncated or of another kind",
            location=SourceLocation(file),
        )
    return HloModule(proto, file, original=data)


_DEPTH = re.compile("MaxDepth|recursion", re.IGNORECASE)  # the protobuf runtimes have no other mark for it


def _too_deep(error: DecodeError, file: str) -> InputError:
    """The fault of a module that XLA reads and this protobuf runtime does not."""
    message = f"the protobuf runtime cannot read this module: {error}"
    if _DEPTH.search(str(error)):
        message = (
            "the shapes of this module are nested too deeply: protobuf reads messages inside each other to a depth of "
            "100, and a tuple in a tuple is one more"
        )
    return InputError(message, location=SourceLocation(file))


def _module_inside(data: bytes) -> bytes | None:
    """The bytes of the module in an ``HloProto``, when it stands first and once, as XLA writes it."""
    field = first_field(data)
    # A second field 1 would be merged into the first by the protobuf rules.
    return None if field is None or field[1].startswith(b"\x0a") else field[0]


def check_module(proto: Any, file: str) -> None:
    """Check what XLA's reader insists on and what it takes silently and gets wrong.

    XLA reads back only the low 32 bits of an id, so an operand or predecessor of another computation would land on
    whatever instruction has the same local id.

    Raises:
        InputError: names are missing or doubled, ids are doubled or negative, the entry, a root, an operand, a callee
            or a control predecessor does not exist in its computation, an instruction precedes itself, or data and
            control edges form a cycle. The message names computation and instruction.
    """
    checker = _Checker(proto, file)
    checker.check()


_LOCAL_BITS = 0xFFFFFFFF
_MAX_LOCAL_ID = 1 << 30  # XLA counts from 0; above this there would be no room for the ids of new instructions


class _Checker:
    def __init__(self, proto: Any, file: str) -> None:
        self.proto = proto
        self.file = file

    def fail(self, message: str, name: str = "") -> InputError:
        return InputError(diagnostics=[Diagnostic("error", message, SourceLocation(self.file, name=name))])

    def check(self) -> None:
        computations = list(self.proto.computations)
        by_id = {computation.id: computation for computation in computations}
        if len(by_id) != len(computations):
            raise self.fail("two computations have the same id")
        if self.proto.entry_computation_id not in by_id:
            raise self.fail(
                f"the entry computation (id {self.proto.entry_computation_id}) is not in the module; is it truncated?"
            )
        names: set[str] = set()
        for computation in computations:
            self._check_computation(computation, by_id, names)

    def _check_computation(self, computation: Any, computations: dict[int, Any], names: set[str]) -> None:
        where = f"computation '{computation.name}'"
        instructions = list(computation.instructions)
        seen: set[int] = set()
        local: set[int] = set()
        late: list[tuple[Any, int, str]] = []  # an operand or predecessor that does not stand before its user
        for instruction in instructions:
            one = instruction.id
            name = instruction.name
            if not name or name in names:
                what = f"two instructions of the module are named '{name}'" if name else "an instruction has no name"
                raise self.fail(f"{where}: {what}; names are unique over the module", name)
            names.add(name)
            local_id = one & _LOCAL_BITS
            if one < 0 or local_id >= _MAX_LOCAL_ID or local_id in local:
                what = "is taken" if local_id in local else "is out of range"
                raise self.fail(f"{where}: instruction '{name}': its id {one} {what}", name)
            local.add(local_id)
            for operand in instruction.operand_ids:
                if operand not in seen:
                    late.append((instruction, operand, "operand"))
            for predecessor in instruction.control_predecessor_ids:
                if predecessor not in seen:
                    late.append((instruction, predecessor, "control predecessor"))
            for callee in instruction.called_computation_ids:
                if callee not in computations:
                    raise self.fail(
                        f"{where}: instruction '{name}' calls computation {callee}, which is not there", name
                    )
            seen.add(one)
        if not instructions:
            raise self.fail(f"{where} holds no instruction; is the file truncated?")
        if computation.root_id not in seen:
            raise self.fail(f"{where}: its root (id {computation.root_id}) is not one of its instructions")
        for instruction, other, role in late:
            self._check_late(where, instruction, other, role, seen, computations)
        if late:
            cycle = topological_order(instructions)[1]
            if cycle:
                path = " -> ".join(f"'{i.name}'" for i in [*cycle, cycle[0]])
                raise self.fail(
                    f"{where}: instruction '{cycle[0].name}' is part of a cycle of data and control edges: {path}",
                    cycle[0].name,
                )

    def _check_late(
        self, where: str, instruction: Any, other: int, role: str, seen: set[int], computations: dict[int, Any]
    ) -> None:
        name = instruction.name
        if other == instruction.id:
            raise self.fail(f"{where}: instruction '{name}' is its own {role}", name)
        if other in seen:
            return
        for computation in computations.values():
            for candidate in computation.instructions:
                if candidate.id == other:
                    raise self.fail(
                        f"{where}: instruction '{name}': its {role} '{candidate.name}' belongs to computation "
                        f"'{computation.name}'; an edge holds within one computation",
                        name,
                    )
        raise self.fail(f"{where}: instruction '{name}': no instruction has the id {other} of its {role}", name)
