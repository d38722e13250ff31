"""Every module of the corpus, with its edges reified, either imports or is one line that names an instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_ctrldep.errors import InputError
from neuron_ctrldep.hlo.importer import Child, import_hlo
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.hlo.schema import HloModuleProto
from tests.hlo.support import text_to_proto

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")

ONE_LINE = re.compile(
    r"[^\n]*\.hlo: error: XLA's importer [a-z ]+ instruction '[^']+' \([a-z-]+\) of computation '[^']+': [^\n]+"
    r"; the untouched module fails as well: XLA's importer cannot take it"
)


def not_importable() -> set[str]:
    rows = (row.split("|") for row in (CORPUS / "README.md").read_text().splitlines() if row.startswith("| "))
    return {row[1].strip() for row in rows if "XLA does not import it, with or without our edit" in row[-2]}


def modules() -> Iterator[tuple[str, bytes]]:
    for path in sorted((CORPUS / "hlo").glob("*.hlo")):
        try:
            yield path.name, text_to_proto(path.read_text())
        except Exception:  # XLA's own: these files are newer than this jaxlib
            assert path.name.startswith("jax_dump__")


@pytest.mark.parametrize("options", [{}, {"rewire": "all", "strip_control_edges": True}], ids=str)
def test_every_module_imports_or_is_one_line(options):
    failed: dict[str, str] = {}
    with Child() as child:
        for file, data in modules():
            original = HloModule(HloModuleProto.FromString(data), file)
            edited = HloModule(HloModuleProto.FromString(data), file)
            preserve_control_deps(edited, **options)
            try:
                module = import_hlo(edited, original=original, child=child)
            except InputError as error:
                failed[file] = error.render()
            else:
                assert module.verify()
    assert set(failed) == not_importable()
    assert failed
    for message in failed.values():
        assert ONE_LINE.fullmatch(message)
