"""Which files of an XLA dump are read."""

from pathlib import Path

import pytest

import neuron_ctrldep as nc
from neuron_ctrldep.dumps import latest_of_each_module
from neuron_ctrldep.errors import InputError
from neuron_ctrldep.loading import expand_inputs
from neuron_ctrldep.tools import main as tool

MODULE = "module_0002.jit_step"
REPORTS = [
    f"{MODULE}.cpu_after_optimizations-buffer-assignment.txt",
    f"{MODULE}.cpu_after_optimizations-memory-usage-report.pb",
    f"{MODULE}.cpu_after_optimizations-live-range.txt",
]


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        # The optimized module, as a proto where there is one.
        (
            [
                f"{MODULE}.before_optimizations.hlo.pb",
                f"{MODULE}.before_optimizations.txt",
                *REPORTS,
                f"{MODULE}.cpu_after_optimizations.hlo.pb",
                f"{MODULE}.cpu_after_optimizations.txt",
            ],
            [f"{MODULE}.cpu_after_optimizations.hlo.pb"],
        ),
        ([f"{MODULE}.sm_8.0_gpu_after_optimizations.txt", f"{MODULE}.before_optimizations.txt"],
         [f"{MODULE}.sm_8.0_gpu_after_optimizations.txt"]),
        # Else the last pass, else the source.
        (
            [
                f"{MODULE}.0000.simplification.after_pipeline-start.before_algsimp.txt",
                f"{MODULE}.0015.copy-insertion.after_removing_unnecessary_copies.txt",
                f"{MODULE}.before_optimizations.txt",
            ],
            [f"{MODULE}.0015.copy-insertion.after_removing_unnecessary_copies.txt"],
        ),
        ([f"{MODULE}.before_optimizations.txt"], [f"{MODULE}.before_optimizations.txt"]),
        # Modules are told apart; what is no dump stays.
        (
            ["a.hlo", "module_0001.f.before_optimizations.txt", "module_0001.g.before_optimizations.txt", "notes.txt"],
            ["a.hlo", "module_0001.f.before_optimizations.txt", "module_0001.g.before_optimizations.txt", "notes.txt"],
        ),
        (REPORTS, []),
    ],
)  # fmt: skip
def test_the_last_stage_of_each_module(names, kept):
    assert latest_of_each_module(Path("dump") / name for name in names) == [Path("dump") / name for name in kept]


def test_the_directory_of_a_module_counts_only_where_there_is_no_dump():
    inside = [Path(MODULE) / name for name in ("compile_options.pb", "module.mlir", "topology.pb")]
    dump = Path(f"{MODULE}.before_optimizations.txt")
    assert latest_of_each_module(inside) == [Path(MODULE) / "module.mlir"]
    assert latest_of_each_module([*inside, dump]) == [dump]
    assert latest_of_each_module([dump, *inside]) == [dump]


def test_modules_of_two_directories_are_two():
    files = [Path(folder) / f"{MODULE}.before_optimizations.txt" for folder in ("a", "b")]
    assert latest_of_each_module(files) == files


def test_a_dump_directory_is_read_once_for_each_module(tmp_path):
    text = "HloModule f\n\nENTRY main {\n  ROOT x = f32[] parameter(0)\n}\n"
    for name in ("before_optimizations.txt", "cpu_after_optimizations.txt", "cpu_after_optimizations-live-range.txt"):
        (tmp_path / f"{MODULE}.{name}").write_text(text)
    assert expand_inputs([str(tmp_path)]) == [str(tmp_path / f"{MODULE}.cpu_after_optimizations.txt")]


TEXT = "HloModule f\n\nENTRY main {\n  ROOT x = f32[] parameter(0)\n}\n"
USES = [nc.load, nc.lower, nc.check]


@pytest.mark.parametrize("use", USES)
def test_a_directory_with_one_input_is_that_input(use, tmp_path):
    (tmp_path / f"{MODULE}.before_optimizations.txt").write_text(TEXT)
    (tmp_path / f"{MODULE}.cpu_after_optimizations.txt").write_text(TEXT)
    for path in (tmp_path, str(tmp_path)):
        assert use(path).file.endswith("cpu_after_optimizations.txt")


def test_a_directory_with_one_task_program_is_checked(tmp_path):
    race = Path(__file__).parents[1] / "examples" / "manual_scope_race.mlir"
    (tmp_path / "race.mlir").write_text(race.read_text())
    assert len(nc.check(tmp_path).lost) == len(nc.check(race).lost) > 0


@pytest.mark.parametrize("use", USES)
def test_a_directory_with_several_says_what_to_do(use, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.hlo").write_text(TEXT)
    with pytest.raises(InputError, match=r"a directory with 2 inputs; .*expand_inputs .*lower DIR -o OUT") as fault:
        use(tmp_path)
    assert fault.value.diagnostics[0].location.file == str(tmp_path)
    with pytest.raises(InputError, match="a directory with 2 inputs"):
        tool.main(["view", str(tmp_path), "-o", str(tmp_path / "out.html")])


@pytest.mark.parametrize("use", USES)
def test_a_directory_without_any_says_what_counts(use, tmp_path):
    with pytest.raises(InputError, match="the directory holds no input; looked for"):
        use(tmp_path)


def test_view_takes_the_only_input_of_a_directory(tmp_path):
    (tmp_path / "a.hlo").write_text(TEXT)
    assert tool.main(["view", str(tmp_path), "-o", str(tmp_path / "out.html")]) == 0
    assert (tmp_path / "out.html").is_file()
