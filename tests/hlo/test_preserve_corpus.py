"""The accounting of every module of the corpus, as its README states it; and that a second run adds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_ctrldep.hlo.module import HloModule, load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.hlo.report import CLASSES
from tests.hlo.support import text_to_proto

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

COLUMNS = ("edges", "operand", "attribute", "dropped", "already", "unreifiable")


def table() -> dict[str, dict[str, int]]:
    """The rows of the README: | file | what it shows | edges | operand | … | kinds |."""
    rows = {}
    readme = CORPUS / "README.md"
    for line in readme.read_text().splitlines() if readme.exists() else []:
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 9 and cells[0].endswith(".hlo"):
            rows[cells[0]] = dict(zip(COLUMNS, map(int, cells[2:8]), strict=True))
    return rows


ROWS = table()

pytestmark = pytest.mark.skipif(not ROWS, reason="the corpus is not here")


def load(name: str) -> HloModule:
    try:
        return load_hlo(text_to_proto((CORPUS / "hlo" / name).read_text()), name)
    except RuntimeError:  # XLA's own: the README says which files are newer than jaxlib 0.10.2
        assert name.startswith("jax_dump__")
        pytest.skip("this jaxlib cannot parse it")


@pytest.mark.parametrize("name", sorted(ROWS))
def test_accounting(name: str) -> None:
    module = load(name)
    before = module.to_bytes()
    report = preserve_control_deps(module)
    assert {column: getattr(report, column) for column in COLUMNS} == ROWS[name]
    assert sum(getattr(report, one) for one in CLASSES) == report.edges == len(report.details)
    assert report.changed == (module.to_bytes() != before)

    once = module.to_bytes()
    again = load_hlo(once, name)  # ids, names, order, schedule: whatever load_hlo checks holds
    second = preserve_control_deps(again)
    assert again.to_bytes() == once
    assert not second.changed
    assert (second.edges, second.operand, second.wire_ops) == (report.edges, 0, 0)


def test_every_file_has_a_row() -> None:
    assert {path.name for path in (CORPUS / "hlo").glob("*.hlo")} == set(ROWS)
