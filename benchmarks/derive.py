"""``auto-derive-task-dependencies`` against upstream's time to parse the same module, and against its own growth.

The modules are plain calls of kernels on buffers: each reads one and writes another (``read-write``) or works in place.
Parsing is MLIR's own, in C++. Times are processor time for each task; ``growth`` is the time for each task over that of
the smallest module of the same pattern. ``memory`` is what the pass takes at its peak, as a multiple of what the module
takes, both as the growth of the resident set of a process of its own. Parsing and deriving take turns, each time on a
fresh module; the figures are medians.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from typing import Any

SIZES = (
    *((tasks, buffers) for tasks in (1_000, 10_000) for buffers in (4, 64, 1_024)),
    (20_000, 4),
    *((100_000, buffers) for buffers in (4, 64, 1_024)),
)
TURNS = 3
TASKS_IN_ALL = 20_000
"""Small modules take more turns, until they have as many tasks together."""
PATTERNS = ("read-write", "in-place")


def module_text(tasks: int, buffers: int, pattern: str) -> str:
    """A function in default mode with ``tasks`` tasks on ``buffers`` parameters."""
    memref = "memref<64xf32>"
    lines = [
        "module {",
        f'func.func private @K({memref} {{task.direction = "in"}}, {memref} {{task.direction = "out"}}) '
        'attributes {task.kind = "kernel"}',
        f'func.func private @M({memref} {{task.direction = "inout"}}) attributes {{task.kind = "kernel"}}',
        f"func.func @main({', '.join(f'%b{i}: {memref}' for i in range(buffers))}) "
        'attributes {task.kind = "orchestration"} {',
    ]
    for i in range(tasks):
        name = f'{{task.name = "task {i}"}}'
        if pattern == "read-write":
            lines.append(
                f"func.call @K(%b{7 * i % buffers}, %b{(7 * i + 3) % buffers}) {name} : ({memref}, {memref}) -> ()"
            )
        else:
            lines.append(f"func.call @M(%b{i % buffers}) {name} : ({memref}) -> ()")
    return "\n".join([*lines, "return", "}", "}"])


def resident() -> int:
    """The highest resident set so far, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def one(tasks: int, buffers: int, pattern: str) -> dict[str, float]:
    """Measure one module; runs in a process of its own, so that memory is that of this module."""
    from neuron_ctrldep.mlir import ir, make_context
    from neuron_ctrldep.task.derive import auto_derive_task_dependencies
    from neuron_ctrldep.task.directions import derive_call_directions

    text = module_text(tasks, buffers, pattern)
    parse, derive = [], []
    memory = 0.0
    for turn in range(max(TURNS, TASKS_IN_ALL // tasks)):
        context = make_context(allow_unregistered=True)
        before = resident()
        start = time.process_time()
        module = ir.Operation.parse(text, context=context)
        parse.append(time.process_time() - start)
        with context, module.location:
            derive_call_directions(module)
            loaded = resident()
            start = time.process_time()
            result = auto_derive_task_dependencies(module)
            derive.append(time.process_time() - start)
        assert result.edges or tasks <= buffers
        if not turn:  # later the process has room already
            memory = (resident() - loaded) / max(1, loaded - before)
        del module, context
    return {"parse": statistics.median(parse), "derive": statistics.median(derive), "memory": memory}


def measure() -> list[dict[str, Any]]:
    """One row for each pattern and size."""
    rows = []
    spawn = multiprocessing.get_context("spawn")
    for pattern in PATTERNS:
        smallest = None
        for tasks, buffers in SIZES:
            with spawn.Pool(1) as pool:
                found = pool.apply(one, (tasks, buffers, pattern))
            each = found["derive"] / tasks
            smallest = smallest or each
            rows.append(
                {
                    "pattern": pattern,
                    "tasks": tasks,
                    "buffers": buffers,
                    "µs each": f"{each * 1e6:.1f}",
                    "× upstream's parse": f"{found['derive'] / found['parse']:.1f}",
                    "growth": f"{each / smallest:.2f}",
                    "memory": f"{found['memory']:.1f}",
                }
            )
    return rows


if __name__ == "__main__":
    for row in measure():
        print(row)
