"""These tests need JAX, which the package itself does not."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("jax") else ["test_*.py"]
