"""``neuron-ctrldep-opt`` as a process: start-up, exit statuses, and what comes out of faults."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_ctrldep.errors import Diagnostic, SourceLocation
from neuron_ctrldep.mlir import modules
from neuron_ctrldep.tools.common import run_tool
from neuron_ctrldep.tools.opt import NAME, main

MODULE = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n"


def opt(*args: str | Path) -> int:
    """The tool in this process; its exit status."""
    try:
        return run_tool(NAME, main, [str(argument) for argument in args])
    except SystemExit as error:  # argparse
        return int(error.code or 0)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(MODULE)
    return path


def test_the_output_parses_back(source: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert opt(source, "--mlir-print-op-generic", "-o", first) == 0
    assert opt(first, "--emit-bytecode", "-o", second) == 0
    assert opt(second, "--mlir-print-op-generic", "-o", second) == 0
    assert first.read_text() == second.read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", ":1:1: error: not UTF-8 text: byte 0xff at offset 0"),
        (b"module {\n  func.func @\xc3(", ":2:14: error: not UTF-8 text"),
        (b"garbage", ":1:1: error: "),
        (b"module {", ":1:"),
        (b"module {}\0", ":1:10: error: the text holds a NUL byte"),
        (b"// a comment\nHloModule m\n", ":0:0: error: this is HLO text, expected MLIR"),
        (b"ML\xefR", ":0:0: error: "),
        (b"ML\xefR" + bytes(range(256)), ":0:0: error: "),
        (bytes(range(256)), ":2:118: error: not UTF-8 text"),
        (b"\0" * 100, ":1:1: error: the text holds a NUL byte"),
        (b"module {" * 5000, ":1:8008: error: regions are nested more than 1000 deep"),
        ('func.func @"é"() { return } bad'.encode(), ":1:30: error: custom op 'bad' is unknown"),
    ],
)
def test_faults_of_the_input(content: bytes, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes(content)
    assert opt(path, "--cse", "-o", out) == 1
    err = capfd.readouterr().err
    assert str(path) + message in err
    assert "Traceback" not in err
    assert "internal error" not in err
    assert not out.exists()


def test_the_caret_counts_characters(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in"
    path.write_text('func.func private @"ééé"() bad')
    assert opt(path) == 1
    # MLIR's column counts bytes; the caret stands below the word.
    place, row, caret = capfd.readouterr().err.splitlines()
    assert ":1:31: error" in place
    assert row[caret.index("^") :] == "bad"


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["--pass-pipeline=cse"], 1, "pass-pipeline:1:1: error: expected pass pipeline to be wrapped"),
        (["--cse=a=1"], 1, "command-line:1:7: error: no such option a of pass 'cse'"),
        (["--no-such-flag"], 2, "Unknown command line argument '--no-such-flag'"),
        (["--cse", "--pass-pipeline=builtin.module(cse)"], 2, "can't be used with individual pass options"),
        (["--verify-each=perhaps"], 2, "'perhaps' is invalid value for boolean argument"),
        (["--verify-diagnostics=some"], 2, "invalid choice: 'some'"),
        (["--emit-bytecode", "--emit-bytecode-version=-1"], 1, "unsupported version requested -1"),
        (["--emit-bytecode-version=3"], 1, "<unknown>:0: error: bytecode version while not emitting bytecode"),
        (["--emit-bytecode-version=one"], 2, "'one' value invalid for integer argument"),
        (["--mlir-timing=maybe"], 2, "invalid value for boolean argument"),
        (["--mlir-print-ir-after", "--cse"], 2, "Cannot find option named ''!"),
        (["--mlir-print-ir-after=nothing"], 2, "Cannot find option named 'nothing'!"),
        (["--mlir-generate-reproducer=/no/such/folder/r"], 1, "cannot write the file"),
        (["--mlir-print-ir-after-all", "--mlir-print-ir-tree-dir=/dev/null/x", "--cse"], 1, "cannot make the folder"),
        (["-o"], 2, "expected one argument"),
        (["second.mlir"], 2, "unrecognized arguments: second.mlir"),
    ],
)
def test_faults_of_the_command_line(
    args: list[str], status: int, message: str, source: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert opt(source, *args) == status
    out, err = capfd.readouterr()
    assert message in err
    assert "Traceback" not in err
    assert out == ""


def test_switches_can_be_turned_off(source: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert opt(source, "--mlir-timing=false", "--mlir-print-op-generic=0") == 0
    out, err = capfd.readouterr()
    assert out.startswith("module {")
    assert err == ""


def test_a_place_in_another_file_shows_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, path = tmp_path / "model.py", tmp_path / "in.mlir"
    model.write_text("def f():\n\treturn 3\n")
    path.write_text(f'func.func @f() -> i32 {{ return loc("{model}":2:2) }}')
    assert opt(path) == 1
    assert capsys.readouterr().err.split("\n")[1:3] == ["        return 3", "        ^"]
    # What is no text file, or is not there, has no line to show.
    for other in (tmp_path, tmp_path / "gone.py", Path("/dev/zero")):
        path.write_text(f'func.func @f() -> i32 {{ return loc("{other}":1:1) }}')
        assert opt(path) == 1
        assert capsys.readouterr().err.split("\n")[1].startswith(f"{other}:1:1: note: ")


def test_symbols_cannot_leave_the_tree_of_dumps(tmp_path: Path) -> None:
    path, tree = tmp_path / "in.mlir", tmp_path / "tree"
    path.write_text('module @"../../up" { func.func @"/etc/x"() { return } func.func @"\\FF"() { return } }')
    pipeline = "--pass-pipeline=builtin.module(func.func(cse))"
    assert opt(path, "--mlir-print-ir-after-all", f"--mlir-print-ir-tree-dir={tree}", pipeline, "-o", os.devnull) == 0
    found = sorted(str(file.relative_to(tree)) for file in tree.rglob("*.mlir"))
    assert found == [
        "builtin_module_.._.._up/func_func__/0_0_cse.mlir",
        "builtin_module_.._.._up/func_func__etc_x/0_0_cse.mlir",
    ]


# --- a process that dies ----------------------------------------------------------------------------------------------


def guarded(body: str) -> subprocess.CompletedProcess[str]:
    script = (
        "import os, signal, sys; from neuron_ctrldep.tools.common import run_guarded\n"
        f"def main(args):\n    {body}\nsys.exit(run_guarded('tool', main))"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)


def test_a_death_is_reported() -> None:
    child = guarded("os.kill(os.getpid(), signal.SIGSEGV)")
    assert child.returncode == 1
    assert child.stderr.startswith("tool: error: the process was ended by SIGSEGV")


def test_an_end_without_a_return_is_no_success() -> None:
    child = guarded("os._exit(0)")
    assert child.returncode == 1
    assert child.stderr.startswith("tool: error: the process was ended before its work was done")


def test_a_status_that_is_raised_is_passed_on() -> None:
    child = guarded("sys.exit(0)")
    assert (child.returncode, child.stderr) == (0, "")


@pytest.mark.parametrize("status", [0, 1, 2])
def test_a_status_is_passed_on(status: int) -> None:
    child = guarded(f"print('out'); return {status}")
    assert (child.returncode, child.stdout, child.stderr) == (status, "out\n", "")


def test_a_failed_check_in_a_pass(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("func.func private @not_main()")
    # Shardy's propagation looks @main up, and ends the process if it is not there.
    script = "import sys; from neuron_ctrldep.tools.opt import entry; entry()"
    command = [sys.executable, "-c", script, "in.mlir", "--sdy-propagation-pipeline"]
    child = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert child.returncode in (0, 1)
    if child.returncode == 1:
        assert "neuron-ctrldep-opt: error: the process was ended by SIGABRT" in child.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mlir"]


def test_closed_and_full_streams(source: Path) -> None:
    script = "import sys; from neuron_ctrldep.tools.opt import entry; entry()"
    for redirection, message in [
        ("<&-", "-: error: cannot read stdin: it is closed"),
        (">&- < /dev/null", "-: error: cannot write to stdout: it is closed"),
        ("> /dev/full < /dev/null", "-: error: cannot write to stdout: No space left on device"),
    ]:
        command = f'"{sys.executable}" -c "{script}" {redirection}'
        child = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
        assert (child.returncode, child.stderr) == (1, message + "\n")


# --- start-up ---------------------------------------------------------------------------------------------------------


def test_no_jax_and_no_pass_that_is_not_asked_for(source: Path) -> None:
    script = (
        "import sys; from neuron_ctrldep.tools.opt import main; main(sys.argv[1:]);print(*sys.modules, file=sys.stderr)"
    )
    child = subprocess.run([sys.executable, "-c", script, source, "--cse"], capture_output=True, text=True, check=True)
    loaded = child.stderr.split()
    assert not [name for name in loaded if name == "jax" or name.startswith("jax.")]
    assert not {"neuron_ctrldep.passes.flatten", "neuron_ctrldep.task"} & set(loaded)


def test_help_and_completion_do_not_load_the_bindings() -> None:
    for flag in ("--help", "--completion=bash"):
        script = (
            "import atexit, sys; from neuron_ctrldep.tools.opt import main\n"
            f"atexit.register(lambda: print('jaxlib' in sys.modules)); main(['{flag}'])"
        )
        child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert child.stdout.splitlines()[-1] == "False"


def test_long_lines_are_cut(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in"
    path.write_text("//" + "x" * 10 + "\n" + " " * 100_000 + "bad" + " " * 100_000)
    assert opt(path) == 1
    _, row, caret = capfd.readouterr().err.splitlines()
    assert len(row) < 500
    assert row[caret.index("^") :].startswith("bad")


@pytest.mark.parametrize("to_all", [False, True], ids=["the tool alone", "all of it, as a terminal does"])
def test_an_interrupt_ends_the_tool(to_all: bool) -> None:
    script = (
        "import os, sys, time; from neuron_ctrldep.tools.common import run_guarded\n"
        "def main(args):\n    os.write(1, b'.')\n    for _ in range(600):\n        time.sleep(0.1)\n    return 0\n"
        "sys.exit(run_guarded('tool', main))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    child.stdout.read(1)
    os.killpg(child.pid, signal.SIGINT) if to_all else child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert (child.returncode, said) == (130, b"")


def test_text_of_an_older_mlir_has_advice() -> None:

    message = (
        "inherent attribute 'a' cannot be parsed from attr-dict when strict properties in assembly format is enabled"
    )
    fault = modules._with_advice(Diagnostic("error", message, SourceLocation("a.mlir", 1, 2)))
    assert [note.message for note in fault.notes] == [
        "this is text of an older MLIR; have it printed in the generic form there (--mlir-print-op-generic)"
    ]


def test_a_reproducer_of_cpp_passes_is_in_the_form_that_every_mlir_reads(tmp_path: Path) -> None:
    source, file = tmp_path / "in.mlir", tmp_path / "repro.mlir"
    source.write_text(
        'func.func @f() { "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> '
        ": () -> memref<4xf32> return }"
    )
    for passes, expected in ((["--cse"], '"func.func"'), (["--verify-control-deps"], "func.func @f")):
        assert main([str(source), *passes, f"--mlir-generate-reproducer={file}", "-o", os.devnull]) == 0
        assert expected in file.read_text()
        assert main([str(file), "--run-reproducer", "-o", os.devnull]) == 0


def test_who_ignores_the_end_of_children_waits_all_the_same() -> None:
    script = (
        "import signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from neuron_ctrldep.tools.common import run_guarded\n"
        "sys.exit(run_guarded('tool', lambda args: 3))"
    )
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=False)
    assert (child.returncode, child.stderr) == (3, b"")
