"""Random task programs: what people write, and what they should not. Same seed, same text.

Straight lines, nested static and run-time loops, ``while``, parallel loops, branches, slices with static and affine
offsets, ping-pong buffers, user dependencies, id arrays, barriers, and scopes of both kinds, over tensors or memrefs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

SIZE = 64
TILE = 16
CONSTANTS = (0, 1, 2, 3, 4, 8, 16, 32, 48)


@dataclass
class Scope:
    """What may be named at a point of the program."""

    full: list[str]
    """Values of all of a buffer."""
    tiles: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    arrays: list[tuple[str, int]] = field(default_factory=list)
    """Id tensors and their sizes."""
    indices: list[str] = field(default_factory=list)
    """Indices of loops whose tiles of :data:`TILE` lie in the buffer."""
    in_manual: bool = False
    in_scope: bool = False

    def inner(self) -> Scope:
        """A copy whose additions stay inside."""
        return replace(
            self,
            full=list(self.full),
            tiles=list(self.tiles),
            ids=list(self.ids),
            arrays=list(self.arrays),
            indices=list(self.indices),
        )


KERNELS = {
    # name: (parameters as (type, direction), the parameter handed back)
    "W": ((("full", "out"),), 0),
    "R": ((("full", "in"),), 0),
    "U": ((("full", "inout"),), 0),
    "A": ((("full", "in"), ("full", "out")), 1),
    "W16": ((("tile", "out"),), 0),
    "R16": ((("tile", "in"),), 0),
    "U16": ((("tile", "inout"),), 0),
    "M": ((("full", "in"), ("tile", "out")), 1),
}


class TaskProgram:
    """One random program.

    Args:
        seed: decides everything.
        statements: how many statements there are, about.
    """

    def __init__(self, seed: int, *, statements: int = 10) -> None:
        self._random = random.Random(seed)
        self._memref = self._random.random() < 0.4
        self._default_mode = self._random.random() < 0.5
        self._budget = statements
        self._names = 0
        self._tasks = 0
        self._lines: list[str] = []
        self._depth = 1
        self.text = self._program()

    # --- text ---

    def _type(self, kind: str) -> str:
        size = SIZE if kind == "full" else TILE
        if not self._memref:
            return f"tensor<{size}xf32>"
        return f"memref<{size}xf32>" if kind == "full" else f"memref<{TILE}xf32, strided<[1], offset: ?>>"

    def _fresh(self, stem: str = "v") -> str:
        self._names += 1
        return f"%{stem}{self._names}"

    def _emit(self, line: str) -> None:
        self._lines.append("  " * self._depth + line)

    def _program(self) -> str:
        kernels = []
        for name, (parameters, back) in KERNELS.items():
            types = ", ".join(f'{self._type(kind)} {{task.direction = "{way}"}}' for kind, way in parameters)
            result = "" if self._memref else f" -> ({self._type(parameters[back][0])} {{task.aliases = {back} : i64}})"
            kernels.append(f'  func.func private @{name}({types}){result} attributes {{task.kind = "kernel"}}')
        buffers = [f"%s{number}" for number in range(self._random.randint(1, 4))]
        arguments = ", ".join([*(f"{name}: {self._type('full')}" for name in buffers), "%n: index, %b: i1"])
        self._emit(
            f"func.func @main({arguments}, %flags: memref<4xi1>) attributes "
            f'{{task.kind = "orchestration", task.auto_scope = {str(self._default_mode).lower()}}} {{'
        )
        self._depth += 1
        for number in CONSTANTS:
            self._emit(f"%c{number} = arith.constant {number} : index")
        scope = Scope(list(buffers))
        while self._budget > 0:
            self._statement(scope, 0)
        self._emit("return")
        self._depth -= 1
        self._emit("}")
        return "\n".join(["module {", *kernels, *self._lines, "}", ""])

    # --- statements ---

    def _statement(self, scope: Scope, depth: int) -> None:
        self._budget -= 1
        choices: list[tuple[float, object]] = [(6, self._task), (1.2, self._slice), (0.5, self._ids)]
        if depth < 3:
            choices += [
                (1.6, self._for),
                (0.5, self._while),
                (0.8, self._if),
                (0.6, self._parallel),
                (0.4, self._forall),
                (0.7, self._scope),
            ]
        weights = [weight for weight, _ in choices]
        statement = self._random.choices([one for _, one in choices], weights)[0]
        statement(scope, depth)  # type: ignore[operator]

    def _body(self, scope: Scope, depth: int, least: int = 1) -> None:
        for _ in range(self._random.randint(least, 3)):
            self._statement(scope, depth + 1)

    def _task(self, scope: Scope, depth: int) -> None:
        names = [name for name, (p, _) in KERNELS.items() if scope.tiles or all(kind == "full" for kind, _ in p)]
        kernel = self._random.choice(names)
        parameters, back = KERNELS[kernel]
        arguments = [self._random.choice(scope.full if kind == "full" else scope.tiles) for kind, _ in parameters]
        types = [self._type(kind) for kind, _ in parameters]
        name = f"t{self._tasks}"
        self._tasks += 1
        attributes = f'task.name = "{name}"'
        if self._random.random() < 0.05:
            attributes += f", arg_direction_overrides = array<i64: {self._random.randrange(len(parameters))}>"
        result = self._fresh()
        if self._random.random() < 0.3:
            binding = "" if self._memref else f"{result} = "
            results = "()" if self._memref else types[back]
            call = f"func.call @{kernel}({', '.join(arguments)}) {{{attributes}}}"
            self._emit(f"{binding}{call} : ({', '.join(types)}) -> {results}")
        else:
            identity = self._fresh("id")
            deps, dep_types = self._deps(scope)
            binding = identity if self._memref else f"{result}, {identity}"
            results = "!task.id" if self._memref else f"({types[back]}, !task.id)"
            self._emit(
                f'{binding} = "task.submit"({", ".join([*arguments, *deps])}) {{callee = @{kernel}, '
                f"operandSegmentSizes = array<i32: {len(arguments)}, {len(deps)}, 0>, {attributes}}} : "
                f"({', '.join([*types, *dep_types])}) -> {results}"
            )
            scope.ids.append(identity)
        if not self._memref:
            (scope.full if parameters[back][0] == "full" else scope.tiles).append(result)

    def _deps(self, scope: Scope) -> tuple[list[str], list[str]]:
        deps: list[str] = []
        types: list[str] = []
        for one in scope.ids[-4:]:
            if self._random.random() < (0.5 if scope.in_manual else 0.2):
                deps.append(one)
                types.append("!task.id")
        if scope.arrays and self._random.random() < 0.4:
            array, size = self._random.choice(scope.arrays)
            deps.append(array)
            types.append(f"tensor<{size}x!task.id>")
        return deps, types

    def _slice(self, scope: Scope, depth: int) -> None:
        source = self._random.choice(scope.full)
        if scope.indices and self._random.random() < 0.6:
            offset = self._fresh("o")
            self._emit(f"{offset} = arith.muli {self._random.choice(scope.indices)}, %c16 : index")
        else:
            offset = str(self._random.choice((0, 8, 16, 32, 48)))
        result = self._fresh()
        if self._memref:
            layout = f"strided<[1], offset: {offset}>" if offset.isdigit() else "strided<[1], offset: ?>"
            exact = f"memref<{TILE}xf32, {layout}>" if offset != "0" else f"memref<{TILE}xf32, strided<[1]>>"
            cut = self._fresh()
            self._emit(f"{cut} = memref.subview {source}[{offset}] [{TILE}] [1] : {self._type('full')} to {exact}")
            if exact == self._type("tile"):
                result = cut
            else:
                self._emit(f"{result} = memref.cast {cut} : {exact} to {self._type('tile')}")
        else:
            types = f"{self._type('full')} to {self._type('tile')}"
            self._emit(f"{result} = tensor.extract_slice {source}[{offset}] [{TILE}] [1] : {types}")
        scope.tiles.append(result)

    def _ids(self, scope: Scope, depth: int) -> None:
        if len(scope.ids) >= 2 and self._random.random() < 0.5:
            chosen = self._random.sample(scope.ids, 2)
            array = self._fresh("a")
            self._emit(f"{array} = tensor.from_elements {', '.join(chosen)} : tensor<2x!task.id>")
            scope.arrays.append((array, 2))
        elif scope.ids:
            barrier = self._fresh("id")
            chosen = self._random.sample(scope.ids, min(2, len(scope.ids)))
            types = ", ".join(["!task.id"] * len(chosen))
            self._emit(f'{barrier} = "task.barrier"({", ".join(chosen)}) : ({types}) -> !task.id')
            scope.ids.append(barrier)
        else:
            self._task(scope, depth)

    # --- regions ---

    def _carried(self, scope: Scope) -> tuple[list[str], list[str]]:
        """Values a loop carries, with their types: buffers (tensors) and an id."""
        values: list[str] = []
        types: list[str] = []
        if not self._memref:
            for _ in range(self._random.choice((0, 1, 1, 2, 3))):
                values.append(self._random.choice(scope.full))
                types.append(self._type("full"))
        if self._random.random() < 0.3:
            values.append(self._initial_id(scope))
            types.append("!task.id")
        return values, types

    def _initial_id(self, scope: Scope) -> str:
        if scope.ids and self._random.random() < 0.5:
            return self._random.choice(scope.ids)
        invalid = self._fresh("id")
        self._emit(f'{invalid} = "task.invalid"() : () -> !task.id')
        return invalid

    @staticmethod
    def _bind(scope: Scope, names: list[str], types: list[str]) -> None:
        for name, type_ in zip(names, types, strict=True):
            (scope.ids if type_ == "!task.id" else scope.full).append(name)

    def _yielded(self, inner: Scope, names: list[str], types: list[str]) -> list[str]:
        """What a body hands on: a rotation of what it got, or what its tasks returned."""
        buffers = [name for name, type_ in zip(names, types, strict=True) if type_ != "!task.id"]
        turn = self._random.randrange(len(buffers)) if buffers else 0
        rotated = iter(buffers[turn:] + buffers[:turn])
        found = []
        for type_ in types:
            if type_ == "!task.id":
                found.append(inner.ids[-1])
            else:
                kept = next(rotated)
                found.append(kept if self._random.random() < 0.6 else inner.full[-1])
        return found

    def _results(self, types: list[str]) -> tuple[str, list[str]]:
        if not types:
            return "", []
        stem = self._fresh("r")
        if len(types) == 1:
            return f"{stem} = ", [stem]
        return f"{stem}:{len(types)} = ", [f"{stem}#{number}" for number in range(len(types))]

    def _for(self, scope: Scope, depth: int) -> None:
        values, types = self._carried(scope)
        binding, results = self._results(types)
        names = [self._fresh("k") for _ in values]
        index = self._fresh("i")
        static = self._random.random() < 0.6
        bound = f"%c{self._random.choice((0, 1, 2, 3, 4))}" if static else "%n"
        carried = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
        tail = f" iter_args({carried}) -> ({', '.join(types)})" if values else ""
        self._emit(f"{binding}scf.for {index} = %c0 to {bound} step %c1{tail} {{")
        inner = scope.inner()
        self._bind(inner, names, types)
        if static:
            inner.indices.append(index)
        self._depth += 1
        self._body(inner, depth)
        if values:
            self._emit(f"scf.yield {', '.join(self._yielded(inner, names, types))} : {', '.join(types)}")
        self._depth -= 1
        self._emit("}")
        self._bind(scope, results, types)

    def _while(self, scope: Scope, depth: int) -> None:
        values, types = self._carried(scope)
        binding, results = self._results(types)
        before = [self._fresh("k") for _ in values]
        after = [self._fresh("k") for _ in values]
        carried = ", ".join(f"{name} = {value}" for name, value in zip(before, values, strict=True))
        signature = ", ".join(types)
        head = f"({carried}) " if values else ""
        self._emit(f"{binding}scf.while {head}: ({signature}) -> ({signature}) {{")
        self._depth += 1
        inner = scope.inner()
        self._bind(inner, before, types)
        if self._random.random() < 0.3:
            self._statement(inner, depth + 2)
        flag = self._fresh("f")
        self._emit(f"{flag} = memref.load %flags[%c0] : memref<4xi1>")
        forwarded = f" {', '.join(before)} : {signature}" if values else ""
        self._emit(f"scf.condition({flag}){forwarded}")
        self._depth -= 1
        self._emit("} do {")
        self._depth += 1
        inner = scope.inner()
        self._bind(inner, after, types)
        if values:
            arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(after, types, strict=True))
            self._emit(f"^bb0({arguments}):")
        self._body(inner, depth)
        tail = f" {', '.join(self._yielded(inner, after, types))} : {signature}" if values else ""
        self._emit(f"scf.yield{tail}")
        self._depth -= 1
        self._emit("}")
        self._bind(scope, results, types)

    def _if(self, scope: Scope, depth: int) -> None:
        types: list[str] = []
        if not self._memref and self._random.random() < 0.6:
            types.append(self._type("full"))
        if scope.ids and self._random.random() < 0.3:
            types.append("!task.id")
        binding, results = self._results(types)
        condition = "%b"
        if self._random.random() < 0.3:
            condition = self._fresh("f")
            self._emit(f"{condition} = memref.load %flags[%c1] : memref<4xi1>")
        tail = f" -> ({', '.join(types)})" if types else ""
        self._emit(f"{binding}scf.if {condition}{tail} {{")
        for side in range(2):
            inner = scope.inner()
            self._depth += 1
            self._body(inner, depth, least=1 - side)
            if types:
                chosen = [
                    inner.ids[-1] if type_ == "!task.id" else self._random.choice(inner.full[-3:]) for type_ in types
                ]
                self._emit(f"scf.yield {', '.join(chosen)} : {', '.join(types)}")
            self._depth -= 1
            if side == 0:
                if not types and self._random.random() < 0.5:
                    break
                self._emit("} else {")
        self._emit("}")
        self._bind(scope, results, types)

    def _parallel(self, scope: Scope, depth: int) -> None:
        index = self._fresh("i")
        static = self._random.random() < 0.7
        bound = f"%c{self._random.choice((1, 2, 3, 4))}" if static else "%n"
        reduces = self._random.random() < 0.4
        binding, initial, tail = "", "", ""
        if reduces:
            start = self._initial_id(scope)
            result = self._fresh("id")
            binding, initial, tail = f"{result} = ", f" init ({start})", " -> !task.id"
        self._emit(f"{binding}scf.parallel ({index}) = (%c0) to ({bound}) step (%c1){initial}{tail} {{")
        inner = scope.inner()
        if static:
            inner.indices.append(index)
        self._depth += 1
        self._body(inner, depth)
        if reduces:
            left, right, joined = self._fresh("x"), self._fresh("x"), self._fresh("x")
            last = inner.ids[-1] if inner.ids else self._initial_id(inner)
            self._emit(f"scf.reduce({last} : !task.id) {{")
            self._emit(f"^bb0({left}: !task.id, {right}: !task.id):")
            self._emit(f'  {joined} = "task.barrier"({left}, {right}) : (!task.id, !task.id) -> !task.id')
            self._emit(f"  scf.reduce.return {joined} : !task.id")
            self._emit("}")
        self._depth -= 1
        self._emit("}")
        if reduces:
            scope.ids.append(result)

    def _forall(self, scope: Scope, depth: int) -> None:
        index = self._fresh("i")
        trips = self._random.choice((1, 2, 3, 4))
        gathers = self._random.random() < 0.5
        if not gathers:
            self._emit(f"scf.forall ({index}) in ({trips}) {{")
        else:
            empty, result, shared = self._fresh("a"), self._fresh("a"), self._fresh("a")
            array = f"tensor<{trips}x!task.id>"
            self._emit(f"{empty} = tensor.empty() : {array}")
            self._emit(f"{result} = scf.forall ({index}) in ({trips}) shared_outs({shared} = {empty}) -> ({array}) {{")
        inner = scope.inner()
        inner.indices.append(index)
        self._depth += 1
        self._body(inner, depth)
        if gathers:
            last = inner.ids[-1] if inner.ids else self._initial_id(inner)
            one = self._fresh("a")
            self._emit(f"{one} = tensor.from_elements {last} : tensor<1x!task.id>")
            self._emit("scf.forall.in_parallel {")
            self._emit(
                f"  tensor.parallel_insert_slice {one} into {shared}[{index}] [1] [1] : tensor<1x!task.id> into {array}"
            )
            self._emit("}")
        self._depth -= 1
        self._emit("}")
        if gathers:
            scope.arrays.append((result, trips))

    def _scope(self, scope: Scope, depth: int) -> None:
        modes = ["manual"] if scope.in_manual else ["auto", "auto", "manual"]
        mode = self._random.choice(modes)
        types = [] if self._memref or self._random.random() < 0.4 else [self._type("full")]
        binding, results = self._results(types)
        tail = f" -> {types[0]}" if types else ""
        self._emit(f"{binding}scf.execute_region{tail} no_inline {{")
        inner = scope.inner()
        inner.in_scope = True
        inner.in_manual = scope.in_manual or mode == "manual"
        self._depth += 1
        self._body(inner, depth)
        if types:
            self._emit(f"scf.yield {self._random.choice(inner.full[-2:])} : {types[0]}")
        else:
            self._emit("scf.yield")
        self._depth -= 1
        self._emit(f'}} {{task.scope = "{mode}"}}')
        self._bind(scope, results, types)
