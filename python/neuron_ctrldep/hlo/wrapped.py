"""Collectives that an ``async-start`` wraps: such a chain does not keep its frontend attributes where it has them.

Which frontend attributes survive the import of an asynchronous chain depends on what it runs (tried for every opcode on
jaxlib 0.10.2 and 0.12.0.1, which agree):

=======================================================  ===========================================================
the start                                                attributes that survive
=======================================================  ===========================================================
``send``, ``recv``, ``all-gather-start``,                those of the start; not those of the done
``all-reduce-start``, ``collective-permute-start``
``copy-start``                                           those of the start and of the done, each on its own op
``async-start`` of a computation whose root is one of    those of that root, on the op inside the start;
:data:`INSIDE_START`                                     neither those of the start nor of the done
``async-start`` of anything else                         those of start, update and done, each on its own op
=======================================================  ===========================================================

XLA's text says nothing of the attributes of the wrapped instruction: its parser gives it those of the last instruction
of the chain that has any. What is written on the wrapped instruction is therefore written there too. And a chain around
one of :data:`OWN_START` is printed, and so read back, as the pair of that collective, whose done keeps nothing.
"""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cached_property
from typing import Any

INSIDE_START = frozenset({"reduce-scatter", "all-to-all", "collective-broadcast"})
"""Collectives without a start of their own: the importer puts them inside that of the chain."""

OWN_START = frozenset({"all-reduce", "all-gather", "collective-permute"})
"""Collectives with a start of their own, wrapped nevertheless."""


class WrappedCollectives:
    """Those of one ``HloModuleProto``."""

    def __init__(self, proto: Any) -> None:
        self._proto = proto

    @cached_property
    def _roots(self) -> dict[int, Any]:
        """By computation id the root, where that is a collective of the two kinds."""
        return {
            computation.id: instruction
            for computation in self._proto.computations
            for instruction in computation.instructions
            if instruction.id == computation.root_id and instruction.opcode in INSIDE_START | OWN_START
        }

    @cached_property
    def _callers(self) -> Counter[int]:
        """By computation id the number of starts that run it. The parser makes one for each, a proto may share it."""
        return Counter(
            one
            for computation in self._proto.computations
            for instruction in computation.instructions
            if instruction.opcode == "async-start"
            for one in instruction.called_computation_ids
        )

    def _root(self, start: Any) -> Any | None:
        if start.opcode != "async-start" or not start.called_computation_ids:
            return None
        return self._roots.get(start.called_computation_ids[0])

    def of(self, start: Any) -> Any | None:
        """The wrapped instruction that arrives inside ``start``; ``None`` when ``start`` keeps its own attributes."""
        root = self._root(start)
        return root if root is not None and root.opcode in INSIDE_START else None

    def holds_done_marks(self, start: Any) -> bool:
        """Whether the marks of the done of ``start`` have to stand on ``start``."""
        return self._root(start) is not None

    def is_shared(self, start: Any) -> bool:
        """Whether another start wraps the same instruction."""
        return self._callers[start.called_computation_ids[0]] > 1

    def unshare(self, start: Any) -> Any:
        """Let ``start`` run a copy of its computation, which goes right behind that; the new wrapped instruction."""
        computations = self._proto.computations
        shared = start.called_computation_ids[0]
        place = next(place for place, one in enumerate(computations) if one.id == shared)
        new_id = max(one.id for one in computations) + 1
        computations.insert(place + 1, computations[place])  # a copy: a message is in one place only
        copy = computations[place + 1]
        # XLA wants ids and names that are unique in the module.
        ids = {one.id: new_id << 32 | number for number, one in enumerate(copy.instructions)}
        suffix = self._new_suffix(start.name)
        copy.id, copy.root_id, copy.name = new_id, ids[copy.root_id], copy.name + suffix
        for one in copy.instructions:
            one.id, one.name = ids[one.id], one.name + suffix
            one.operand_ids[:] = [ids[operand] for operand in one.operand_ids]
            one.control_predecessor_ids[:] = [ids[predecessor] for predecessor in one.control_predecessor_ids]
        sequences = self._proto.schedule.sequences
        if shared in sequences:
            sequences[new_id].instruction_ids[:] = [ids[one] for one in sequences[shared].instruction_ids]
        start.called_computation_ids[0] = new_id
        self._callers.subtract([shared])
        self._callers.update([new_id])
        self._roots[new_id] = next(one for one in copy.instructions if one.id == copy.root_id)
        return self._roots[new_id]

    def _new_suffix(self, name: str) -> str:
        """What no name of the module ends with."""
        named = [
            one.name for computation in self._proto.computations for one in (computation, *computation.instructions)
        ]
        suffixes = (f".{name}{number or ''}" for number in itertools.count())
        return next(one for one in suffixes if not any(other.endswith(one) for other in named))
