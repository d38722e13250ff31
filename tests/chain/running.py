"""Run a module on XLA's CPU backend."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jaxlib import _jax, xla_client

from neuron_ctrldep.control_dep import main_function
from neuron_ctrldep.mlir import ir, to_bytecode


def results_of(module: ir.Operation) -> list[np.ndarray[Any, Any]]:
    """What the main function gives for arguments that depend on their number alone."""
    main = main_function(module)
    assert main is not None
    device = jax.devices("cpu")[0]
    arguments = [_argument(n, type_) for n, type_ in enumerate(main.attributes["function_type"].value.inputs)]
    executable = device.client.compile_and_load(
        to_bytecode(module), _jax.DeviceList((device,)), xla_client.CompileOptions()
    )
    placed = [jax.device_put(argument, device) for argument in arguments]
    outputs = executable.execute_sharded(placed).disassemble_into_single_device_arrays()
    return [np.asarray(shards[0]) for shards in outputs]


_DTYPES = {"f32": "float32", "i32": "int32", "i1": "bool", "ui32": "uint32", "f16": "float16", "f64": "float64"}


def _argument(number: int, type_: Any) -> np.ndarray[Any, Any]:
    shape = tuple(type_.shape)
    count = int(np.prod(shape, dtype=int))
    values = (np.arange(count) * 37 + number * 11) % 13 - 6
    element = str(type_.element_type)
    return values.astype(_DTYPES[element]).reshape(shape)
