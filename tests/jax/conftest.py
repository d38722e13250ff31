"""Two CPU devices, so that sharded programs have something to shard over."""

import contextlib

import pytest

jax = pytest.importorskip("jax")


@pytest.fixture(scope="session", autouse=True)
def _two_devices() -> None:
    # Takes effect only before the first computation; the tests that need two devices skip without them.
    with contextlib.suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", 2)
