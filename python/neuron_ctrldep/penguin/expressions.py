"""Expressions of an emitted program, read from their syntax tree. None is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from neuron_ctrldep.penguin.model import Constant, Shape

_SPECIAL_FLOATS = ("nan", "inf")


class ExpressionError(Exception):
    """An expression is not what it has to be here; ``node`` is where."""

    def __init__(self, node: ast.AST, message: str) -> None:
        super().__init__(message)
        self.node = node


class Expression:
    """One expression; each method says what it has to be, and raises :class:`ExpressionError` if it is not."""

    def __init__(self, node: ast.expr) -> None:
        self.node = node

    def string(self) -> str:
        """A string literal."""
        if isinstance(self.node, ast.Constant) and isinstance(self.node.value, str):
            return self.node.value
        raise ExpressionError(self.node, "expected a string literal")

    def is_string(self) -> bool:
        """Whether it is a string literal."""
        return isinstance(self.node, ast.Constant) and isinstance(self.node.value, str)

    def integer(self) -> int:
        """A non-negative integer literal."""
        if isinstance(self.node, ast.Constant) and type(self.node.value) is int:
            return self.node.value
        raise ExpressionError(self.node, "expected an integer literal")

    def dotted(self) -> str:
        """A name, with attributes behind dots: ``np.add``."""
        parts: list[str] = []
        node: ast.expr = self.node
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            raise ExpressionError(self.node, "expected a name")
        return ".".join([node.id, *reversed(parts)])

    def items(self, kind: type[ast.List] | type[ast.Tuple]) -> list[Expression]:
        """The items of a list or tuple display."""
        if isinstance(self.node, kind):
            return [Expression(item) for item in self.node.elts]
        raise ExpressionError(self.node, f"expected a {kind.__name__.lower()}")

    def strings(self) -> dict[str, str]:
        """A dictionary display of strings."""
        if not isinstance(self.node, ast.Dict):
            raise ExpressionError(self.node, "expected a dictionary of strings")
        result: dict[str, str] = {}
        for key, value in zip(self.node.keys, self.node.values, strict=True):
            if key is None:
                raise ExpressionError(value, "expected a string literal as key")
            result[Expression(key).string()] = Expression(value).string()
        return result

    def shape(self) -> Shape:
        """A tuple of integers and strings."""
        return tuple(item.string() if item.is_string() else item.integer() for item in self.items(ast.Tuple))

    def constant(self) -> Constant:
        """A number or a string: ``1.0``, ``-float('inf')``, ``complex(0.0, float('nan'))``."""
        if self.is_string():
            return Constant(self.string())
        if self.is_call("complex"):
            (real, imaginary), _ = self.call("complex", positional=2, required=())
            return Constant(complex(real.number(), imaginary.number()))
        return Constant(self.number())

    def number(self) -> bool | int | float:
        """A boolean, an integer or a float, with a sign or without."""
        node = self.node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -Expression(node.operand)._unsigned()
        return self._unsigned()

    def _unsigned(self) -> bool | int | float:
        if isinstance(self.node, ast.Constant) and isinstance(self.node.value, (bool, int, float)):
            return self.node.value
        if self.is_call("float"):
            (word,), _ = self.call("float", positional=1, required=())
            if word.string() in _SPECIAL_FLOATS:
                return float(word.string())
        raise ExpressionError(self.node, "expected a number")

    def is_call(self, callee: str) -> bool:
        """Whether it calls ``callee``, a dotted name."""
        if not isinstance(self.node, ast.Call):
            return False
        try:
            return Expression(self.node.func).dotted() == callee
        except ExpressionError:
            return False

    def call(
        self, callee: str, *, positional: int, required: Sequence[str], optional: Sequence[str] = ()
    ) -> tuple[list[Expression], dict[str, Expression]]:
        """The arguments of a call of ``callee`` with exactly these arguments."""
        if not self.is_call(callee):
            raise ExpressionError(self.node, f"expected a call of {callee}")
        assert isinstance(self.node, ast.Call)
        keywords: dict[str, Expression] = {}
        for keyword in self.node.keywords:
            if keyword.arg is None or keyword.arg in keywords or keyword.arg not in (*required, *optional):
                raise ExpressionError(keyword.value, f"{callee} has no such argument here: '{keyword.arg or '**'}'")
            keywords[keyword.arg] = Expression(keyword.value)
        missing = [name for name in required if name not in keywords]
        if missing:
            raise ExpressionError(self.node, f"{callee} needs '{missing[0]}'")
        if len(self.node.args) != positional:
            raise ExpressionError(self.node, f"{callee} takes {positional} arguments without a name")
        return [Expression(argument) for argument in self.node.args], keywords

    def keywords(self, callee: str, *, required: Sequence[str]) -> dict[str, Expression]:
        """The arguments of a call of ``callee`` by keyword, exactly these."""
        return self.call(callee, positional=0, required=required)[1]

    def method(self, name: str) -> tuple[Expression, list[Expression]]:
        """The receiver and the arguments of ``<receiver>.name(…)``."""
        node = self.node
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != name:
            raise ExpressionError(node, f"expected a call of {name}")
        if node.keywords:
            raise ExpressionError(node, f"{name} takes no keyword arguments")
        return Expression(node.func.value), [Expression(argument) for argument in node.args]
