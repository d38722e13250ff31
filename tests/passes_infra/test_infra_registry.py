"""Registration: what is found by name, what is refused, and options from text."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
import subprocess
import sys
import types

import pytest
from passes_for_tests import Everything, Trace

from neuron_ctrldep.errors import PipelineError
from neuron_ctrldep.passes import registry
from neuron_ctrldep.passes.base import Pass, Statistics
from neuron_ctrldep.passes.cpp import CppPasses
from neuron_ctrldep.passes.cpp_names import CANDIDATES, LIST_OPTIONS
from neuron_ctrldep.passes.listing import describe_options, render_list
from neuron_ctrldep.passes.model import PassCall
from neuron_ctrldep.passes.pipeline import is_pass, parse_pipeline
from neuron_ctrldep.tools.completion import completion_script
from neuron_ctrldep.tools.opt_flags import CommandLine


def entry_points(*points: tuple[str, str]) -> object:
    group = registry.ENTRY_POINT_GROUP
    found = importlib.metadata.EntryPoints(importlib.metadata.EntryPoint(name, value, group) for name, value in points)
    return lambda **how: found.select(**how)


def test_entry_points_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points(("other-trace", "passes_for_tests:Trace")))
    assert registry.find("other-trace") is Trace
    assert "other-trace" in registry.names()
    assert is_pass("other-trace")
    assert str(parse_pipeline("any(other-trace{label=x})")) == "any(other-trace{label=x})"


def test_a_clash_is_an_error_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = entry_points(("mine", "first:Pass"), ("mine", "second:Pass"), ("other-trace", "passes_for_tests:Trace"))
    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    clash = r"two passes are registered as 'mine': first:Pass and second:Pass"
    with pytest.raises(PipelineError, match=clash):
        parse_pipeline("builtin.module(mine)")
    assert re.search(rf"^  --mine +-   \(cannot be loaded: {clash}", render_list(), re.MULTILINE)
    # Other names do not suffer.
    assert registry.find("other-trace") is Trace
    with pytest.raises(PipelineError, match="did you mean 'other-trace'"):
        parse_pipeline("builtin.module(other-trase)")


def test_one_target_that_is_registered_twice_is_no_clash(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = (("mine", "passes_for_tests:Trace"),) * 2
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points(*twice))
    assert registry.find("mine") is Trace


def test_a_builtin_name_stays_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points(("verify-control-deps", "other:Pass")))
    assert registry.target("verify-control-deps") == registry.BUILTIN["verify-control-deps"]
    told = r"^  --verify-control-deps .*\(this name is also claimed by other:Pass, which is not used\)$"
    assert re.search(told, render_list(), re.MULTILINE)


def test_names_that_a_shell_would_read_are_not_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    points = entry_points(("$(echo x)", "passes_for_tests:Trace"), ("other-trace", "passes_for_tests:Trace"))
    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    for shell in ("bash", "zsh"):
        script = completion_script("tool", CommandLine("tool"), shell)
        assert "--other-trace" in script
        assert "echo x" not in script


class Incomplete(Pass):
    """Has a name, and nothing else."""

    name = "incomplete"


@dataclasses.dataclass(frozen=True)
class Unresolved(Trace):
    """An option of a type that does not exist."""

    option: NoSuchType = None  # type: ignore[name-defined] # noqa: F821


def _raise() -> str:
    raise LookupError("no home")


@dataclasses.dataclass(frozen=True)
class BadDefault(Trace):
    """Its default cannot be made."""

    option: str = dataclasses.field(default_factory=_raise)


class BadSummary(Trace):
    """Its summary is no text."""

    summary = 3  # type: ignore[assignment]


class BadCounters(Trace):
    """It has no counters, and says so in its own way."""

    counters = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("incomplete_passes:BadDefault", "is not sound: the default of its option option cannot be made: no home"),
        ("incomplete_passes:BadSummary", "is not sound: its summary is not a str"),
        ("incomplete_passes:BadCounters", "is not sound: its counters are not a mapping of str to str"),
        ("no_such_module:Pass", "cannot be loaded from no_such_module:Pass: No module named"),
        ("passes_for_tests:Nothing", "cannot be loaded from passes_for_tests:Nothing"),
        ("passes_for_tests:REGISTERED", "passes_for_tests:REGISTERED is not a Pass"),
        ("raises_on_import:Pass", "cannot be loaded from raises_on_import:Pass: division by zero"),
        ("incomplete_passes:Incomplete", "does not define summary, run"),
        ("exits_on_import:Pass", "cannot be loaded from exits_on_import:Pass: it ends the process"),
        ("incomplete_passes:Unresolved", "the types of the options of incomplete_passes:Unresolved cannot be read"),
    ],
)
def test_what_cannot_be_loaded(
    value: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "raises_on_import.py").write_text("1 / 0")
    (folder / "exits_on_import.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(folder)
    module = types.ModuleType("incomplete_passes")
    for cls in (Incomplete, Unresolved, BadDefault, BadSummary, BadCounters):
        setattr(module, cls.__name__, cls)
    monkeypatch.setitem(sys.modules, "incomplete_passes", module)
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points(("broken", value)))
    with pytest.raises(PipelineError) as caught:
        parse_pipeline("builtin.module(broken)")
    assert message in str(caught.value)
    # The list shows the others all the same.
    assert message.split(":")[0] in render_list()


class TwoLines(Trace):
    """Its summary has two lines."""

    summary = "Note\nthe ops"


def test_a_row_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("long_passes")
    module.TwoLines = TwoLines  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "long_passes", module)
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points(("two-lines", "long_passes:TwoLines")))
    assert re.search(r"^  --two-lines +-   Note the ops \(on any\)$", render_list(), re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Odd(Trace):
    """An option of a type that has no words."""

    option: tuple[()] = ()


def test_what_cannot_be_shown_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("odd_passes")
    module.Odd = Odd  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "odd_passes", module)
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points(("odd", "odd_passes:Odd")))
    assert re.search(r"^  --odd +-   \(cannot be shown: .*\)$", render_list(), re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Particular(Trace):
    """Checks its options itself."""

    count: int = dataclasses.field(kw_only=True)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count is negative")


@pytest.mark.parametrize(
    ("options", "message"), [("count=-1", "count is negative"), ("label=x", "missing 1 required .* argument: 'count'")]
)
def test_options_that_the_pass_refuses(options: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("particular_passes")
    module.Particular = Particular  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "particular_passes", module)
    points = entry_points(("particular", "particular_passes:Particular"))
    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    expected = f"pass-pipeline:1:16: error: pass 'particular' does not take these options: .*{message}"
    with pytest.raises(PipelineError, match=expected):
        parse_pipeline(f"builtin.module(particular{{{options}}})")
    assert "--particular" in render_list()


def test_a_list_that_no_text_can_say_is_refused() -> None:
    with pytest.raises(PipelineError, match="cannot hold the list"):
        str(PassCall("test-everything", Everything(names=("'\"", "'")), "any"))


def test_pipelines_in_threads_leave_the_standard_error_alone() -> None:
    program = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from neuron_ctrldep.passes.pipeline import parse_pipeline
if "closed" in sys.argv: os.close(2)
if "none" in sys.argv: sys.stderr = None
before = None if "closed" in sys.argv else os.fstat(2)
with ThreadPoolExecutor(8) as pool:
    for made in pool.map(parse_pipeline, ["builtin.module(canonicalize{max-iterations=3})"] * 100):
        assert str(made) == "builtin.module(canonicalize{max-iterations=3})", str(made)
assert before is None or os.fstat(2).st_ino == before.st_ino
"""
    for mode in ("", "none", "closed"):
        subprocess.run([sys.executable, "-c", program, mode], check=True)


def test_names_are_close_enough_to_guess() -> None:
    with pytest.raises(PipelineError, match="did you mean 'verify-control-deps'"):
        parse_pipeline("builtin.module(verify-control-dep)")


def test_most_candidates_are_passes_here() -> None:
    cpp = CppPasses()
    there = [name for name in CANDIDATES if cpp.exists(name)]
    assert len(there) > 0.9 * len(CANDIDATES)
    assert {"cse", "canonicalize", "symbol-dce", "mhlo-flatten-tuple", "stablehlo-legalize-to-hlo"} <= set(there)
    assert not cpp.exists("flatten-control-dep-tuple-operands")


def test_list_options_are_those_of_the_bindings() -> None:
    cpp = CppPasses()
    for name, options in LIST_OPTIONS.items():
        for option in options:
            value = "func.func(cse)" if option == "op-pipelines" else "i1"
            (call,) = parse_pipeline(f"any({name}{{{option}={value}}})").elements
            assert f"{option}={value}" in str(call)
            assert cpp.options(name)[option] == ""
    with pytest.raises(PipelineError, match=r"its options: .*top-down, disable-patterns, enable-patterns"):
        parse_pipeline("any(canonicalize{nope=1})")
    assert re.search(r"^    --op-pipelines +-   \(default: none\)$", render_list(), re.MULTILINE)


@pytest.mark.parametrize("name", ["cse), symbol-dce(", "", " ", "cse{", "func.func(cse"])
def test_only_names_are_names(name: str) -> None:
    assert not is_pass(name)


def test_options_are_described() -> None:
    described = {key: (kind, words) for key, kind, words in describe_options(Everything)}
    assert described["flag"] == ("bool", "(default: false)")
    assert described["mode"] == ("first|second", "(default: first)")
    assert described["numbers"] == ("int,...", "(default: 1,2)")
    assert described["maybe"] == ("string", "(default: none)")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nope": "1"}, "no such option nope of pass 'test-everything'; its options: flag, count"),
        ({"count": "1_000"}, "option 'count' of pass 'test-everything': expected an integer; found '1_000'"),
        ({"ratio": "x"}, "expected a number"),
        ({"mode": ""}, "expected one of first, second"),
        ({"flag": "yes"}, "expected true or false"),
        ({"numbers": "1,,2"}, "expected an integer; found ''"),
    ],
)
def test_options_that_do_not_fit(given: dict[str, str], message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        Everything.from_options(given)
    assert message in str(caught.value)


def test_options_in_several_spellings() -> None:
    spelled = {"count": "0x1F", "flag": "TRUE", "names": "a,{b,c}", "ratio": "1e-3"}
    instance = Everything.from_options(spelled)
    assert (instance.count, instance.flag, instance.names, instance.ratio) == (31, True, ("a", "b,c"), 0.001)


def test_statistics() -> None:
    statistics = Statistics()
    statistics.add("b", 2)
    statistics.add("a", 0)
    statistics.add("b")
    assert statistics.as_dict() == {"a": 0, "b": 3}
    assert statistics["none"] == 0
