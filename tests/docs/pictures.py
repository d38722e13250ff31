"""The pictures of the documentation: ``python -m tests.docs.pictures`` writes them again."""

from collections.abc import Callable
from pathlib import Path

import neuron_ctrldep as nc
from neuron_ctrldep.view import graph_of, graph_of_hlo, graph_of_penguin, to_svg

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PICTURES = ROOT / "docs" / "pictures"


def before() -> str:
    return to_svg(graph_of_hlo(nc.load(EXAMPLES / "loop.hlo")), layout="builtin")


def after() -> str:
    return to_svg(graph_of(nc.lower(EXAMPLES / "loop.hlo", file="loop.hlo").module), layout="builtin")


def penguin() -> str:
    from neuron_ctrldep.penguin.reader import read_penguin

    text = nc.lower(EXAMPLES / "loop.hlo", file="loop.hlo").penguin()
    return to_svg(graph_of_penguin(read_penguin(text), "loop.py"), layout="builtin")


def tasks() -> str:
    module = nc.load(EXAMPLES / "tasks.mlir", file="tasks.mlir")
    nc.run(module, "builtin.module(derive-call-directions,auto-derive-task-dependencies{analyze-auto-scopes=true})")
    return to_svg(graph_of(module), layout="builtin")


def ordered_step() -> str:
    module = nc.lower(EXAMPLES / "ordered_step.bin", file="ordered_step.bin").module
    return to_svg(graph_of(module), layout="builtin")


ALL: dict[str, Callable[[], str]] = {
    "loop_before.svg": before,
    "loop_after.svg": after,
    "loop_penguin.svg": penguin,
    "tasks.svg": tasks,
    "ordered_step.svg": ordered_step,
}

if __name__ == "__main__":
    for name, draw in ALL.items():
        PICTURES.joinpath(name).write_text(draw(), encoding="utf-8")
