"""What the package leaves of the bindings for others in the same process: JAX uses them, too."""

import subprocess
import sys

import pytest

SCRIPT = """
import importlib
from neuron_ctrldep.mlir import make_context, parse_module
make_context()
parse_module('module {{ sdy.mesh @m = <["a"=2]> }}').regions[0].blocks[0].operations[0]
extension = importlib.import_module("jaxlib.mlir._mlir_libs.{extension}")
dialect = importlib.import_module("jaxlib.mlir.dialects.{dialect}")
print(sorted(n for n in vars(extension) if not n.startswith("_") and not hasattr(dialect, n)))
"""


@pytest.mark.parametrize(
    ("dialect", "extension"),
    [("stablehlo", "_stablehlo"), ("mhlo", "_mlirHlo"), ("chlo", "_chlo"), ("sdy", "_sdy")],
)
def test_the_module_of_a_dialect_is_whole_after_a_context_was_made(dialect: str, extension: str) -> None:
    script = SCRIPT.format(dialect=dialect, extension=extension)
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert child.stdout == "[]\n"
