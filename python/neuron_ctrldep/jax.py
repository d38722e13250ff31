"""``control_dep`` for JAX programs, and what JAX users hold in hand as inputs and outputs.

This is the only module that imports ``jax``. The primitive forwards its last operand and orders it after the others::

    control_dep_p : (p0, …, p_{k-1}, D) -> D

For export, and for any platform but CPU, GPU and TPU, it lowers to the wire op. On those three it lowers to a
``stablehlo.optimization_barrier``, which every XLA backend runs; the barrier is marked
(:data:`~neuron_ctrldep.wire.BARRIER`), and whatever reads the program turns it back into the wire op
(:mod:`neuron_ctrldep.control_dep.barriers`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import jax.export
from jax.extend import source_info_util
from jax.extend.core import Primitive, valid_jaxtype
from jax.interpreters import ad, batching
from jax.interpreters import mlir as lowering

from neuron_ctrldep import mlir
from neuron_ctrldep.control_dep import build_control_dep
from neuron_ctrldep.control_dep.barriers import build_marked_barrier, restore_wire_ops
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.wire import TARGET

if TYPE_CHECKING:
    from neuron_ctrldep.hlo.module import HloModule

__all__ = ["as_module", "control_dep", "control_dep_p", "disabled_checks", "export", "lower", "runnable", "to_exported"]

Value = TypeVar("Value")

# Locations show the line that calls control_dep, not the inside of this file.
source_info_util.register_exclusion(__file__)

NEURON = "neuron"
"""The platform name :func:`lower` lowers for; any name without a lowering of its own gives the wire op."""

BARRIER_PLATFORMS = frozenset({"cpu", "gpu", "cuda", "rocm", "tpu"})
"""Platforms whose XLA backend refuses custom calls it does not know, so that the order is held by a barrier."""


# --- control_dep ------------------------------------------------------------------------------------------------------


def control_dep(value: Value, *predecessors: Any) -> Value:
    """``value`` unchanged, but what reads it runs after everything in ``predecessors``.

    Works under ``jit``, ``grad``, ``jvp``, ``vmap``, ``scan``, ``while_loop``, ``cond``, ``shard_map``, ``checkpoint``
    and ``jax.export``. Only the primal computation is ordered: tangents and cotangents of ``value`` pass unordered, so
    that no predecessor has to be kept for the backward pass, and predecessors get no gradient from here. To order a
    backward pass, call ``control_dep`` on the gradients.

    Args:
        value: a pytree of arrays. Each leaf becomes one wire op.
        predecessors: pytrees of arrays, any shapes and types. Each wire op has all their leaves.

    Returns:
        A pytree like ``value``. Without predecessors, ``value`` itself.

    Raises:
        TypeError: a leaf is not an array or a scalar (of a mutable reference, pass ``ref[...]``).
    """
    before = [leaf for leaf in _leaves(predecessors, "predecessor") if not _is_float0(leaf)]
    leaves = _leaves(value, "value")
    if not before:
        return value
    ordered = [leaf if _is_float0(leaf) else _ordered(leaf, before) for leaf in leaves]
    result: Value = jax.tree.unflatten(jax.tree.structure(value), ordered)
    return result


def _ordered(leaf: Any, before: list[Any]) -> Any:
    if isinstance(leaf, jax.core.Tracer | jax.Array) or any(isinstance(one, jax.core.Tracer) for one in before):
        return control_dep_p.bind(*before, leaf)
    # A NumPy array or a number stays what it is. Whoever has it may read it, so it is not given back before it may be.
    jax.block_until_ready(before)
    return leaf


def _leaves(tree: Any, what: str) -> list[Any]:
    leaves = []
    for path, leaf in jax.tree.leaves_with_path(tree):
        # A mutable reference is a valid JAX type too, but has no value that could be waited for; its content has.
        is_value = valid_jaxtype(leaf) and not isinstance(leaf, jax.ShapeDtypeStruct)
        if not is_value or not isinstance(jax.typeof(leaf), jax.core.ShapedArray):
            where = jax.tree_util.keystr(path)
            raise TypeError(f"control_dep: {what}{where} is a {type(leaf).__name__}; expected an array or a scalar")
        leaves.append(leaf)
    return leaves


def _is_float0(leaf: Any) -> bool:
    """Whether ``leaf`` is the tangent of an integer: it has no bits, so there is nothing to wait for."""
    return getattr(leaf, "dtype", None) == jax.dtypes.float0


control_dep_p = Primitive("control_dep")
"""The primitive behind :func:`control_dep`: predecessors first, data last, one result like the data."""


def _run(*operands: Any) -> Any:
    # Outside of a traced function a device runs operations in the order they are called. Between two devices nothing is
    # in order but what has been waited for.
    *before, data = operands
    devices = {device for operand in operands if isinstance(operand, jax.Array) for device in operand.devices()}
    if len(devices) > 1:
        jax.block_until_ready(before)
    return data


control_dep_p.def_impl(_run)
control_dep_p.def_abstract_eval(lambda *operands: operands[-1])


def _jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    return control_dep_p.bind(*primals), tangents[-1]


def _transpose(cotangent: Any, *operands: Any) -> list[Any]:
    # Only the data is forwarded; None is "no contribution", also for a predecessor that is linear.
    data = cotangent if ad.is_undefined_primal(operands[-1]) else None
    return [*[None] * (len(operands) - 1), data]


def _batch(operands: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, Any]:
    # Predecessors keep whatever batch dimension they have: the data waits for all of their elements. Data without a
    # batch dimension stays without one.
    return control_dep_p.bind(*operands), dims[-1]


def _lower(context: Any, *operands: ir.Value) -> list[ir.Value]:
    platforms = context.platforms or context.module_context.platforms
    exporting = context.module_context.lowering_parameters.for_export
    *predecessors, data = operands
    if exporting or not BARRIER_PLATFORMS.issuperset(platforms):
        location = ir.Location.current
        return [build_control_dep(predecessors, data, dialect="stablehlo", location=location).results[0]]
    return [build_marked_barrier(operands).results[len(predecessors)]]


ad.primitive_jvps[control_dep_p] = _jvp
ad.primitive_transposes[control_dep_p] = _transpose
batching.primitive_batchers[control_dep_p] = _batch
lowering.register_lowering(control_dep_p, _lower)


# --- lowering by hand and export --------------------------------------------------------------------------------------


def lower(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> jax.stages.Lowered:
    """Lower ``fun`` for Neuron on any machine: what ``jax.jit(fun).lower(…)`` gives, with wire ops.

    Args:
        fun: a function, jitted or not.
        args: its arguments; ``jax.ShapeDtypeStruct`` will do.
        kwargs: its keyword arguments.
    """
    return _jitted(fun).trace(*args, **kwargs).lower(lowering_platforms=(NEURON,))


def disabled_checks() -> list[jax.export.DisabledSafetyCheck]:
    """What ``jax.export.export(…, disabled_checks=…)`` needs to let wire ops through.

    JAX refuses to export custom calls whose stability it does not know. The wire op has no versioned content: its
    target, operands and result are all there is.
    """
    return [jax.export.DisabledSafetyCheck.custom_call(TARGET)]


def export(
    fun: Callable[..., Any],
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[jax.export.DisabledSafetyCheck] = (),
) -> Callable[..., jax.export.Exported]:
    """``jax.export.export`` for functions that use :func:`control_dep`; the artifact holds wire ops.

    Args:
        fun: a function, jitted or not.
        platforms: as for ``jax.export.export``; what the artifact may be run on. Each of them gets wire ops.
        disabled_checks: further checks to disable.

    Returns:
        A function from arguments (``jax.ShapeDtypeStruct`` will do) to the ``Exported``.
    """
    checks = [jax.export.DisabledSafetyCheck.custom_call(TARGET), *disabled_checks]
    return jax.export.export(_jitted(fun), platforms=platforms, disabled_checks=checks)


def _jitted(fun: Callable[..., Any]) -> Any:
    return fun if isinstance(fun, jax.stages.Wrapped) else jax.jit(fun)


# --- JAX objects as inputs --------------------------------------------------------------------------------------------


def as_module(source: Any) -> ir.Operation | HloModule:
    """The program inside a JAX object.

    Args:
        source: ``jax.stages.Traced`` or ``Lowered`` (StableHLO, as it was lowered), ``jax.stages.Compiled`` (the
            optimized HLO, with XLA's own control edges), ``jax.export.Exported``, an ``ir.Module``, or HLO in memory
            (what ``Lowered.compiler_ir("hlo")`` gives).

    Returns:
        A verified ``builtin.module`` in a context of its own, or for HLO an :class:`HloModule`.

    Raises:
        InputError: ``source`` is something else, or holds no program.
    """
    if isinstance(source, jax.stages.Traced):
        source = source.lower(lowering_platforms=(NEURON,))
    if isinstance(source, jax.stages.Lowered):
        return _own_module(source.compiler_ir("stablehlo").operation)
    if isinstance(source, jax.stages.Compiled):
        return _optimized_hlo(source)
    if isinstance(source, jax.export.Exported):
        module = mlir.deserialize_portable(source.mlir_module_serialized, file=source.fun_name)
        restore_wire_ops(module)
        return module
    if isinstance(source, (ir.Module, ir.Operation, ir.OpView)):
        return _own_module(mlir.entry(source))
    if hasattr(source, "as_serialized_hlo_module_proto"):
        from neuron_ctrldep.hlo.module import load_hlo

        return load_hlo(bytes(source.as_serialized_hlo_module_proto()))
    raise InputError(
        f"cannot read a program from a {type(source).__module__}.{type(source).__qualname__}; expected a "
        "jax.stages.Traced, Lowered or Compiled, a jax.export.Exported, or an ir.Module"
    )


def _own_module(operation: ir.Operation) -> ir.Operation:
    """A copy in a context of its own (JAX shares and reuses its contexts), with wire ops for marked barriers."""
    module = mlir.parse_module(mlir.to_bytecode(operation), file=mlir.module_name(operation))
    restore_wire_ops(module)
    return module


def _optimized_hlo(compiled: jax.stages.Compiled) -> HloModule:
    from neuron_ctrldep.hlo.module import load_hlo

    executable = compiled.runtime_executable()
    modules = executable.hlo_modules() if executable is not None else []
    if len(modules) != 1:
        raise InputError(f"this compiled function has {len(modules)} HLO modules; expected one")
    return load_hlo(bytes(modules[0].as_serialized_hlo_module_proto()), file=modules[0].name)


# --- outputs ----------------------------------------------------------------------------------------------------------


def to_exported(
    module: ir.Operation | ir.Module, like: jax.export.Exported, *, target_version: str | None = None
) -> jax.export.Exported:
    """An ``Exported`` with the calling convention of ``like`` and the program ``module``.

    Args:
        module: StableHLO whose main function has the type of ``like``'s: what a pipeline made of ``as_module(like)``.
        like: where argument trees, shardings and the rest come from.
        target_version: the StableHLO version that must be able to read it, as ``"1.17.0"``; by default the version of
            the installed jaxlib.

    Raises:
        InputError: ``module`` cannot be serialized for that version, or its main function has other types.
    """
    operation = mlir.entry(module)
    expected, found = _main_type(mlir.deserialize_portable(like.mlir_module_serialized)), _main_type(operation)
    if expected != found:
        raise InputError(f"the main function has type {found}; the exported function has {expected}")
    artifact = mlir.serialize_portable(operation, target_version)
    return dataclasses.replace(like, mlir_module_serialized=artifact)


def _main_type(module: ir.Operation) -> str:
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and mlir.text_of(op.operation.attributes["sym_name"]) == "main":
            return str(op.operation.attributes["function_type"])
    raise InputError("the module has no function named main", location=SourceLocation(mlir.module_name(module)))


def runnable(exported: jax.export.Exported) -> jax.export.Exported:
    """``exported`` with barriers for its wire ops, so that ``.call`` works on CPU, GPU and TPU too.

    The barriers are marked as those of :func:`control_dep` are: who reads the artifact, or a program that calls it, for
    Neuron finds the wire ops.

    So do its gradients, as far as ``exported`` has them: an ``Exported`` derives them from the original function, or
    holds those it was serialized with (``vjp_order``).
    """
    from neuron_ctrldep.passes.pipeline import run_pipeline

    module = mlir.deserialize_portable(exported.mlir_module_serialized)
    run_pipeline(module, "builtin.module(control-deps-to-optimization-barrier{mark})")
    # Each order of gradients is an Exported of its own, with wire ops of its own.
    gradient = (lambda _: runnable(exported.vjp())) if exported.has_vjp() else None
    return dataclasses.replace(to_exported(module, exported), _get_vjp=gradient)
