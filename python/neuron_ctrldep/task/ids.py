"""Task ids as the analyses see them: memory SSA over ids, before any of it is in the IR.

An :class:`Id` stands for what one SSA value of type ``!task.id`` (or a tensor of them) is at its place in the program.
Ids that :mod:`~neuron_ctrldep.task.hazards` makes become values only where an added edge needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from neuron_ctrldep.task.flow import Construct, TaskNode


@dataclass(eq=False, slots=True)
class Id:
    """An id. ``serial`` rises in the order in which ids are defined."""

    serial: int
    forward: Id | None = field(default=None, repr=False)
    """The id that this one turned out to be equal to."""
    after: int = field(default=0, repr=False)
    """The ids that are complete whenever this one is, as bits: see :mod:`~neuron_ctrldep.task.order`."""
    ways: tuple[int, ...] = field(default=(), repr=False)
    """For an id that control flow chooses: the same bits for each thing that it may be, as seen where it is chosen."""
    last_use: int = field(default=-1, repr=False)
    """The last item of the function's body that looks at it."""
    uses: int = field(default=0, repr=False)
    """How many edges need it as a value, and are still to be made."""

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield from ()


@dataclass(eq=False, slots=True)
class NoTask(Id):
    """The id of no task."""


@dataclass(eq=False, slots=True)
class Unknown(Id):
    """An id of the user's that nothing is known of."""


@dataclass(eq=False, slots=True)
class Leaf(Id):
    """The id of a task."""

    task: TaskNode = field(kw_only=True)


@dataclass(eq=False, slots=True)
class Join(Id):
    """Complete when all its members are."""

    members: tuple[Id, ...] = field(kw_only=True)

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield from self.members


@dataclass(eq=False, slots=True)
class Fence(Join):
    """A join that stays one id wherever it is used: a barrier right after ``construct``."""

    construct: Construct = field(kw_only=True)


@dataclass(eq=False, slots=True)
class IdTensor(Id):
    """A tensor of ids whose slots are known one by one; the others hold no task."""

    slots: dict[int, Id] = field(kw_only=True)

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield from self.slots.values()


@dataclass(eq=False, slots=True)
class Insert(Id):
    """A tensor of ids in which a slot that is not known was set."""

    tensor: Id = field(kw_only=True)
    value: Id = field(kw_only=True)
    keeps: bool = False
    """Whether that slot surely held no task before."""

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield self.tensor
        yield self.value


@dataclass(eq=False, slots=True)
class Phi(Id):
    """Carried by a sequential loop: what it is at the start of an iteration."""

    construct: Construct = field(kw_only=True)
    initial: Id = field(kw_only=True)
    yielded: Id | None = None

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield self.initial
        if self.yielded is not None:
            yield self.yielded


@dataclass(eq=False, slots=True)
class Final(Id):
    """What a phi of ``scf.for`` is after the loop."""

    phi: Phi = field(kw_only=True)

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield self.phi


@dataclass(eq=False, slots=True)
class Choice(Id):
    """Yielded by the body of a branch that runs: one alternative for each body."""

    construct: Construct = field(kw_only=True)
    alternatives: tuple[Id, ...] = field(kw_only=True)

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield from self.alternatives


@dataclass(eq=False, slots=True)
class Handed(Id):
    """Handed by the first body of ``scf.while`` to the second one, and out of the loop."""

    construct: Construct = field(kw_only=True)
    source: Id = field(kw_only=True)
    outside: bool = field(kw_only=True)
    """Whether it is the result of the loop rather than the argument of the second body."""

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield self.source


@dataclass(eq=False, slots=True)
class Collected(Id):
    """Complete when this id is in every iteration of a parallel loop."""

    construct: Construct = field(kw_only=True)
    source: Id = field(kw_only=True)

    def sources(self) -> Iterator[Id]:
        """The ids it is made of."""
        yield self.source


def resolve(node: Id) -> Id:
    """The id that ``node`` turned out to be."""
    while node.forward is not None:
        node = node.forward
    return node


def flatten(nodes: Iterable[Id]) -> list[Id]:
    """What ``nodes`` stand for, each once and in order: joins (but fences) taken apart, and "no task" left out."""
    found: dict[Id, None] = {}
    stack = [iter([resolve(node) for node in nodes])]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif isinstance(node, Join) and not isinstance(node, Fence):
            stack.append(iter([resolve(member) for member in node.members]))
        elif not isinstance(node, NoTask):
            found[node] = None
    return list(found)
