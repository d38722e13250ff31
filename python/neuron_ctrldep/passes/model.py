"""What a parsed pipeline is: passes in order, on an op, nested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from neuron_ctrldep.errors import SourceLocation
from neuron_ctrldep.passes.base import Pass
from neuron_ctrldep.passes.cpp_names import CLASS_NAMES
from neuron_ctrldep.passes.syntax import spell_pass

ANY = "any"
"""The anchor that stands for every op a pass may run on (MLIR: an op-agnostic pass manager)."""


@dataclass(frozen=True)
class PassCall:
    """One pass in a pipeline. ``instance`` is the pass when it is defined in Python, ``None`` for a C++ pass."""

    name: str
    instance: Pass | None = None
    anchor: str = field(default=ANY, compare=False)
    """The op that the pass is restricted to, or ``any``."""
    options: str = field(default="", compare=False)
    """The option text of a C++ pass, as it was given."""
    spelled: str = ""
    """A C++ pass with all its options, as MLIR prints it: what tells two apart."""

    @property
    def class_name(self) -> str:
        """What reports call the pass: its class in C++ or Python."""
        return type(self.instance).__name__ if self.instance is not None else CLASS_NAMES.get(self.name, self.name)

    def __str__(self) -> str:
        """The pass with its options, as a pipeline text.

        Raises:
            PipelineError: a pipeline text cannot say the options.
        """
        if self.instance is not None:
            return spell_pass(self.name, self.instance.option_texts())
        return f"{self.name}{{{self.options}}}" if self.options else self.name


@dataclass(frozen=True)
class Pipeline:
    """Passes that run in order on one op named ``anchor``; a nested pipeline runs on each such op directly inside."""

    anchor: str = "builtin.module"
    elements: tuple[PassCall | Pipeline, ...] = ()
    location: SourceLocation | None = field(default=None, compare=False, repr=False)
    source: str | None = field(default=None, compare=False, repr=False)
    """Where it was read, and from which text."""

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.elements))})"

    def fits(self, name: str) -> bool:
        """Whether the pipeline can run on ops called ``name``: its anchor says so, and each of its passes."""
        if self.anchor != ANY:
            return self.anchor == name
        return all(element.anchor in (ANY, name) for element in self.elements if isinstance(element, PassCall))

    def calls(self) -> Iterator[PassCall]:
        """All passes, nested ones included, in order."""
        for element in self.elements:
            if isinstance(element, Pipeline):
                yield from element.calls()
            else:
                yield element

    def dump(self) -> str:
        """The pipeline over several lines as mlir-opt's ``--dump-pass-pipeline`` prints it, C++ options spelled out."""
        return f"Pass Manager with {len(self.elements)} passes:\n" + "\n".join(_dump(self, "")) + "\n"


def _dump(element: PassCall | Pipeline, indent: str) -> list[str]:
    if isinstance(element, PassCall):
        return [indent + (element.spelled or str(element))]
    lines = [f"{indent}{element.anchor}("]
    for index, inner in enumerate(element.elements):
        rows = _dump(inner, indent + "  ")
        if index + 1 < len(element.elements):
            rows[-1] += ","
        lines += rows
    if not element.elements:
        lines.append("")
    return [*lines, f"{indent})"]
