"""Which files of an XLA dump are read."""

from pathlib import Path

import pytest

from neuron_ctrldep.dumps import latest_of_each_module
from neuron_ctrldep.loading import expand_inputs

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
