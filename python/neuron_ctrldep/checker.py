"""Prove that no ordering was lost: compare every edge of a source with the program that was emitted for it.

The judge shares nothing with the passes it judges but names: it reads the source's own operands and control edges, and
the emitted text through :mod:`neuron_ctrldep.penguin.reader`. ``spec/control-dep.md`` section 6 is what it proves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

EdgeClass = Literal["kept", "implied", "dropped", "lost"]
CLASSES: tuple[EdgeClass, ...] = ("kept", "implied", "dropped", "lost")


@dataclass(slots=True)
class SourceInstruction:
    """One instruction of the source, as far as ordering is concerned."""

    name: str
    opcode: str
    operands: list[str]
    has_side_effect: bool = False
    index: int = 0
    """Which element a ``get-tuple-element`` takes."""


@dataclass(slots=True)
class SourceBlock:
    """One computation (or block) of the source: its instructions in program order and its control edges."""

    name: str
    instructions: dict[str, SourceInstruction]
    root: str | None
    edges: list[tuple[str, str]]
    callers: list[tuple[str, str]] = field(default_factory=list)
    """``(block, instruction)`` pairs that run this block; none for the entry."""
    is_entry: bool = False


@dataclass(slots=True, eq=False)
class EmittedFunction:
    """One function of the emitted program: named nodes, and its edges by node."""

    nodes: dict[str, list[int]] = field(default_factory=dict)
    """Instruction name to nodes; distinct nodes may have one name."""
    successors: dict[int, set[int]] = field(default_factory=dict)
    """Data and dependency edges."""
    explicit: set[tuple[int, int]] = field(default_factory=set)
    """The dependency edges alone."""
    owners: list[EmittedFunction] = field(default_factory=list)
    """The functions that hold an operation which runs this one: as a region of its own, or as its callee."""

    def reaches(self, start: int, goal: int) -> bool:
        """Whether there is a path from ``start`` to ``goal``."""
        seen = {start}
        stack = [start]
        while stack:
            node = stack.pop()
            for following in self.successors.get(node, ()):
                if following == goal:
                    return True
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        return False


@dataclass(frozen=True, slots=True)
class CheckedEdge:
    """What became of one edge. ``reason`` says why it was dropped, or what is missing when it is lost."""

    block: str
    src: str
    dst: str
    verdict: EdgeClass
    reason: str = ""

    def as_json(self) -> dict[str, str]:
        """``{"src", "dst", "class", "reason", "computation"}``."""
        return {
            "src": self.src,
            "dst": self.dst,
            "class": self.verdict,
            "reason": self.reason,
            "computation": self.block,
        }


_CONSTANT_OPCODES = frozenset({"constant"})
_THERE_BEFORE = frozenset({"constant", "parameter"})
_PACKAGING = frozenset({"tuple", "get-tuple-element", "add-dependency"})

_MERGING_DONES = frozenset({"send-done", "recv-done"})

PARAMETER_PREDECESSOR = "the predecessor is a parameter: there before anything runs"
CONSTANT_PREDECESSOR = "the predecessor is a constant: there before the block runs"
DEAD_PREDECESSOR = "the predecessor was removed as dead"
DEAD_SUCCESSOR = "the successor was removed as dead"
TERMINATOR_ONLY = "only the end of the block reads the successor, and everything in the block precedes that"
NOT_REACHED = "the computation is not reached from the entry"
CALLER_REMOVED = "the computation went with the instruction that runs it, which was removed as dead"
NOT_IN_PROGRAM = "its computation is not in the emitted program"
READERS_WAIT = "what reads the successor waits in its place"
NO_PATH = "nothing in the emitted program orders the two"


class Checker:
    """Compares the blocks of a source with the functions of an emitted program.

    Args:
        blocks: of the source, by name.
        functions: of the emitted program.
        excuses: ``(src, dst)`` to the reason a report gives for an edge that no carrier could hold to the end.
        dead_is_lost: an end that was removed as dead is no excuse. In a program made without reification nothing held
            the end of an edge, so it went with the edge.
    """

    def __init__(
        self,
        blocks: Mapping[str, SourceBlock],
        functions: Iterable[EmittedFunction],
        excuses: Mapping[tuple[str, str], str] | None = None,
        *,
        dead_is_lost: bool = False,
    ) -> None:
        self._blocks = blocks
        self._excuses = excuses or {}
        self._dead: EdgeClass = "lost" if dead_is_lost else "dropped"
        self._functions = list(functions)
        self._by_name: dict[str, list[EmittedFunction]] = {}
        for function in self._functions:
            for name in function.nodes:
                self._by_name.setdefault(name, []).append(function)
        self._copies: dict[str, list[EmittedFunction]] = {}
        self._users = {name: _users(block) for name, block in blocks.items()}
        self._live: dict[str, set[str]] = {name: _live(block) for name, block in blocks.items()}

    def run(self) -> list[CheckedEdge]:
        """Judge every edge, in source order."""
        return [self._judge(block, src, dst) for block in self._blocks.values() for src, dst in block.edges]

    def _judge(self, block: SourceBlock, src: str, dst: str) -> CheckedEdge:
        def verdict(kind: EdgeClass, reason: str = "") -> CheckedEdge:
            return CheckedEdge(block.name, src, dst, kind, reason)

        predecessor = block.instructions[src]
        if predecessor.opcode == "parameter":
            return verdict("dropped", PARAMETER_PREDECESSOR)
        if predecessor.opcode in _CONSTANT_OPCODES:
            return verdict("dropped", CONSTANT_PREDECESSOR)
        if not self._is_reached(block):
            return verdict("dropped", NOT_REACHED)
        functions = self._functions_of(block)
        if not functions:
            if self._caller_is_dead(block):
                return verdict(self._dead, CALLER_REMOVED)
            if src not in self._live[block.name]:
                return verdict(self._dead, DEAD_PREDECESSOR)
            return verdict("lost", NOT_IN_PROGRAM)
        verdicts = [self._judge_in(function, block, src, dst) for function in functions]
        worst = max(verdicts, key=lambda v: CLASSES.index(v[0]))
        kind, reason = worst
        if kind == "lost":
            # A report names a done by the start it became one with.
            ends = (self._start_of(block, src) or src, self._start_of(block, dst) or dst)
            if ends in self._excuses:
                return verdict("dropped", self._excuses[ends])
        return verdict(kind, reason)

    def _judge_in(self, function: EmittedFunction, block: SourceBlock, src: str, dst: str) -> tuple[EdgeClass, str]:
        live = self._live[block.name]
        sources, has_dead = self._sources_of(function, block, src)
        if not sources:
            return (self._dead, DEAD_PREDECESSOR) if has_dead else ("dropped", CONSTANT_PREDECESSOR)
        if dst in function.nodes and block.instructions[dst].opcode not in _PACKAGING:
            found = self._compare(function, sources, function.nodes[dst])
            if found != "lost":
                return found, ""
            # A pin orders the readers of a successor that has no operand to wait at, not the successor itself.
            if block.instructions[dst].operands or block.instructions[dst].has_side_effect:
                return "lost", NO_PATH
        else:
            start = self._start_of(block, dst)
            if start in function.nodes and self._compare(function, sources, function.nodes[start]) != "lost":
                return self._compare(function, sources, function.nodes[start]), ""
            if dst not in live:
                return self._dead, DEAD_SUCCESSOR
        targets = self._readers_of(function, block, dst)
        if not targets:
            return "dropped", TERMINATOR_ONLY
        found = self._compare(function, sources, targets)
        if found == "lost":
            return found, NO_PATH
        is_packaging = block.instructions[dst].opcode in _PACKAGING
        return (found, "") if is_packaging else ("implied", READERS_WAIT)

    @staticmethod
    def _start_of(block: SourceBlock, name: str) -> str:
        """The start of a done that may have become one operation with it; empty for other instructions."""
        instruction = block.instructions[name]
        return instruction.operands[0] if instruction.opcode in _MERGING_DONES else ""

    @staticmethod
    def _compare(function: EmittedFunction, sources: list[int], targets: list[int]) -> EdgeClass:
        """How all of ``sources`` come before all of ``targets``: by edges of their own, by paths, or not."""
        pairs = [(s, t) for s in sources for t in targets if s != t]
        if all(pair in function.explicit for pair in pairs) and pairs:
            return "kept"
        if all(pair in function.explicit or function.reaches(*pair) for pair in pairs):
            return "implied"
        return "lost"

    def _sources_of(self, function: EmittedFunction, block: SourceBlock, name: str) -> tuple[list[int], bool]:
        """The nodes that stand for ``name`` as a predecessor, and whether something of it was removed as dead.

        Its own nodes, else those of the nearest instructions before it: it was folded away, or it is packaging. An
        element of a known tuple is that element only. What is there before the block runs stands for nothing.
        """
        found: dict[int, None] = {}
        has_dead = False
        seen: set[tuple[str, tuple[int, ...]]] = set()
        stack: list[tuple[str, tuple[int, ...]]] = [(name, ())]
        while stack:
            item = stack.pop()
            if item in seen:
                continue
            seen.add(item)
            current, path = item
            instruction = block.instructions[current]
            if instruction.opcode in _THERE_BEFORE:
                continue
            if instruction.opcode == "get-tuple-element":
                stack.append((instruction.operands[0], (*path, instruction.index)))
            elif instruction.opcode == "tuple" and path:
                stack.append((instruction.operands[path[-1]], path[:-1]))
            elif instruction.opcode in _PACKAGING:
                stack += [(operand, ()) for operand in instruction.operands]
            elif current in function.nodes:
                found.update(dict.fromkeys(function.nodes[current]))
            elif current not in self._live[block.name]:
                has_dead = True
            else:
                stack += [(operand, ()) for operand in instruction.operands]
        return list(found), has_dead

    def _readers_of(self, function: EmittedFunction, block: SourceBlock, name: str) -> list[int]:
        """The nodes of the nearest instructions that read ``name``; an element that is not it does not."""
        found: dict[int, None] = {}
        seen: set[tuple[str, tuple[int, ...]]] = set()
        stack: list[tuple[str, tuple[int, ...]]] = [(name, ())]
        while stack:
            item = stack.pop()
            if item in seen:
                continue
            seen.add(item)
            current, path = item
            for user in self._users[block.name].get(current, ()):
                instruction = block.instructions[user]
                if instruction.opcode == "get-tuple-element":
                    if not path or path[-1] == instruction.index:
                        stack.append((user, path[:-1]))
                elif instruction.opcode == "tuple":
                    places = [place for place, operand in enumerate(instruction.operands) if operand == current]
                    stack += [(user, (*path, place)) for place in places]
                elif instruction.opcode in _PACKAGING or user not in function.nodes:
                    stack.append((user, ()))
                else:
                    found.update(dict.fromkeys(function.nodes[user]))
        return list(found)

    def _functions_of(self, block: SourceBlock) -> list[EmittedFunction]:
        """The copies of ``block`` in the program: a computation with two callers may be there twice.

        What an instruction of the block runs (a fusion, an async start) may be named after it, but is no copy.
        """
        if block.name not in self._copies:
            found = dict.fromkeys(f for name in block.instructions for f in self._by_name.get(name, ()))
            copies = [f for f in found if not any(o in found for o in _owners_of(f))]
            # The entry is there even when nothing of it is left: the first function.
            self._copies[block.name] = copies or (self._functions[:1] if block.is_entry else [])
        return self._copies[block.name]

    def _is_reached(self, block: SourceBlock) -> bool:
        seen: set[str] = set()
        stack = [block.name]
        while stack:
            name = stack.pop()
            if name in seen:
                continue
            seen.add(name)
            current = self._blocks[name]
            if current.is_entry:
                return True
            stack += [caller for caller, _ in current.callers]
        return False

    def _caller_is_dead(self, block: SourceBlock, seen: frozenset[str] = frozenset()) -> bool:
        return bool(block.callers) and all(
            caller not in seen
            and (
                instruction not in self._live[caller]
                or (
                    not self._blocks[caller].is_entry
                    and self._caller_is_dead(self._blocks[caller], seen | {block.name})
                )
            )
            for caller, instruction in block.callers
        )


def _users(block: SourceBlock) -> dict[str, list[str]]:
    """Who reads each instruction of ``block``."""
    users: dict[str, list[str]] = {}
    for instruction in block.instructions.values():
        for operand in dict.fromkeys(instruction.operands):
            users.setdefault(operand, []).append(instruction.name)
    return users


def _owners_of(function: EmittedFunction) -> list[EmittedFunction]:
    """The functions that run ``function``, directly or not."""
    found: dict[EmittedFunction, None] = {}
    stack = list(function.owners)
    while stack:
        owner = stack.pop()
        if owner not in found:
            found[owner] = None
            stack += owner.owners
    return list(found)


def _live(block: SourceBlock) -> set[str]:
    """The instructions that the root or a side effect needs, by data."""
    stack = [name for name, one in block.instructions.items() if one.has_side_effect or name == block.root]
    live: set[str] = set()
    while stack:
        name = stack.pop()
        if name not in live:
            live.add(name)
            stack += block.instructions[name].operands
    return live


def summary(edges: Iterable[CheckedEdge]) -> dict[str, int]:
    """How many edges there are, in all and of each class."""
    listed = list(edges)
    return {"edges": len(listed), **{kind: sum(e.verdict == kind for e in listed) for kind in CLASSES}}


def render(file: str, edges: list[CheckedEdge], without: list[CheckedEdge]) -> str:
    """A table for people: each edge with what became of it, and the two totals below."""
    rows: list[tuple[str, ...]] = [("predecessor", "successor", "computation", "with", "without", "reason")]
    for edge, bare in zip(edges, without, strict=True):
        cells = (edge.src, edge.dst, edge.block, edge.verdict, bare.verdict, edge.reason)
        # A name may hold a line break; a row of a table may not.
        rows.append(tuple("".join(c if c.isprintable() else ascii(c)[1:-1] for c in cell) for cell in cells))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = [f"{file}: {len(edges)} control edge{'' if len(edges) == 1 else 's'}"]
    if edges:
        for row in rows:
            shown = ["LOST" if cell == "lost" and 3 <= column <= 4 else cell for column, cell in enumerate(row)]
            padded = [cell.ljust(width) for cell, width in zip(shown, widths, strict=False)]
            lines.append("  " + "  ".join([*padded, shown[-1]]).rstrip())
    for title, found in (("with reification", edges), ("without", without)):
        counts = summary(found)
        listed = ", ".join(f"{counts[kind]} {'LOST' if kind == 'lost' else kind}" for kind in CLASSES)
        lines.append(f"  {title + ':':<18}{listed}")
    return "\n".join(lines) + "\n"
