"""What ``preserve-control-deps`` did with every control edge it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from neuron_ctrldep.errors import Diagnostic, SourceLocation

EdgeClass = Literal["operand", "attribute", "dropped", "already", "unreifiable"]

CLASSES: tuple[EdgeClass, ...] = ("operand", "attribute", "dropped", "already", "unreifiable")


class EdgeDetail(NamedTuple):
    """One control edge.

    Attributes:
        edge_class: ``operand`` (a wire op in front of the successor), ``attribute`` (a pin behind it, attributes, or
            both), ``dropped`` (the predecessor is a parameter), ``already`` (carried before), ``unreifiable``.
        reason: why not simply an operand; empty for an edge that one carries.
    """

    computation: str
    predecessor: str
    successor: str
    edge_class: EdgeClass
    reason: str = ""

    def edge_text(self) -> str:
        """The edge for people: where it is, its two ends, and why it is not simply an operand."""
        why = f" ({self.reason})" if self.reason else ""
        return f"computation '{self.computation}': {self.predecessor} -> {self.successor}{why}"

    def as_json(self) -> dict[str, str]:
        """The entry of ``details`` in ``--stats-json``."""
        return {
            "computation": self.computation,
            "predecessor": self.predecessor,
            "successor": self.successor,
            "class": self.edge_class,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class PreserveReport:
    """Every control edge of the module, once, in the class it ended in: the five add up to ``edges``.

    Attributes:
        wire_ops: wire ops that were inserted, pins included.
        changed: whether the module was changed.
    """

    edges: int
    operand: int
    attribute: int
    dropped: int
    already: int
    unreifiable: int
    wire_ops: int
    changed: bool
    details: tuple[EdgeDetail, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, details: Iterable[EdgeDetail], *, wire_ops: int, changed: bool) -> PreserveReport:
        """Count ``details`` by class."""
        listed = tuple(details)
        count = Counter(detail.edge_class for detail in listed)
        return cls(
            edges=len(listed),
            operand=count["operand"],
            attribute=count["attribute"],
            dropped=count["dropped"],
            already=count["already"],
            unreifiable=count["unreifiable"],
            wire_ops=wire_ops,
            changed=changed,
            details=listed,
        )

    def as_json(self) -> dict[str, Any]:
        """What ``--stats-json`` writes."""
        counts: dict[str, Any] = {"edges": self.edges}
        counts |= {name: getattr(self, name) for name in CLASSES}
        counts["wire_ops"] = self.wire_ops
        counts["details"] = [detail.as_json() for detail in self.details]
        return counts

    def warnings(self, file: str) -> list[Diagnostic]:
        """One warning for each edge that nothing holds (``on_unreifiable="warn"``)."""
        return [
            Diagnostic(
                "warning",
                f"control edge is lost: {detail.edge_text()}",
                SourceLocation(file, name=detail.successor),
            )
            for detail in self.details
            if detail.edge_class == "unreifiable"
        ]

    def render(self) -> str:
        """What ``--stats`` prints: the counts, then every edge that is not simply an operand, with its reason."""
        counts = ", ".join(f"{getattr(self, name)} {name}" for name in CLASSES)
        lines = [
            f"control edges: {self.edges} ({counts})",
            f"wire ops inserted: {self.wire_ops}; module {'changed' if self.changed else 'unchanged'}",
        ]
        lines += [f"  {detail.edge_class}: {detail.edge_text()}" for detail in self.details if detail.reason]
        return "\n".join(lines)
