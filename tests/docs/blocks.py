"""The fenced code blocks of a Markdown page, and how each kind is run."""

import contextlib
import doctest
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from neuron_ctrldep.tools.common import run_tool

ROOT = Path(__file__).resolve().parents[2]
RUN = frozenset({"python", "pycon", "console"})
SHOWN = frozenset({"mlir", "hlo", "text", "json", "cpp", "toml", "penguin", "html"})
"""Languages of blocks that are only shown. What a tool prints is better shown below its command in a console block."""

NOT_RUN = re.compile(r"<!--\s*not run: .+-->\s*$")
"""Before a block, a comment that says why it cannot be run here."""

TOOLS = {
    "neuron-ctrldep": "neuron_ctrldep.tools.main",
    "neuron-ctrldep-opt": "neuron_ctrldep.tools.opt",
    "neuron-ctrldep-hlo-opt": "neuron_ctrldep.tools.hlo_opt",
    "neuron-ctrldep-translate": "neuron_ctrldep.tools.translate",
}

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+)(?P<language>[\w-]*)\s*$")


@dataclass(frozen=True)
class Block:
    """One block; ``line`` is that of its fence."""

    page: Path
    line: int
    language: str
    text: str
    is_run: bool


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        end = at + 1
        while lines[end].strip() != opening["fence"]:
            end += 1
        before = next((line for line in reversed(lines[:at]) if line.strip()), "")
        text = "\n".join(line.removeprefix(opening["indent"]) for line in lines[at + 1 : end]) + "\n"
        language = opening["language"]
        yield Block(page, at + 1, language, text, language in RUN and not NOT_RUN.search(before))
        at = end + 1


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run_page(page: Path, directory: Path) -> None:
    """Run all blocks of a page in order: Python in one namespace, commands in one directory.

    Raises:
        AssertionError: a command fails, or something prints other than the page says (``...`` stands for anything).
    """
    (directory / "examples").symlink_to(ROOT / "examples")
    namespace: dict[str, object] = {"__name__": "__page__"}
    with contextlib.chdir(directory):
        for block in blocks_of(page):
            if not block.is_run:
                continue
            if block.language == "python":
                code = compile("\n" * block.line + block.text, str(page), "exec")
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(code, namespace)  # noqa: S102 - our own pages
            elif block.language == "pycon":
                _run_doctest(block, namespace)
            else:
                _run_console(block)


def _run_doctest(block: Block, namespace: dict[str, object]) -> None:
    name = f"{block.page.name}:{block.line}"
    test = doctest.DocTestParser().get_doctest(block.text, {}, name, str(block.page), block.line)
    test.globs = namespace
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.write, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, report.getvalue()


def _run_console(block: Block) -> None:
    for command, expected, wanted in _commands(block.text):
        if command.startswith("pip install "):
            continue  # it is installed: these tests run in it
        if command.startswith("make "):
            # make checks and makes everything, these tests included: here it only has to know what to do.
            command, expected = f"{command.partition('#')[0]} -C {ROOT} -n", ""
        status, got = _run_here(command) or _run_in_a_shell(command)
        where = f"{block.page.name}:{block.line}: $ {command}"
        assert status == wanted, f"{where}\nexit status {status}\n{got[:2000]}"
        if expected:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            is_right = doctest.OutputChecker().check_output(expected, got, flags)
            assert is_right, f"{where}\nexpected\n{expected}\ngot\n{got}"


def _run_here(command: str) -> tuple[int, str] | None:
    """Run one of our tools in this process, which saves its start; ``None`` when the command is something else."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    if words[0] not in TOOLS or any(mark in command for mark in "|><&;$`"):
        return None
    main = importlib.import_module(TOOLS[words[0]]).main
    stdout, stderr = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        status = run_tool(words[0], main, words[1:])
        stdout.flush()
    return status, stdout.buffer.getvalue().decode() + stderr.getvalue()


def _run_in_a_shell(command: str) -> tuple[int, str]:
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    run = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return run.returncode, run.stdout + run.stderr


def _commands(text: str) -> Iterator[tuple[str, str, int]]:
    """``$ command`` lines (continued by a backslash), what the page prints below each, and the exit status.

    The status is 0 unless the command ends in ``# exit 1``, as a note for the reader.
    """
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = 1
        while lines[count - 1].endswith("\\"):
            count += 1
        command = "\n".join(lines[:count])
        noted = re.search(r"# exit (\d+)$", command)
        printed = "\n".join(lines[count:]).strip("\n")
        yield command, printed + "\n" if printed else "", int(noted[1]) if noted else 0
