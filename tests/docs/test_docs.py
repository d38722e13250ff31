"""Every block of the documentation runs and prints what the page says; every name it mentions exists."""

import re
import runpy
from pathlib import Path

import pytest

import neuron_ctrldep as nc
from neuron_ctrldep.control_dep import instruction_name

from . import pictures
from .blocks import ROOT, RUN, SHOWN, blocks_of, pages, run_page

PAGES = [page for page in pages() if any(block.is_run for block in blocks_of(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    if "import jax" in page.read_text(encoding="utf-8"):
        pytest.importorskip("jax")
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_what_it_is(page: Path) -> None:
    unknown = [
        f"line {block.line}: '{block.language}'" for block in blocks_of(page) if block.language not in RUN | SHOWN
    ]
    assert not unknown


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [
        str(page.relative_to(ROOT / "docs"))
        for page in pages()[1:]
        if page.parent == ROOT / "docs" and f" {page.name}\n" not in navigation
    ]
    assert not missing


def test_links_between_files_lead_somewhere() -> None:
    broken = []
    for page in pages():
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert not broken


@pytest.mark.parametrize("name", pictures.ALL)
def test_a_picture_is_what_the_package_draws(name: str) -> None:
    assert pictures.PICTURES.joinpath(name).read_text(encoding="utf-8") == pictures.ALL[name]()


def test_every_picture_is_shown() -> None:
    shown = {name for page in pages() for name in re.findall(r"\(pictures/([^)]+)\)", page.read_text(encoding="utf-8"))}
    assert shown == set(pictures.ALL)


def test_the_jax_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    jax = pytest.importorskip("jax")
    monkeypatch.chdir(tmp_path)
    before = jax.config.jax_hlo_source_file_canonicalization_regex
    runpy.run_path(str(ROOT / "examples" / "ordered_step.py"), run_name="__main__")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", before)
    assert capsys.readouterr().out.count("add_dep_edge") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "ordered_step.bin",
        "ordered_step.html",
        "ordered_step.penguin",
    ]
    edges = [
        [(instruction_name(e.src), instruction_name(e.dst)) for e in nc.control_edges(nc.load(file)).edges]
        for file in (tmp_path / "ordered_step.bin", ROOT / "examples" / "ordered_step.bin")
    ]
    assert edges == [[("sub", "mul")], [("sub", "mul")]]
