"""lit configuration: the tools of the package, and FileCheck (LLVM's where found, else the PyPI one)."""

import os
import shutil
import sys
from importlib import metadata, util
from pathlib import Path

import lit.formats

config.name = "neuron-ctrldep"  # noqa: F821 - lit defines it
cfg = config  # noqa: F821
cfg.test_format = lit.formats.ShTest(execute_external=False)
cfg.suffixes = [".mlir", ".hlo", ".test"]
cfg.excludes = ["Inputs", "lit.cfg.py", "lit.local.cfg"]
cfg.test_source_root = str(Path(__file__).parent)
cfg.test_exec_root = str(Path(__file__).parent / "Output")

# The tools of the same environment that lit runs in come first; nothing is picked up from elsewhere.
bin_dir = str(Path(sys.executable).parent)
cfg.environment["PATH"] = os.pathsep.join([bin_dir, os.environ.get("PATH", "")])
for name in ("LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "HOME"):
    if name in os.environ:
        cfg.environment[name] = os.environ[name]


def package_tool(package: str, *parts: str) -> str | None:
    """A binary that ships inside a Python package, if it is installed."""
    spec = util.find_spec(package)
    for root in (spec.submodule_search_locations or []) if spec else []:
        candidate = Path(root).joinpath(*parts)
        if candidate.exists():
            return str(candidate)
    return None


def quoted(path: str) -> str:
    """A path as one shell word."""
    return f"'{path}'" if " " in path else path


llvm_filecheck = shutil.which("FileCheck-22") or shutil.which("FileCheck") or package_tool("llvm", "bin", "FileCheck")
if llvm_filecheck:
    cfg.available_features.add("llvm-filecheck")
    filecheck = f"{quoted(llvm_filecheck)} --enable-var-scope --dump-input=fail --allow-unused-prefixes=false"
else:
    filecheck = quoted(f"{bin_dir}/filecheck") + " --enable-var-scope"
cfg.substitutions.append((r"(?<![\w/-])FileCheck(?![\w-])", filecheck))
cfg.substitutions.append(("%python", quoted(sys.executable)))

# LLVM's own mlir-opt, where found, runs the same files as ours: "REQUIRES: mlir-opt", then %mlir-opt.
mlir_opt = shutil.which("mlir-opt-22") or package_tool("mlir", "bin", "mlir-opt")
if mlir_opt:
    cfg.available_features.add("mlir-opt")
    cfg.substitutions.append(("%mlir-opt", quoted(mlir_opt)))

if tuple(int(p) for p in metadata.version("jaxlib").split(".")[:2]) >= (0, 12):
    cfg.available_features.add("jaxlib-0.12")
