"""Every string that is a fact of Penguin's API, in one place: another version of Penguin is one edit here.

The facts were read from a shipped compiler (``neuronx_cc`` 2.24); see ``docs/`` for which of them are inferred.
"""

from __future__ import annotations

# --- modules ----------------------------------------------------------------------------------------------------------

MODULES = {
    "m0": "neuronxcc.starfish.penguin.ir.ir",
    "m1": "neuronxcc.starfish.penguin.ir.DebugInfo",
    "m2": "neuronxcc.starfish.penguin.targets.tonga.APIndex",
    "m3": "neuronxcc.starfish.penguin.targets.tonga.TongaInst",
    "m4": "neuronxcc.starfish.penguin.targets.tonga.TongaISAInst",
    "m5": "neuronxcc.starfish.penguin.targets.tonga.TongaTensor",
}
"""Aliases and modules that every program imports, in this order."""

DEPENDENCY_ALIAS = "m6"
DEPENDENCY_MODULE = "neuronxcc.starfish.penguin.ir.Dependency"
"""Imported only by programs with control dependencies."""

SUPPORT_MODULE = "neuronxcc.starfish.support"
"""Imported, under its own name, by programs with a data type that numpy does not have."""

SCIPY_MODULE = "scipy.special"
"""Imported, under its own name, by programs that use one of its functions."""

NUMPY_MODULE = "numpy"
NUMPY_ALIAS = "np"
WEIGHT_LOAD = "weight_load"
PROGRAM = "ir"
"""The variable that holds the program at the end."""

# --- constructors -----------------------------------------------------------------------------------------------------

FUNCTION = "m0.Function"
DEBUG_LOCATION = "m1.DebugLocation"
TENSOR_OP = "m3.NeuronTensorOp"
TENSOR = "m5.Tensor"
SINGLE_VALUE = "m5.SingleValueTensor"
MARK_INPUT = "markInput"
ADD_DEP_EDGE = "add_dep_edge"
DEPENDENCY_EDGE = f"{DEPENDENCY_ALIAS}.DependencyEdge"
EDGE_KIND = f"{DEPENDENCY_ALIAS}.EdgeKind"
IOTA = "m0.iota"

# --- class tags -------------------------------------------------------------------------------------------------------

UNARY = "mhlo.unary"
BINARY = "mhlo.binary"
TERNARY = "mhlo.ternary"
XLA_OP = "xla_op"
"""Of everything that is not elementwise: ``convert``, ``iota``, constants and generic statements."""

# --- tensors ----------------------------------------------------------------------------------------------------------

LAYOUTS = {1: "N", 2: "NC", 3: "NHC", 4: "NHWC"}
"""Layout of a parameter by its rank; empty for other ranks."""

_INTEGERS = {
    f"{prefix}i{width}": f"{name}int{width}"
    for width in (2, 4, 8, 16, 32, 64)
    for prefix, name in (("", ""), ("s", ""), ("u", "u"))
}

STRING_DTYPES = {
    "i1": "bool",
    **_INTEGERS,
    "index": "int64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
"""Element types that are strings in Penguin, by their MLIR spelling."""

SUPPORT_DTYPES = {
    "bf16": "bfloat16",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
}
"""Element types that are attributes of ``neuronxcc.starfish.support.dtype``, by their MLIR spelling."""


def support_dtype(name: str) -> str:
    """The expression for a data type of the support module."""
    return f"{SUPPORT_MODULE}.dtype.{name}"


# --- operations -------------------------------------------------------------------------------------------------------

UNARY_FUNCTIONS = {
    "exponential": "np.exp",
    "log": "np.log",
    "sqrt": "np.sqrt",
    "rsqrt": "np.rsqrt",
    "tanh": "np.tanh",
    "abs": "np.abs",
    "sign": "np.sign",
    "ceil": "np.ceil",
    "floor": "np.floor",
    "sine": "np.sin",
    "cosine": "np.cos",
    "tan": "np.tan",
    "is_finite": "np.is_finite",
    "negate": "np.negative",
    "round_nearest_even": "np.rint",
    "logistic": "scipy.special.expit",
    "erf": "scipy.special.erf",
}
BINARY_FUNCTIONS = {
    "add": "np.add",
    "subtract": "np.subtract",
    "multiply": "np.multiply",
    "maximum": "np.maximum",
    "minimum": "np.minimum",
    "power": "np.power",
    "remainder": "np.fmod",
    "and": "np.bitwise_and",
    "or": "np.bitwise_or",
    "xor": "np.bitwise_xor",
    "shift_left": "np.logical_left_shift",
    "shift_right_logical": "np.logical_right_shift",
    "shift_right_arithmetic": "np.arith_right_shift",
}
COMPARE_FUNCTIONS = {
    "EQ": "np.equal",
    "NE": "np.not_equal",
    "GE": "np.greater_equal",
    "GT": "np.greater",
    "LE": "np.less_equal",
    "LT": "np.less",
}
DIVIDE = {"float": "np.divide", "integer": "np.int_div"}
NOT = {"i1": "np.logical_not", "integer": "np.bitwise_not"}
SELECT = "np.select"
