"""A training step that updates its second layer first, and what becomes of that order: run it with the ``jax`` extra.

    python examples/ordered_step.py

writes into the current directory: ``ordered_step.bin`` (a StableHLO portable artifact that version 1.17.0 reads),
``ordered_step.penguin`` (Penguin Python) and ``ordered_step.html`` (a picture). It prints the dependency edges.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

import neuron_ctrldep as nc
from neuron_ctrldep.jax import as_module, control_dep, export, to_exported
from neuron_ctrldep.view import graph_of, to_html


def loss(parameters, x, y):
    w1, w2 = parameters
    return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)


def step(parameters, x, y):
    w1, w2 = parameters
    g1, g2 = jax.grad(loss)(parameters, x, y)
    new_w2 = w2 - 0.1 * g2
    # Nothing that reads this gradient runs before the second layer is updated.
    g1 = control_dep(g1, new_w2)
    return w1 - 0.1 * g1, new_w2


def main() -> None:
    # The artifact names this file, but not where it lies.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    f32 = jnp.float32
    parameters = (jax.ShapeDtypeStruct((4, 8), f32), jax.ShapeDtypeStruct((8, 2), f32))
    batch = (jax.ShapeDtypeStruct((16, 4), f32), jax.ShapeDtypeStruct((16, 2), f32))
    exported = export(step)(parameters, *batch)
    older = to_exported(as_module(exported), exported, target_version="1.17.0")
    Path("ordered_step.bin").write_bytes(older.mlir_module_serialized)
    lowered = nc.lower(exported)
    Path("ordered_step.penguin").write_text(lowered.penguin())
    Path("ordered_step.html").write_text(to_html(graph_of(lowered.module)))
    print(lowered.penguin(edges_only=True), end="")


if __name__ == "__main__":
    main()
