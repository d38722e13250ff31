"""Modules: parse, verify, copy, write."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable

from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, SourceLocation
from neuron_ctrldep.files import decode_utf8
from neuron_ctrldep.mlir.bindings import ir
from neuron_ctrldep.mlir.contexts import OWN_DIALECTS, make_context
from neuron_ctrldep.mlir.diagnostics import collect_diagnostics, source_location

BYTECODE_MAGIC = b"ML\xefR"
"""The first bytes of MLIR bytecode, portable artifacts included (MLIR, "MLIR Bytecode Format")."""


MAX_NESTING = 1000
"""Deeper regions than this are refused: at some 5,000 the recursive printer and verifier of MLIR overflow the stack."""


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


_ALIAS = re.compile(r"^([#!][\w$.-]+)\s*=(.*)$", re.MULTILINE)


_ALIAS_USE = re.compile(r"[#!][\w$.-]+")


def _check_aliases(text: str, file: str) -> None:
    """Refuse attributes and types that are nested through aliases: MLIR's printer recurses into what they stand for."""
    depth: dict[str, int] = {}
    for match in _ALIAS.finditer(text):
        depth[match[1]] = 1 + max((depth.get(name, 0) for name in _ALIAS_USE.findall(match[2])), default=0)
        if depth[match[1]] > MAX_NESTING:
            raise InputError(
                f"aliases stand for each other more than {MAX_NESTING} deep; MLIR would overflow the stack",
                location=_place(text, match.start(), file),
                source=text,
            )


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
    with_regions = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal with_regions
        with_regions += bool(len(op.regions))
        return ir.WalkResult.ADVANCE if with_regions <= MAX_NESTING else ir.WalkResult.INTERRUPT

    # Most modules have few ops with regions, which cannot be nested deeper than they are many. The walk recurses, but
    # it meets an op before what is in it, so it ends in time.
    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    if with_regions <= MAX_NESTING:
        return
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
            raise InputError(
                "the text holds a NUL byte; expected MLIR text", location=_place(text, text.index("\0"), file)
            )
        _check_nesting(text, file)
        _check_aliases(text, file)
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
        return InputError(diagnostics=[_with_advice(diagnostic) for diagnostic in found], source=text)
    return InputError(str(error), location=SourceLocation(file), source=text)


def _with_advice(diagnostic: Diagnostic) -> Diagnostic:
    """What a user of two versions of MLIR cannot know from the message: the form of text that both read."""
    if "strict properties in assembly format" not in diagnostic.message:
        return diagnostic
    advice = "this is text of an older MLIR; have it printed in the generic form there (--mlir-print-op-generic)"
    return dataclasses.replace(diagnostic, notes=(*diagnostic.notes, Diagnostic("note", advice, diagnostic.location)))


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
    """The same module again, in a context of its own that accepts the same dialects."""
    context = make_context(allow_unregistered=operation.context.allow_unregistered_dialects)
    return parse_module(to_bytecode(operation), file=file, context=context)


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
