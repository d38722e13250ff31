"""``neuron-ctrldep-hlo-opt`` in process: exit statuses, outputs that are whole or not there, messages of one fault."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_ctrldep.hlo.schema import HloModuleProto
from neuron_ctrldep.tools.common import run_tool
from neuron_ctrldep.tools.hlo_opt import NAME, main
from tests.hlo.support import text_to_proto

TEXT = """\
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] sine(p)
  c = f32[4] constant({1, 2, 3, 4}), control-predecessors={a}
  ROOT b = f32[4] add(p, c), control-predecessors={a}
}
"""

PASSES = "--passes=preserve-control-deps"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The module as a proto, which is read without a child process."""
    path = tmp_path / "m.pb"
    path.write_bytes(text_to_proto(TEXT))
    return path


def run(*args: str | Path) -> int:
    return run_tool(NAME, main, [str(one) for one in args])


def test_proto_to_proto_and_the_report(source: Path, tmp_path: Path) -> None:
    out, stats = tmp_path / "out.pb", tmp_path / "stats.json"
    assert run(PASSES, "--emit=proto", "--stats-json", stats, source, "-o", out) == 0
    report = json.loads(stats.read_text())
    details = report.pop("details")
    assert report == {
        "edges": 2,
        "operand": 1,
        "attribute": 1,
        "dropped": 0,
        "already": 0,
        "unreifiable": 0,
        "wire_ops": 2,
    }
    assert details[1] == {
        "computation": "e",
        "predecessor": "a",
        "successor": "b",
        "class": "operand",
        "reason": "",
    }
    module = HloModuleProto()
    module.ParseFromString(out.read_bytes())
    wire = next(i for i in module.computations[0].instructions if i.name == "AwsNeuronControlDep")
    assert (wire.custom_call_api_version, wire.custom_call_has_side_effect) == (1, True)
    # Ids go on from the computation's maximum.
    assert sorted(i.id & 0xFFFFFFFF for i in module.computations[0].instructions) == [0, 1, 2, 3, 4, 5]


def test_without_passes_it_converts(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pb"
    assert run("--emit=proto", source, "-o", out) == 0
    assert out.read_bytes() == source.read_bytes()


def test_unreifiable_edges_leave_no_output(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, stats = tmp_path / "out.pb", tmp_path / "stats.json"
    options = "--passes=preserve-control-deps{carrier=operand}"
    assert run(options, "--emit=proto", "--stats-json", stats, source, "-o", out) == 1
    assert "a -> c (the successor has no operands" in capsys.readouterr().err
    assert not out.exists()
    assert not stats.exists()


def test_stats_are_written_also_where_xla_cannot_print_the_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out, stats = tmp_path / "m.pb", tmp_path / "out.hlo", tmp_path / "stats.json"
    source.write_bytes(
        text_to_proto("""\
HloModule m
ENTRY e {
  carried = (f32[4], u32[], token[]) parameter(0)
  p = f32[4] parameter(1)
  a = f32[4] negate(p)
  ROOT done = token[] send-done(carried), channel_id=1, control-predecessors={a}
}
""")
    )
    assert run(PASSES, "--stats", "--stats-json", stats, source, "-o", out) == 1
    assert not out.exists()
    report = json.loads(stats.read_text())
    assert (report["edges"], report["attribute"]) == (1, 1)
    printed, *_, error = capsys.readouterr().err.splitlines()
    assert printed.startswith("preserve-control-deps: control edges: 1 (0 operand, 1 attribute")
    assert "error: XLA refuses the module" in error
    assert run(PASSES, "--emit=proto", source, "-o", out) == 0


def test_warnings_name_the_lost_edges(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--passes=preserve-control-deps{carrier=operand on-unreifiable=warn}"
    assert run(options, "--emit=proto", source, "-o", tmp_path / "out.pb") == 0
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith(f"{source}: warning: control edge is lost: computation 'e': a -> c")


FAULTS = {
    "an unknown option": ("--passes=preserve-control-deps{colour=red}", "passes:1:23: error: "),
    "a bad value": ("--passes=preserve-control-deps{strip-control-edges=maybe}", "passes:1:43: error: "),
    "an unclosed brace": ("--passes=preserve-control-deps{", "passes:1:22: error: "),
    "a nested pipeline": ("--passes=preserve-control-deps(x)", "passes:1:1: error: "),
    "an MLIR pass": ("--passes=cse", "passes:1:1: error: 'cse' is not an HLO pass"),
    "nothing between commas": ("--passes=,", "passes:1:1: error: "),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_passes_have_their_column(source: Path, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    argument, message = FAULTS[fault]
    assert run(argument, source) == 1
    assert capsys.readouterr().err.startswith(message)


def test_missing_input_and_unwritable_output(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "nowhere.hlo") == 1
    assert "nowhere.hlo: error: cannot read the file" in capsys.readouterr().err
    assert run("--emit=proto", source, "-o", tmp_path / "no" / "where.pb") == 1
    assert "where.pb: error: cannot write the file" in capsys.readouterr().err


def test_a_wrong_command_line_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("--emit=xml")
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_lists_and_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list-passes") == 0
    assert "rewire=first:" in capsys.readouterr().out
    assert run("--version") == 0
    assert "neuron-ctrldep" in capsys.readouterr().out


def test_it_imports_no_bindings(source: Path) -> None:
    """Start-up: neither jax nor jaxlib, nor numpy with it, in the process that edits a proto."""
    code = (
        "import sys; from neuron_ctrldep.tools.hlo_opt import main; "
        f"main(['--emit=proto', {PASSES!r}, {str(source)!r}, '-o', '/dev/null']); "
        "print([m for m in ('jax', 'jaxlib', 'numpy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
