"""``neuron-ctrldep-translate`` in process: statuses, outputs that are whole or not there, weights, split input."""

import json

import numpy as np
import pytest

from neuron_ctrldep.penguin.reader import read_penguin
from neuron_ctrldep.tools.common import run_tool
from neuron_ctrldep.tools.translate import NAME, TRANSLATIONS, main

EDGE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.sine %x : tensor<4xf32> loc("p")
  %w = stablehlo.custom_call @AwsNeuronControlDep(%p, %x) {has_side_effect = true}
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.cosine %w : tensor<4xf32> loc("s")
  return %s : tensor<4xf32>
}
"""
WEIGHT = """
func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32> loc("big")
  return
}
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Run the tool in an empty folder that holds ``in.mlir``; gives status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(source, *args):
        (tmp_path / "in.mlir").write_bytes(source if isinstance(source, bytes) else source.encode())
        status = run_tool(NAME, main, ["in.mlir", *args])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


def test_edges(run):
    status, out, _ = run(EDGE, "--mlir-to-edges")
    assert status == 0
    assert json.loads(out) == [{"kind": "ORDERED", "src": "p", "dst": "s"}]


def test_weights_lie_beside_the_output(run, tmp_path):
    (tmp_path / "sub").mkdir()
    assert run(WEIGHT, "--mlir-to-penguin", "-o", "sub/net.v2.py")[0] == 0
    assert sorted(p.name for p in (tmp_path / "sub").iterdir()) == ["net.v2.py", "net_v2.big.npy"]
    assert 'weight_load("net_v2.big.npy")' in (tmp_path / "sub" / "net.v2.py").read_text()
    assert np.load(tmp_path / "sub" / "net_v2.big.npy").tolist() == [1.0, 2.0]


def test_weights_of_stdout_lie_in_the_current_folder(run, tmp_path):
    status, out, _ = run(WEIGHT, "--mlir-to-penguin")
    assert status == 0
    assert 'weight_load("in.big.npy")' in out
    assert np.load(tmp_path / "in.big.npy").tolist() == [1.0, 2.0]


def test_weights_lie_where_they_are_asked_for(run, tmp_path):
    status, out, _ = run(WEIGHT, "--mlir-to-penguin=weights-dir=w")
    assert status == 0
    assert 'weight_load("w/in.big.npy")' in out
    assert np.load(tmp_path / "w" / "in.big.npy").tolist() == [1.0, 2.0]
    status, _, err = run(WEIGHT, "--mlir-to-penguin=weights-dir=in.mlir", "-o", "out.py")
    assert status == 1
    assert err == "in.mlir/out.big.npy: error: cannot write the file: Not a directory\n"
    assert not (tmp_path / "out.py").exists()


def test_options_of_penguin(run):
    status, out, _ = run(EDGE, "--mlir-to-penguin=edges-only")
    assert status == 0
    assert out == (
        "s.add_dep_edge(m6.DependencyEdge(src=p, dst=s, idx_map=[], kind=m6.EdgeKind.ORDERED, predicates=[]))\n"
    )
    unknown = EDGE.replace("stablehlo.sine %x :", "stablehlo.reshape %x :").replace(
        "reshape %x : tensor<4xf32>", "reshape %x : (tensor<4xf32>) -> tensor<4xf32>"
    )
    assert run(unknown, "--mlir-to-penguin=strict=false")[0] == 0
    status, out, err = run(unknown, "--mlir-to-penguin=strict=true,edges-only", "-o", "out.py")
    assert (status, out) == (1, "")
    assert "'stablehlo.reshape' (p) has no form in Penguin" in err


def test_split_input(run, tmp_path):
    status, out, _ = run(WEIGHT + "// -----" + WEIGHT + "// -----" + EDGE, "--mlir-to-penguin", "--split-input-file")
    assert status == 0
    first, second, third = out.split("// -----\n")
    assert 'weight_load("in_0.big.npy")' in first
    assert 'weight_load("in_1.big.npy")' in second
    assert [(e.src, e.dst) for e in read_penguin(third).edges()] == [("p", "s")]
    status, _, err = run(WEIGHT + "// -----\nnonsense", "--mlir-to-edges", "--split-input-file", "-o", "out.json")
    assert status == 1
    assert err.startswith(f"in.mlir:{WEIGHT.count(chr(10)) + 2}:1: error:")
    assert not (tmp_path / "out.json").exists()


TEXTS = [b"", b"\n", b"\0", b"\xff\xfe", b"module {", b"\n\rmodule { func.func", b"import os"]
BYTECODE = [b"ML\xefR", b"ML\xefR\x06MLIR22\0", b"ML\xefR\x06StableHLO_v1.0.0\0"]
# Bytecode is met in a child process, and all translations from MLIR read it in the same way.
BAD = [(name, source) for name in TRANSLATIONS for source in TEXTS] + [
    (name, source) for name in ("mlir-to-edges", "deserialize-portable", "hlo-to-mhlo") for source in BYTECODE
]


@pytest.mark.parametrize(("name", "source"), BAD)
def test_bad_input_is_one_clear_message(run, tmp_path, name, source):
    status, out, err = run(source, f"--{name}", "-o", "out")
    assert (status, out) == (1, "")
    assert "error:" in err
    assert "in.mlir" in err
    assert "internal error" not in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written(run, tmp_path):
    status, _, err = run(EDGE, "--mlir-to-edges", "-o", "missing/out.json")
    assert status == 1
    assert err == "missing/out.json: error: cannot write the file: No such file or directory\n"


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--mlir-to-penguin", "--mlir-to-edges"],
        ["--mlir-to-penguin=fast"],
        ["--mlir-to-penguin=weights-dir"],
        ["--mlir-to-edges=x"],
        ["--split-input-file", "--hlo-to-mhlo"],
        ["--nothing"],
    ],
)
def test_wrong_command_lines(run, args):
    with pytest.raises(SystemExit) as caught:
        run(EDGE, *args)
    assert caught.value.code == 2


def test_a_file_is_never_the_value_of_a_flag(run):
    assert run(EDGE, "--mlir-to-penguin")[0] == 0
    with pytest.raises(SystemExit):
        run(EDGE, "--mlir-to-penguin", "another.mlir")


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("neuron-ctrldep ")
