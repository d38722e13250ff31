"""The statement forms of an emitted program, each as one function from names and literals to one line.

What these functions write is what :mod:`neuron_ctrldep.penguin.reader` accepts, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from neuron_ctrldep.edges import EdgeKind
from neuron_ctrldep.penguin import api
from neuron_ctrldep.penguin.literals import string, string_tuple, strings


class DebugLocation(NamedTuple):
    """Where an operation comes from. ``name`` is what the input calls it; operations of one ``hlo_id`` were one op."""

    name: str
    file: str = ""
    line: int = 0
    column: int = 0
    hlo_id: int = 0


Location: TypeAlias = tuple[str, str, int, int, int]
"""A :class:`DebugLocation`, or a plain tuple of the same: the printer makes one for each operation."""


def header(*, dependencies: bool, scipy: bool, support: bool, weights: bool) -> list[str]:
    """Imports, and the helper for weights where it is used."""
    lines = [f"import {module} as {alias}" for alias, module in api.MODULES.items()]
    if dependencies:
        lines.append(f"import {api.DEPENDENCY_MODULE} as {api.DEPENDENCY_ALIAS}")
    lines.append(f"import {api.NUMPY_MODULE} as {api.NUMPY_ALIAS}")
    if scipy:
        lines.append(f"import {api.SCIPY_MODULE}")
    if support:
        lines.append(f"import {api.SUPPORT_MODULE}")
    if weights:
        lines += [f"def {api.WEIGHT_LOAD}(p):", f"    return {api.NUMPY_ALIAS}.load(p)"]
    return lines


def function_start(number: int, attributes: Iterable[str]) -> str:
    """The line that opens function ``v<number>``."""
    return f"v{number} = {api.FUNCTION}(id_={number}, batch_ids=[], attrs={string_tuple(attributes)})"


def function_end(number: int) -> str:
    """The line that closes function ``v<number>``."""
    return f"v{number}.id={number}"


def parameter(number: int, function: int, shape: str, dtype: str, layout: str, attributes: Mapping[str, str]) -> str:
    """The line that binds parameter ``input_<number>``; ``shape`` and ``dtype`` are expressions."""
    name = f"input_{number}"
    return (
        f"{name} = {api.TENSOR}(name={string(name)}, shape={shape}, dtype={dtype}, layout={string(layout)}, "
        f"attrs={strings(attributes)}).{api.MARK_INPUT}(v{function})"
    )


def tensor(name: str, shape: str, dtype: str) -> str:
    """A result; ``name`` is an identifier, ``shape`` and ``dtype`` are expressions."""
    return f'{api.TENSOR}(name="{name}", shape={shape}, dtype={dtype})'


def tensor_op(
    names: Sequence[str],
    callee: str,
    tag: str,
    *,
    srcs: Iterable[str],
    dsts: Iterable[str],
    location: Location,
    keywords: str = "",
) -> str:
    """One operation.

    Args:
        names: the identifiers it binds, at least one.
        callee: the function as an expression: a name of Penguin's, or the op's name as a string literal.
        tag: its class tag.
        srcs: operands, as expressions.
        dsts: results, as made by :func:`tensor`.
        location: where it comes from.
        keywords: further keyword arguments, each followed by ``", "``.
    """
    name, file, line, column, hlo_id = location
    bound = names[0] if len(names) == 1 else ", ".join(names)
    where = string(file) if file else '""'
    return (
        f"{bound} = {api.TENSOR_OP}({callee}, '{tag}', srcs=[{', '.join(srcs)}], dsts=[{', '.join(dsts)}], "
        f"{keywords}dl={api.DEBUG_LOCATION}(tensor_op_name={string(name)}, file={where}, "
        f"line={line}, column={column}, hlo_id={hlo_id}))"
    )


def dependency(src: str, dst: str, kind: EdgeKind = EdgeKind.ORDERED) -> str:
    """``dst`` runs after ``src``; both are identifiers."""
    return (
        f"{dst}.{api.ADD_DEP_EDGE}({api.DEPENDENCY_EDGE}(src={src}, dst={dst}, idx_map=[], "
        f"kind={api.EDGE_KIND}.{kind.name}, predicates=[]))"
    )


def footer() -> list[str]:
    """The last line: the program is ``v0``."""
    return [f"{api.PROGRAM}=v0"]
