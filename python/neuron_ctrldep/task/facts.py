"""Which ids are complete whenever another one is: sets of ids as bits, and what they say of ids made of ids.

``id.after`` holds the ids that are complete whenever ``id`` is. The bit of an id is its serial number less a base that
rises: facts on ids that nobody speaks of any more, or on too old ones, are forgotten, so that sets stay short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from neuron_ctrldep.task.flow import Construct
from neuron_ctrldep.task.ids import Choice, Collected, Final, Handed, Id, IdTensor, Join, Leaf, NoTask, Phi, resolve

_MEMORY_BITS = 1 << 28
"""About how many bits all ``after`` sets together may take; beyond, facts on the oldest ids are forgotten."""

_WINDOW = 1 << 14
"""Facts on ids that are older than this many are forgotten in any case: long sets would make long programs slower."""

_RECENT = 1 << 10
"""Facts on the last so many ids are kept in any case: an id may be made of ids that are not looked at any more."""

_TABLE_DEPTH = 3
"""The same as :data:`_MAX_DEPTH`, where many ids are compared with each other."""

_MAX_DEPTH = 8
"""How many ids made of ids are looked through: without a limit, long chains of branches would take quadratic time."""


class Facts:
    """What holds at one place of the walk."""

    def __init__(self) -> None:
        self.base = 0
        """The serial number of the id that has the lowest bit."""
        self.live: dict[Id, None] = {}
        """The ids with facts that will be looked at again."""
        self._shorten_at = 2 * _RECENT

    def bit(self, node: Id) -> int:
        """The bit of ``node``; none for ids that are too old to be spoken of."""
        place = node.serial - self.base
        return 1 << place if place >= 0 else 0

    def upto(self, node: Id) -> int:
        """``node`` and all that is complete when it is."""
        node = resolve(node)
        return 0 if isinstance(node, NoTask) else node.after | self.bit(node)

    def all_upto(self, nodes: Iterable[Id]) -> int:
        """``nodes`` and all that is complete when they are."""
        found = 0
        for node in nodes:
            found |= self.upto(node)
        return found

    def holds(self, known: int, node: Id, depth: int = _MAX_DEPTH) -> bool:
        """Whether ``node`` is complete when all of ``known`` are; where that takes too long to see, no."""
        node = resolve(node)
        if isinstance(node, NoTask) or known & self.bit(node):
            return True
        values = parts_of(node) if depth else None
        return values is not None and all(self.holds(known, value, depth - 1) for value in values)

    def set(self, node: Id, after: int) -> None:
        """Let ``after`` be what is complete whenever ``node`` is."""
        node.after = after & ~self.bit(node)
        self.live[node] = None

    def before(self, serial: int) -> int:
        """The bits of all ids with a lower serial number."""
        return (1 << max(0, serial - self.base)) - 1

    def forget(self, node: Id) -> None:
        """``node`` is not looked at again."""
        node.after, node.ways = 0, ()
        self.live.pop(node, None)

    def shorten(self, newest: int) -> None:
        """Now and then, between items of the function's body, move the base on; ids up to ``newest`` are defined."""
        if newest < self._shorten_at:
            return
        live = self.live
        width = min(_WINDOW, max(4096, _MEMORY_BITS // max(1, len(live))))
        oldest = min(map(attrgetter("serial"), live), default=newest)
        base = max(min(oldest, newest - _RECENT), newest - width)
        shift = base - self.base
        if shift > 0:
            self.base = base
            for node in live:
                node.after >>= shift
                node.ways = tuple(way >> shift for way in node.ways)
        self._shorten_at = newest + max(_RECENT, len(live), (newest - self.base) // 2)


class Table:
    """Finds which of many sources are complete when given ids are."""

    def __init__(self, facts: Facts, entries: list[tuple[int, Id]]) -> None:
        self._facts = facts
        self._always = 0
        self._by_serial: dict[int, int] = {}
        self._compound: list[tuple[int, Id]] = []
        self._mask = 0
        for bit, source in entries:
            source = resolve(source)
            if isinstance(source, NoTask):
                self._always |= bit
                continue
            own = facts.bit(source)
            if not own or parts_of(source) is not None:
                self._compound.append((bit, source))
            if own:
                self._by_serial[own.bit_length()] = self._by_serial.get(own.bit_length(), 0) | bit
                self._mask |= own

    def complete(self, known: int) -> int:
        """The bits of the entries whose sources are complete when all of ``known`` are."""
        found = self._always
        hits = known & self._mask
        while hits:
            low = hits & -hits
            found |= self._by_serial[low.bit_length()]
            hits ^= low
        for bit, source in self._compound:
            if not found & bit and self._facts.holds(known, source, _TABLE_DEPTH):
                found |= bit
        return found


def parts_of(node: Id) -> list[Id] | None:
    """Ids defined outside the constructs around which complete ``node`` is: all it is made of, or may be.

    ``None`` where it may be something else: what a loop yields is another instance of what its body speaks of.
    """
    if isinstance(node, Join | IdTensor):
        return [resolve(source) for source in node.sources()]
    if isinstance(node, Choice):
        values = [resolve(source) for source in node.alternatives]
        return values if any(not isinstance(value, Leaf) for value in values) else None
    if isinstance(node, Handed):
        return [resolve(node.source)]
    if isinstance(node, Final):
        yielded = [yielded_by(node.phi)]
        return yielded if node.phi.construct.runs_at_least_once else [resolve(node.phi.initial), *yielded]
    if isinstance(node, Phi):
        if node.construct.runs_at_most_once:
            return [resolve(node.initial)]
        yielded_id = yielded_by(node) if node.yielded is not None else None
        if yielded_id is not None and yielded_id.serial < node.serial and not _is_twin(node, yielded_id):
            return [resolve(node.initial), yielded_id]
    return None


def _is_twin(phi: Phi, other: Id) -> bool:
    return isinstance(other, Phi) and other.construct is phi.construct


Chosen = Phi | Choice | Final | Handed | Collected
"""Ids that a construct makes of others. What it makes at one place it makes in the same way."""


def construct_of(node: Chosen) -> Construct:
    """The construct that makes ``node``."""
    return node.phi.construct if isinstance(node, Final) else node.construct


def ways_of(node: Id) -> Sequence[Id]:
    """What ``node`` may be, way by way, in the order of its ``ways``."""
    if isinstance(node, Choice):
        return node.alternatives
    if isinstance(node, Handed | Collected):
        return (node.source,)
    if isinstance(node, Final):
        phi = node.phi
        return (yielded_by(phi),) if phi.construct.runs_at_least_once else (phi.initial, yielded_by(phi))
    assert isinstance(node, Phi)
    return (node.initial,) if node.construct.runs_at_most_once else (node.initial, yielded_by(node))


def yielded_by(phi: Phi) -> Id:
    """What an iteration hands on for ``phi``."""
    assert phi.yielded is not None
    return resolve(phi.yielded)
