"""The lines of a C++ function being printed, and the names in it."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_ctrldep.mlir import ir
from neuron_ctrldep.orchestration.cpp_values import cpp_type
from neuron_ctrldep.task.loops import Bound

NO_TASK = "PTO2TaskId::invalid()"
"""The id of no task."""


class Writer:
    """Collects lines, and gives each value a C++ expression; two values that are one to the run time share it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[ir.Value, str] = {}
        self._depth = 0
        self._values = 0

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self.lines.append("    " * self._depth + text)

    def open(self, text: str) -> None:
        """A line that opens a block."""
        self.line(text)
        self._depth += 1

    def close(self, text: str) -> None:
        """A line that closes a block."""
        self._depth -= 1
        self.line(text)

    def fresh(self) -> str:
        """A name that nothing has."""
        self._values += 1
        return f"v{self._values - 1}"

    def of(self, value: ir.Value) -> str:
        """The C++ expression for a value: a name, or a literal."""
        return self.names[value]

    def define(self, value: ir.Value, expression: str) -> str:
        """Define a variable for ``value``; returns its name."""
        name = self.names[value] = self.fresh()
        self.line(f"{self.type_of(value)} {name} = {expression};")
        return name

    def declare(self, value: ir.Value) -> str:
        """Declare a variable for ``value`` that is assigned later; returns its name."""
        name = self.names[value] = self.fresh()
        self.line(f"{self.type_of(value)} {name}{{}};")
        return name

    def type_of(self, value: ir.Value) -> str:
        """The C++ type of a value."""
        owner = value.owner
        return cpp_type(value.type, owner.owner.operation if isinstance(owner, ir.Block) else owner.operation)

    def alias(self, value: ir.Value, other: ir.Value) -> None:
        """Let ``value`` have the name of ``other``: to the run time they are the same."""
        self.names[value] = self.of(other)

    def assign(self, targets: Sequence[str], values: Sequence[ir.Value]) -> None:
        """Assign all at once: a value may itself be one of the targets, as where a loop swaps what it carries."""
        pairs = [(target, self.of(value)) for target, value in zip(targets, values, strict=True)]
        pairs = [(target, name) for target, name in pairs if target != name]
        if any(name in targets for _, name in pairs) and len(pairs) > 1:
            copies = [(target, self.fresh(), name) for target, name in pairs]
            for _, copy, name in copies:
                self.line(f"const auto {copy} = {name};")
            pairs = [(target, copy) for target, copy, _ in copies]
        for target, name in pairs:
            self.line(f"{target} = {name};")

    def bound(self, bound: Bound) -> str:
        """The C++ expression for a bound or step of a loop."""
        return self.of(bound.value) if bound.value is not None else str(bound.constant)

    def array(self, name: str, entries: Sequence[str]) -> None:
        """Define an array of ``uint32_t``."""
        values = [entry if entry.isdigit() else f"static_cast<uint32_t>({entry})" for entry in entries]
        self.line(f"uint32_t {name}[{max(1, len(values))}] = {{{', '.join(values)}}};")
