"""The child process: however it ends, the parent gets one error and can go on."""

from __future__ import annotations

import functools
import io
import time

import pytest

from neuron_ctrldep import mlir
from neuron_ctrldep.hlo import child as child_module
from neuron_ctrldep.hlo.child import Child, RequestError
from neuron_ctrldep.hlo.worker import read_frame, write_frame
from tests.hlo.support import text_to_proto

SOUND = text_to_proto("HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}")


DIE = "import os, sys; sys.stderr.write({!r}); sys.stderr.flush(); os.abort()"
XLA_LOG = """I0000 00:00:1.4 7 a.cc:3] hello
F0000 00:00:1.5 7 a.cc:12] Check failed: x == y (1 vs. 2)
*** Check failure stack trace: ***
    @ 0x1 f()
"""


def failure_of(program: str, monkeypatch: pytest.MonkeyPatch, timeout: float = 60.0) -> RequestError:
    """What is raised when the child runs ``program`` instead of the worker."""
    monkeypatch.setattr(child_module, "_START", program)
    with Child(timeout=timeout) as child, pytest.raises(RequestError) as caught:
        child.import_hlo(SOUND, "stablehlo")
    return caught.value


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it ended with SIGSEGV"),
        ("raise SystemExit(3)", "it exited with status 3"),
        ("raise SystemExit('no room')", "it exited with status 1: no room"),
        (DIE.format(XLA_LOG), "Check failed: x == y (1 vs. 2)"),
        (DIE.format("LLVM ERROR: out of luck\n"), "out of luck"),
    ],
    ids=["signal", "status", "status and words", "XLA's last words", "LLVM's last words"],
)
def test_a_death_is_told_with_its_last_words(monkeypatch, program, message):
    failure = failure_of(program, monkeypatch)
    assert (failure.kind, failure.message) == ("died", message)


def test_a_hang_ends_after_the_timeout(monkeypatch):
    start = time.monotonic()
    failure = failure_of("import time; time.sleep(600)", monkeypatch, timeout=0.3)
    assert (failure.kind, failure.message) == ("timeout", "it did not end within 0.3 s")
    assert time.monotonic() - start < 30


def test_a_child_is_started_again_after_a_death(monkeypatch):
    with Child() as child:
        with monkeypatch.context() as patch:
            patch.setattr(child_module, "_START", "raise SystemExit(3)")
            with pytest.raises(RequestError):
                child.import_hlo(SOUND, "stablehlo")
        assert child.import_hlo(SOUND, "stablehlo").startswith(mlir.BYTECODE_MAGIC)


def test_a_closed_child_can_be_used_again():
    child = Child()
    child.close()
    assert child.import_hlo(SOUND, "stablehlo") == child.import_hlo(SOUND, "stablehlo")
    child.close()
    assert child.import_hlo(SOUND, "stablehlo")
    child.close()


def test_the_child_does_not_depend_on_the_environment(monkeypatch, tmp_path):
    # A module that shadows jaxlib in the working directory, and a path that holds nothing.
    (tmp_path / "jaxlib").mkdir()
    (tmp_path / "jaxlib" / "__init__.py").write_text("raise ImportError('the wrong one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Child() as child:
        assert child.import_hlo(SOUND, "stablehlo")


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"not a proto", SOUND[: len(SOUND) // 2]])
def test_bytes_that_are_no_module_are_refused(data):
    with Child() as child:
        with pytest.raises(RequestError):
            child.import_hlo(data, "stablehlo")
        with pytest.raises(RequestError):
            child.export_hlo(data)
        assert child.import_hlo(SOUND, "stablehlo")


def test_frames():
    stream = io.BytesIO()
    write_frame(stream, {"a": "ä"}, b"\0\1")
    write_frame(stream, {})
    whole = stream.getvalue()
    stream.seek(0)
    assert read_frame(stream) == ({"a": "ä"}, b"\0\1")
    assert read_frame(stream) == ({}, b"")
    for cut in (0, 3, 9, len(whole) - 1):
        with pytest.raises(EOFError):
            list(iter(functools.partial(read_frame, io.BytesIO(whole[:cut])), None))
