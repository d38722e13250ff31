"""Makes the passes of ``passes_for_tests`` known by name, and its module importable."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def registered_passes() -> Iterator[None]:
    from passes_for_tests import REGISTERED

    from neuron_ctrldep.passes import registry

    with pytest.MonkeyPatch.context() as patch:
        for name, target in REGISTERED.items():
            patch.setitem(registry.BUILTIN, name, target)
        yield
