"""The judge: the verdict on every edge of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from neuron_ctrldep.checker.facts import SourceFacts
from neuron_ctrldep.checker.program import EmittedFunction
from neuron_ctrldep.checker.source import MERGING_DONES, PACKAGING, WIRE, Path, Place, SourceBlock, Worklist

EdgeClass = Literal["kept", "implied", "dropped", "lost"]
CLASSES: tuple[EdgeClass, ...] = ("kept", "implied", "dropped", "lost")


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


PARAMETER_PREDECESSOR = "the predecessor is a parameter: there before anything runs"
CONSTANT_PREDECESSOR = "the predecessor is a constant: there before the block runs"
STANDS_FOR_CONSTANTS = "the predecessor stands for constants: there before the block runs"
STANDS_FOR_PARAMETERS = "the predecessor stands for parameters: there before the block runs"
EMPTY_PREDECESSOR = "the predecessor is an empty tuple: there is nothing to wait for"
DEAD_PREDECESSOR = "the predecessor was removed as dead"
DEAD_SUCCESSOR = "the successor was removed as dead"
FOLDED_SUCCESSOR = "the successor was folded to a constant"
TERMINATOR_ONLY = "only the end of the block reads the successor, and everything in the block precedes that"
NOT_REACHED = "the computation is not reached from the entry"
NEVER_RUNS = "the computation never runs: a constant decides so"
CALLER_REMOVED = "the computation went with the instruction that runs it, which was removed as dead"
NOT_IN_PROGRAM = "its computation is not in the emitted program"
READERS_WAIT = "what reads the successor waits in its place"
NO_PATH = "nothing in the emitted program orders the two"
NO_PATH_BEHIND = "nothing in the emitted program orders the predecessor before what comes after the successor:"
NO_PREDECESSOR = "the predecessor is not in the emitted program, though something needs it"
NO_SUCCESSOR = "the successor is not in the emitted program, though something needs it"

_Note = Literal["parameter", "constant", "dead", "missing"]
"""What of a predecessor has no node: there before the block, or removed; ``missing`` is what should have one."""


class Checker:
    """Compares the blocks of a source with the functions of an emitted program.

    Args:
        blocks: of the source, by name.
        functions: of the emitted program; none has a cycle.
        excuses: gives ``(src, dst)`` to the reason a report gives for an edge that no carrier could hold to the end;
            called when an edge is lost without.
        dead_is_lost: an end that was removed as dead is no excuse. In a program made without reification nothing held
            the end of an edge, so it went with the edge.
    """

    def __init__(
        self,
        blocks: Mapping[str, SourceBlock],
        functions: Iterable[EmittedFunction],
        excuses: Callable[[], Mapping[tuple[str, str], str]] = dict,
        *,
        dead_is_lost: bool = False,
    ) -> None:
        self._blocks = blocks
        self._give_excuses = excuses
        self._dead: EdgeClass = "lost" if dead_is_lost else "dropped"
        self._functions = list(functions)
        self._by_name: dict[str, list[EmittedFunction]] = {}
        for function in self._functions:
            for name in [*function.nodes, *(function.packaging - function.nodes.keys())]:
                self._by_name.setdefault(name, []).append(function)
        self._facts = SourceFacts(blocks, self._by_name)
        self._copies: dict[str, list[EmittedFunction]] = {}
        self._twins: dict[tuple[EmittedFunction, int], list[int]] = {}
        self._users = {name: _users(block) for name, block in blocks.items()}
        self._after = {name: _control_successors(block) for name, block in blocks.items()}

    @cached_property
    def _excuses(self) -> Mapping[tuple[str, str], str]:
        return self._give_excuses()

    def run(self) -> list[CheckedEdge]:
        """Judge every edge, in source order."""
        return [self._judge(block, src, dst) for block in self._blocks.values() for src, dst in block.edges]

    def _judge(self, block: SourceBlock, src: str, dst: str) -> CheckedEdge:
        def verdict(kind: EdgeClass, reason: str = "") -> CheckedEdge:
            return CheckedEdge(block.name, src, dst, kind, reason)

        predecessor = block.instructions[src]
        if predecessor.opcode == "parameter":
            return verdict("dropped", PARAMETER_PREDECESSOR)
        if predecessor.opcode == "constant":
            return verdict("dropped", CONSTANT_PREDECESSOR)
        if block.name not in self._facts.reached:
            return verdict("dropped", NOT_REACHED)
        functions = self._functions_of(block)
        if not functions:
            if block.name not in self._facts.running:
                return verdict("dropped", NEVER_RUNS)
            if block.callers and not any(caller in self._facts.needed for caller in block.callers):
                return verdict(self._dead, CALLER_REMOVED)
            if (block.name, src) not in self._facts.needed:
                return verdict(self._dead, DEAD_PREDECESSOR)
            return verdict("lost", NOT_IN_PROGRAM)
        verdicts = [self._judge_in(function, block, src, dst) for function in functions]
        worst = max(verdicts, key=lambda v: CLASSES.index(v[0]))
        kind, reason = worst
        for follower in self._followers_of(block, dst):
            if any(self._judge_in(function, block, src, follower)[0] == "lost" for function in functions):
                kind, reason = "lost", f"{NO_PATH_BEHIND} '{follower}'"
        if kind == "lost":
            # A report names a done by the start it became one with.
            ends = (self._start_of(block, src) or src, self._start_of(block, dst) or dst)
            if ends in self._excuses:
                return verdict("dropped", self._excuses[ends])
        return verdict(kind, reason)

    def _judge_in(self, function: EmittedFunction, block: SourceBlock, src: str, dst: str) -> tuple[EdgeClass, str]:
        sources, notes = self._sources_of(function, (block.name, src))
        if "missing" in notes:
            return "lost", NO_PREDECESSOR
        if not sources:
            return self._without_predecessor(notes)
        successor = block.instructions[dst]
        is_packaging = successor.opcode in PACKAGING
        is_there = dst in function.nodes and not is_packaging
        if is_there:
            found = self._compare(function, sources, function.nodes[dst])
            if found != "lost":
                return found, ""
            # A pin orders the readers of a successor that has no operand to wait at, not the successor itself.
            if successor.operands or successor.has_side_effect:
                return "lost", NO_PATH
        elif self._start_of(block, dst) in function.nodes:
            return self._judge_merged(function, block, sources, dst)
        else:
            if self._is_folded((block.name, dst)):
                return self._dead, FOLDED_SUCCESSOR
            if successor.operands and not is_packaging and (block.name, dst) in self._facts.needed:
                twins = self._twins_in(function, (block.name, dst))
                if twins and self._compare(function, sources, twins) == "lost":
                    return "lost", NO_PATH
                if not twins and not self._facts.may_be_folded((block.name, dst)):
                    return "lost", NO_SUCCESSOR
        readers = self._readers_of(function, (block.name, dst))
        found = self._compare(function, sources, list(readers)) if readers else "lost"
        if found != "lost":
            return (found, "") if is_packaging else ("implied", READERS_WAIT)
        if not is_there and (block.name, dst) not in self._facts.needed:
            # A reader that is needed itself is one that ignores what it is given: a branch without use for it.
            others = [node for node, reader in readers.items() if reader not in self._facts.needed]
            if not others or self._compare(function, sources, others) != "lost":
                return self._dead, DEAD_SUCCESSOR
        return ("lost", NO_PATH) if readers else ("dropped", TERMINATOR_ONLY)

    def _followers_of(self, block: SourceBlock, name: str) -> dict[str, None]:
        """The control successors of what cannot wait: of ``name`` and what is packed of it; none of an instruction.

        They come after what ``name`` comes after.
        """
        found: dict[str, None] = {}
        work = Worklist(name)
        for current in work:
            opcode = block.instructions[current].opcode
            if opcode not in PACKAGING and opcode != "constant":
                if current != name:
                    found[current] = None
                continue
            users = self._users[block.name].get(current, ()) if opcode in PACKAGING else ()
            packed = [user for user in users if block.instructions[user].opcode in PACKAGING]
            work.add(*packed, *self._after[block.name].get(current, ()))
        return found

    def _judge_merged(
        self, function: EmittedFunction, block: SourceBlock, sources: list[int], dst: str
    ) -> tuple[EdgeClass, str]:
        """The verdict on an edge to a done that became one operation with its start.

        The operation waits, or, where it precedes the predecessor itself, what comes after the done does.
        """
        nodes = function.nodes[self._start_of(block, dst)]
        found = self._compare(function, sources, nodes)
        if found != "lost":
            return found, ""
        late = [node for node in sources if not function.orders([node], nodes)]
        if not function.orders(nodes, late):
            return "lost", NO_PATH
        after = dict.fromkeys(self._readers_of(function, (block.name, dst)))
        for before, follower in block.edges:
            if before == dst:
                after.update(dict.fromkeys(function.nodes.get(follower, ())))
        if not after:
            return "dropped", TERMINATOR_ONLY
        return ("implied", READERS_WAIT) if function.orders(late, after) else ("lost", NO_PATH)

    def _without_predecessor(self, notes: set[_Note]) -> tuple[EdgeClass, str]:
        """Why nothing stands for a predecessor."""
        if "dead" in notes:
            return self._dead, DEAD_PREDECESSOR
        if "parameter" in notes:
            return "dropped", STANDS_FOR_PARAMETERS
        return "dropped", STANDS_FOR_CONSTANTS if notes else EMPTY_PREDECESSOR

    @staticmethod
    def _start_of(block: SourceBlock, name: str) -> str:
        """The start of a done that may have become one operation with it; empty for other instructions."""
        instruction = block.instructions[name]
        return instruction.operands[0] if instruction.opcode in MERGING_DONES else ""

    @staticmethod
    def _compare(function: EmittedFunction, sources: list[int], targets: list[int]) -> EdgeClass:
        """How all of ``sources`` come before all of ``targets``: by edges of their own, by paths, or not."""
        if sources != targets and all((s, t) in function.explicit for s in sources for t in targets if s != t):
            return "kept"
        return "implied" if function.orders(sources, targets) else "lost"

    def _sources_of(self, function: EmittedFunction, place: Place) -> tuple[list[int], set[_Note]]:
        """The nodes that stand for ``place`` as a predecessor, and what of it has none.

        Its own nodes, else those it was merged with, else those of the nearest instructions before it: it was folded
        away, or it is packaging. An element of a known tuple is that element only.
        """
        found: dict[int, None] = {}
        notes: set[_Note] = set()
        work: Worklist[tuple[Place, Path]] = Worklist((place, ()))
        for place, path in work:
            one = self._facts.at(place)
            operands = [(place[0], operand) for operand in one.operands]
            if one.opcode == "parameter":
                notes.add("parameter")
            elif one.opcode == "constant":
                notes.add("constant")
            elif one.opcode == "get-tuple-element":
                work.add((operands[0], (one.index, *path)))
            elif one.opcode == "tuple" and path:
                work.add((operands[path[0]], path[1:]))
            elif one.opcode == WIRE:
                work.add((operands[0], path))
            elif one.opcode in PACKAGING:
                work.add(*[(operand, ()) for operand in operands])
            elif one.name in function.nodes:
                found.update(dict.fromkeys(function.nodes[one.name]))
            elif place not in self._facts.needed:
                notes.add("dead")
            elif one.opcode == "conditional" and self._facts.may_be_folded(place):
                taken = self._facts.may_run(place)[0]
                work.add(*[((taken, root), path) for root in [self._blocks[taken].root] if root is not None])
            elif twins := self._twins_in(function, place):
                found.update(dict.fromkeys(twins))
            elif self._is_twin_around(function, place):
                notes.add("parameter")  # merged with what is there before the block runs
            elif self._facts.may_be_constant(place):
                notes.add("constant")
            elif self._facts.may_be_folded(place):
                work.add(*[(operand, path if one.opcode == "while" else ()) for operand in operands])
            else:
                notes.add("missing")
        return list(found), notes

    def _is_folded(self, place: Place) -> bool:
        """Whether it is a constant whatever its operands are, so that none of them can make it wait."""
        operands = [(place[0], operand) for operand in self._facts.at(place).operands]
        return self._facts.constant(place) is not None and not all(self._facts.is_constant(one) for one in operands)

    def _twins_in(self, function: EmittedFunction, place: Place) -> list[int]:
        """The nodes of the instructions that ``place``, which has none, may have been merged with."""
        key = (function, self._facts.kind(place))
        if key not in self._twins:
            places = self._facts.of_kind(key[1])
            self._twins[key] = [node for _, name in places for node in function.nodes.get(name, ())]
        return self._twins[key]

    def _is_twin_around(self, function: EmittedFunction, place: Place) -> bool:
        return any(self._twins_in(owner, place) for owner in _owners_of(function))

    def _readers_of(self, function: EmittedFunction, place: Place) -> dict[int, Place]:
        """The nodes of the nearest instructions that read ``place``; an element that is not it does not."""
        found: dict[int, Place] = {}
        work: Worklist[tuple[Place, Path]] = Worklist((place, ()))
        for (block, current), path in work:
            for user in self._users[block].get(current, ()):
                one = self._facts.at((block, user))
                if one.opcode == "get-tuple-element":
                    if not path or path[0] == one.index:
                        work.add(((block, user), path[1:]))
                elif one.opcode == "tuple":
                    places = [number for number, operand in enumerate(one.operands) if operand == current]
                    work.add(*[((block, user), (number, *path)) for number in places])
                elif one.opcode in PACKAGING:
                    work.add(((block, user), path if one.opcode == WIRE else ()))
                elif user in function.nodes:
                    found.update(dict.fromkeys(function.nodes[user], (block, user)))
                else:
                    # It was folded away, or what it runs stands in its place.
                    work.add(((block, user), ()))
                    work.add(*[(parameter, ()) for parameter in self._facts.parameters((block, user), current)])
        return found

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


def _control_successors(block: SourceBlock) -> dict[str, list[str]]:
    """What comes after each instruction of ``block`` that is a control predecessor."""
    after: dict[str, list[str]] = {}
    for src, dst in block.edges:
        after.setdefault(src, []).append(dst)
    return after


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
