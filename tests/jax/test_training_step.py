"""A two-layer training step with two ``control_dep``s, through every transformation, to Penguin and back.

The first orders the second layer after a norm of its weights that no data asks for; the second lets no weight of the
first layer be updated before both of the second are.
"""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import neuron_ctrldep as nc
import neuron_ctrldep.jax as nj
from neuron_ctrldep.penguin.reader import read_penguin


def make_step(order):
    """The step with ``order`` as control_dep: ``(parameters, x, y) -> (parameters, loss, norm)``."""

    def loss(parameters, x, y):
        (w1, b1), (w2, b2) = parameters
        norm = jnp.sqrt(jnp.vdot(w2, w2))
        hidden = order(jnp.tanh(x @ w1 + b1), norm)
        return jnp.mean((hidden @ w2 + b2 - y) ** 2), norm

    def step(parameters, x, y, loss=loss):
        (value, norm), (g1, g2) = jax.value_and_grad(loss, has_aux=True)(parameters, x, y)
        first, second = parameters
        new_second = jax.tree.map(lambda p, g: p - 0.1 * g, second, g2)
        new_first = jax.tree.map(lambda p, g: p - 0.1 * g, first, order(g1, new_second))
        return (new_first, new_second), value, norm

    step.loss = loss
    return step


WITH_ORDER = make_step(nj.control_dep)
WITHOUT = make_step(lambda value, *_: value)

_rng = np.random.default_rng(0)
PARAMETERS = (
    (_rng.normal(size=(4, 8)).astype(np.float32), np.zeros(8, np.float32)),
    (_rng.normal(size=(8, 2)).astype(np.float32), np.zeros(2, np.float32)),
)
X = _rng.normal(size=(16, 4)).astype(np.float32)
Y = _rng.normal(size=(16, 2)).astype(np.float32)
XS, YS = np.stack([X, X + 1, X - 1]), np.stack([Y, Y * 2, Y * 3])

# --- the transformations: a step to a function and its arguments ------------------------------------------------------


def plain(step):
    return step, (PARAMETERS, X, Y)


def jvp(step):
    return lambda p, x, y, t: jax.jvp(lambda x: step(p, x, y), (x,), (t,)), (PARAMETERS, X, Y, X * 2)


def grad(step):
    return lambda p, x, y: jax.value_and_grad(lambda x: step(p, x, y)[1])(x), (PARAMETERS, X, Y)


def vmap(step):
    return jax.vmap(step, in_axes=(None, 0, 0)), (PARAMETERS, XS, YS)


def scan(step):
    def body(parameters, batch):
        parameters, value, norm = step(parameters, *batch)
        return parameters, (value, norm)

    return lambda p, xs, ys: jax.lax.scan(body, p, (xs, ys)), (PARAMETERS, XS, YS)


def while_loop(step):
    def f(p, x, y):
        def body(state):
            count, parameters, _ = state
            parameters, value, norm = step(parameters, x, y)
            return count + 1, parameters, value + norm

        return jax.lax.while_loop(lambda state: state[0] < 3, body, (0, p, jnp.float32(0)))

    return f, (PARAMETERS, X, Y)


def cond(step):
    def f(go, p, x, y):
        return jax.lax.cond(go, step, lambda p, x, y: (p, jnp.float32(0), jnp.float32(0)), p, x, y)

    return f, (np.bool_(True), PARAMETERS, X, Y)


def checkpoint(step):
    return lambda p, x, y: step(p, x, y, loss=jax.checkpoint(step.loss)), (PARAMETERS, X, Y)


def shard_map(step):
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec

    def local(p, x, y):
        parameters, value, norm = step(p, x, y)
        return jax.tree.map(lambda a: jax.lax.pmean(a, "data"), (parameters, value, norm))

    # Without the check, weights are not summed over devices inside: the mean after the step does it.
    specs = (spec(), spec("data"), spec("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=spec(), check_vma=False), (PARAMETERS, X, Y)


# --- what must be found, as (predecessor, successor) by the names JAX gives -------------------------------------------

STEP = Counter({("sqrt", "dot_general"): 2, ("sub", "mul"): 4})
"""The norm before the second layer's product, and before the gradient of its weights, which reads the ordered
activations too; both updates of the second layer (``p - 0.1 * g``) before each scaling of the first's gradients."""

CASES = {
    plain: STEP,
    # The tangent of the gradient of the weights is one more reader of the ordered activations; tangents are unordered.
    jvp: Counter({("sqrt", "dot_general"): 3, ("sub", "mul"): 4}),
    # Of the loss alone nothing is updated, and no gradient of a weight is needed.
    grad: Counter({("sqrt", "dot_general"): 1}),
    vmap: STEP,
    scan: STEP,
    while_loop: STEP,
    cond: STEP,
    # The forward pass, its repetition (ordered as well), and the gradient of the weights.
    checkpoint: Counter({("sqrt", "dot_general"): 3, ("sub", "mul"): 4}),
    shard_map: STEP,
}


@pytest.mark.parametrize("transform", CASES, ids=lambda transform: transform.__name__)
def test_numbers_are_those_of_the_plain_step(transform):
    with_order, arguments = transform(WITH_ORDER)
    without, _ = transform(WITHOUT)
    found, expected = jax.jit(with_order)(*arguments), jax.jit(without)(*arguments)
    # A barrier may keep XLA from fusing two operations, so the last bit can differ.
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6), found, expected)


@pytest.mark.parametrize("transform", CASES, ids=lambda transform: transform.__name__)
def test_the_exported_step_has_exactly_the_expected_edges_in_penguin(transform):
    function, arguments = transform(WITH_ORDER)
    exported = nj.export(function)(*arguments)
    program = read_penguin(nc.lower(exported).penguin())
    assert Counter((edge.src, edge.dst) for edge in program.edges()) == CASES[transform]
    checked = nc.check(exported)
    assert [edge.verdict for edge in checked.edges] == ["kept"] * CASES[transform].total()
    assert [edge.verdict for edge in checked.without_reification] == ["lost"] * CASES[transform].total()


@pytest.mark.parametrize("transform", CASES, ids=lambda transform: transform.__name__)
def test_the_plain_step_has_none(transform):
    function, arguments = transform(WITHOUT)
    assert read_penguin(nc.lower(nj.export(function)(*arguments)).penguin()).edges() == []
