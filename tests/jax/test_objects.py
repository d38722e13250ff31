"""What JAX users hold in hand, as inputs, and what they get back."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import neuron_ctrldep as nc
import neuron_ctrldep.jax as nj
from neuron_ctrldep import mlir
from neuron_ctrldep.control_dep import is_control_dep
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.loading import expand_inputs, load
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.tools import opt

X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)


def ordered(x, y):
    return nj.control_dep(jnp.sin(x), jnp.cos(y)) * 2.0


def wire_ops(module) -> int:
    found = []

    def visit(op):
        found.append(is_control_dep(op))
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return sum(found)


# --- in ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: jax.jit(ordered).lower(X, X),
        lambda: jax.jit(ordered).trace(X, X),
        lambda: nj.lower(ordered, X, X),
        lambda: nj.export(ordered)(X, X),
        lambda: jax.export.export(jax.jit(ordered), disabled_checks=nj.disabled_checks())(X, X),
        lambda: bytes(nj.export(ordered)(X, X).mlir_module_serialized),
        lambda: nj.lower(ordered, X, X).compiler_ir(),
    ],
    ids=["Lowered", "Traced", "Lowered for Neuron", "Exported", "plain export", "artifact", "ir.Module"],
)
def test_the_wire_op_is_found_in(make):
    source = make()
    module = load(source) if isinstance(source, (bytes, bytearray)) else nj.as_module(source)
    assert module.name == "builtin.module"
    mlir.verify(module)
    assert wire_ops(module) == 1


def for_cpu() -> jax.stages.Lowered:
    """A program that holds a marked barrier instead of its wire op."""
    return jax.jit(ordered).trace(X, X).lower(lowering_platforms=("cpu",))


def written(directory: Path, data: str | bytes, name: str = "program.mlir") -> Path:
    file = directory / name
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


FORMS = {
    "Lowered": lambda lowered, tmp: lowered,
    "ir.Module": lambda lowered, tmp: lowered.compiler_ir("stablehlo"),
    "ir.Operation": lambda lowered, tmp: lowered.compiler_ir("stablehlo").operation,
    "text": lambda lowered, tmp: lowered.as_text().encode(),
    "text with locations": lambda lowered, tmp: lowered.as_text(debug_info=True).encode(),
    "file": lambda lowered, tmp: written(tmp, lowered.as_text()),
    "bytecode": lambda lowered, tmp: mlir.to_bytecode(lowered.compiler_ir("stablehlo").operation),
    "artifact": lambda lowered, tmp: mlir.serialize_portable(lowered.compiler_ir("stablehlo").operation),
    "Exported": lambda lowered, tmp: nj.to_exported(lowered.compiler_ir("stablehlo"), nj.export(ordered)(X, X)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_marked_barrier_is_a_wire_op_in(form, tmp_path):
    assert "ctrldep.barrier" in for_cpu().as_text()
    source = FORMS[form](for_cpu(), tmp_path)
    assert wire_ops(load(source)) == 1
    assert "optimization_barrier" not in str(load(source))
    assert nc.lower(source).penguin().count(".add_dep_edge(") == 1
    assert [edge.verdict for edge in nc.check(source).edges] == ["kept"]


@pytest.mark.parametrize("dialect", ["stablehlo", "mhlo"])
@pytest.mark.parametrize(
    "hlo", [lambda lowered: lowered.as_text("hlo").encode(), lambda lowered: lowered.compiler_ir("hlo")]
)
def test_a_marked_barrier_in_hlo_is_a_wire_op_when_imported(hlo, dialect):
    lowered = nc.lower(hlo(for_cpu()), until=dialect)
    assert wire_ops(lowered.module) == 1
    assert "optimization_barrier" not in str(lowered.module)
    assert nc.lower(hlo(for_cpu())).penguin().count(".add_dep_edge(") == 1


@pytest.mark.parametrize("made", [for_cpu, lambda: nj.lower(ordered, X, X)], ids=["barrier", "wire op"])
def test_check_sees_the_edge_that_only_the_hlo_of_a_jax_program_holds(made):
    assert [edge.verdict for edge in nc.check(made().compiler_ir("hlo")).edges] == ["kept"]


@pytest.mark.parametrize(
    "made",
    [
        lambda runnable: runnable,
        lambda runnable: jax.jit(runnable.call).lower(X, X),
        lambda runnable: nj.export(runnable.call)(X, X),
    ],
    ids=["itself", "a call of it", "an export of a call of it"],
)
def test_a_runnable_program_keeps_its_order_for_neuron(made):
    source = made(nj.runnable(nj.export(ordered)(X, X)))
    assert nc.lower(source).penguin().count(".add_dep_edge(") == 1
    assert [edge.verdict for edge in nc.check(source).edges] == ["kept"]


def test_nesting_is_checked_of_a_module_in_memory():
    module = ir.Module.create(ir.Location.unknown(mlir.make_context()))
    block = module.body
    with ir.Location.unknown(module.context):
        for _ in range(1001):
            with ir.InsertionPoint(block):
                block = ir.Operation.create("builtin.module", regions=1).regions[0].blocks.append()
    with pytest.raises(InputError, match="regions are nested 1001 deep"):
        nj.as_module(module)


def test_what_jax_dumps_holds_wire_ops(tmp_path):
    program = (
        "import jax, jax.numpy as jnp\n"
        "from neuron_ctrldep.jax import control_dep\n"
        "jax.jit(lambda x, y: control_dep(jnp.sin(x), jnp.cos(y)) * 2.0)(jnp.ones(4), jnp.ones(4))\n"
    )
    environment = {**os.environ, "JAX_DUMP_IR_TO": str(tmp_path), "JAX_DUMP_IR_MODES": "stablehlo"}
    subprocess.run([sys.executable, "-c", program], env={**environment, "JAX_PLATFORMS": "cpu"}, check=True)
    edges = [edge for file in expand_inputs([str(tmp_path)]) for edge in nc.check(file).edges]
    assert [edge.verdict for edge in edges] == ["kept"]


@pytest.mark.parametrize("use", [load, nc.lower, nc.check])
def test_a_module_in_memory_stays_as_it_is(use):
    module = for_cpu().compiler_ir("stablehlo")
    before = str(module)
    use(module)
    assert str(module) == before


def test_a_module_without_marked_barriers_is_not_copied():
    module = mlir.parse_module(nj.lower(ordered, X, X).as_text())
    assert load(module) is module


def test_a_marked_barrier_without_operands_is_left_alone():
    text = """module { func.func @main() {
      "stablehlo.optimization_barrier"() {mhlo.frontend_attributes = {ctrldep.barrier = "1"}} : () -> ()
      return } }"""
    assert "optimization_barrier" in str(load(text.encode()))


def test_the_opt_tool_leaves_marked_barriers(tmp_path, capfdbinary):
    text = for_cpu().as_text()
    assert opt.main([str(written(tmp_path, text))]) == 0
    assert b"ctrldep.barrier" in capfdbinary.readouterr().out


def test_a_lowered_program_keeps_its_places():
    module = nj.as_module(jax.jit(ordered).lower(X, X))
    places = []

    def visit(op):
        if op.name == "stablehlo.sine" or is_control_dep(op):
            places.append(mlir.source_location(op.location))
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    for place in places:
        assert place.file.endswith("test_objects.py")
        assert place.line == ordered.__code__.co_firstlineno + 1
    assert len(places) == 2


def test_other_barriers_stay_what_they_are():
    def f(x):
        return nj.control_dep(jax.lax.optimization_barrier(x), x + 1)

    module = nj.as_module(jax.jit(f).lower(X))
    assert wire_ops(module) == 1
    assert str(module).count("stablehlo.optimization_barrier") == 1


def test_the_module_is_its_own():
    lowered = jax.jit(ordered).lower(X, X)
    before = lowered.as_text()
    module = nj.as_module(lowered)
    assert module.context is not lowered.compiler_ir().operation.context
    assert lowered.as_text() == before


def test_compiled_brings_the_control_edges_of_xla():
    compiled = jax.jit(lambda a, b: (b, a), donate_argnums=(0, 1)).lower(X, X).compile()
    module = nj.as_module(compiled)
    assert isinstance(module, HloModule)
    edges = [
        (instruction.name, predecessor)
        for computation in module.proto.computations
        for instruction in computation.instructions
        for predecessor in instruction.control_predecessor_ids
    ]
    # Each donated buffer is written only after it has been read.
    assert len(edges) == 2


def test_hlo_in_memory():
    module = nj.as_module(nj.lower(ordered, X, X).compiler_ir("hlo"))
    assert isinstance(module, HloModule)
    (entry,) = [c for c in module.proto.computations if c.id == module.proto.entry_computation_id]
    assert [i.custom_call_target for i in entry.instructions if i.opcode == "custom-call"] == ["AwsNeuronControlDep"]


def test_load_takes_jax_objects_and_says_what_it_takes():
    assert wire_ops(load(jax.jit(ordered).lower(X, X))) == 1
    with pytest.raises(InputError, match=r"jax\.stages\.Traced, Lowered or Compiled, a jax\.export\.Exported"):
        nj.as_module(jnp.ones(3))


# --- export -----------------------------------------------------------------------------------------------------------


def test_jax_refuses_the_wire_op_unless_it_is_told():
    with pytest.raises(ValueError, match="AwsNeuronControlDep"):
        jax.export.export(jax.jit(ordered))(X, X)


@pytest.mark.parametrize("platforms", [None, ("cpu",), ("cpu", "cuda", "tpu"), ("neuron",)])
def test_every_platform_gets_the_wire_op_once(platforms):
    exported = nj.export(ordered, platforms=platforms)(X, X)
    assert wire_ops(nj.as_module(exported)) == 1
    assert exported.platforms == (platforms or (jax.export.default_export_platform(),))


def test_export_takes_specifications_and_symbolic_shapes():
    (batch,) = jax.export.symbolic_shape("batch")
    spec = jax.ShapeDtypeStruct((batch, 3), jnp.float32)
    assert "stablehlo.custom_call @AwsNeuronControlDep" in str(nj.as_module(nj.export(ordered)(spec, spec)))


def test_vjp_of_an_export():
    exported = nj.export(ordered)(X, X)
    assert exported.vjp().in_avals[-1].shape == X.shape


# --- versions ---------------------------------------------------------------------------------------------------------

DATA = Path(__file__).parent / "data"
"""What old versions wrote (``make.py`` there)."""

WRITTEN_BY = {"ordered.jax_0_12_0_1": (1, 18), "ordered.jax_0_10_2": (1, 15)}
"""The StableHLO each artifact needs: jax writes for a somewhat older one than its own."""


@pytest.mark.parametrize("name", WRITTEN_BY)
@pytest.mark.parametrize("suffix", [".bin", ".exported"])
def test_artifacts_of_both_ends_go_through_or_say_who_wrote_them(name, suffix):
    file = DATA / f"{name}{suffix}"
    needed, installed = WRITTEN_BY[name], tuple(map(int, mlir.stablehlo_version().split(".")))
    if needed <= installed[:2]:
        assert wire_ops(load(file)) == 1
        return
    with pytest.raises(InputError) as fault:
        load(file)
    message = str(fault.value)
    assert "written by StableHLO 1.18.0" in message
    assert f"to {mlir.stablehlo_version()}" in message
    assert "--serialize-portable=" in message


def test_what_the_newer_writes_for_1_17_the_older_reads():
    assert wire_ops(load(DATA / "ordered.jax_0_12_0_1.stablehlo_1_17_0.bin")) == 1


# --- out --------------------------------------------------------------------------------------------------------------


def test_an_exported_is_written_and_read():
    pytest.importorskip("flatbuffers", reason="Exported.serialize needs it")
    exported = nj.export(ordered)(X, X)
    assert wire_ops(load(exported.serialize())) == 1
    again = nj.to_exported(nj.as_module(exported), exported)
    assert wire_ops(nj.as_module(jax.export.deserialize(again.serialize()))) == 1


def test_an_exported_comes_back_with_another_module():
    exported = nj.export(ordered)(X, X)
    module = nj.as_module(exported)
    again = nj.to_exported(module, exported, target_version="1.17.0")
    assert again.in_avals == exported.in_avals
    assert b"StableHLO_v1.17.0\0" in again.mlir_module_serialized
    assert str(nj.as_module(again)) == str(module)


def test_an_exported_of_another_type_is_refused():
    exported = nj.export(ordered)(X, X)
    other = nj.as_module(nj.export(lambda x: x)(X))
    with pytest.raises(InputError, match=r"main function has type \(tensor<4x3xf32>\) -> tensor<4x3xf32>"):
        nj.to_exported(other, exported)


@pytest.mark.parametrize(
    ("version", "message"),
    [("1.999.0", "writes 0.9.0 to"), ("0.1.0", "writes 0.9.0 to"), ("new", "expected three numbers, as")],
)
def test_a_version_that_cannot_be_written_is_named(version, message):
    exported = nj.export(ordered)(X, X)
    with pytest.raises(InputError, match=message):
        nj.to_exported(nj.as_module(exported), exported, target_version=version)


def test_a_portable_artifact_cannot_hold_mhlo():
    module = mlir.parse_module(
        "module { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        "%0 = mhlo.copy %a : tensor<2xf32>\n return %0 : tensor<2xf32> } }",
        file="compiled.mlir",
    )
    with pytest.raises(InputError, match=r"compiled\.mlir:2:6: error: a portable artifact cannot hold 'mhlo\.copy'"):
        mlir.serialize_portable(module)


def test_runnable_runs_on_this_machine():
    exported = nj.export(ordered)(X, X)
    runnable = nj.runnable(exported)
    assert "custom_call" not in runnable.mlir_module()
    np.testing.assert_allclose(runnable.call(X, X), np.sin(X) * 2, rtol=1e-6)


def test_gradients_of_a_runnable_run_too():
    runnable = nj.runnable(nj.export(ordered)(X, X))
    gradient = jax.grad(lambda x: runnable.call(x, X).sum())
    np.testing.assert_allclose(gradient(X), 2 * np.cos(X), rtol=1e-6)
    # Each order has its own program.
    second = jax.grad(lambda x: gradient(x).sum())(X)
    np.testing.assert_allclose(second, -2 * np.sin(X), rtol=1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_a_runnable_has_the_gradients_it_was_written_with(order):
    pytest.importorskip("flatbuffers", reason="Exported.serialize needs it")
    written = nj.export(ordered)(X, X).serialize(vjp_order=order)
    runnable = nj.runnable(jax.export.deserialize(written))
    assert runnable.has_vjp() == bool(order)
    again = jax.export.deserialize(runnable.serialize(vjp_order=order))
    np.testing.assert_allclose(again.call(X, X), np.sin(X) * 2, rtol=1e-6)
    if order:
        gradient = jax.grad(lambda x: again.call(x, X).sum())(X)
        np.testing.assert_allclose(gradient, 2 * np.cos(X), rtol=1e-6)
