"""The one door to the MLIR bindings inside jaxlib; every difference between versions of jaxlib lives here.

Supported: jaxlib 0.10.2 to 0.12.0.1. The rest of the package imports :data:`ir`, :data:`rewrite` and the functions
below from here and never imports ``jaxlib`` itself. Nothing here imports ``jax``.
"""

from neuron_ctrldep.mlir.artifacts import deserialize_portable, serialize_portable, stablehlo_version
from neuron_ctrldep.mlir.bindings import ir, passmanager, rewrite
from neuron_ctrldep.mlir.contexts import (
    OWN_DIALECTS,
    dialect_names,
    is_multithreaded,
    make_context,
    register_cpp_passes,
)
from neuron_ctrldep.mlir.diagnostics import collect_diagnostics, location_names, source_location, text_of
from neuron_ctrldep.mlir.guards import checked_edits, entry
from neuron_ctrldep.mlir.hlo import hlo_proto_to_stablehlo, mlir_to_hlo_proto
from neuron_ctrldep.mlir.modules import (
    BYTECODE_MAGIC,
    check_nesting,
    copy_module,
    has_own_dialect,
    llvm_version,
    module_name,
    parent_of,
    parse_module,
    string_value,
    to_bytecode,
    verify,
)

__all__ = [
    "BYTECODE_MAGIC",
    "OWN_DIALECTS",
    "check_nesting",
    "checked_edits",
    "collect_diagnostics",
    "copy_module",
    "deserialize_portable",
    "dialect_names",
    "entry",
    "has_own_dialect",
    "hlo_proto_to_stablehlo",
    "ir",
    "is_multithreaded",
    "llvm_version",
    "location_names",
    "make_context",
    "mlir_to_hlo_proto",
    "module_name",
    "parent_of",
    "parse_module",
    "passmanager",
    "register_cpp_passes",
    "rewrite",
    "serialize_portable",
    "source_location",
    "stablehlo_version",
    "string_value",
    "text_of",
    "to_bytecode",
    "verify",
]
