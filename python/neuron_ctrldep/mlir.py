"""The one door to the MLIR bindings inside jaxlib; every difference between versions of jaxlib lives here.

Supported: jaxlib 0.10.2 to 0.12.0.1. The rest of the package imports :data:`ir`, :data:`rewrite` and the functions
below from here and never imports ``jaxlib`` itself. Nothing here imports ``jax``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir._mlir_libs._mlir import rewrite

from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, Severity, SourceLocation
from neuron_ctrldep.files import decode_utf8

__all__ = [
    "BYTECODE_MAGIC",
    "collect_diagnostics",
    "copy_module",
    "deserialize_portable",
    "hlo_proto_to_stablehlo",
    "hlo_proto_to_text",
    "hlo_text_to_proto",
    "ir",
    "location_names",
    "make_context",
    "mlir_to_hlo_proto",
    "module_name",
    "parent_of",
    "parse_module",
    "passmanager",
    "register_cpp_passes",
    "rewrite",
    "serialize_portable",
    "source_location",
    "stablehlo_version",
    "text_of",
    "to_bytecode",
    "unescape",
    "verify",
]

BYTECODE_MAGIC = b"ML\xefR"
"""The first bytes of MLIR bytecode, portable artifacts included (MLIR, "MLIR Bytecode Format")."""

OWN_DIALECTS = frozenset({"task"})
"""Dialects of this project. jaxlib has no IRDL, so their ops are unregistered ops to the bindings."""

MAX_NESTING = 1000
"""Deeper regions than this are refused: at some 5,000 the recursive printer and verifier of MLIR overflow the stack."""


for _dialect in OWN_DIALECTS:
    # The bindings look for a Python module of the dialect of every op they hand out, and where there is none they look
    # again, on disk, for the next op. An empty module is found once.
    sys.modules.setdefault(f"jaxlib.mlir.dialects.{_dialect}", types.ModuleType(f"jaxlib.mlir.dialects.{_dialect}"))


# --- contexts ---------------------------------------------------------------------------------------------------------


def make_context(*, allow_unregistered: bool = False) -> ir.Context:
    """A context with every dialect jaxlib has (func, scf, arith, memref, …), StableHLO, MHLO, CHLO and Shardy.

    A context keeps its types, attributes and constants until it dies: use one for each input.
    """
    # The extensions, not jaxlib.mlir.dialects: importing the Python classes of all ops takes longer than all else here.
    from jaxlib.mlir._mlir_libs import _chlo, _mlirHlo, _sdy, _stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    _stablehlo.register_dialect(context)
    _mlirHlo.register_mhlo_dialect(context)
    _chlo.register_dialect(context)
    _sdy.register_dialect(context)
    context.allow_unregistered_dialects = allow_unregistered
    # Without this, a diagnostic that no handler took and that holds bytes which are not UTF-8 ends the process.
    context.emit_error_diagnostics = True
    return context


_DIALECTS = [
    "affine",
    "arith",
    "builtin",
    "cf",
    "chlo",
    "complex",
    "func",
    "gpu",
    "linalg",
    "llvm",
    "math",
    "memref",
    "mhlo",
    "mpmd",
    "nvgpu",
    "nvvm",
    "quant",
    "scf",
    "sdy",
    "shape",
    "sparse_tensor",
    "stablehlo",
    "tensor",
    "transform",
    "ub",
    "vector",
    "vhlo",
]
"""What may be in jaxlib; the bindings do not list what is."""


def dialect_names() -> list[str]:
    """The dialects that inputs may use, by name, this project's own among them."""
    context = make_context()
    found = set(OWN_DIALECTS)
    for name in _DIALECTS:
        with contextlib.suppress(ValueError):
            context.get_dialect_descriptor(name)
            found.add(name)
    return sorted(found)


def register_cpp_passes() -> None:
    """Make the C++ passes of MLIR, StableHLO, MHLO and Shardy known by name. Idempotent."""
    from jaxlib.mlir._mlir_libs import _mlirHlo, _stablehlo

    # Registers MLIR's own passes (cse, canonicalize, inline, …) beside the dialects.
    _jax_mlir_ext.register_dialects(ir.DialectRegistry())
    _stablehlo.register_stablehlo_passes()
    _mlirHlo.register_mhlo_passes()


# --- locations and diagnostics ----------------------------------------------------------------------------------------

_FILE_LOCATION = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def source_location(location: ir.Location) -> SourceLocation | None:
    """The first file, line and column inside ``location``; ``None`` when it holds none.

    The bindings hand out plain ``Location`` objects from diagnostics, so the printed form is what both versions share.
    """
    match = _FILE_LOCATION.search(str(location))
    if match is None:
        return None
    return SourceLocation(unescape(match[1]), int(match[2]), int(match[3]))


_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)


def unescape(text: str) -> str:
    """The string that MLIR prints as ``text`` between quotes; bytes that are not UTF-8 stay visible in hexadecimal."""
    data = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if len(m[1]) == 2 else m[1], text.encode())
    return data.decode("utf-8", "backslashreplace")


def text_of(attribute: ir.StringAttr | ir.FlatSymbolRefAttr) -> str:
    """The value of a string or symbol; bytes that are not UTF-8, on which the bindings raise, stay visible."""
    if isinstance(attribute, ir.StringAttr):
        return attribute.value_bytes.decode("utf-8", "backslashreplace")
    try:
        return attribute.value
    except (UnicodeDecodeError, RuntimeError):
        return unescape(str(attribute).removeprefix("@").strip('"'))


_LOCATION_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"(?!:\d)')


def location_names(location: ir.Location) -> list[str]:
    """The names a location holds, outermost first: XLA's importer puts the HLO name or the ``op_name`` there."""
    text = str(location)
    if "\\" in text:
        # Asking for a name or a file with bytes that are not UTF-8 ends the process; the printed form escapes them.
        return [unescape(match[1]) for match in _LOCATION_NAME.finditer(text)]
    return _names_in(location)


def _names_in(location: ir.Location) -> list[str]:
    if isinstance(location, ir.NameLoc):
        return [location.name_str, *_names_in(location.child_loc)]
    if isinstance(location, ir.FusedLoc):
        return [name for inner in location.locations for name in _names_in(inner)]
    if isinstance(location, ir.CallSiteLoc):
        return _names_in(location.callee)
    return []


def _severity(value: Any) -> Severity:
    name = str(value).rsplit(".", 1)[-1].lower()
    return name if name in ("error", "warning", "remark", "note") else "error"  # type: ignore[return-value]


def _diagnostic(info: Any) -> Diagnostic:
    return Diagnostic(
        _severity(info.severity),
        info.message,
        source_location(info.location),
        tuple(_diagnostic(note) for note in info.notes),
    )


@contextlib.contextmanager
def collect_diagnostics(
    context: ir.Context, *, report: Callable[[Diagnostic], None] | None = None
) -> Iterator[list[Diagnostic]]:
    """Within the block, diagnostics of ``context`` are collected in the list it yields instead of being printed.

    Args:
        context: whose diagnostics.
        report: takes each as it is emitted, too.
    """
    found: list[Diagnostic] = []

    def handler(diagnostic: Any) -> bool:
        try:
            # DiagnosticInfo copies; the diagnostic itself dies when this callback returns.
            found.append(_diagnostic(ir.DiagnosticInfo(diagnostic)))
        except (UnicodeDecodeError, RuntimeError):
            message = "the message holds a name with bytes that are not UTF-8 and cannot be shown"
            found.append(Diagnostic(_severity(diagnostic.severity), message, source_location(diagnostic.location)))
        if report is not None:
            report(found[-1])
        return True

    attached = context.attach_diagnostic_handler(handler)
    try:
        yield found
    finally:
        attached.detach()


# --- modules ----------------------------------------------------------------------------------------------------------


_BRACKETS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[(){}\[\]<>]')


_SIGNS = re.compile(rf"(?:-\s*){{{MAX_NESTING}}}")


def _place(text: str, offset: int, file: str) -> SourceLocation:
    before = text[:offset]
    return SourceLocation(file, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _check_nesting(text: str, file: str) -> None:
    """Refuse what would overflow the stack of MLIR's parser, which recurses into brackets of every kind."""
    signs = _SIGNS.search(text) if text.count("-") > MAX_NESTING else None
    if signs is not None:
        raise InputError(
            f"more than {MAX_NESTING} minus signs in a row; MLIR would overflow the stack",
            location=_place(text, signs.start(), file),
            source=text,
        )
    if not any(text.count(opener) > MAX_NESTING for opener in "({[<"):
        return
    depth = dict.fromkeys("({[<", 0)
    for match in _BRACKETS.finditer(text):
        token = match[0]
        if token in depth:
            depth[token] += 1
            if sum(depth.values()) > MAX_NESTING:
                what = "regions" if token == "{" else "brackets"
                raise InputError(
                    f"{what} are nested more than {MAX_NESTING} deep; MLIR would overflow the stack",
                    location=_place(text, match.start(), file),
                    source=text,
                )
        elif token in _OPENER:
            # "<" and ">" also compare, in affine sets and inside opaque attributes: they may be out of balance.
            depth[_OPENER[token]] = max(0, depth[_OPENER[token]] - 1)


_OPENER = {")": "(", "}": "{", "]": "[", ">": "<"}


def has_own_dialect(source: str | bytes) -> bool:
    """Whether text or bytecode may hold ops of this project's own dialects."""
    if isinstance(source, str):
        return any(f"{dialect}." in source for dialect in OWN_DIALECTS)
    return any(dialect.encode() in source for dialect in OWN_DIALECTS)


def nesting(operation: ir.Operation) -> int:
    """How deep regions are nested in ``operation``; 1 for a module of ops without regions. Takes 1 µs for each op."""
    depth, level = 0, [operation]
    while True:
        inside = [
            child.operation
            for op in level
            for region in op.regions
            for block in region.blocks
            for child in block.operations
            if len(child.regions)
        ]
        if not inside:
            return depth + any(
                len(block.operations) for op in level for region in op.regions for block in region.blocks
            )
        depth, level = depth + 1, inside


def check_nesting(operation: ir.Operation, *, error: type[CtrlDepError] = InputError) -> None:
    """Refuse an op that MLIR's verifier and printer, which recurse, would overflow the stack on.

    Raises:
        InputError: (or ``error``) regions are nested too deep.
    """
    depth = nesting(operation)
    if depth > MAX_NESTING:
        message = (
            f"regions are nested {depth} deep; at most {MAX_NESTING} are handled, as MLIR would overflow the stack"
        )
        raise error(message, location=source_location(operation.location))


def parse_module(
    source: str | bytes,
    *,
    file: str = "-",
    context: ir.Context | None = None,
    implicit_module: bool = True,
    report: Callable[[Diagnostic], None] | None = None,
) -> ir.Operation:
    """Parse and verify MLIR text or bytecode; the result is the ``builtin.module`` and owns what it holds.

    Ops of this project's own dialects are accepted; other unregistered ops only when the context allows them.

    Args:
        source: the text, its UTF-8 bytes, or bytecode.
        file: what locations and messages call it.
        context: the context to parse into; a new one by default.
        implicit_module: put what is not one ``builtin.module`` into one, as mlir-opt does. Without it the result is the
            one op that the text must hold.
        report: takes what the parser says about a source that parses: warnings.

    Raises:
        InputError: it does not parse or does not verify; all diagnostics, with their source lines.
    """
    text: str | None = None
    if isinstance(source, bytes) and not source.startswith(BYTECODE_MAGIC):
        source = decode_utf8(source, file)
    if isinstance(source, str):
        text = source
        if "\0" in text:
            raise InputError("the text holds a NUL byte; expected MLIR text", location=SourceLocation(file))
        _check_nesting(text, file)
    context = context if context is not None else make_context()
    has_own = not context.allow_unregistered_dialects and has_own_dialect(source)
    if has_own:
        # This stays on: MLIR's verifier refuses unregistered ops as its parser does, so no task module would verify.
        context.allow_unregistered_dialects = True
    operation, said = _parse(source, file, text, context, implicit_module)
    for diagnostic in said:
        # A reproducer stores its pipeline there; who runs it reads it from the text.
        if report is not None and "external resources for 'mlir_reproducer'" not in diagnostic.message:
            report(diagnostic)
    if has_own:
        _refuse_foreign_unregistered(operation, file, text)
    return operation


_NOT_ONE_OP = "source must contain a single top-level operation"


def _parse(
    source: str | bytes, file: str, text: str | None, context: ir.Context, implicit_module: bool
) -> tuple[ir.Operation, list[Diagnostic]]:
    """The op, and what the parser said beside."""
    with collect_diagnostics(context) as found:
        try:
            if isinstance(source, bytes):  # bytecode: Operation.parse says that it takes it, and refuses bytes
                return ir.Module.parse(source, context=context).operation, found
            operation = ir.Operation.parse(source, source_name=file, context=context).operation
        except ir.MLIRError as error:
            # Operation.parse takes a file name and one op; Module.parse takes many and calls every file "-".
            if isinstance(source, bytes):
                raise _parse_error([_in_file(d, file) for d in found], error, file, text) from error
            if not (implicit_module and found and found[-1].message.startswith(_NOT_ONE_OP)):
                raise _parse_error(found, error, file, text) from error
            operation = None
        except ValueError as error:
            raise InputError(str(error), location=SourceLocation(file), source=text) from error
    if operation is not None:
        if operation.name == "builtin.module" or not implicit_module:
            return operation, found
        module = ir.Module.create(ir.Location.file(file, 0, 0, context=context)).operation
        module.regions[0].blocks[0].append(operation)
        verify(module, source=text)
        return module, found
    with collect_diagnostics(context) as found:
        try:
            module = ir.Module.parse(source, context=context).operation
        except ir.MLIRError as error:
            raise _parse_error([_in_file(d, file) for d in found], error, file, text) from error
    if file != "-":
        _relocate(module, file)
    return module, [_in_file(d, file) for d in found]


def _in_file(diagnostic: Diagnostic, file: str) -> Diagnostic:
    """``diagnostic`` about "-", said about ``file``."""
    location = diagnostic.location
    if location is not None and location.file == "-":
        location = dataclasses.replace(location, file=file)
    notes = tuple(_in_file(note, file) for note in diagnostic.notes)
    return dataclasses.replace(diagnostic, location=location, notes=notes)


def _relocate(operation: ir.Operation, file: str) -> None:
    """Put ops and block arguments that the parser located in the file "-" in ``file``."""
    context = operation.context

    def moved(location: ir.Location) -> ir.Location | None:
        # What the parser assigns is a bare FileLineColLoc; anything inside a larger location was written in the text.
        if isinstance(location, ir.FileLineColLoc) and location.filename == "-":
            return ir.Location.file(file, location.start_line, location.start_col, context=context)
        return None

    def visit(op: ir.Operation) -> ir.WalkResult:
        if (location := moved(op.location)) is not None:
            op.location = location
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    if (location := moved(argument.location)) is not None:
                        argument.set_location(location)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)


def _parse_error(found: list[Diagnostic], error: Exception, file: str, text: str | None) -> InputError:
    if found:
        return InputError(diagnostics=found, source=text)
    return InputError(str(error), location=SourceLocation(file), source=text)


def _refuse_foreign_unregistered(operation: ir.Operation, file: str, text: str | None) -> None:
    context = operation.context
    faults: list[Diagnostic] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.partition(".")[0] not in OWN_DIALECTS and not context.is_registered_operation(op.name):
            faults.append(
                Diagnostic(
                    "error",
                    f"operation being parsed with an unregistered dialect: '{op.name}'. "
                    "If this is intended, allow it with --allow-unregistered-dialect",
                    source_location(op.location) or SourceLocation(file),
                )
            )
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    if faults:
        raise InputError(diagnostics=faults, source=text)


def verify(operation: ir.Operation, *, source: str | None = None, error: type[CtrlDepError] = InputError) -> None:
    """Run MLIR's verifier on ``operation`` and all it holds.

    Raises:
        InputError: (or ``error``) it does not verify; all diagnostics.
    """
    with collect_diagnostics(operation.context) as found:
        try:
            valid = operation.verify()
        except ir.MLIRError:
            valid = False
    if not valid:
        raise error(diagnostics=found or [Diagnostic("error", "the module does not verify")], source=source)


def llvm_version() -> str:
    """The LLVM inside the bindings, as bytecode names its producer: ``23.0.0git``."""
    context = ir.Context()
    module = ir.Module.create(ir.Location.unknown(context)).operation
    return to_bytecode(module)[len(BYTECODE_MAGIC) + 1 :].split(b"\0", 1)[0].decode().removeprefix("MLIR")


def parent_of(operation: ir.Operation) -> ir.Operation | None:
    """The op around ``operation``; ``None`` for a top-level one, for which the bindings may raise instead."""
    try:
        parent = operation.parent
    except ValueError:  # "Detached operations have no parent": so the bindings call an op that they own
        return None
    return None if parent is None else parent.operation


def copy_module(operation: ir.Operation, *, file: str = "-") -> ir.Operation:
    """The same module again, in a context of its own."""
    return parse_module(to_bytecode(operation), file=file)


def to_bytecode(operation: ir.Operation, *, version: int | None = None) -> bytes:
    """``operation`` as MLIR bytecode; locations are kept.

    Raises:
        InputError: this ``version`` of the format cannot be written.
    """
    stream = io.BytesIO()
    with collect_diagnostics(operation.context) as found:
        try:
            operation.write_bytecode(stream, version)
        except ValueError as error:
            raise InputError(diagnostics=found or [Diagnostic("error", str(error))]) from error
    return stream.getvalue()


def module_name(operation: ir.Operation) -> str:
    """The symbol name of a module; ``-`` when it has none."""
    if "sym_name" not in operation.attributes:
        return "-"
    return string_value(operation.attributes["sym_name"])


def string_value(attribute: ir.Attribute) -> str:
    """The text of a string attribute; bytes that are not UTF-8, which MLIR allows, come as U+FFFD."""
    return bytes(ir.StringAttr(attribute).value_bytes).decode("utf-8", "replace")


# --- StableHLO portable artifacts -------------------------------------------------------------------------------------

_PORTABLE_DIALECTS = frozenset({"builtin", "func", "stablehlo", "vhlo", "sdy"})
"""What an artifact can hold; JAX stores Shardy's ops in it as they are."""

_PRODUCER = re.compile(rb"StableHLO_v(\d+\.\d+\.\d+)\0")


def stablehlo_version() -> str:
    """The version of StableHLO in the installed jaxlib, as ``1.17.0``."""
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    return str(stablehlo.get_current_version())


def deserialize_portable(data: bytes, *, file: str = "-", context: ir.Context | None = None) -> ir.Operation:
    """The module in a StableHLO portable artifact (VHLO bytecode).

    Raises:
        InputError: it is not one, or a newer StableHLO wrote it; the message says which and what to do.
    """
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    context = context if context is not None else make_context()
    if not data.startswith(BYTECODE_MAGIC):
        raise InputError("not a StableHLO portable artifact: it is not MLIR bytecode", location=SourceLocation(file))
    with collect_diagnostics(context) as found:
        try:
            module = stablehlo.deserialize_portable_artifact(context, data)
        except (ValueError, ir.MLIRError) as error:
            raise InputError(diagnostics=[artifact_fault(data, file, found)]) from error
    operation = module.operation
    verify(operation)
    return operation


_UNKNOWN_OP = re.compile(r"unregistered operation '([^']+)'")


def artifact_fault(data: bytes, file: str, found: Sequence[Diagnostic]) -> Diagnostic:
    """Why a portable artifact cannot be read: by which version it was written, which are read, which op is in the way.

    Args:
        data: the artifact.
        file: what the message calls it.
        found: what StableHLO said; it becomes notes.
    """
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    notes = tuple(Diagnostic("note", d.message, d.location) for d in found)
    producer = _PRODUCER.search(data[:64])
    written = producer[1].decode() if producer else None
    current, minimum = stablehlo_version(), str(stablehlo.get_minimum_version())
    if written is None:
        message = "not a StableHLO portable artifact"
    elif _version(written) > _version(current):
        op = next((match[1] for d in found if (match := _UNKNOWN_OP.search(d.message))), None)
        in_the_way = f", and does not know '{op}'" if op else ""
        message = (
            f"this portable artifact was written by StableHLO {written}; "
            f"the installed jaxlib reads {minimum} to {current}{in_the_way}. "
            f"Install a newer jaxlib, or write it again with --serialize-portable={current} "
            f'(serialize_portable(module, "{current}")) where it was made, or pass the program as text'
        )
    elif _version(written) < _version(minimum):
        message = (
            f"this portable artifact was written by StableHLO {written}; "
            f"the installed jaxlib reads {minimum} to {current}. Install an older jaxlib, or pass the program as text"
        )
    else:
        message = f"this portable artifact (StableHLO {written}) cannot be read"
    return Diagnostic("error", message, SourceLocation(file), notes)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def serialize_portable(operation: ir.Operation, target_version: str | None = None) -> bytes:
    """``operation`` as a StableHLO portable artifact.

    Args:
        operation: a ``builtin.module`` of StableHLO.
        target_version: the oldest StableHLO that must read it, as ``1.17.0``; the installed version by default.

    Raises:
        InputError: the module holds an op that no artifact can hold, or the version is malformed or out of range.
    """
    from jaxlib.mlir._mlir_libs import _stablehlo as stablehlo

    target = target_version if target_version is not None else stablehlo_version()
    minimum, current = str(stablehlo.get_minimum_version()), stablehlo_version()
    if not re.fullmatch(r"\d{1,6}\.\d{1,6}\.\d{1,6}", target):
        raise InputError(f"'{target}' is not a StableHLO version; expected three numbers, as {current}")
    if not _version(minimum) <= _version(target) <= _version(current):
        raise InputError(f"cannot write for StableHLO {target}; the installed jaxlib writes {minimum} to {current}")
    _check_portable(operation)
    bytecode = to_bytecode(operation)
    with collect_diagnostics(operation.context) as found:
        try:
            # A copy: the conversion to VHLO works in place.
            copy = ir.Module.parse(bytecode, context=operation.context)
            return bytes(stablehlo.serialize_portable_artifact(copy, target, allow_other_dialects=b"sdy" in bytecode))
        except (ValueError, ir.MLIRError) as error:
            message = f"the module cannot be written for StableHLO {target}"
            notes = tuple(Diagnostic("note", d.message, d.location) for d in found)
            raise InputError(diagnostics=[Diagnostic("error", message, None, notes)]) from error


def _check_portable(operation: ir.Operation) -> None:
    foreign: list[Diagnostic] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.partition(".")[0] in _PORTABLE_DIALECTS:
            return ir.WalkResult.ADVANCE
        names = location_names(op.location)
        which = f"'{op.name}' ('{names[0]}')" if names else f"'{op.name}'"
        message = f"a portable artifact cannot hold {which}; legalize it to StableHLO first"
        foreign.append(Diagnostic("error", message, source_location(op.location)))
        return ir.WalkResult.INTERRUPT

    operation.walk(visit)
    if foreign:
        raise InputError(diagnostics=foreign)


# --- HLO --------------------------------------------------------------------------------------------------------------


def hlo_text_to_proto(text: str) -> bytes:
    """XLA's own parser: HLO text to a serialized ``HloModuleProto``. XLA's exceptions come out as they are."""
    from jaxlib import _hlo

    return bytes(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())


def hlo_proto_to_text(proto: bytes) -> str:
    """XLA's own printer: a serialized ``HloModuleProto`` to HLO text. XLA's exceptions come out as they are."""
    from jaxlib import _hlo

    return str(_hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string())


def hlo_proto_to_stablehlo(proto: bytes) -> bytes:
    """XLA's own importer: a serialized ``HloModuleProto`` to MLIR bytecode.

    It can abort the process: run it in a child.
    """
    from jaxlib import _jax

    return bytes(_jax.mlir.hlo_to_stablehlo(proto))


def mlir_to_hlo_proto(bytecode: bytes) -> bytes:
    """XLA's own exporter: MLIR bytecode of a StableHLO or MHLO module to a serialized ``HloModuleProto``.

    It can abort the process: run it in a child.
    """
    from jaxlib import _jax

    computation = _jax.mlir.mlir_module_to_xla_computation(bytecode, use_tuple_args=False, return_tuple=False)
    return bytes(computation.as_serialized_hlo_module_proto())
