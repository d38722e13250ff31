"""Outputs go where a link leads; inputs may start with a byte order mark, and paths may be bytes."""

from __future__ import annotations

import gc
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_ctrldep.chain import CheckResult, check, lower
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.files import decode_utf8, read_bytes, write_output
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.loading import load
from neuron_ctrldep.penguin.reader import read_penguin

# --- outputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path: Path, is_there: bool) -> None:
    target, link, outer = tmp_path / "folder" / "target", tmp_path / "link", tmp_path / "outer"
    target.parent.mkdir()
    if is_there:
        target.write_text("old")
        target.chmod(0o640)
    link.symlink_to(Path("folder") / "target")
    outer.symlink_to(link)
    write_output(str(outer), "new")
    assert (link.is_symlink(), outer.is_symlink()) == (True, True)
    assert target.read_text() == "new"
    if is_there:
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(one.name for one in target.parent.iterdir()) == ["target"]


def test_links_in_a_circle_are_a_fault(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(InputError, match="cannot write the file: Too many levels of symbolic links"):
        write_output(str(one), "new")
    assert one.is_symlink()


@pytest.mark.parametrize("through_link", [False, True])
def test_a_pipe_is_written_to(tmp_path: Path, through_link: bool) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_output(str(link if through_link else pipe), "text")
    reader.join()
    assert got == [b"text"]
    assert (pipe.is_fifo(), link.is_symlink()) == (True, True)


def test_the_file_behind_stdout_keeps_what_else_is_written_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = (
        "import os, sys; from neuron_ctrldep.files import write_output;"
        "os.write(1, b'before '); write_output(sys.argv[1], 'text'); os.write(1, b' after')"
    )
    with out.open("wb") as stream:
        subprocess.run([sys.executable, "-c", program, str(out)], stdout=stream, check=True)
    assert out.read_text() == "before text after"


# --- inputs -----------------------------------------------------------------------------------------------------------

MARK = b"\xef\xbb\xbf"
HLO = b"""HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  ROOT s = f32[4] sine(x), control-predecessors={a}
}
"""
MLIR = b"""module { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = stablehlo.negate %x : tensor<4xf32>
  %w = stablehlo.custom_call @AwsNeuronControlDep(%a, %x) {has_side_effect = true} :
    (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.sine %w : tensor<4xf32>
  return %s : tensor<4xf32>
} }
"""


@pytest.mark.parametrize("text", [HLO, MLIR])
def test_a_byte_order_mark_is_skipped(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(MARK + text)
    for source in (MARK + text, path):
        result = check(source)
        assert isinstance(result, CheckResult)
        assert [edge.verdict for edge in result.edges] == ["kept"]
    assert read_bytes(str(path)) == text


@pytest.mark.parametrize(
    ("text", "place"),
    [(b"module { oops }", "m:1:10"), (b"HloModule m\nENTRY e { x = f32[4] bogus() }", "m:2:22")],
)
def test_columns_do_not_count_the_mark(text: bytes, place: str) -> None:
    for mark in (b"", MARK):
        with pytest.raises(InputError) as caught:
            check(mark + text, file="m")
        assert str(caught.value).startswith(f"{place}: error")


def test_the_place_of_a_bad_byte_does_not_count_the_mark() -> None:
    for mark in (b"", MARK):
        with pytest.raises(InputError, match=r"^m:1:3: error: not UTF-8 text: byte 0xff at offset 2"):
            decode_utf8(mark + b"ab\xff", "m")


def test_a_path_may_give_bytes(tmp_path: Path) -> None:
    path = tmp_path / "é.hlo"
    path.write_bytes(HLO)

    class Held:
        def __fspath__(self) -> bytes:
            return os.fsencode(path)

    assert isinstance(load(Held()), HloModule)
    assert lower(Held()).file == str(path)
    assert len(check(Held()).edges) == 1


def test_a_path_may_give_bytes_of_a_task_program(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "manual_scope_race.mlir"
    held = type("Held", (), {"__fspath__": lambda self: os.fsencode(example)})()
    assert check(held).lost


# --- threads ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def yielding_collector() -> Iterator[None]:
    """Garbage collection that comes often and lets other threads run, as a finalizer may at any time."""
    thresholds = gc.get_threshold()

    def give_way(_phase: str, _info: dict[str, int]) -> None:
        time.sleep(0)

    gc.callbacks.append(give_way)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(give_way)


@pytest.mark.usefixtures("yielding_collector")
def test_programs_are_read_in_several_threads_at_a_time() -> None:
    """CPython 3.11 raises a SystemError when a thread parses while another is in the middle of it (gh-106905)."""
    text = lower(HLO).penguin()
    faults: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(5):
                read_penguin(text)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
