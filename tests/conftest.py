"""What all tests share."""

import os

# Sharded JAX programs need something to shard over. JAX reads this when it is imported, whoever does that first.
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
