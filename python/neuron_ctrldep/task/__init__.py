"""The task dialect and its passes, and the words in which task programs are written.

    >>> import neuron_ctrldep as nc
    >>> t = nc.task
    >>> program = t.Program()
    >>> fill = program.kernel("fill", t.Out(t.tensor(64)))
    >>> with program.orchestration(s=t.tensor(64)) as main:
    ...     first = main.submit(fill, main.storage("s"))
    ...     second = main.submit(fill, main.storage("s"), deps=[first.id])
    >>> module = program.build()

The names come from :mod:`neuron_ctrldep.task.builder`, which is imported when the first of them is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neuron_ctrldep.task.builder import (
        Branch,
        Condition,
        Forall,
        Function,
        IdTensor,
        In,
        Index,
        InOut,
        Kernel,
        Loop,
        Number,
        Out,
        Parameter,
        Program,
        Region,
        Storage,
        Submitted,
        TaskId,
        Type,
        Value,
        While,
        index,
        memref,
        scalar,
        tensor,
    )

__all__ = [
    "Branch",
    "Condition",
    "Forall",
    "Function",
    "IdTensor",
    "In",
    "InOut",
    "Index",
    "Kernel",
    "Loop",
    "Number",
    "Out",
    "Parameter",
    "Program",
    "Region",
    "Storage",
    "Submitted",
    "TaskId",
    "Type",
    "Value",
    "While",
    "index",
    "memref",
    "scalar",
    "tensor",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from neuron_ctrldep.task import builder

    return getattr(builder, name)
