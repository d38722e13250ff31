"""The pages on passes are those that the passes would write now."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from neuron_ctrldep.passes import registry

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_passes", ROOT / "docs" / "generate_passes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_current(generator: ModuleType) -> None:
    assert generator.stale() == [], "run python docs/generate_passes.py"


@pytest.mark.parametrize("name", registry.BUILTIN)
def test_each_pass_declares_what_a_page_needs(name: str) -> None:
    cls = registry.find(name)
    assert cls is not None
    assert cls.name == name
    assert cls.summary
    assert not cls.summary.endswith(".")
    assert "```mlir" in cls.description, "the description shows the IR before and after"
    for option in cls.options().values():
        assert option.metadata.get("help"), f"option {option.name} has no help"


def test_a_page_that_differs_is_found(generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "FOLDER", tmp_path / "passes")
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    page = tmp_path / "passes" / "verify-control-deps.md"
    page.write_text(page.read_text() + "more\n")
    (tmp_path / "passes" / "gone.md").write_text("")
    assert generator.stale() == ["gone.md", "verify-control-deps.md"]
    assert generator.main(["--check"]) == 1
