"""Directories that XLA dumped into (``--xla_dump_to``): which file of each module is the one to read.

XLA writes every module many times: ``module_0003.jit_step.before_optimizations.txt``, one file for each pass that was
asked for, ``module_0003.jit_step.cpu_after_optimizations.hlo.pb``, and reports beside them; what was compiled, and with
which options, lies in a directory ``module_0003.jit_step``. Only the optimized module has the control edges that XLA
put there, so that is the one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_DUMP = re.compile(
    r"(?P<module>module_\d+\.[^/]*?)\."
    r"(?P<stage>\d{4}\.[^/]*|(?:sm_\d+\.\d+_)?(?:[a-z]+_)?(?:before|after)_optimizations[^/]*)"
)
_SOURCE = re.compile(r"module_\d+\..+")
"""A directory beside the dumps of a module: its source, options and topology."""

_KINDS = (".hlo.pb", ".txt")
"""What holds a module, the exact form first."""


def latest_of_each_module(files: Iterable[Path]) -> list[Path]:
    """``files`` without what repeats or only reports on an XLA module; what is no XLA dump stays.

    Of each module the last stage is kept: after optimizations, else after the last pass, else before optimizations; as
    a proto where there is one, else as text. Without any of these, the MLIR that was compiled is.
    """
    chosen: dict[Path, Path] = {}
    ranks: dict[Path, tuple[int, str, int]] = {}
    for file in files:
        match = _DUMP.fullmatch(file.name)
        if match is not None:
            module, rank = file.with_name(match["module"]), _rank(match["stage"])
        elif _SOURCE.fullmatch(file.parent.name):
            module, rank = file.parent, (-1, "", 0) if file.suffix == ".mlir" else None
        else:
            chosen[file] = file
            continue
        if rank is not None and (module not in ranks or rank > ranks[module]):
            chosen[module], ranks[module] = file, rank
    return list(chosen.values())


def _rank(stage: str) -> tuple[int, str, int] | None:
    """How late a dump is, and how exact; ``None`` for a report."""
    kind = next((kind for kind in _KINDS if stage.endswith(kind)), None)
    if kind is None:
        return None
    stem = stage.removesuffix(kind)
    exactness = -_KINDS.index(kind)
    if stem.endswith("after_optimizations"):
        return (2, "", exactness)
    if stem.endswith("before_optimizations"):
        return (0, "", exactness)
    # A report has its name behind the stage: after_optimizations-buffer-assignment.txt.
    return (1, stem[:4], exactness) if stem[:4].isdigit() else None
