"""Inputs by content, and versions that do not fit. Artifacts of other versions are of the corpus, or made by hand."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.exported import read_exported
from neuron_ctrldep.files import read_bytes
from neuron_ctrldep.hlo.module import load_hlo
from neuron_ctrldep.hlo.schema import HloProto
from neuron_ctrldep.inputs import load_mlir, recognise

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "jax_export"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")

PROGRAM = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def artifact() -> bytes:
    return mlir.serialize_portable(mlir.parse_module(PROGRAM), "1.0.0")


def exported(module: bytes, *, cut: int = 0) -> bytes:
    """A flatbuffer with the two fields that are read: the version (offset 4) and the module (offset 30)."""
    fields = 14
    vtable_size, table_size = 4 + 2 * fields, 12
    offsets = [0] * fields
    offsets[0], offsets[13] = 4, 8
    vtable = struct.pack(f"<HH{fields}H", vtable_size, table_size, *offsets)
    table_at = 4 + len(vtable)
    table = struct.pack("<iHxxI", len(vtable), 3, 4)
    data = struct.pack("<I", table_at) + vtable + table + struct.pack("<I", len(module)) + module
    return data[: len(data) - cut]


def with_version(artifact: bytes, version: str) -> bytes:
    """``artifact`` as if another version had written it; the name has as many characters."""
    assert len(version) == len("1.0.0")
    return artifact.replace(b"StableHLO_v1.0.0", f"StableHLO_v{version}".encode(), 1)


def zipped(data: bytes) -> bytes:
    """An archive with one file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("in.mlir", data)
    return buffer.getvalue()


def fault(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        load_mlir(data, file="in")
    return str(caught.value)


def outcome(data: bytes) -> str:
    """The program, or the fault."""
    try:
        return str(load_mlir(data, file="in"))
    except InputError as error:
        return str(error)


def test_kinds_are_told_by_content(artifact: bytes) -> None:
    bytecode = mlir.to_bytecode(mlir.parse_module(PROGRAM))
    assert recognise(PROGRAM.encode()).kind == "text"
    assert recognise(bytecode).kind == "bytecode"
    assert recognise(bytecode).producer.startswith("MLIR")
    assert (recognise(artifact).kind, recognise(artifact).producer) == ("portable", "StableHLO_v1.0.0")
    assert (recognise(exported(artifact)).kind, recognise(exported(artifact)).payload) == ("exported", artifact)


def test_all_kinds_bring_the_same_program(artifact: bytes) -> None:
    inputs = (PROGRAM.encode(), mlir.to_bytecode(mlir.parse_module(PROGRAM)), artifact, exported(artifact))
    assert len({str(load_mlir(data)) for data in inputs}) == 1


def test_names_with_bytes_that_are_no_text_survive() -> None:
    module = mlir.parse_module('func.func private @"\\FF\\00x"()')
    assert str(load_mlir(mlir.to_bytecode(module))) == str(module)


def test_ops_of_unknown_dialects_are_refused_in_bytecode_too() -> None:
    context = mlir.make_context(allow_unregistered=True)
    bytecode = mlir.to_bytecode(mlir.parse_module('"unknown.op"() : () -> ()', context=context))
    assert "dialect 'unknown' is unknown" in fault(bytecode)
    allowed = load_mlir(bytecode, context=mlir.make_context(allow_unregistered=True))
    assert "unknown.op" in str(allowed)


# --- what is something else -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pack", "words"),
    [
        (gzip.compress, r"gzip data; unpack it first \(gunzip\)"),
        (bz2.compress, "bzip2 data"),
        (lzma.compress, "xz data"),
        (zipped, "a zip archive; unpack it first"),
    ],
)
def test_packed_data_is_to_be_unpacked(pack: Callable[[bytes], bytes], words: str, tmp_path: Path) -> None:
    packed = pack(PROGRAM.encode())
    assert re.fullmatch(f"in: error: this is {words}.*", fault(packed))
    path = tmp_path / "in.mlir"
    path.write_bytes(packed)
    with pytest.raises(InputError, match=f"this is {words}"):
        read_bytes(str(path))


def test_hlo_protos_are_sent_to_the_tools_that_read_them() -> None:
    text = "HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }"
    module = load_hlo(text.encode()).to_bytes()
    wrapped = HloProto()
    wrapped.hlo_module.ParseFromString(module)
    for data in (module, wrapped.SerializeToString()):
        message = fault(data)
        assert message.startswith("in: error: this is a serialized HLO module")
        assert "neuron-ctrldep-translate --hlo-to-stablehlo" in message
        assert "neuron-ctrldep lower" in message


@pytest.mark.parametrize("text", ["\nmodule {}", "\n\nmodule {}", "\n \nmodule {}", "\n\n\n"])
def test_text_that_starts_with_line_ends_is_text(text: str) -> None:
    assert recognise(text.encode()).kind == "text"
    assert str(load_mlir(text.encode())).split() == ["module", "{", "}"]


@pytest.mark.parametrize("length", [4, 8, 20, 39])
def test_the_first_bytes_of_an_export_are_no_text(artifact: bytes, length: int) -> None:
    assert "looks like a serialized jax.export.Exported that is cut off or damaged" in fault(
        exported(artifact)[:length]
    )


def test_text_in_another_encoding() -> None:
    assert "not UTF-8 text" in fault(PROGRAM.encode("utf-16"))


# --- versions ---------------------------------------------------------------------------------------------------------


def test_an_artifact_that_is_too_new(artifact: bytes) -> None:
    # Sound content with a version that does not exist yet is read; damaged content says which version wrote it.
    text = fault(with_version(artifact, "9.9.9")[:-40])
    assert "in: error: this portable artifact was written by StableHLO 9.9.9" in text
    assert f"the installed jaxlib reads 0.9.0 to {mlir.stablehlo_version()}" in text
    assert "Install a newer jaxlib" in text


def test_an_artifact_that_is_too_old(artifact: bytes) -> None:
    text = fault(with_version(artifact, "0.1.0")[:-40])
    assert "was written by StableHLO 0.1.0" in text
    assert "Install an older jaxlib" in text


@needs_corpus
@pytest.mark.parametrize("suffix", ["bin", "exported"])
def test_the_op_in_the_way_is_named(suffix: str) -> None:
    data = (CORPUS / f"marker_plain.{suffix}").read_bytes()
    if mlir.stablehlo_version().split(".")[1] < "18":
        text = fault(data)
        assert "was written by StableHLO 1.18.0" in text
        assert "does not know 'vhlo.custom_call_v2'" in text
        assert "--serialize-portable=1.17.0" in text
    else:
        assert "AwsNeuronControlDep" in str(load_mlir(data))


@needs_corpus
def test_artifacts_of_the_oldest_supported_jaxlib_are_read() -> None:
    found = sorted(CORPUS.glob("*.jaxlib_0_10_2.bin"))
    assert found
    for path in found:
        assert "stablehlo." in str(load_mlir(path.read_bytes(), file=path.name))


@needs_corpus
def test_every_export_is_read_or_says_why_not() -> None:
    for path in sorted(CORPUS.glob("*.exported")):
        text = outcome(path.read_bytes())
        assert "func.func" in text or "was written by StableHLO" in text


# --- damage -----------------------------------------------------------------------------------------------------------


def test_an_export_that_is_cut_off(artifact: bytes) -> None:
    assert "is cut off: its module has" in fault(exported(artifact, cut=10))


# The head is what tells an export by: where its table is (4 bytes), the vtable (32), where that is (4).
@pytest.mark.parametrize("length", [0, 3, 4, 20, 39])
def test_less_than_the_head_of_an_export_is_not_one(artifact: bytes, length: int) -> None:
    assert read_exported(exported(artifact)[:length]) is None


@pytest.mark.parametrize("length", [40, 47, 48, 51, 52, 55])
def test_the_head_of_an_export_without_its_module_is_called_damaged(artifact: bytes, length: int) -> None:
    message = fault(exported(artifact)[:length])
    assert "looks like a damaged serialized jax.export.Exported" in message
    assert f"not in the {length} bytes" in message


def test_an_export_with_another_module_is_called_damaged(artifact: bytes) -> None:
    assert "looks like a damaged serialized" in fault(exported(b"no bytecode at all"))


def test_random_bytes_are_no_export() -> None:
    source = random.Random(1)
    for _ in range(2000):
        read_exported(source.randbytes(source.randrange(80)))


def test_damaged_bytecode_is_a_fault_or_still_a_program(artifact: bytes) -> None:
    """Each is read in a process of its own, so there are only a few."""
    source = random.Random(7)
    for _ in range(6):
        damaged = bytearray(artifact)
        for _ in range(4):
            damaged[source.randrange(24, len(damaged))] = source.randrange(256)
        assert outcome(bytes(damaged)).startswith(("in: error: ", "module {"))


def test_a_reader_that_crashes_is_reported(monkeypatch: pytest.MonkeyPatch, artifact: bytes) -> None:
    from neuron_ctrldep import bytecode_guard

    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(bytecode_guard, "_START", crash)
    assert fault(artifact) == "in: error: MLIR's bytecode reader crashed (SIGSEGV): the file is damaged"
    monkeypatch.setattr(bytecode_guard, "_START", "import sys; sys.exit('out of luck')")
    assert fault(artifact) == "in: error: MLIR's bytecode reader failed (out of luck): the file is damaged"


def test_a_reader_that_never_comes_back_is_ended(monkeypatch: pytest.MonkeyPatch, artifact: bytes) -> None:
    from neuron_ctrldep import bytecode_guard

    monkeypatch.setattr(bytecode_guard, "_CPU_SECONDS", 1)
    patch = (
        "; import neuron_ctrldep.mlir as m; m.deserialize_portable = lambda *a, **k: [0 for _ in iter(int, 1)]; main()"
    )
    busy = bytecode_guard._START.replace("; main()", patch)
    monkeypatch.setattr(bytecode_guard, "_START", busy)
    assert fault(artifact) == "in: error: MLIR's bytecode reader did not come back: the file is damaged"


def test_aliases_that_stand_for_each_other_too_deep_are_refused() -> None:
    def chain(length: int) -> str:
        lines = ["#a0 = 1 : i32", *(f"#a{number} = [#a{number - 1}]" for number in range(1, length))]
        return "\n".join([*lines, f"module attributes {{a.b = #a{length - 1}}} {{}}"])

    assert mlir.parse_module(chain(900)).name == "builtin.module"
    with pytest.raises(InputError, match=r"-:1001:1: error: aliases stand for each other more than 1000 deep"):
        mlir.parse_module(chain(1500))


def test_a_nul_byte_has_its_place() -> None:
    with pytest.raises(InputError, match="in:2:3: error: the text holds a NUL byte"):
        mlir.parse_module("module {\n  \0}", file="in")
