"""Penguin Python against upstream's own printing of the same module in the same run.

``python benchmarks/emit.py`` prints a table; ``measure()`` gives its rows. What is timed, in processor time, is
``print_penguin`` on a module in memory, reading the edges included. The program holds names and locations, so the limit
is against ``get_asm(enable_debug_info=True)``, which prints them too; the ratio to plain ``get_asm()`` is beside it.
"""

from __future__ import annotations

import functools
import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from neuron_ctrldep.control_dep import control_edges
from neuron_ctrldep.mlir import ir, parse_module
from neuron_ctrldep.penguin.printer import print_penguin

SIZES = (10_000, 30_000, 100_000)
RUNS = 7
LIMIT = 4.0
"""Emission may take at most this many times what upstream's printing takes."""
WIRE_EVERY = 10
"""One op in so many is a wire op, with one predecessor."""

_T = "tensor<8x8xf32>"
_OPS = ("add", "exponential", "multiply", "tanh", "subtract", "negate", "maximum", "abs", "minimum")
_BINARY = frozenset({"add", "multiply", "subtract", "maximum", "minimum"})


def module_of(ops: int) -> ir.Operation:
    """A module of that many ops, named as an import from HLO names them."""
    lines = [
        'module attributes {mhlo.frontend_attributes = {has_control_deps = "1"}} {',
        f"func.func @main(%a: {_T}, %b: {_T}) -> {_T} {{",
    ]
    previous, operand = "%a", "%a"
    for number in range(ops):
        kind = _OPS[number % len(_OPS)]
        if number % WIRE_EVERY == WIRE_EVERY - 1:
            lines.append(
                f"%{number} = stablehlo.custom_call @AwsNeuronControlDep(%{number - 5}, {previous}) "
                f'{{api_version = 1 : i32, has_side_effect = true}} : ({_T}, {_T}) -> {_T} loc("wire.{number}")'
            )
        else:
            operands = f"{previous}, {operand}" if kind in _BINARY else previous
            lines.append(f'%{number} = stablehlo.{kind} {operands} : {_T} loc("{kind}.{number}")')
            operand = previous
        previous = f"%{number}"
    lines += [f"return {previous} : {_T}", "}", "}"]
    return parse_module("\n".join(lines))


def times_of(*runs: Callable[[], Any]) -> list[list[float]]:
    """The processor times of each of ``runs``, taken in turns, in seconds."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(RUNS):
        for run, taken in zip(runs, times, strict=True):
            gc.collect()
            start = time.process_time()
            run()
            taken.append(time.process_time() - start)
    return times


def _ratio(ones: list[float], others: list[float]) -> float:
    return round(statistics.median(one / other for one, other in zip(ones, others, strict=True)), 2)


def measure(sizes: tuple[int, ...] = SIZES) -> list[dict[str, Any]]:
    """One row a size: medians of the seconds of upstream's printing and of ours, and of the ratios of pairs."""
    rows = []
    for size in sizes:
        module = module_of(size)
        times = times_of(
            functools.partial(module.get_asm, enable_debug_info=True),
            module.get_asm,
            functools.partial(control_edges, module),
            functools.partial(print_penguin, module),
        )
        asm, plain, edges, emit = (statistics.median(taken) for taken in times)
        rows.append(
            {
                "ops": size,
                "edges": len(control_edges(module).edges),
                "mlir_print_s": round(asm, 3),
                "mlir_print_without_locations_s": round(plain, 3),
                "control_edges_s": round(edges, 3),
                "emit_s": round(emit, 3),
                "ratio": _ratio(times[3], times[0]),
                "ratio_without_locations": _ratio(times[3], times[1]),
                "limit": LIMIT,
                "microseconds_per_op": round(emit / size * 1e6, 2),
            }
        )
    return rows


def main() -> int:
    """Print the rows; 1 when a ratio is above its limit."""
    rows = measure()
    print(f"Penguin Python against upstream's printing with locations, median of {RUNS} (at most {LIMIT:g} times)")
    for row in rows:
        print(
            f"{row['ops']:>8} ops {row['edges']:>6} edges: MLIR prints in {row['mlir_print_s']:.3f} s, emission "
            f"{row['emit_s']:.3f} s (ratio {row['ratio']:.2f}, {row['microseconds_per_op']:.2f} us per op), "
            f"{row['control_edges_s']:.3f} s of it reading the edges; {row['ratio_without_locations']:.2f} times MLIR "
            "without locations"
        )
    return int(any(row["ratio"] > LIMIT for row in rows))


if __name__ == "__main__":
    sys.exit(main())
