"""Writes the pages on passes, ``docs/passes/*.md``, from what the passes say of themselves.

``python docs/generate_passes.py`` writes them; with ``--check`` it only tells which are not current, with status 1.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from neuron_ctrldep.passes import registry
from neuron_ctrldep.passes.base import Pass
from neuron_ctrldep.passes.listing import describe_options

FOLDER = Path(__file__).parent / "passes"
_NOTICE = "<!-- Written by docs/generate_passes.py from the pass itself; edit the pass. -->"


def pages() -> dict[str, str]:
    """File name to content: a page for each pass of this package, and one that lists them."""
    classes = {name: registry.find(name) for name in registry.BUILTIN}
    found = {f"{name}.md": render_page(cls) for name, cls in classes.items() if cls is not None}
    rows = [f"| [`{name}`]({name}.md) | `{cls.anchor}` | {cls.summary} |" for name, cls in classes.items() if cls]
    table = "\n".join(["| Pass | Runs on | What it does |", "|---|---|---|", *rows])
    found["reference.md"] = f"{_NOTICE}\n\n# All passes\n\n{table}\n"
    return found


def render_page(cls: type[Pass]) -> str:
    """The page of one pass."""
    parts = [_NOTICE, f"# `{cls.name}`", f"{cls.summary}. Runs on `{cls.anchor}`.", cls.description.strip()]
    options = list(describe_options(cls))
    if options:
        rows = [f"| `{key}` | {_cell(kind)} | {_cell(words)} |" for key, kind, words in options]
        parts += ["## Options", "\n".join(["| Option | Values | What it does |", "|---|---|---|", *rows])]
    if cls.counters:
        rows = [f"| `{name}` | {_cell(words)} |" for name, words in sorted(cls.counters.items())]
        parts += ["## Counters", "\n".join(["| Counter | What it counts |", "|---|---|", *rows])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def stale() -> list[str]:
    """The names of pages that are missing, differ from what would be written, or belong to no pass."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main(args: list[str]) -> int:
    """Write or check the pages; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")
    if parser.parse_args(args).check:
        for name in stale():
            print(f"docs/passes/{name} is not current: run python docs/generate_passes.py", file=sys.stderr)
        return 1 if stale() else 0
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        path.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
