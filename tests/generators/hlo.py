"""HLO modules with control edges, made from choices: a seed (``module_of_seed``) or hypothesis (``hlo_modules``).

Text that XLA's parser accepts: several computations, while / conditional / call / fusion / reduce bodies, nested and
empty tuples, tokens, asynchronous pairs, buffers, wire ops that are there already, schedules, names a new wire op would
like to have, and acyclic control edges between whatever stands in one computation.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

VECTOR = "f32[4]"
PAIR = f"(s32[], {VECTOR})"
TWICE = "f32[8]"

GROUPS = ", replica_groups={{0,1}}"
WRAPPED = [
    # What an async-start may run: opcode, operand, result, and the rest of the instruction.
    ("custom-call", VECTOR, VECTOR, ', custom_call_target="work"'),
    ("negate", VECTOR, VECTOR, ""),
    ("reduce-scatter", TWICE, VECTOR, f"{GROUPS}, dimensions={{0}}"),
    ("all-to-all", VECTOR, VECTOR, f"{GROUPS}, dimensions={{0}}"),
    ("collective-broadcast", VECTOR, VECTOR, GROUPS),
    ("all-reduce", VECTOR, VECTOR, GROUPS),
    ("all-gather", VECTOR, TWICE, f"{GROUPS}, dimensions={{0}}"),
    ("collective-permute", VECTOR, VECTOR, ", source_target_pairs={{0,1},{1,0}}"),
    ("copy", VECTOR, VECTOR, ""),
]


class Choices(Protocol):
    """Where the choices come from."""

    def integer(self, low: int, high: int) -> int: ...


class SeededChoices:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class DrawnChoices:
    """Choices that hypothesis draws, so that it can shrink them."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


@dataclass
class Body:
    """The lines of one computation and the values it has, by type."""

    lines: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    edges: dict[str, list[str]] = field(default_factory=dict)  # successor to its control predecessors

    def add(self, name: str, kind: str, rest: str) -> str:
        self.lines.append(f"{name} = {kind} {rest}")
        self.values.setdefault(kind, []).append(name)
        self.names.append(name)
        return name


class Generator:
    """Makes one module.

    Args:
        choices: where the choices come from.
        runnable: only what XLA's CPU backend can run on one device, with the same result each time.
        importable: only what XLA can print and import.
        size: how many instructions each computation is given, about.
    """

    def __init__(self, choices: Choices, *, runnable: bool = False, importable: bool = True, size: int = 8) -> None:
        self._choices = choices
        self._runnable = runnable
        self._importable = importable
        self._size = size
        self._computations: list[str] = []
        self._count = 0
        self._channel = 0

    # --- choices ------------------------------------------------------------------------------------------------------

    def _chance(self, percent: int) -> bool:
        return self._choices.integer(0, 99) >= 100 - percent

    def _pick(self, options: Sequence[T]) -> T:
        return options[self._choices.integer(0, len(options) - 1)]

    def _name(self) -> str:
        self._count += 1
        if self._chance(4):
            return f"AwsNeuronControlDep.{self._count}"
        return f"v{self._count}"

    # --- the module ---------------------------------------------------------------------------------------------------

    def module(self) -> str:
        body = Body()
        for number in range(2):
            body.add(self._name(), VECTOR, f"parameter({number})")
        body.add(self._name(), "pred[]", "parameter(2)")
        self._fill(body, depth=0, size=self._size)
        results = [self._vector(body) for _ in range(self._choices.integer(1, 3))]
        if self._chance(10) and not self._runnable:
            body.add(self._name(), VECTOR, "parameter(3)")
        if self._chance(70):
            kind = f"({', '.join([VECTOR] * len(results))})"
            root = f"{kind} tuple({', '.join(results)})"
        else:
            root = f"{VECTOR} negate({results[0]})"
        entry = self._close("ENTRY main", body, root)
        scheduled = ", is_scheduled=true" if not self._runnable and self._chance(30) else ""
        return "\n".join([f"HloModule generated{scheduled}", *self._computations, entry, ""])

    def _close(self, head: str, body: Body, root: str, *, edges: bool = True) -> str:
        """Add the root and the control edges, each from an earlier line to a later one."""
        name = self._name()
        body.lines.append(f"ROOT {name} = {root}")
        body.names.append(name)
        count = len(body.lines)
        for _ in range(self._choices.integer(0, max(2, count // 2)) if edges else 0):
            successor = self._choices.integer(1, count - 1)
            for _ in range(self._choices.integer(1, 2)):
                # Of two draws the later: parameters, which stand first, give edges that are dropped.
                draws = [self._choices.integer(0, successor - 1) for _ in range(2)]
                body.edges.setdefault(body.names[successor], []).append(body.names[max(draws)])
        for number, successor_name in enumerate(body.names):
            if successor_name in body.edges:
                listed = ", ".join(dict.fromkeys(body.edges[successor_name]))
                body.lines[number] += f", control-predecessors={{{listed}}}"
        return "\n".join([f"{head} {{", *(f"  {line}" for line in body.lines), "}"])

    def _computation(
        self, parameters: Sequence[str], root_of: Any, depth: int, size: int = 3, *, edges: bool = True
    ) -> str:
        body = Body()
        arguments = [body.add(self._name(), kind, f"parameter({number})") for number, kind in enumerate(parameters)]
        root = root_of(body, arguments, lambda: self._fill(body, depth + 1, size))
        self._count += 1
        name = f"computation{self._count}"
        self._computations.append(self._close(name, body, root, edges=edges))
        return name

    def _vector(self, body: Body) -> str:
        return self._pick(body.values[VECTOR])

    def _fill(self, body: Body, depth: int, size: int) -> None:
        steps = [
            self._unary,
            self._unary,
            self._binary,
            self._binary,
            self._constant,
            self._iota,
            self._tuple,
            self._reduce,
            self._wire_op,
        ]
        if depth < 2:
            steps += [self._while, self._conditional, self._call, self._fusion]
        if not self._runnable:
            steps += [self._sink, self._source, self._empty_tuple, self._opaque_tuple, self._token, self._identity]
            if depth == 0:
                steps += [self._copy, self._async, self._async, self._collective, self._send, self._recv, self._buffer]
                if not self._importable:
                    steps += [self._carried_start, self._carried_start]
        for _ in range(self._choices.integer(1, size)):
            self._pick(steps)(body, depth)

    # --- instructions -------------------------------------------------------------------------------------------------

    def _unary(self, body: Body, depth: int) -> None:
        body.add(self._name(), VECTOR, f"{self._pick(['negate', 'sine', 'cosine', 'tanh'])}({self._vector(body)})")

    def _binary(self, body: Body, depth: int) -> None:
        opcode = self._pick(["add", "maximum", "subtract"])
        body.add(self._name(), VECTOR, f"{opcode}({self._vector(body)}, {self._vector(body)})")

    def _constant(self, body: Body, depth: int) -> None:
        body.add(self._name(), VECTOR, f"constant({{1, 2, 3, {self._choices.integer(4, 6)}}})")

    def _iota(self, body: Body, depth: int) -> None:
        body.add(self._name(), VECTOR, "iota(), iota_dimension=0")

    def _tuple(self, body: Body, depth: int) -> None:
        inner, other = self._vector(body), self._vector(body)
        kind = f"({VECTOR}, {VECTOR})"
        made = body.add(self._name(), kind, f"tuple({inner}, {other})")
        if self._chance(30):
            outer_kind = f"({kind}, {VECTOR})"
            outer = body.add(self._name(), outer_kind, f"tuple({made}, {self._vector(body)})")
            made = body.add(self._name(), kind, f"get-tuple-element({outer}), index=0")
        body.add(self._name(), VECTOR, f"get-tuple-element({made}), index={self._choices.integer(0, 1)}")

    def _wire_op(self, body: Body, depth: int) -> None:
        call = 'custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true'
        if not self._runnable:
            predecessor = self._vector(body)
            wire = body.add(self._name(), VECTOR, f"custom-call({predecessor}, {self._vector(body)}), {call}")
            if self._chance(60):
                successor = body.add(self._name(), VECTOR, f"negate({wire})")
                body.edges.setdefault(successor, []).append(predecessor)

    def _reduce(self, body: Body, depth: int) -> None:
        def root(inner: Body, arguments: list[str], fill: Any) -> str:
            if self._chance(50):
                inner.add(self._name(), "f32[]", f"multiply({arguments[0]}, {arguments[1]})")
            return f"f32[] add({arguments[0]}, {arguments[1]})"

        region = self._computation(["f32[]", "f32[]"], root, depth)
        zero = body.add(self._name(), "f32[]", "constant(0)")
        source = self._vector(body)
        sum_ = body.add(self._name(), "f32[]", f"reduce({source}, {zero}), dimensions={{0}}, to_apply={region}")
        body.add(self._name(), VECTOR, f"broadcast({sum_}), dimensions={{}}")

    def _while(self, body: Body, depth: int) -> None:
        def loop(inner: Body, arguments: list[str], fill: Any) -> str:
            counter = inner.add(self._name(), "s32[]", f"get-tuple-element({arguments[0]}), index=0")
            inner.add(self._name(), VECTOR, f"get-tuple-element({arguments[0]}), index=1")
            fill()
            one = inner.add(self._name(), "s32[]", "constant(1)")
            following = inner.add(self._name(), "s32[]", f"add({counter}, {one})")
            return f"{PAIR} tuple({following}, {self._vector(inner)})"

        def condition(inner: Body, arguments: list[str], fill: Any) -> str:
            counter = inner.add(self._name(), "s32[]", f"get-tuple-element({arguments[0]}), index=0")
            limit = inner.add(self._name(), "s32[]", "constant(3)")
            return f"pred[] compare({counter}, {limit}), direction=LT"

        body_name = self._computation([PAIR], loop, depth)
        condition_name = self._computation([PAIR], condition, depth)
        zero = body.add(self._name(), "s32[]", "constant(0)")
        start = body.add(self._name(), PAIR, f"tuple({zero}, {self._vector(body)})")
        for _ in range(self._choices.integer(1, 2)):  # two loops may share one body
            result = body.add(self._name(), PAIR, f"while({start}), condition={condition_name}, body={body_name}")
        body.add(self._name(), VECTOR, f"get-tuple-element({result}), index=1")

    def _branch(self, depth: int) -> str:
        def root(inner: Body, arguments: list[str], fill: Any) -> str:
            fill()
            return f"{VECTOR} negate({self._vector(inner)})"

        return self._computation([VECTOR], root, depth)

    def _conditional(self, body: Body, depth: int) -> None:
        if "pred[]" not in body.values:
            return
        value = self._vector(body)
        one, other = self._branch(depth), self._branch(depth)
        body.add(
            self._name(),
            VECTOR,
            f"conditional({body.values['pred[]'][0]}, {value}, {value}), "
            f"true_computation={one}, false_computation={other}",
        )

    def _call(self, body: Body, depth: int) -> None:
        callee = self._branch(depth)
        for _ in range(self._choices.integer(1, 2)):
            body.add(self._name(), VECTOR, f"call({self._vector(body)}), to_apply={callee}")

    def _fusion(self, body: Body, depth: int) -> None:
        def root(inner: Body, arguments: list[str], fill: Any) -> str:
            made = inner.add(self._name(), VECTOR, f"negate({arguments[0]})")
            return f"{VECTOR} add({made}, {arguments[1]})"

        fused = self._computation([VECTOR, VECTOR], root, depth)
        body.add(self._name(), VECTOR, f"fusion({self._vector(body)}, {self._vector(body)}), kind=kLoop, calls={fused}")

    def _sink(self, body: Body, depth: int) -> None:
        kind = self._pick([VECTOR, "()"])
        call = 'custom_call_target="sink", custom_call_has_side_effect=true'
        body.add(self._name(), kind, f"custom-call({self._vector(body)}), {call}")

    def _source(self, body: Body, depth: int) -> None:
        call = 'custom_call_target="source", custom_call_has_side_effect=true'
        body.add(self._name(), VECTOR, f"custom-call(), {call}")

    def _empty_tuple(self, body: Body, depth: int) -> None:
        if "()" in body.values:
            operands = f"{self._pick(body.values['()'])}, {self._vector(body)}"
            body.add(self._name(), VECTOR, f'custom-call({operands}), custom_call_target="behind"')

    def _opaque_tuple(self, body: Body, depth: int) -> None:
        kind = f"({VECTOR}, {VECTOR})"
        made = body.add(self._name(), kind, f'custom-call({self._vector(body)}), custom_call_target="two"')
        body.add(self._name(), VECTOR, f"get-tuple-element({made}), index=1")

    def _token(self, body: Body, depth: int) -> None:
        token = body.add(self._name(), "token[]", "after-all()")
        token = body.add(self._name(), "token[]", f"outfeed({self._vector(body)}, {token})")
        if self._chance(40):
            body.add(self._name(), VECTOR, f"add-dependency({self._vector(body)}, {token})")

    def _identity(self, body: Body, depth: int) -> None:
        body.add(self._name(), "u32[]", self._pick(["partition-id()", "replica-id()"]))

    def _between(self, body: Body, depth: int) -> None:
        for _ in range(self._choices.integer(0, 2)):
            self._unary(body, depth)

    def _copy(self, body: Body, depth: int) -> None:
        start = body.add(self._name(), f"({VECTOR}, {VECTOR}, u32[])", f"copy-start({self._vector(body)})")
        self._between(body, depth)
        body.add(self._name(), VECTOR, f"copy-done({start})")

    def _async(self, body: Body, depth: int) -> None:
        opcode, operand_kind, result_kind, rest = self._pick(WRAPPED)

        def root(inner: Body, arguments: list[str], fill: Any) -> str:
            to_apply = f", to_apply={self._sum(depth)}" if "reduce" in opcode else ""
            return f"{result_kind} {opcode}({arguments[0]}){rest}{to_apply}"

        # XLA prints the wrapped instruction inside its start, and cannot read a control edge of it back.
        wrapped = self._computation([operand_kind], root, depth, edges=False)
        source = self._vector(body)
        if operand_kind != VECTOR:
            source = body.add(self._name(), operand_kind, f"concatenate({source}, {source}), dimensions={{0}}")
        kind = f"(({operand_kind}), {result_kind})"
        current = body.add(self._name(), kind, f"async-start({source}), calls={wrapped}")
        # XLA imports an update of no collective of its own kind, and cannot read what it prints for the others.
        for _ in range(self._choices.integer(0, 2) if opcode in ("custom-call", "negate") else 0):
            self._between(body, depth)
            current = body.add(self._name(), kind, f"async-update({current})")
        self._between(body, depth)
        done = body.add(self._name(), result_kind, f"async-done({current})")
        if result_kind != VECTOR:
            body.add(self._name(), VECTOR, f"slice({done}), slice={{[0:4]}}")

    def _sum(self, depth: int) -> str:
        return self._computation(["f32[]", "f32[]"], lambda inner, a, fill: f"f32[] add({a[0]}, {a[1]})", depth)

    def _collective(self, body: Body, depth: int) -> None:
        self._channel += 1
        channel = f"channel_id={self._channel}"
        source = self._vector(body)
        which = self._choices.integer(0, 2)
        if which == 0:
            rest = f"all-gather-start({source}), dimensions={{0}}, replica_groups={{{{0,1}}}}, {channel}"
            start = body.add(self._name(), f"({VECTOR}, f32[8])", rest)
            self._between(body, depth)
            done = body.add(self._name(), "f32[8]", f"all-gather-done({start})")
            body.add(self._name(), VECTOR, f"slice({done}), slice={{[0:4]}}")
        elif which == 1:
            rest = f"collective-permute-start({source}), source_target_pairs={{{{0,1}},{{1,0}}}}, {channel}"
            start = body.add(self._name(), f"({VECTOR}, {VECTOR})", rest)
            self._between(body, depth)
            body.add(self._name(), VECTOR, f"collective-permute-done({start})")
        else:
            rest = f"all-reduce-start({source}), to_apply={self._sum(depth)}, replica_groups={{{{0,1}}}}, {channel}"
            start = body.add(self._name(), f"start {VECTOR}", rest)
            body.lines[-1] = body.lines[-1].replace(f"start {VECTOR}", VECTOR, 1)
            self._between(body, depth)
            body.add(self._name(), VECTOR, f"all-reduce-done({start})")

    def _send(self, body: Body, depth: int) -> None:
        self._channel += 1
        token = body.add(self._name(), "token[]", "after-all()")
        kind = f"({VECTOR}, u32[], token[])"
        rest = f"send({self._vector(body)}, {token}), channel_id={self._channel}"
        start = body.add(self._name(), kind, rest)
        self._between(body, depth)
        body.add(self._name(), "token[]", f"send-done({start}), channel_id={self._channel}")

    def _recv(self, body: Body, depth: int) -> None:
        self._channel += 1
        token = body.add(self._name(), "token[]", "after-all()")
        start = body.add(self._name(), f"({VECTOR}, u32[], token[])", f"recv({token}), channel_id={self._channel}")
        self._between(body, depth)
        kind = f"({VECTOR}, token[])"
        done = body.add(self._name(), kind, f"recv-done({start}), channel_id={self._channel}")
        body.add(self._name(), VECTOR, f"get-tuple-element({done}), index=0")

    def _carried_start(self, body: Body, depth: int) -> None:
        """A loop that receives or sends in one turn what it started in the turn before."""
        start_kind = f"({VECTOR}, u32[], token[])"
        carry = f"(s32[], {VECTOR}, {start_kind})"
        is_send = self._chance(50)
        self._channel += 1
        channel = f"channel_id={self._channel}"

        def start(inner: Body) -> str:
            token = inner.add(self._name(), "token[]", "after-all()")
            rest = f"send({self._vector(inner)}, {token})" if is_send else f"recv({token})"
            return inner.add(self._name(), start_kind, f"{rest}, {channel}")

        def condition(inner: Body, arguments: list[str], fill: Any) -> str:
            return 'pred[] custom-call(), custom_call_target="go"'

        def loop(inner: Body, arguments: list[str], fill: Any) -> str:
            counter = inner.add(self._name(), "s32[]", f"get-tuple-element({arguments[0]}), index=0")
            inner.add(self._name(), VECTOR, f"get-tuple-element({arguments[0]}), index=1")
            carried = inner.add(self._name(), start_kind, f"get-tuple-element({arguments[0]}), index=2")
            fill()
            kind, opcode = ("token[]", "send-done") if is_send else (f"({VECTOR}, token[])", "recv-done")
            inner.add(self._name(), kind, f"{opcode}({carried}), {channel}")
            fill()
            return f"{carry} tuple({counter}, {self._vector(inner)}, {start(inner)})"

        condition_name = self._computation([carry], condition, depth)
        body_name = self._computation([carry], loop, depth)
        zero = body.add(self._name(), "s32[]", "constant(0)")
        first = body.add(self._name(), carry, f"tuple({zero}, {self._vector(body)}, {start(body)})")
        result = body.add(self._name(), carry, f"while({first}), condition={condition_name}, body={body_name}")
        body.add(self._name(), VECTOR, f"get-tuple-element({result}), index=1")

    def _buffer(self, body: Body, depth: int) -> None:
        alias = "output_to_operand_aliasing={{}: (0, {})}"
        pin = f'custom-call({self._vector(body)}), custom_call_target="Pin", {alias}'
        buffer = body.add(self._name(), f"b({VECTOR})", pin)
        self._between(body, depth)
        body.add(self._name(), VECTOR, f'custom-call({buffer}), custom_call_target="Unpin", {alias}')


def module_of_seed(seed: int, **options: Any) -> str:
    """HLO text, the same for the same arguments; the options are those of :class:`Generator`."""
    return Generator(SeededChoices(seed), **options).module()


@st.composite
def hlo_modules(draw: Any, **options: Any) -> str:
    """A hypothesis strategy of HLO text; the options are those of :class:`Generator`."""
    return Generator(DrawnChoices(draw), **options).module()
