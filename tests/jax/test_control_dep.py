"""``control_dep`` under every JAX transformation: the numbers of the plain program, and the wire ops that are due."""

import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import neuron_ctrldep.jax as nj
from neuron_ctrldep.jax import control_dep

X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)
Y = np.linspace(0.0, 2.0, 5, dtype=np.float32)


def ordered(x, y):
    return control_dep(jnp.sin(x), jnp.cos(y)) * 2.0


def plain(x, y):
    del y
    return jnp.sin(x) * 2.0


def wire_ops(text) -> int:
    return str(text).count("@AwsNeuronControlDep")


def wire_ops_of(fun, *args) -> int:
    return wire_ops(nj.lower(fun, *args).as_text())


def same(found, expected):
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(np.asarray(a), np.asarray(b)), found, expected)


# --- lowering ---------------------------------------------------------------------------------------------------------


def test_neuron_gets_the_wire_op_predecessors_first_data_last():
    text = nj.lower(ordered, X, Y).as_text()
    sine = re.search(r"(%\w+) = stablehlo\.sine", text)[1]
    cosine = re.search(r"(%\w+) = stablehlo\.cosine", text)[1]
    wire = re.search(
        r"(%\w+) = stablehlo\.custom_call @AwsNeuronControlDep\((.*?)\) \{has_side_effect = true\}(.*)", text
    )
    assert wire[2] == f"{cosine}, {sine}"
    assert wire[3] == " : (tensor<5xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>"
    assert f"stablehlo.multiply {wire[1]}," in text


def test_cpu_gets_a_barrier_and_no_custom_call():
    text = jax.jit(ordered).lower(X, Y).as_text()
    assert "optimization_barrier" in text
    assert "custom_call" not in text
    same(jax.jit(ordered)(X, Y), jax.jit(plain)(X, Y))


@pytest.mark.parametrize(
    ("platforms", "barriers", "calls"),
    [
        (("cpu",), 1, 0),
        (("cuda",), 1, 0),
        (("rocm",), 1, 0),
        (("tpu",), 1, 0),
        (("cpu", "tpu"), 1, 0),
        (("neuron",), 0, 1),
    ],
)
def test_each_platform_gets_what_it_runs(platforms, barriers, calls):
    text = jax.jit(ordered).trace(X, Y).lower(lowering_platforms=platforms).as_text()
    assert (text.count("stablehlo.optimization_barrier"), wire_ops(text)) == (barriers, calls)


def test_eagerly_the_value_passes():
    same(ordered(X, Y), plain(X, Y))
    x = jnp.asarray(X)
    assert control_dep(x, Y) is x


@pytest.mark.parametrize("value", [np.arange(3.0), np.int64(2**40), 2.5, True], ids=str)
def test_eagerly_what_is_in_host_memory_stays_what_it_is(value):
    assert control_dep(value, jnp.ones(2)) is value


def test_eagerly_the_value_of_another_device_waits():
    program = """
import jax, jax.numpy as jnp
from neuron_ctrldep.jax import control_dep
here, there = jax.devices()
slow = jax.jit(lambda x: jax.lax.fori_loop(0, 30, lambda i, c: jnp.tanh(c @ c), x))
x, y = jax.device_put(jnp.ones((400, 400)), here), jax.device_put(jnp.ones(3), there)
slow(x).block_until_ready()
for value in (y, 3.0):
    predecessor = slow(x)
    control_dep(value, predecessor)
    assert predecessor.is_ready()
"""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_without_predecessors_nothing_is_built():
    assert control_dep(X) is X
    assert wire_ops_of(lambda x: control_dep(x), X) == 0
    assert wire_ops_of(lambda x: control_dep(x, None, []), X) == 0


def test_one_wire_op_per_leaf_with_all_predecessor_leaves():
    def f(x, y):
        value = {"a": x + 1, "b": (x * 2, None)}
        return control_dep(value, [y, x], {"z": y * 3})

    text = nj.lower(f, X, Y).as_text()
    calls = re.findall(r"@AwsNeuronControlDep\((.*?)\)", text)
    assert [len(operands.split(",")) for operands in calls] == [4, 4]
    result = jax.jit(f)(X, Y)
    assert list(result) == ["a", "b"]
    assert result["b"][1] is None
    same(result, {"a": X + 1, "b": (X * 2, None)})


def test_scalars_and_keys_are_values_too():
    key = jax.random.key(0)
    assert wire_ops_of(lambda k, x: control_dep(k, x), key, X) == 1
    assert wire_ops_of(lambda k, x: control_dep(x, k, 3, True), key, X) == 1
    assert jax.jit(lambda k, x: control_dep(k, x))(key, X) == key


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("text", X), "value is a str"),
        (({"a": object()}, X), r"value\['a'\] is a object"),
        ((X, X, "text"), r"predecessor\[1\] is a str"),
    ],
)
def test_what_is_no_array_is_named(arguments, message):
    with pytest.raises(TypeError, match=message):
        control_dep(*arguments)


def test_a_mutable_reference_is_refused():
    reference = jax.new_ref(X)
    with pytest.raises(TypeError, match=r"predecessor\[0\]"):
        control_dep(X, reference)
    with pytest.raises(TypeError, match="value"):
        control_dep(reference, X)
    same(control_dep(X, reference[...]), X)


# --- transformations --------------------------------------------------------------------------------------------------


def loss(fun):
    return lambda x, y: fun(x, y).sum()


def test_grad_orders_the_forward_pass_only():
    gradient = jax.grad(loss(ordered), argnums=(0, 1))
    same(jax.jit(gradient)(X, Y), jax.jit(jax.grad(loss(plain), argnums=(0, 1)))(X, Y))
    # The loss itself is dead in a gradient, and with it what is ordered; with the value it is not.
    assert wire_ops_of(jax.value_and_grad(loss(ordered)), X, Y) == 1


def test_jvp_linearize_and_hessian():
    same(jax.jvp(ordered, (X, Y), (X, Y)), jax.jvp(plain, (X, Y), (X, Y)))
    same(jax.linearize(ordered, X, Y)[1](X, Y), jax.linearize(plain, X, Y)[1](X, Y))
    same(jax.hessian(loss(ordered))(X, Y), jax.hessian(loss(plain))(X, Y))


def test_integer_tangents():
    index = jnp.arange(3)
    same(jax.grad(lambda x: control_dep(x, index, x > 0).sum())(X), np.ones_like(X))
    zero = np.zeros(index.shape, jax.dtypes.float0)
    primal, tangent = jax.jvp(lambda x, i: control_dep(i, x), (X, index), (X, zero))
    same(primal, index)
    assert tangent.dtype == jax.dtypes.float0
    # float0 arrays have no bits: as a value they pass, as a predecessor there is nothing to wait for.
    assert control_dep(zero, X) is zero
    assert control_dep(X, zero) is X


def test_transpose():
    same(jax.linear_transpose(lambda x: control_dep(x * 2, X), X)(X), (X * 2,))
    same(jax.linear_transpose(lambda x: control_dep(x, 2 * x), X)(X), (X,))


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0), (1, None)])
def test_vmap(axes):
    x = np.stack([X, X + 1], axis=axes[0]) if axes[0] is not None else X
    y = np.stack([Y, Y + 1]) if axes[1] is not None else Y
    same(jax.jit(jax.vmap(ordered, axes))(x, y), jax.jit(jax.vmap(plain, axes))(x, y))
    assert wire_ops_of(jax.vmap(ordered, axes), x, y) == 1


def test_vmap_leaves_unbatched_data_unbatched():
    text = nj.lower(jax.vmap(lambda y: control_dep(X, y) * y[0]), np.ones((7, 2), np.float32)).as_text()
    assert "(tensor<7x2xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>" in text


def test_scan():
    def step(wrap):
        def body(carry, x):
            carry = wrap(carry + 1.0, jnp.sin(x))
            return carry, wrap(carry * 2.0, x)

        return lambda xs: jax.lax.scan(body, jnp.float32(0), xs)

    with_order, without = step(control_dep), step(lambda value, *_: value)
    same(jax.jit(with_order)(Y), jax.jit(without)(Y))
    assert wire_ops_of(with_order, Y) == 2
    same(jax.grad(lambda xs: with_order(xs)[1].sum())(Y), jax.grad(lambda xs: without(xs)[1].sum())(Y))


def test_while_loop():
    def loop(wrap):
        return lambda x: jax.lax.while_loop(
            lambda s: wrap(s[0], s[1]) < 3, lambda s: (wrap(s[0] + 1, s[1]), s[1] * 2), (0, x)
        )

    with_order, without = loop(control_dep), loop(lambda value, *_: value)
    same(jax.jit(with_order)(X), jax.jit(without)(X))
    assert wire_ops_of(with_order, X) == 2
    assert wire_ops_of(jax.vmap(with_order), X) == 2


def test_cond_and_switch():
    def branch(wrap):
        return lambda i, x: jax.lax.switch(i, [lambda x: wrap(x + 1, x * 2), lambda x: x, lambda x: wrap(-x, x)], x)

    with_order, without = branch(control_dep), branch(lambda value, *_: value)
    for index in range(3):
        same(jax.jit(with_order)(index, X), jax.jit(without)(index, X))
    assert wire_ops_of(with_order, 0, X) == 2
    same(jax.vmap(with_order)(np.arange(3), X[:3]), jax.vmap(without)(np.arange(3), X[:3]))


def test_checkpoint_recomputes_with_order():
    def f(wrap):
        return jax.value_and_grad(jax.checkpoint(lambda x, y: jnp.sin(wrap(jnp.sin(x), y)).sum()))

    with_order = f(control_dep)
    same(jax.jit(with_order)(X, Y), jax.jit(f(lambda value, *_: value))(X, Y))
    assert wire_ops_of(with_order, X, Y) == 2


@pytest.mark.parametrize("explicit", [False, True])
def test_shard_map(explicit):
    if jax.device_count() < 2:
        pytest.skip("one device")
    kind = jax.sharding.AxisType.Explicit if explicit else jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((2,), ("i",), axis_types=(kind,))
    spec = jax.sharding.PartitionSpec

    def f(wrap):
        def local(x, y):
            return wrap(x * 2, jax.lax.psum(x, "i"), y)

        return jax.shard_map(local, mesh=mesh, in_specs=(spec("i"), spec()), out_specs=spec("i"))

    with_order, without = f(control_dep), f(lambda value, *_: value)
    x = jax.device_put(X, jax.sharding.NamedSharding(mesh, spec("i")))
    y = jax.device_put(Y, jax.sharding.NamedSharding(mesh, spec()))
    with jax.set_mesh(mesh):
        same(jax.jit(with_order)(x, y), jax.jit(without)(x, y))
        same(with_order(x, y), without(x, y))
        same(jax.grad(loss(with_order), argnums=(0, 1))(x, y), jax.grad(loss(without), argnums=(0, 1))(x, y))
        assert wire_ops(nj.export(with_order)(x, y).mlir_module()) == 1


def test_custom_vjp():
    @jax.custom_vjp
    def f(x, y):
        return ordered(x, y)

    f.defvjp(lambda x, y: (f(x, y), y), lambda y, g: (control_dep(g * 3, y), jnp.zeros_like(y)))
    same(jax.jit(jax.grad(loss(f)))(X, Y), np.full_like(X, 3))
    assert wire_ops_of(jax.value_and_grad(loss(f)), X, Y) == 2
