"""What would end or hang the process inside MLIR, found before it happens."""

from __future__ import annotations

import contextlib
import dataclasses
import operator
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.mlir.bindings import ir, rewrite
from neuron_ctrldep.mlir.contexts import is_multithreaded
from neuron_ctrldep.mlir.diagnostics import source_location
from neuron_ctrldep.mlir.modules import check_nesting, parent_of

_processes: weakref.WeakKeyDictionary[ir.Context, int] = weakref.WeakKeyDictionary()
"""The process in which a context with threads was first seen."""


def entry(module: ir.Operation | ir.Module) -> ir.Operation:
    """The op that a caller hands to a public function, once it is known that MLIR can work on it.

    Raises:
        InputError: the op is gone, its regions are nested too deep, or its context has its threads in another process.
    """
    operation = module.operation
    # The handle of an op in a module knows that there is a parent. An erased op has none; this is read from memory that
    # was given back, so it is likely to be seen, and no promise.
    if operation.attached and operation.parent is None and operation.name != "builtin.module":
        raise InputError(
            "the operation is no longer part of a module: a pass removed or replaced it; "
            "look it up again after passes have run"
        )
    check_process(operation.context)
    check_nesting(operation)
    return operation


def check_process(context: ir.Context) -> None:
    """Refuse a context whose threads stayed in the process that this one was forked from: MLIR would wait for them.

    Raises:
        InputError: they did.
    """
    if is_multithreaded(context) and _processes.setdefault(context, os.getpid()) != os.getpid():
        raise InputError(
            "the process was forked, and the threads of the module's context stayed behind; load the module in the new "
            "process, or call context.enable_multithreading(False) before the fork"
        )


_roots: ContextVar[tuple[ir.Operation, ...]] = ContextVar("roots", default=())
"""What the passes that run in this thread run on."""


def _check_removal(op: ir.Operation, *, uses: bool) -> None:
    for root in _roots.get():
        above: ir.Operation | None = root
        while above is not None:
            if above == op:
                raise ValueError(f"{_described(op)} cannot be removed: the pass runs on it or inside it")
            above = parent_of(above)
    if uses and any(True for result in op.results for _ in result.uses):
        raise ValueError(f"{_described(op)} cannot be erased: its results have uses; replace these first")


def _described(op: ir.Operation) -> str:
    location = source_location(op.location)
    return f"'{op.name}'" if location is None else f"'{op.name}' at {location.file}:{location.line}:{location.column}"


@dataclasses.dataclass(frozen=True)
class _Remover:
    """A method of the bindings that takes an op out of its block."""

    cls: Any
    method: str
    victim: Callable[..., ir.Operation | ir.OpView] = operator.itemgetter(0)
    """The op, from the arguments."""
    uses: bool = True
    """Whether the uses of its results would be left behind."""

    def checked(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """``method``, refused where it would leave a reference to a freed op."""

        def checked(*arguments: Any) -> Any:
            _check_removal(self.victim(arguments).operation, uses=self.uses)
            return method(*arguments)

        return checked


_REMOVERS = (
    _Remover(ir.Operation.__base__, "erase"),
    _Remover(ir.Operation.__base__, "detach_from_parent", uses=False),
    _Remover(ir.SymbolTable, "erase", operator.itemgetter(1)),
    _Remover(ir.SymbolTable, "__delitem__", lambda arguments: arguments[0][arguments[1]]),
    _Remover(rewrite.PatternRewriter, "erase_op", operator.itemgetter(1)),
    _Remover(rewrite.PatternRewriter, "replace_op", operator.itemgetter(1), uses=False),
)

_lock = threading.Lock()
_replaced: list[Any] = []
"""The methods of ``_REMOVERS`` as the bindings have them, while a guarded block runs in any thread."""

_blocks = 0
"""How many guarded blocks run."""


@contextlib.contextmanager
def checked_removal(root: ir.Operation) -> Iterator[None]:
    """Within the block, the bindings raise :class:`ValueError` where they would leave a reference to a freed op.

    That is: where an op is erased whose results have uses, and where ``root`` or an op around it is removed. The
    bindings do not check this themselves, and the process would end at the next touch.
    """
    global _blocks
    with _lock:
        if not _blocks:
            for remover in _REMOVERS:
                _replaced.append(remover.cls.__dict__[remover.method])
                setattr(remover.cls, remover.method, remover.checked(_replaced[-1]))
        _blocks += 1
    token = _roots.set((*_roots.get(), root))
    try:
        yield
    finally:
        _roots.reset(token)
        with _lock:
            _blocks -= 1
            if not _blocks:
                for remover, method in zip(_REMOVERS, _replaced, strict=True):
                    setattr(remover.cls, remover.method, method)
                _replaced.clear()
