"""Compile a small JAX program for the CPU and print its optimized HLO: the module that ``neuron-ctrldep demo`` shows.

A training step with dropout that hands its weights and momentum over (donated buffers): XLA updates them in place and
draws random numbers in a loop, and orders the copies that both need with control dependencies, because no data says so.
With the extra ``jax`` installed:

    python examples/make_demo.py > examples/dropout_step.hlo
"""

import functools
from pathlib import Path

import jax
import jax.numpy as jnp


def loss(weights, inputs, targets, key):
    """Squared error of one layer behind a dropout of one half."""
    keep = jax.random.bernoulli(key, 0.5, inputs.shape)
    predicted = jnp.where(keep, inputs, 0.0) @ weights
    return jnp.mean((predicted - targets) ** 2)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(weights, momentum, inputs, targets, key):
    """One step; the momentum takes the buffer of the weights and the weights that of the momentum."""
    gradient = jax.grad(loss)(weights, inputs, targets, key)
    moved = weights - 0.1 * momentum
    return momentum * 0.9 + gradient, moved


def main() -> None:
    """Print the optimized HLO of the step."""
    layer = jax.ShapeDtypeStruct((16, 16), jnp.float32)
    key = jax.eval_shape(lambda: jax.random.key(0))
    text = step.lower(layer, layer, layer, layer, key).compile().as_text()
    # Where this file lies on the machine that compiles it is nobody's business.
    print(text.replace(f"{Path(__file__).resolve().parent}/", ""))


if __name__ == "__main__":
    main()
