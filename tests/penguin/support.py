"""Modules as MLIR text, and a sink that keeps weights in memory."""

from typing import Any

import numpy as np

from neuron_ctrldep.mlir import parse_module
from neuron_ctrldep.penguin.printer import print_penguin
from neuron_ctrldep.penguin.reader import read_penguin

T = "tensor<4xf32>"


class Weights:
    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}

    def add(self, name: str, array: np.ndarray[Any, Any]) -> str:
        self.arrays[name] = array
        return f"{name}.npy"


def mlir_string(text: str) -> str:
    """A string of MLIR: every byte that is not a plain character is spelled in hexadecimal."""
    return '"' + "".join(chr(b) if 0x20 <= b < 0x7F and b not in b'"\\' else f"\\{b:02X}" for b in text.encode()) + '"'


def module_of(*lines: str, arguments: str = f"%a: {T}, %b: {T}") -> Any:
    body = "\n".join(lines)
    return parse_module(f"module {{ func.func @main({arguments}) {{\n{body}\nreturn\n}} }}")


def emitted(*lines: str, **options: Any) -> str:
    return print_penguin(module_of(*lines), weights=Weights(), **options)


def program_of(*lines: str) -> Any:
    return read_penguin(emitted(*lines))
