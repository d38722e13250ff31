"""What all tests share."""

import os

# Sharded JAX programs need something to shard over. JAX reads this when it is imported, whoever does that first.
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")

# The dialects of the bindings are imported here, whole, before any test: an import that a test cuts
# short (a recursion limit, an interrupt) would leave half a module behind for every test after it.
from hypothesis import settings
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo  # noqa: F401

# The same examples on every run and machine; HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
