"""XLA's HLO functions in jaxlib. Their exceptions come out as they are."""

from __future__ import annotations


def hlo_proto_to_stablehlo(proto: bytes) -> bytes:
    """XLA's own importer: a serialized ``HloModuleProto`` to MLIR bytecode.

    It can abort the process: run it in a child.
    """
    from jaxlib import _jax

    return bytes(_jax.mlir.hlo_to_stablehlo(proto))


def mlir_to_hlo_proto(bytecode: bytes) -> bytes:
    """XLA's own exporter: MLIR bytecode of a StableHLO or MHLO module to a serialized ``HloModuleProto``.

    It can abort the process: run it in a child.
    """
    from jaxlib import _jax

    computation = _jax.mlir.mlir_module_to_xla_computation(bytecode, use_tuple_args=False, return_tuple=False)
    return bytes(computation.as_serialized_hlo_module_proto())
