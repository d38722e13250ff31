"""What all tests share."""

import os

# Sharded JAX programs need something to shard over. JAX reads this when it is imported, whoever does that first.
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")

from hypothesis import settings

# The same examples on every run and machine; HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
