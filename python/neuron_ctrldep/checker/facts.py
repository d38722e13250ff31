"""What follows from a source alone: what is constant, what runs, what is needed, and what may be merged.

Nothing here knows of a pass. "Needed" is meant of values: what an output or an effect of the program depends on,
element by element of a tuple. What is not needed may be gone from an emitted program for good.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import cached_property

from neuron_ctrldep.checker.source import FOLDABLE, FORWARDING, Path, Place, SourceBlock, SourceInstruction

# fmt: off
_FOLDS_OF_CONSTANTS = frozenset({
    "abs", "cbrt", "ceil", "compare", "cosine", "exponential", "exponential-minus-one", "floor", "iota", "is-finite",
    "log", "log-plus-one", "logistic", "negate", "not", "remainder", "round-nearest-afz", "round-nearest-even", "rsqrt",
    "sign", "sine", "sqrt", "tan", "tanh",
})
# fmt: on
"""Further opcodes that may be a constant when all their operands are."""

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
_DEEPEST = 64  # a constant behind more instructions than this counts as unknown


class SourceFacts:
    """What follows from the blocks of a source.

    Args:
        blocks: by name.
        present: names of instructions that are in the emitted program; an effect that is not needs no operand there.
            ``None`` means all.
    """

    def __init__(self, blocks: Mapping[str, SourceBlock], present: Container[str] | None = None) -> None:
        self._blocks = blocks
        self._present = present
        self._constants: dict[Place, int | None] = {}

    def at(self, place: Place) -> SourceInstruction:
        """The instruction at ``place``."""
        return self._blocks[place[0]].instructions[place[1]]

    # --- constants ----------------------------------------------------------------------------------------------------

    def origin(self, place: Place) -> tuple[Place, Path]:
        """Where the value comes from, through tuples, their elements, forwarding opcodes, calls and branches.

        The path is not empty when the tuple that an element is taken of is not known.
        """
        path: list[int] = []
        seen: set[tuple[Place, Path]] = set()
        while (place, tuple(path)) not in seen:
            seen.add((place, tuple(path)))
            block, one = place[0], self.at(place)
            if one.opcode == "get-tuple-element":
                path.append(one.index)
                place = block, one.operands[0]
            elif one.opcode == "tuple" and path:
                place = block, one.operands[path.pop()]
            elif one.opcode in FORWARDING:
                place = block, one.operands[0]
            elif one.captured is not None:
                place = one.captured
            elif one.opcode == "parameter" and (passed := self._only_argument(place)) is not None:
                place = passed
            else:
                break
        return place, tuple(reversed(path))

    def _only_argument(self, parameter: Place) -> Place | None:
        """What is passed for a parameter, where a branch or call is the only one to run its block."""
        block = self._blocks[parameter[0]]
        if len(block.callers) != 1 or block.is_entry:
            return None
        caller = block.callers[0]
        passed = self._arguments(caller, parameter)
        return (
            (caller[0], passed[0]) if self.at(caller).opcode in ("conditional", "call") and len(passed) == 1 else None
        )

    def _arguments(self, caller: Place, parameter: Place) -> list[str]:
        """The operands of ``caller`` that a parameter of a block it runs may stand for."""
        one, number = self.at(caller), self.at(parameter).number
        if one.opcode == "conditional":
            branches = [k for k, name in enumerate(one.calls) if name == parameter[0]]
            return [one.operands[k + 1] for k in branches if k + 1 < len(one.operands)]
        if one.opcode in ("call", "fusion") and number < len(one.operands):
            return [one.operands[number]]
        return one.operands

    def parameters(self, place: Place, operand: str) -> list[Place]:
        """The parameters of blocks the instruction at ``place`` may run that may stand for that operand of it."""
        return [
            (name, one.name)
            for name in self.may_run(place)
            for one in self._blocks[name].instructions.values()
            if one.opcode == "parameter"
            and (one.captured == (place[0], operand) or operand in self._arguments(place, (name, one.name)))
        ]

    def constant(self, place: Place, depth: int = 0) -> int | None:
        """The integer or truth value that every element has in every run; ``None`` where that is not known."""
        if depth > _DEEPEST:
            return None
        if place not in self._constants:
            self._constants[place] = None  # what depends on itself is not known
            self._constants[place] = self._evaluate(place, depth + 1)
        return self._constants[place]

    def _evaluate(self, place: Place, depth: int) -> int | None:
        place, path = self.origin(place)
        one = self.at(place)
        if path or one.value is not None:
            return one.value if not path else None
        if one.opcode not in ("compare", "multiply", "and", "or", "not", "negate"):
            return None
        if one.opcode == "compare" and one.direction in ("LT", "GT"):
            origins = [self.origin((place[0], operand)) for operand in one.operands]
            if origins[0] == origins[1]:
                return False  # nothing is less than itself, NaN too
        values = [self.constant((place[0], operand), depth) for operand in one.operands]
        known = [value for value in values if value is not None]
        if one.opcode in ("multiply", "and") and 0 in known:
            return known[known.index(0)]
        if len(known) < len(values):
            return None
        if one.opcode == "compare" and one.direction in _COMPARISONS:
            return _COMPARISONS[one.direction](known[0], known[1])
        if one.opcode == "negate":
            return 0 if known[0] == 0 else None  # of other values the width decides
        if not all(isinstance(value, bool) for value in known):
            return None
        if one.opcode == "not":
            return not known[0]
        return any(known) if one.opcode == "or" else all(known)

    def is_constant(self, place: Place) -> bool:
        """Whether the value comes from a constant, known or not."""
        return self.at(self.origin(place)[0]).opcode == "constant"

    def may_be_constant(self, place: Place) -> bool:
        """Whether the instruction may have been folded to a constant."""
        one = self.at(place)
        is_folded = one.opcode in _FOLDS_OF_CONSTANTS and all(self.is_constant((place[0], o)) for o in one.operands)
        return is_folded or self.constant(place) is not None

    def may_be_folded(self, place: Place) -> bool:
        """Whether something else of the source may stand in place of the instruction."""
        one = self.at(place)
        if one.opcode == "conditional":
            return len(self.branches(place)) == 1
        return one.opcode in FOLDABLE or (one.opcode == "while" and self.never_loops(place))

    # --- what runs ----------------------------------------------------------------------------------------------------

    def branches(self, place: Place) -> list[int]:
        """The numbers of the branches of a conditional that may run."""
        one = self.at(place)
        every = list(range(len(one.calls)))
        value = self.constant((place[0], one.operands[0]))
        if value is None or not every:
            return every
        if isinstance(value, bool):
            return [0 if value else 1]
        return [value if 0 <= value < len(every) else every[-1]]  # out of range means the last (XLA, "Conditional")

    def never_loops(self, place: Place) -> bool:
        """Whether a ``while`` never runs its body: its condition is false whatever its state."""
        one = self.at(place)
        root = self._blocks[one.calls[-1]].root if len(one.calls) == 2 else None
        return root is not None and self.constant((one.calls[-1], root)) == 0

    def may_run(self, place: Place) -> list[str]:
        """The blocks that the instruction may run."""
        one = self.at(place)
        if one.opcode == "conditional":
            return [one.calls[k] for k in self.branches(place)]
        return [] if one.opcode == "while" and self.never_loops(place) else one.calls

    @cached_property
    def reached(self) -> frozenset[str]:
        """The blocks that the entry reaches by calls."""
        return self._closure(lambda place: self.at(place).calls)

    @cached_property
    def running(self) -> frozenset[str]:
        """Those of them that no constant keeps from running."""
        return self._closure(self.may_run)

    def _closure(self, called: Callable[[Place], list[str]]) -> frozenset[str]:
        found: set[str] = set()
        stack = [name for name, block in self._blocks.items() if block.is_entry]
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                instructions = self._blocks[name].instructions.values()
                stack += [callee for one in instructions if one.calls for callee in called((name, one.name))]
        return frozenset(found)

    # --- what is needed -----------------------------------------------------------------------------------------------

    @cached_property
    def needed(self) -> frozenset[Place]:
        """The instructions whose value, or part of it, an output or an effect depends on; and those with an effect."""
        wanted: set[tuple[Place, Path]] = set()
        stack: list[tuple[Place, Path]] = []
        effects = {
            (name, one.name)
            for name in self.running
            for one in self._blocks[name].instructions.values()
            if one.has_side_effect
        }
        for name, block in self._blocks.items():
            if block.is_entry and block.root is not None:
                stack.append(((name, block.root), ()))
        at_work = {place for place in effects if self._present is None or place[1] in self._present}
        stack += [(place, ()) for place in at_work]
        for place in self._runs_effects({name for name, _ in at_work}):
            effects.add(place)
            stack += self._deciders(place)
        # What a parameter stands for is needed where what runs its block is: the two may be found in either order.
        runners = set(effects)
        parameters: dict[str, list[tuple[Place, Path]]] = {}
        while stack:
            item = stack.pop()
            if item in wanted:
                continue
            wanted.add(item)
            place, path = item
            one = self.at(place)
            if one.opcode == "parameter" and one.captured is None:
                parameters.setdefault(place[0], []).append(item)
                callers = [caller for caller in self._blocks[place[0]].callers if caller in runners]
                stack += [passed for caller in callers for passed in self._passed(caller, place, path)]
                continue
            if one.calls and place not in runners:
                runners.add(place)
                held = [item for block in one.calls for item in parameters.get(block, [])]
                stack += [passed for parameter, part in held for passed in self._passed(place, parameter, part)]
            stack += self._reads(place, path)
        return frozenset({place for place, _ in wanted} | effects)

    def _runs_effects(self, blocks: set[str]) -> list[Place]:
        """The instructions that run one of ``blocks``, directly or not."""
        found: dict[Place, None] = {}
        stack = list(blocks)
        while stack:
            for caller in self._blocks[stack.pop()].callers:
                if caller not in found and caller[0] in self.running:
                    found[caller] = None
                    stack.append(caller[0])
        return list(found)

    def _deciders(self, place: Place) -> list[tuple[Place, Path]]:
        """What decides whether an instruction runs its blocks."""
        one = self.at(place)
        if one.opcode == "conditional":
            return [((place[0], one.operands[0]), ())]
        if one.opcode == "while":
            return self._roots(one.calls[-1:], ())
        return [(place, ())]

    def _roots(self, blocks: list[str], path: Path) -> list[tuple[Place, Path]]:
        return [((name, root), path) for name in blocks if (root := self._blocks[name].root) is not None]

    def _reads(self, place: Place, path: Path) -> list[tuple[Place, Path]]:
        """What a part of a value depends on directly."""
        block, one = place[0], self.at(place)
        operands = [(block, operand) for operand in one.operands]
        if one.captured is not None:
            return [(one.captured, path)]
        if not path and self.constant(place) is not None:
            return []
        if one.opcode == "get-tuple-element":
            return [(operands[0], (one.index, *path))]
        if one.opcode == "tuple" and path:
            return [(operands[path[0]], path[1:])]
        if one.opcode in FORWARDING and path:
            return [(operands[0], path)]
        if one.opcode == "conditional":
            return [(operands[0], ()), *self._roots(self.may_run(place), path)]
        if one.opcode == "while" and self.never_loops(place):
            return [(operand, path if len(operands) == 1 else ()) for operand in operands]
        if one.opcode == "while" and len(operands) == 1:
            return [(operands[0], path), *self._roots(one.calls[:1], path), *self._roots(one.calls[1:], ())]
        if one.opcode == "call":
            return self._roots(one.calls, path)
        if one.opcode == "select" and (chosen := self.constant(operands[0])) is not None:
            return [(operands[1] if chosen else operands[2], path)]
        return [(operand, ()) for operand in operands] + self._roots(one.calls, ())

    def _passed(self, caller: Place, parameter: Place, path: Path) -> list[tuple[Place, Path]]:
        """What a parameter stands for when ``caller`` runs its block."""
        one = self.at(caller)
        same = one.opcode in ("conditional", "call", "fusion") or (one.opcode == "while" and len(one.operands) == 1)
        kept = path if same else ()
        found = [((caller[0], name), kept) for name in self._arguments(caller, parameter)]
        # Of every turn of a loop but the first it is what the body made.
        return found + (self._roots(one.calls[:1], kept) if one.opcode == "while" else [])

    # --- what may be merged -------------------------------------------------------------------------------------------

    @cached_property
    def _kinds(self) -> dict[Place, int]:
        """A number for each instruction; those that could be merged into one have the same, and some others too."""
        numbers: dict[Place, int] = {}
        known: dict[tuple[object, ...], int] = {}
        opened: set[Place] = set()
        stack = [(name, first) for name, block in self._blocks.items() for first in block.instructions]
        while stack:
            place = stack.pop()
            if place in numbers:
                continue
            operands = [self.origin((place[0], operand))[0] for operand in self.at(place).operands]
            missing = [operand for operand in operands if operand not in numbers]
            if missing and place not in opened:
                opened.add(place)
                stack += [place, *missing]
                continue
            # What is still missing reads ``place`` itself: a circle in code that is never reached.
            kind = self._key(place, [numbers.get(operand, -1) for operand in operands])
            numbers[place] = known.setdefault(kind, len(known))
        return numbers

    def _key(self, place: Place, operands: list[int]) -> tuple[object, ...]:
        one = self.at(place)
        unique = one.opcode == "parameter" or one.has_side_effect
        return (one.opcode, place if unique else "", *sorted(operands))

    @cached_property
    def _alike(self) -> dict[int, list[Place]]:
        found: dict[int, list[Place]] = {}
        for place, number in self._kinds.items():
            found.setdefault(number, []).append(place)
        return found

    def kind(self, place: Place) -> int:
        """A number that ``place`` shares with what it may have been merged with: same opcode, same origins."""
        return self._kinds[place]

    def of_kind(self, kind: int) -> list[Place]:
        """The instructions that share a number."""
        return self._alike[kind]
