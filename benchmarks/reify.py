"""``preserve-control-deps`` against XLA's own ``hlo_module_from_text`` of the same module in the same run.

``python benchmarks/reify.py`` prints a table; ``measure()`` gives its rows. The module has one control edge for each
five instructions. What is timed is the pass alone, on a module in memory; reading and writing the protobuf are rows of
their own.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.hlo.schema import HloModuleProto

SIZES = (10_000, 30_000, 100_000)
RUNS = 5
LIMIT = 1.0
"""The pass may take at most this many times what XLA's parser takes."""


def module_text(instructions: int, *, with_metadata: bool = True) -> str:
    """A module of about that many instructions, a fifth of which have one control predecessor.

    Args:
        instructions: how many.
        with_metadata: each with ``op_name`` and source line, as every instruction of a JAX program has.
    """
    metadata = ', metadata={{op_name="jit(step)/layer_{0}/mul" source_file="/home/user/model.py" source_line={0}}}'
    lines = ["HloModule big", "ENTRY e {", "  v0 = f32[8,8]{1,0} parameter(0)"]
    for number in range(1, instructions - 1):
        opcode = ("negate", "sine", "cosine", "tanh", "abs")[number % 5]
        operand = number - 1 if number % 7 else max(0, number - 50)
        control = f", control-predecessors={{v{max(1, number - 17)}}}" if number % 5 == 0 and number > 17 else ""
        source = metadata.format(number % 997) if with_metadata else ""
        lines.append(f"  v{number} = f32[8,8]{{1,0}} {opcode}(v{operand}){control}{source}")
    lines += [f"  ROOT r = f32[8,8]{{1,0}} add(v0, v{instructions - 2})", "}"]
    return "\n".join(lines)


def median_of(prepare: Callable[[], Any], run: Callable[[Any], Any], runs: int = RUNS) -> float:
    """The median time of ``run``, each on what a fresh ``prepare`` gives, in seconds."""
    times = []
    for _ in range(runs):
        given = prepare()
        start = time.perf_counter()
        run(given)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _loaded(proto: bytes) -> HloModule:
    message = HloModuleProto()
    message.ParseFromString(proto)
    return HloModule(message)


def measure(sizes: tuple[int, ...] = SIZES) -> list[dict[str, Any]]:
    """One row a size: seconds of XLA's parser and of our steps, and the ratio that is limited."""
    from jaxlib import _hlo

    rows = []
    for size in sizes:
        text = module_text(size)
        bare = module_text(size, with_metadata=False)
        proto = bytes(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        report = preserve_control_deps(_loaded(proto))
        parse = median_of(lambda text=text: text, _hlo.hlo_module_from_text)
        reify = median_of(lambda proto=proto: _loaded(proto), preserve_control_deps)
        rows.append(
            {
                "instructions": size,
                "edges": report.edges,
                "xla_parse_s": parse,
                "xla_parse_bare_s": median_of(lambda bare=bare: bare, _hlo.hlo_module_from_text),
                "reify_s": reify,
                "load_s": median_of(lambda proto=proto: proto, load_hlo),
                "write_s": median_of(lambda proto=proto: _loaded(proto), HloModule.to_bytes),
                "ratio": reify / parse,
                "limit": LIMIT,
                "us_per_instruction": reify / size * 1e6,
            }
        )
    return rows


def main() -> int:
    """Print the rows; 1 when a ratio is above its limit."""
    rows = measure()
    print(f"preserve-control-deps against XLA's hlo_module_from_text, median of {RUNS}; the ratio is at most {LIMIT:g}")
    for row in rows:
        print(
            f"{row['instructions']:>8} instructions, {row['edges']:>6} edges: ratio {row['ratio']:.2f} "
            f"(reify {row['reify_s']:.3f} s, XLA's parser {row['xla_parse_s']:.3f} s, without metadata "
            f"{row['xla_parse_bare_s']:.3f} s); {row['us_per_instruction']:.2f} us per instruction; "
            f"load and check {row['load_s']:.3f} s, write {row['write_s']:.3f} s"
        )
    return int(any(row["ratio"] > LIMIT for row in rows))


if __name__ == "__main__":
    sys.exit(main())
