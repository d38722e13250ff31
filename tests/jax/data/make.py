"""Writes the artifacts of this folder with the installed jax: ``python tests/jax/data/make.py`` (needs flatbuffers).

A file is kept for ever: what an old version wrote must stay readable. Run it under a new version to add its file.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

import neuron_ctrldep.jax as nj


def ordered(x, y):
    return nj.control_dep(jnp.sin(x), jnp.cos(y)) * 2.0


def main() -> None:
    # Files say where they come from by name only, wherever they are made.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    spec = jax.ShapeDtypeStruct((4, 3), jnp.float32)
    exported = nj.export(ordered)(spec, spec)
    here = Path(__file__).parent
    version = jax.__version__.replace(".", "_")
    here.joinpath(f"ordered.jax_{version}.exported").write_bytes(exported.serialize())
    here.joinpath(f"ordered.jax_{version}.bin").write_bytes(exported.mlir_module_serialized)
    older = nj.to_exported(nj.as_module(exported), exported, target_version="1.17.0")
    here.joinpath(f"ordered.jax_{version}.stablehlo_1_17_0.bin").write_bytes(older.mlir_module_serialized)


if __name__ == "__main__":
    main()
