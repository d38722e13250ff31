"""The list of all passes, for people."""

from __future__ import annotations

from neuron_ctrldep.passes import registry


def render_list() -> str:
    """All registered passes with their summaries and options."""
    lines = []
    for name in registry.names():
        cls = registry.find(name)
        if cls is not None:
            lines.append(f"  --{name}  -  {cls.summary}")
    return "\n".join(lines) + "\n"
