"""``flatten-control-dep-tuple-operands`` against upstream's C++ pass ``mhlo-flatten-tuple`` on the same module.

Both are the one pass of a pass manager with the verifier off, take turns in one process, and count its processor time.
Upstream's pass is the nearest C++ work there is: it, too, looks at every op and unpacks tuples among the operands of
custom calls. The rows differ in how many of the wire ops are bundled in tuples; the others are flat, as XLA's importer
leaves most of them.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

from neuron_ctrldep.mlir import ir, make_context, parse_module, passmanager, register_cpp_passes
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.passes.flatten import FlattenMhlo

SIZES = (10_000, 30_000, 100_000)
RUNS = 7


def module_text(ops: int, *, bundled: int) -> str:
    """A function of ``ops`` MHLO ops, a tenth of them wire ops with two predecessors.

    Args:
        ops: how many, roughly.
        bundled: how many in a hundred of the wire ops have their predecessors in one tuple.
    """
    f32 = "tensor<4xf32>"
    pair = f"tuple<{f32}, {f32}>"
    lines = ["module {", f"func.func @main(%a: {f32}, %b: {f32}) -> {f32} {{"]
    values = ["%a", "%a", "%b"]
    for group in range(ops // 10):
        is_bundled = group * bundled // 100 != (group + 1) * bundled // 100
        for number in range(8 if is_bundled else 9):
            lines.append(f"%v{group}_{number} = mhlo.add {values[-1]}, %b : {f32}")
            values = [*values[-2:], f"%v{group}_{number}"]
        first, second, data = values
        if is_bundled:
            lines.append(f"%t{group} = mhlo.tuple {first}, {second} : {pair}")
        operands, types = (f"%t{group}", pair) if is_bundled else (f"{first}, {second}", f"{f32}, {f32}")
        lines.append(
            f"%w{group} = mhlo.custom_call @AwsNeuronControlDep({operands}, {data}) "
            f"{{api_version = 1 : i32, has_side_effect = true}} : ({types}, {f32}) -> {f32}"
        )
        values.append(f"%w{group}")
        values = values[-3:]
    return "\n".join([*lines, f"return {values[-1]} : {f32}", "}", "}"])


def _ours(context: ir.Context) -> passmanager.PassManager:
    manager = passmanager.PassManager("builtin.module", context)
    manager.add(lambda op, _: FlattenMhlo().run(op.operation, Statistics()))
    return manager


def _upstream(context: ir.Context) -> passmanager.PassManager:
    return passmanager.PassManager.parse("builtin.module(func.func(mhlo-flatten-tuple))", context)


def measure(sizes: tuple[int, ...] = SIZES, shares: tuple[int, ...] = (25, 100)) -> list[dict[str, Any]]:
    """One row a size and share: medians of the seconds of both passes, and of the ratios of pairs."""
    register_cpp_passes()
    rows = []
    for bundled in shares:
        for size in sizes:
            text = module_text(size, bundled=bundled)
            times: dict[str, list[float]] = {"upstream": [], "ours": []}
            passes = [("upstream", _upstream), ("ours", _ours)]
            for _ in range(RUNS):
                passes.reverse()  # who comes second finds the memory of the first one's module
                for name, manager_of in passes:
                    module = parse_module(text, context=make_context())
                    manager = manager_of(module.context)
                    manager.enable_verifier(False)
                    start = time.process_time()
                    manager.run(module)
                    times[name].append(time.process_time() - start)
            upstream, ours = (statistics.median(times[name]) for name in ("upstream", "ours"))
            pairs = [one / other for one, other in zip(times["upstream"], times["ours"], strict=True)]
            rows.append(
                {
                    "ops": size,
                    "wire ops": size // 10,
                    "bundled": f"{bundled} %",
                    "mhlo-flatten-tuple [s]": round(upstream, 3),
                    "ours [s]": round(ours, 3),
                    "times as fast": round(statistics.median(pairs), 2),
                }
            )
    return rows


if __name__ == "__main__":
    for row in measure():
        print(row)
    sys.exit(0)
