"""``preserve-control-deps`` against XLA's own ``hlo_module_from_text`` of the same module in the same run.

``python benchmarks/reify.py`` prints a table; ``measure()`` gives its rows. The module has one control edge for each
five instructions and the metadata that every instruction of a JAX program has. What is timed is the pass alone, on a
module in memory; reading and writing the protobuf, and XLA on the same module without metadata, have their own columns.
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


def medians(runs: int, *timed: tuple[Callable[[], Any], Callable[[Any], Any]]) -> list[float]:
    """The median time of each ``(prepare, run)``, in seconds of processor time.

    They take turns, and the time is the process's own: what else the machine does then hits all of them alike.
    """
    times: list[list[float]] = [[] for _ in timed]
    for _ in range(runs):
        for (prepare, run), measured in zip(timed, times, strict=True):
            given = prepare()
            start = time.process_time()
            run(given)
            measured.append(time.process_time() - start)
    return [statistics.median(measured) for measured in times]


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
        parse, parse_bare, reify, load, write = medians(
            RUNS,
            (lambda text=text: text, _hlo.hlo_module_from_text),
            (lambda bare=bare: bare, _hlo.hlo_module_from_text),
            (lambda proto=proto: _loaded(proto), preserve_control_deps),
            (lambda proto=proto: proto, load_hlo),
            (lambda proto=proto: _loaded(proto), HloModule.to_bytes),
        )
        rows.append(
            {
                "instructions": size,
                "edges": report.edges,
                "ratio": round(reify / parse, 2),
                "limit": LIMIT,
                "reify_s": round(reify, 3),
                "xla_parse_s": round(parse, 3),
                "xla_parse_without_metadata_s": round(parse_bare, 3),
                "us_per_instruction": round(reify / size * 1e6, 2),
                "load_and_check_s": round(load, 3),
                "write_s": round(write, 3),
            }
        )
    return rows


def main() -> int:
    """Print the rows; 1 when a ratio is above its limit."""
    rows = measure()
    print(f"preserve-control-deps against XLA's hlo_module_from_text, median of {RUNS}")
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))
    return int(any(row["ratio"] > LIMIT for row in rows))


if __name__ == "__main__":
    sys.exit(main())
