"""What would end or hang the process inside MLIR, found before it happens."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeAlias

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.mlir.bindings import ir, passmanager, rewrite
from neuron_ctrldep.mlir.contexts import is_multithreaded
from neuron_ctrldep.mlir.diagnostics import source_location
from neuron_ctrldep.mlir.modules import check_nesting, parent_of

_inherited: weakref.WeakSet[ir.Context] = weakref.WeakSet()
"""The contexts that were there when this process was forked: their threads are in the other one."""


def _note_inherited() -> None:
    _inherited.update(found for found in gc.get_objects() if issubclass(type(found), ir.Context))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_inherited)


def entry(module: ir.Operation | ir.Module) -> ir.Operation:
    """The op that a caller hands to a public function, once it is known that MLIR can work on it.

    Raises:
        InputError: it is no module, the op is gone, its regions are nested too deep, or its context has its threads in
            another process.
    """
    if not isinstance(module, ir.Module | ir.Operation | ir.OpView):
        raise InputError(f"expected an MLIR module (an ir.Module or its operation), not {type(module).__name__}")
    operation = module.operation
    # The handle of an op in a module knows that there is a parent. An erased op has none; this is read from memory that
    # was given back, so it is likely to be seen, and no promise.
    if operation.attached and operation.parent is None and operation.name != "builtin.module":
        raise InputError(
            "the operation is no longer part of a module: a pass removed or replaced it; "
            "look it up again after passes have run"
        )
    if operation.context in _inherited and is_multithreaded(operation.context):
        # MLIR would wait for threads that stayed in the process which this one was forked from.
        raise InputError(
            "the process was forked, and the threads of the module's context stayed behind; load the module in the new "
            "process, or call context.enable_multithreading(False) before the fork"
        )
    check_nesting(operation)
    return operation


# --- what passes of other packages may not do -------------------------------------------------------------------------

_roots: ContextVar[tuple[ir.Operation, ...]] = ContextVar("roots", default=())
"""What the passes that run in this thread run on."""


def _described(op: ir.Operation) -> str:
    location = source_location(op.location)
    return f"'{op.name}'" if location is None else f"'{op.name}' at {location.file}:{location.line}:{location.column}"


def _not_around_a_root(op: ir.Operation) -> None:
    for root in _roots.get():
        above: ir.Operation | None = root
        while above is not None:
            if above == op:
                raise ValueError(f"{_described(op)} cannot be removed: the pass runs on it or inside it")
            above = parent_of(above)


def _not_erased(op: ir.Operation) -> None:
    _not_around_a_root(op)
    if any(True for result in op.results for _ in result.uses):
        raise ValueError(f"{_described(op)} cannot be erased: its results have uses; replace these first")


def _not_erased_argument(block: ir.Block, index: int) -> None:
    arguments = list(block.arguments)
    if 0 <= index < len(arguments) and any(True for _ in arguments[index].uses):
        raise ValueError(f"argument {index} cannot be erased: it has uses; replace these first")


def _not_unregistered(context: ir.Context, name: str) -> None:
    if not context.is_registered_operation(name):
        raise ValueError(f"'{name}' is an unregistered operation, on which the bindings would end the process")


def _not_attached(trait: Any, op_name: Any, *arguments: Any, **keywords: Any) -> None:
    found = [one for one in (*arguments, *keywords.values()) if isinstance(one, ir.Context)]
    context = found[0] if found else ir.Context.current
    _not_unregistered(context, op_name if isinstance(op_name, str) else op_name.OPERATION_NAME)


def _not_op_name(manager: passmanager.PassManager, *_: Any, op_name: str | None = None, **__: Any) -> None:
    if op_name:
        raise ValueError("PassManager.add with op_name ends the process; ask for op.name in the pass instead")


def _not_module_scope(manager: passmanager.PassManager, *arguments: Any, **keywords: Any) -> None:
    in_threads = any(is_multithreaded(root.context) for root in _roots.get())
    if in_threads and (keywords.get("print_module_scope") or True in arguments[2:3]):
        raise ValueError("enable_ir_printing(print_module_scope=True) ends the process where passes run in threads")


_Wrap: TypeAlias = Callable[[Any], Any]
"""From a method of the bindings to what stands in its place."""


def _checked(check: Callable[..., None]) -> _Wrap:
    """What raises :class:`ValueError`, by ``check`` of the arguments, where the method would end the process."""

    def wrap(method: Any) -> Any:
        if isinstance(method, classmethod):
            return classmethod(wrap(method.__func__))

        def checked(*arguments: Any, **keywords: Any) -> Any:
            check(*arguments, **keywords)
            return method(*arguments, **keywords)

        return checked

    return wrap


def _open_walk(method: Any) -> Any:
    """``walk``, out of which an exception of the callback comes as itself; the bindings make a text of it."""

    def walk(op: Any, callback: Callable[[Any], Any], *arguments: Any, **keywords: Any) -> None:
        raised: list[BaseException] = []

        def visit(inner: Any) -> Any:
            try:
                return callback(inner)
            except BaseException as error:
                raised.append(error)
                return ir.WalkResult.INTERRUPT

        method(op, visit, *arguments, **keywords)
        if raised:
            raise raised[0]

    return walk


_REPLACED: tuple[tuple[Any, str, _Wrap], ...] = (
    (ir.Operation.__base__, "erase", _checked(lambda op: _not_erased(op.operation))),
    (ir.Operation.__base__, "detach_from_parent", _checked(lambda op: _not_around_a_root(op.operation))),
    (ir.Operation.__base__, "walk", _open_walk),
    (ir.SymbolTable, "erase", _checked(lambda table, op: _not_erased(op.operation))),
    (ir.SymbolTable, "__delitem__", _checked(lambda table, name: _not_erased(table[name].operation))),
    (ir.SymbolTable, "insert", _checked(lambda table, op: _not_unregistered(op.operation.context, op.operation.name))),
    (ir.Block, "erase_argument", _checked(_not_erased_argument)),
    (rewrite.PatternRewriter, "erase_op", _checked(lambda rewriter, op: _not_erased(op.operation))),
    (rewrite.PatternRewriter, "replace_op", _checked(lambda rewriter, op, new: _not_around_a_root(op.operation))),
    (passmanager.PassManager, "add", _checked(_not_op_name)),
    (passmanager.PassManager, "enable_ir_printing", _checked(_not_module_scope)),
    *((trait, "attach", _checked(_not_attached)) for trait in (ir.DynamicOpTrait, *ir.DynamicOpTrait.__subclasses__())),
)
"""A class of the bindings, a method, and what takes its place while a pass of another package runs."""

_lock = threading.Lock()
_methods: list[Any] = []
"""The methods of ``_REPLACED`` as the bindings have them, while a guarded block runs in any thread."""

_blocks = 0
"""How many guarded blocks run."""


@contextlib.contextmanager
def checked_edits(root: ir.Operation) -> Iterator[None]:
    """Within the block, the bindings raise :class:`ValueError` where they would otherwise end the process.

    An op or block argument with uses is not erased, ``root`` or an op around it is not removed, and methods that are
    known to abort on what they are given refuse it; the bindings check none of this themselves. An exception of a
    callback comes out of a walk as it is.
    """
    global _blocks
    with _lock:
        if not _blocks:
            for cls, name, wrap in _REPLACED:
                _methods.append(cls.__dict__[name])
                setattr(cls, name, wrap(_methods[-1]))
        _blocks += 1
    token = _roots.set((*_roots.get(), root))
    try:
        yield
    finally:
        _roots.reset(token)
        with _lock:
            _blocks -= 1
            if not _blocks:
                for (cls, name, _), method in zip(_REPLACED, _methods, strict=True):
                    setattr(cls, name, method)
                _methods.clear()
