"""Contexts, the dialects in them, and the C++ passes."""

from __future__ import annotations

import contextlib
import sys
import types

from neuron_ctrldep.mlir.bindings import ir, jax_extension

OWN_DIALECTS = frozenset({"task"})
"""Dialects of this project. jaxlib has no IRDL, so their ops are unregistered ops to the bindings."""


for _dialect in OWN_DIALECTS:
    # The bindings look for a Python module of the dialect of every op they hand out, and where there is none they look
    # again, on disk, for the next op. An empty module is found once.
    sys.modules.setdefault(f"jaxlib.mlir.dialects.{_dialect}", types.ModuleType(f"jaxlib.mlir.dialects.{_dialect}"))


def make_context(*, allow_unregistered: bool = False, multithreading: bool = False) -> ir.Context:
    """A context with every dialect jaxlib has (func, scf, arith, memref, …), StableHLO, MHLO, CHLO and Shardy.

    A context keeps its types, attributes and constants until it dies: use one for each input.

    Args:
        allow_unregistered: accept ops of dialects that it does not know.
        multithreading: let MLIR verify and transform functions side by side. Where it did, a process that is forked
            off waits for ever as soon as it uses, or frees, the context.
    """
    # The extensions, not jaxlib.mlir.dialects: importing the Python classes of all ops takes longer than all else here.
    from jaxlib.mlir._mlir_libs import _chlo, _mlirHlo, _stablehlo

    # Not so Shardy's: in jaxlib 0.12 the extension imports jaxlib.mlir.dialects.sdy while it is half made, and who uses
    # that module later in this process, JAX itself, would find half of it.
    from jaxlib.mlir.dialects import sdy

    registry = ir.DialectRegistry()
    jax_extension.register_dialects(registry)
    context = ir.Context()
    context.enable_multithreading(multithreading)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    _stablehlo.register_dialect(context)
    _mlirHlo.register_mhlo_dialect(context)
    _chlo.register_dialect(context)
    sdy.register_dialect(context)
    context.allow_unregistered_dialects = allow_unregistered
    # Without this, a diagnostic that no handler took and that holds bytes which are not UTF-8 ends the process.
    context.emit_error_diagnostics = True
    return context


def is_multithreaded(context: ir.Context) -> bool:
    """Whether MLIR may use threads of ``context``; not how many, which may be one."""
    return context._mlir_thread_pool_ptr() != "0"


_DIALECTS = [
    "affine",
    "arith",
    "builtin",
    "cf",
    "chlo",
    "complex",
    "func",
    "gpu",
    "linalg",
    "llvm",
    "math",
    "memref",
    "mhlo",
    "mpmd",
    "nvgpu",
    "nvvm",
    "quant",
    "scf",
    "sdy",
    "shape",
    "sparse_tensor",
    "stablehlo",
    "tensor",
    "transform",
    "ub",
    "vector",
    "vhlo",
]
"""What may be in jaxlib; the bindings do not list what is."""


def dialect_names() -> list[str]:
    """The dialects that inputs may use, by name, this project's own among them."""
    context = make_context()
    found = set(OWN_DIALECTS)
    for name in _DIALECTS:
        with contextlib.suppress(ValueError):
            context.get_dialect_descriptor(name)
            found.add(name)
    return sorted(found)


def register_cpp_passes() -> None:
    """Make the C++ passes of MLIR, StableHLO, MHLO and Shardy known by name. Idempotent."""
    from jaxlib.mlir._mlir_libs import _mlirHlo, _stablehlo

    # Registers MLIR's own passes (cse, canonicalize, inline, …) beside the dialects.
    jax_extension.register_dialects(ir.DialectRegistry())
    _stablehlo.register_stablehlo_passes()
    _mlirHlo.register_mhlo_passes()
