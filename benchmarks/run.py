"""Run the measurements and print them as the tables of ``benchmarks/README.md``.

Each row compares a piece of this package with a named reference in the same run, on the same module: ratios, because
the speed of a machine drifts. ``python benchmarks/run.py [NAME…]`` runs some of them.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

NAMES = ("reify", "flatten", "emit", "derive", "startup")


def main(names: list[str]) -> int:
    """Print one table per measurement."""
    sys.path.insert(0, str(Path(__file__).parent))
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in names or NAMES:
        module = importlib.import_module(name)
        print(f"## {name}\n\n{(module.__doc__ or '').strip()}\n")
        rows = module.measure()
        columns = list(rows[0])
        print("| " + " | ".join(columns) + " |")
        print("|" + "---|" * len(columns))
        for row in rows:
            print("| " + " | ".join(str(row[column]) for column in columns) + " |", flush=True)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
