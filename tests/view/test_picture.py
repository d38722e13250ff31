"""From what a user holds to a picture: titles, programs without functions, and the commands that draw."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_ctrldep.tools import main as tool
from neuron_ctrldep.view.picture import picture

from .programs import LOOP

EXAMPLES = Path(__file__).parents[2] / "examples"
UNNAMED = "module { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> } }"
NUMBERS = ", ".join(str(number) for number in range(4096))
BIG_CONSTANT = f"""HloModule weights

ENTRY main {{
  x = f32[4096] parameter(0)
  w = f32[4096] constant({{{NUMBERS}}})
  ROOT sum = f32[4096] add(x, w)
}}
"""
TASKS = (
    'module { func.func private @k(tensor<4xf32> {task.direction = "in"}) attributes {task.kind = "kernel"}\n'
    'func.func @main(%a: tensor<4xf32>) attributes {task.kind = "orchestration"} { return } }'
)


def written(directory: Path, text: str, name: str) -> str:
    file = directory / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return str(file)


def title_of(page: str) -> str:
    found = re.search(r"<title>(.*?)</title>", page)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("kind", ["html", "svg", "dot"])
@pytest.mark.parametrize("text", ["module {}", "module { module @inner {} }"])
def test_a_module_without_a_program_has_a_picture(kind, text, tmp_path):
    file = written(tmp_path, text, "empty.mlir")
    assert tool.main(["view", file, "-o", str(tmp_path / f"out.{kind}")]) == 0
    assert (tmp_path / f"out.{kind}").stat().st_size > 0


@pytest.mark.parametrize("text", ["module {}", UNNAMED, TASKS], ids=["empty", "unnamed", "tasks"])
def test_an_unnamed_module_is_called_by_its_file(text, tmp_path):
    file = written(tmp_path, text, "step.mlir")
    for kind in ("html", "svg"):
        assert title_of(picture(file, kind, file=file)) == "step.mlir"
    assert picture(file, "dot", file=file).startswith('digraph "step.mlir"')


def test_a_named_module_keeps_its_name(tmp_path):
    assert title_of(picture(LOOP.encode(), "html", file="step.mlir")) == "loop"


def test_lower_draws_what_view_draws_and_writes_nothing_else(tmp_path):
    directory, out = tmp_path / "in", tmp_path / "out"
    inputs = [written(directory, BIG_CONSTANT, "a.hlo"), written(directory, UNNAMED, "b.mlir")]
    for kind in ("html", "dot"):
        assert tool.main(["lower", str(directory), f"--emit={kind}", "-o", str(out / kind)]) == 0
        assert sorted(file.name for file in (out / kind).iterdir()) == [f"a.{kind}", f"b.{kind}"]
        for file in inputs:
            drawn = tmp_path / f"view.{kind}"
            assert tool.main(["view", file, "-o", str(drawn)]) == 0
            assert (out / kind / f"{Path(file).stem}.{kind}").read_bytes() == drawn.read_bytes()


def test_lower_draws_task_programs(tmp_path):
    file = written(tmp_path, TASKS, "tasks.mlir")
    assert tool.main(["lower", file, "--emit=html", "-o", str(tmp_path / "out.html")]) == 0
    assert "<title>tasks.mlir</title>" in (tmp_path / "out.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.mlir")), ids=lambda file: file.name)
def test_task_programs_of_the_examples_are_drawn(file):
    assert "digraph" in picture(file, "dot", file=str(file))


def test_a_task_that_hands_nothing_back_is_drawn():
    submits = "".join(
        f'%{name} = "task.submit"(%a{"".join(deps)}) {{callee = @k, '
        f'operandSegmentSizes = array<i32: 1, {len(deps)}, 0>, task.name = "{name}"}} : '
        f"(tensor<4xf32>{', !task.id' * len(deps)}) -> !task.id\n"
        for name, deps in (("first", []), ("second", [", %first"]))
    )
    drawn = picture(TASKS.replace("{ return", f"{{ {submits} return").encode(), "dot")
    assert len(re.findall(r'label="k\\n(first|second)"', drawn)) == 2
    assert 'label="ORDERED"' in drawn


def test_lower_draws_what_stdin_gives():
    command = [sys.executable, "-m", "neuron_ctrldep", "lower", "--emit=html", "-"]
    run = subprocess.run(command, input=LOOP.encode(), capture_output=True, check=True)
    assert title_of(run.stdout.decode()) == "loop"


def test_the_package_is_the_tool(tmp_path):
    file = written(tmp_path, LOOP, "loop.mlir")
    command = [sys.executable, "-m", "neuron_ctrldep", "check", "--json", file]
    run = subprocess.run(command, capture_output=True, check=False)
    assert run.stderr == b""
    assert json.loads(run.stdout)["summary"]["edges"] > 0


def test_only_what_is_there_can_be_asked_for():
    with pytest.raises(ValueError, match="kind must be one of html, svg, dot, not 'pdf'"):
        picture(UNNAMED.encode(), "pdf")
    with pytest.raises(ValueError, match="layout must be one of auto, builtin, graphviz, not 'circle'"):
        picture(UNNAMED.encode(), "svg", layout="circle")
