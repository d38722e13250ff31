"""The modules of the bindings that the package uses; everything in ``mlir`` imports them from here."""

from __future__ import annotations

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext as jax_extension
from jaxlib.mlir._mlir_libs._mlir import rewrite

__all__ = ["ir", "jax_extension", "passmanager", "rewrite"]
