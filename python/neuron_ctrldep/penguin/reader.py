"""Emitted Penguin Python back as a :class:`~neuron_ctrldep.penguin.model.Program`, without executing it.

The text is parsed with :mod:`ast`, a line at a time (each statement of the printer is one), and only the statement
forms of :mod:`neuron_ctrldep.penguin.text` are accepted. Anything else is an error with file, line and column.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings

from neuron_ctrldep.edges import DependencyEdge, EdgeKind
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.penguin import api, text
from neuron_ctrldep.penguin.expressions import Expression, ExpressionError
from neuron_ctrldep.penguin.model import Function, Operation, Parameter, Program, Source, Tensor, Weight
from neuron_ctrldep.penguin.names import is_reserved

_WEIGHT_HELPER = text.header(dependencies=False, scipy=False, support=False, weights=True)[-2:]

_IMPORTS = {
    **{module: alias for alias, module in api.MODULES.items()},
    api.DEPENDENCY_MODULE: api.DEPENDENCY_ALIAS,
    api.NUMPY_MODULE: api.NUMPY_ALIAS,
    api.SCIPY_MODULE: None,
    api.SUPPORT_MODULE: None,
}
_FUNCTIONS = frozenset(
    {
        *api.UNARY_FUNCTIONS.values(),
        *api.BINARY_FUNCTIONS.values(),
        *api.COMPARE_FUNCTIONS.values(),
        *api.DIVIDE.values(),
        *api.NOT.values(),
        api.SELECT,
        api.IOTA,
    }
)
_PARAMETER = re.compile(r"input_[0-9]+")
_TAGS = frozenset({api.UNARY, api.BINARY, api.TERNARY, api.XLA_OP})

_PARSING = threading.Lock()
"""Parses in several threads at a time disturb each other's count of the depth: ``SystemError: AST constructor recursion
depth mismatch`` (CPython 3.11, issue gh-106905)."""


def read_penguin(source: str, file: str = "-") -> Program:
    """Read what :func:`~neuron_ctrldep.penguin.printer.print_penguin` printed.

    Args:
        source: the text of the program.
        file: what messages call it.

    Raises:
        InputError: a statement has none of the forms, or uses a name that is not bound; file, line and column.
    """
    with warnings.catch_warnings():
        # Python warns of doubtful literals in what it parses; none of them is in a form that is accepted.
        warnings.simplefilter("error")
        return _Reader(source, file).read()


class _Reader:
    def __init__(self, source: str, file: str) -> None:
        self._source = source
        self._file = file
        self._lines = source.split("\n")
        self._line = 0
        self._imported: set[str] = set()
        self._has_helper = False
        self._functions: dict[str, Function] = {}
        self._open: list[Function] = []
        self._values: set[str] = set()
        self._operations: set[str] = set()
        self._edges: dict[str, set[DependencyEdge]] = {}
        self._finished = False

    def read(self) -> Program:
        while self._line < len(self._lines):
            line = self._lines[self._line].removesuffix("\r")
            self._line += 1
            if line == _WEIGHT_HELPER[0]:
                self._helper()
                continue
            statement = self._parse(line)
            if statement is None:
                continue
            try:
                if self._finished:
                    raise ExpressionError(statement, f"nothing follows '{api.PROGRAM}=v0'")
                self._statement(statement)
            except ExpressionError as error:
                self._fail(str(error), self._column(line, error.node))
        if not self._finished:
            self._fail(f"the program does not end; expected '{api.PROGRAM}=v0' as its last statement", 1)
        return Program(list(self._functions.values()), api.DEPENDENCY_MODULE in self._imported)

    def _fail(self, message: str, column: int) -> None:
        raise InputError(message, location=SourceLocation(self._file, self._line, column), source=self._source)

    @staticmethod
    def _column(line: str, node: ast.AST) -> int:
        # ast counts UTF-8 bytes from 0.
        offset = getattr(node, "col_offset", 0)
        return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1

    def _parse(self, line: str) -> ast.stmt | None:
        """The statement on ``line``; ``None`` when there is none (empty, or a comment)."""
        try:
            with _PARSING:
                body = ast.parse(line).body
        except SyntaxError as error:
            self._fail(f"not a statement of Penguin Python: {error.msg}", error.offset or 1)
            return None
        except (ValueError, RecursionError, MemoryError, Warning) as error:
            self._fail(f"not a statement of Penguin Python: {error or type(error).__name__}", 1)
            return None
        if len(body) > 1:
            self._fail("expected one statement on a line", self._column(line, body[1]))
        return body[0] if body else None

    # --- statements ---------------------------------------------------------------------------------------------------

    def _helper(self) -> None:
        if self._line >= len(self._lines) or self._lines[self._line].removesuffix("\r") != _WEIGHT_HELPER[1]:
            self._fail(f"expected '{_WEIGHT_HELPER[1].strip()}' as the body of {api.WEIGHT_LOAD}", 1)
        if self._has_helper or self._functions:
            self._fail(f"{api.WEIGHT_LOAD} is defined once, before the first function", 1)
        self._line += 1
        self._has_helper = True

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            self._import(statement)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            self._assign(statement, statement.targets[0])
        elif isinstance(statement, ast.Expr):
            self._edge(Expression(statement.value))
        else:
            raise ExpressionError(
                statement, "not a form of Penguin Python; expected an import, an assignment or a call of add_dep_edge"
            )

    def _import(self, statement: ast.Import) -> None:
        alias = statement.names[0]
        if len(statement.names) != 1 or alias.name not in _IMPORTS or _IMPORTS[alias.name] != alias.asname:
            raise ExpressionError(statement, "not an import of Penguin Python")
        if self._functions or alias.name in self._imported:
            raise ExpressionError(statement, "each module is imported once, before the first function")
        self._imported.add(alias.name)

    def _assign(self, statement: ast.Assign, target: ast.expr) -> None:
        value = Expression(statement.value)
        if isinstance(target, ast.Attribute):
            self._end_function(target, value)
        elif isinstance(target, ast.Name) and target.id == api.PROGRAM:
            self._end_program(statement, value)
        elif isinstance(target, ast.Name) and value.is_call(api.FUNCTION):
            self._start_function(target, value)
        elif isinstance(target, ast.Name) and _PARAMETER.fullmatch(target.id):
            self._parameter(target, value)
        else:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            self._operation(statement, names, value)

    def _start_function(self, target: ast.Name, value: Expression) -> None:
        arguments = value.keywords(api.FUNCTION, required=("id_", "batch_ids", "attrs"))
        number = arguments["id_"].integer()
        if target.id != f"v{number}" or target.id in self._functions:
            raise ExpressionError(target, f"function {number} is bound to v{number}, once")
        if bool(self._functions) != bool(self._open):
            raise ExpressionError(target, "a function starts inside main")
        if arguments["batch_ids"].items(ast.List):
            raise ExpressionError(arguments["batch_ids"].node, "expected []")
        attributes = tuple(item.string() for item in arguments["attrs"].items(ast.Tuple))
        function = Function(number, attributes)
        self._functions[function.name] = function
        self._edges[function.name] = set()
        self._open.append(function)

    def _end_function(self, target: ast.Attribute, value: Expression) -> None:
        function = self._current(target)
        if Expression(target).dotted() != f"{function.name}.id" or value.integer() != function.id:
            raise ExpressionError(target, f"expected the end of the open function: {text.function_end(function.id)}")
        self._open.pop()

    def _end_program(self, statement: ast.Assign, value: Expression) -> None:
        if self._open or not self._functions or value.dotted() != next(iter(self._functions)):
            raise ExpressionError(statement, f"'{api.PROGRAM}=v0' comes last, when every function has ended")
        self._finished = True

    def _current(self, node: ast.AST) -> Function:
        if not self._open:
            raise ExpressionError(node, "no function is open here")
        return self._open[-1]

    def _bind(self, target: ast.expr, *, parameter: bool = False) -> str:
        name = Expression(target).dotted()
        if "." in name or name in self._values or is_reserved(name) != parameter:
            raise ExpressionError(target, f"'{name}' cannot be bound here: it is taken or reserved")
        self._values.add(name)
        return name

    def _parameter(self, target: ast.Name, value: Expression) -> None:
        function = self._current(target)
        receiver, arguments = value.method(api.MARK_INPUT)
        if len(arguments) != 1 or arguments[0].dotted() != function.name:
            raise ExpressionError(value.node, f"a parameter is marked as input of the open function {function.name}")
        keywords = receiver.keywords(api.TENSOR, required=("name", "shape", "dtype", "layout", "attrs"))
        name = self._bind(target, parameter=True)
        tensor = self._tensor(keywords, name)
        function.inputs.append(Parameter(tensor, keywords["layout"].string(), keywords["attrs"].strings()))

    def _tensor(self, keywords: dict[str, Expression], name: str) -> Tensor:
        if keywords["name"].string() != name:
            raise ExpressionError(keywords["name"].node, f"the tensor is named as what it is bound to: '{name}'")
        return Tensor(name, keywords["shape"].shape(), self._dtype(keywords["dtype"]))

    def _dtype(self, value: Expression) -> str:
        if value.is_string():
            return value.string()
        prefix = api.support_dtype("")
        name = value.dotted()
        if name.startswith(prefix) and name.removeprefix(prefix) in api.SUPPORT_DTYPES.values():
            self._need(value.node, api.SUPPORT_MODULE)
            return name.removeprefix(prefix)
        raise ExpressionError(value.node, "not a data type")

    def _need(self, node: ast.AST, module: str) -> None:
        if module not in self._imported:
            raise ExpressionError(node, f"{module} is not imported")

    def _operation(self, statement: ast.Assign, targets: list[ast.expr], value: Expression) -> None:
        function = self._current(statement)
        (callee, tag), keywords = value.call(
            api.TENSOR_OP,
            positional=2,
            required=("srcs", "dsts", "dl"),
            optional=("attrs", "regions", "dtype", "shape", "iota_dim"),
        )
        is_generic = callee.is_string()
        callee_name = callee.string() if is_generic else callee.dotted()
        if not is_generic:
            if callee_name not in _FUNCTIONS:
                raise ExpressionError(callee.node, f"'{callee_name}' is not a function of Penguin's")
            if callee_name.startswith(api.SCIPY_MODULE):
                self._need(callee.node, api.SCIPY_MODULE)
        if tag.string() not in _TAGS:
            raise ExpressionError(tag.node, f"'{tag.string()}' is not a class tag")
        srcs = tuple(self._src(item) for item in keywords["srcs"].items(ast.List))
        regions = (
            tuple(self._region(item) for item in keywords["regions"].items(ast.List)) if "regions" in keywords else ()
        )
        results = keywords["dsts"].items(ast.List)
        names = tuple(self._bind(target) for target in targets)
        if len(names) != max(1, len(results)):
            raise ExpressionError(statement, f"{len(results)} results are bound to {len(names)} names")
        dsts = tuple(
            self._tensor(result.keywords(api.TENSOR, required=("name", "shape", "dtype")), name)
            for name, result in zip(names, results, strict=False)
        )
        extra: dict[str, int | str | tuple[int | str, ...]] = {}
        if "dtype" in keywords:
            extra["dtype"] = self._dtype(keywords["dtype"])
        if "shape" in keywords:
            extra["shape"] = keywords["shape"].shape()
        if "iota_dim" in keywords:
            extra["iota_dim"] = keywords["iota_dim"].integer()
        function.operations.append(
            Operation(
                names,
                callee_name,
                tag.string(),
                srcs,
                dsts,
                _location(keywords["dl"]),
                is_generic,
                keywords["attrs"].strings() if "attrs" in keywords else {},
                extra,
                regions,
            )
        )
        self._operations.add(names[0])

    def _src(self, item: Expression) -> Source:
        if item.is_call(api.SINGLE_VALUE):
            return item.keywords(api.SINGLE_VALUE, required=("value",))["value"].constant()
        if item.is_call(api.WEIGHT_LOAD):
            if not self._has_helper:
                raise ExpressionError(item.node, f"{api.WEIGHT_LOAD} is not defined")
            (path,), _ = item.call(api.WEIGHT_LOAD, positional=1, required=())
            return Weight(path.string())
        name = item.dotted()
        if name not in self._values:
            raise ExpressionError(item.node, f"'{name}' is not bound to a value")
        return name

    def _region(self, item: Expression) -> Function:
        name = item.dotted()
        if name not in self._functions:
            raise ExpressionError(item.node, f"'{name}' is not a function")
        return self._functions[name]

    def _edge(self, value: Expression) -> None:
        function = self._current(value.node)
        receiver, arguments = value.method(api.ADD_DEP_EDGE)
        if len(arguments) != 1:
            raise ExpressionError(value.node, f"{api.ADD_DEP_EDGE} takes one edge")
        self._need(value.node, api.DEPENDENCY_MODULE)
        keywords = arguments[0].keywords(api.DEPENDENCY_EDGE, required=("src", "dst", "idx_map", "kind", "predicates"))
        src, dst = keywords["src"].dotted(), keywords["dst"].dotted()
        for name, node in ((src, keywords["src"].node), (dst, keywords["dst"].node)):
            if name not in self._operations:
                raise ExpressionError(node, f"'{name}' is not an operation")
        if receiver.dotted() != dst:
            raise ExpressionError(receiver.node, f"an edge is added to its destination, '{dst}'")
        for key in ("idx_map", "predicates"):
            if keywords[key].items(ast.List):
                raise ExpressionError(keywords[key].node, "expected []")
        prefix, _, kind = keywords["kind"].dotted().rpartition(".")
        if prefix != api.EDGE_KIND or kind not in EdgeKind.__members__:
            raise ExpressionError(keywords["kind"].node, "not a kind of edge")
        edge = DependencyEdge(src, dst, EdgeKind[kind])
        known = self._edges[function.name]
        if edge not in known and src != dst:
            known.add(edge)
            function.dep_edges.append(edge)


def _location(value: Expression) -> text.DebugLocation:
    keywords = value.keywords(api.DEBUG_LOCATION, required=("tensor_op_name", "file", "line", "column", "hlo_id"))
    return text.DebugLocation(
        keywords["tensor_op_name"].string(),
        keywords["file"].string(),
        keywords["line"].integer(),
        keywords["column"].integer(),
        keywords["hlo_id"].integer(),
    )
