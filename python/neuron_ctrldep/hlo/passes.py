"""The HLO passes by name, with their options as fields: what ``--passes`` of ``neuron-ctrldep-hlo-opt`` can say."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import Any, Literal

from neuron_ctrldep.errors import PipelineError
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.hlo.report import PreserveReport
from neuron_ctrldep.passes.base import OptionValueError, Pass, Statistics
from neuron_ctrldep.passes.syntax import Element, Source, parse_options, parse_pass_list


class HloPass(Pass):
    """A pass that runs on an :class:`HloModule` instead of an MLIR op."""

    anchor = "HloModule"

    @abc.abstractmethod
    def apply(self, module: HloModule) -> PreserveReport:
        """Rewrite ``module`` in place and report."""

    def run(self, op: Any, statistics: Statistics) -> None:
        """Rewrite the module ``op`` in place and count what its report counts."""
        report = self.apply(op).as_json()
        for name in self.counters:
            statistics.add(name, report[name])


@dataclass(frozen=True)
class PreserveControlDeps(HloPass):
    """See :mod:`neuron_ctrldep.hlo.preserve_control_deps`."""

    name = "preserve-control-deps"
    summary = "Carry the control edges of HLO as operands of wire ops, which MLIR keeps"
    description = """\
XLA keeps a control edge `p -> S` beside the operands of `S`, where no import to MLIR looks. For each successor the pass
inserts a custom call `AwsNeuronControlDep` that takes the predecessors and operand 0 of `S`, forwards the latter, and
takes its place.

Before:

```
a = f32[4] negate(p)
s = f32[4] exponential(p), control-predecessors={a}
```

After:

```
a = f32[4] negate(p)
w = f32[4] custom-call(a, p), custom_call_target="AwsNeuronControlDep", custom_call_has_side_effect=true
s = f32[4] exponential(w), control-predecessors={a}
```

Where no operand of `S` can carry the edge, a wire op behind `S` (a pin) or frontend attributes on both ends do.
"""
    counters = {
        "edges": "control edges found, each predecessor of a successor once",
        "operand": "edges carried by a wire op in front of the successor",
        "attribute": "edges carried by a pin behind the successor, by frontend attributes, or both",
        "dropped": "edges from a parameter, which is there before anything runs",
        "already": "edges that the module carried before",
        "unreifiable": "edges that nothing can carry",
        "wire_ops": "wire ops inserted",
    }

    on_unreifiable: Literal["error", "warn"] = field(
        default="error", metadata={"help": "what to do about an edge that nothing can carry"}
    )
    carrier: Literal["any", "operand"] = field(
        default="any", metadata={"help": "operand forbids pins and attributes, as the original pass does"}
    )
    rewire: Literal["first", "all"] = field(
        default="first", metadata={"help": "all puts a wire op on every operand of calls, loops and conditionals"}
    )
    strip_control_edges: bool = field(
        default=False, metadata={"help": "remove the control predecessors of all edges that are not unreifiable"}
    )

    def apply(self, module: HloModule) -> PreserveReport:
        """Run on ``module``; see :func:`preserve_control_deps`."""
        return preserve_control_deps(
            module,
            on_unreifiable=self.on_unreifiable,
            carrier=self.carrier,
            rewire=self.rewire,
            strip_control_edges=self.strip_control_edges,
        )


HLO_PASSES: dict[str, type[HloPass]] = {PreserveControlDeps.name: PreserveControlDeps}
"""Every HLO pass by its name in ``--passes``."""


def parse_passes(text: str) -> list[HloPass]:
    """The passes of a list ``name{option=value …},…``, in order; the grammar is that of MLIR pipelines.

    Raises:
        PipelineError: at the column of the fault: the grammar, an unknown pass, option or value.
    """
    source = Source(text, "passes")
    return [_resolve(source, element) for element in parse_pass_list(source)] if text.strip() else []


def _resolve(source: Source, element: Element) -> HloPass:
    cls = HLO_PASSES.get(element.name)
    if cls is None:
        known = ", ".join(HLO_PASSES)
        raise source.error(element.offset, f"'{element.name}' is not an HLO pass; the HLO passes: {known}")
    if element.inner is not None:
        raise source.error(element.offset, f"'{element.name}' is a pass; it holds no pipeline")
    values: dict[str, Any] = {}
    end = element.options_offset + len(element.options or "")
    for option in parse_options(source, element.options_offset, end) if element.options else []:
        try:
            name, value = cls.parse_option(option.key, option.value)
        except PipelineError as error:
            raise source.error(option.offset, error.diagnostics[0].message) from error
        except OptionValueError as error:
            message = f"option '{option.key}' of pass '{cls.name}': {error}"
            raise source.error(option.value_offset + error.offset, message) from error
        values[name] = value
    return cls(**values)
