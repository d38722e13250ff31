"""``--verify-roundtrip``: what MLIR prints of a module, or writes as bytecode, reads back as the same module."""

from __future__ import annotations

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.printing import PrintFlags

_GENERIC = PrintFlags(generic=True, local_scope=True)


def check_round_trip(operation: ir.Operation, *, file: str) -> None:
    """Print ``operation`` as text and as bytecode, read both back, and compare.

    Raises:
        InputError: one does not read back, or as another module.
    """
    before = _GENERIC.render(operation)
    forms: list[tuple[str, str | bytes]] = [("text", PrintFlags(debug_info=True).render(operation))]
    if operation.name == "builtin.module":  # the bindings read no other op from bytecode
        forms.append(("bytecode", mlir.to_bytecode(operation)))
    for form, written in forms:
        context = mlir.make_context(allow_unregistered=operation.context.allow_unregistered_dialects)
        try:
            again = mlir.parse_module(
                written, file=f"<{form} of {file}>", context=context, implicit_module=operation.name == "builtin.module"
            )
        except InputError as error:
            raise _fault(operation, file, f"failed to parse the {form} back", error) from error
        after = _GENERIC.render(again)
        if after != before:
            both = f"<<<<<<Reference\n{before}\n=====\n{after}\n>>>>>roundtripped"
            raise _fault(operation, file, f"{form}: roundtripped module differs from reference:\n{both}")


def _fault(operation: ir.Operation, file: str, message: str, cause: InputError | None = None) -> InputError:
    place = mlir.source_location(operation.location) or SourceLocation(file)
    notes = cause.diagnostics if cause is not None else ()
    return InputError(f"'{operation.name}' op roundTrip testing {message}", location=place, notes=notes)
