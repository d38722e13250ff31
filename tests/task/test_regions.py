"""The overlap and coverage tests against enumeration, and the index against a scan."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

from neuron_ctrldep.task.region_index import RegionIndex
from neuron_ctrldep.task.regions import UNBOUNDED, Affine, LoopIndex, Region, RegionTable, Span, span

I = LoopIndex(0, lower=1, step=2, trips=3)  # noqa: E741 - an induction variable: 1, 3, 5
J = LoopIndex(1, lower=0, step=1, trips=2)
VALUES = {I: (1, 3, 5), J: (0, 1)}


def elements(one: Span, at: dict[LoopIndex, int]) -> set[int]:
    """The set a span stands for, by its definition."""
    start = one.constant + sum(coefficient * at[index] for index, coefficient in one.terms)
    ranges = [range(lo, hi + 1) for _, lo, hi in one.digits]
    return {
        start + sum(m * k for (m, _, _), k in zip(one.digits, ks, strict=True)) for ks in itertools.product(*ranges)
    }


def random_span(rng: random.Random) -> Span:
    digits = [(rng.choice((1, 2, 3, 4, 6, 8)), rng.randint(-1, 1), rng.randint(1, 3)) for _ in range(rng.randint(0, 3))]
    terms = tuple((index, c) for index in (I, J) if (c := rng.choice((0, 0, 1, -2, 4))))
    return span(Affine(rng.randint(-4, 12), terms), digits)


def instances():
    for values in itertools.product(*VALUES.values()):
        yield dict(zip(VALUES, values, strict=True))


def test_normal_form_keeps_the_set():
    assert span(Affine(), [(1, 0, 3), (4, 0, 3)]) == span(Affine(), [(1, 0, 15)])
    rng = random.Random(1)
    for _ in range(500):
        digits = [(rng.choice((1, 2, 3, 4, 8)), rng.randint(-2, 1), rng.randint(1, 4)) for _ in range(3)]
        given = Span(0, (), tuple(digits))
        assert elements(span(Affine(), digits), {}) == elements(given, {})


def test_overlap_is_exact_for_shared_indices():
    """Small spans are within the budget of the test, so that it must agree with enumeration in both directions."""
    rng = random.Random(2)
    table = RegionTable()
    outcomes = set()
    for _ in range(1500):
        a, b = random_span(rng), random_span(rng)
        truth = any(elements(a, at) & elements(b, at) for at in instances())
        found = table.region("root", (a,)).overlaps(table.region("root", (b,)))
        assert found or not truth, (a, b)
        outcomes.add((found, truth))
        if a.terms == b.terms:
            assert found == truth, (a, b)
    assert {(True, True), (False, False)} <= outcomes


def test_coverage_is_never_claimed_wrongly():
    rng = random.Random(3)
    table = RegionTable()
    claimed = 0
    for _ in range(4000):
        a, b = random_span(rng), random_span(rng)
        if table.region("root", (a,)).covers(table.region("root", (b,))):
            claimed += a != b
            assert all(elements(b, at) <= elements(a, at) for at in instances()), (a, b)
    assert claimed > 20


def test_earlier_and_other_iterations():
    rng = random.Random(4)
    table = RegionTable()
    for _ in range(300):
        one = random_span(rng)
        region = table.region("root", (one,))
        (earlier,) = table.earlier(region, (I,)).axes
        (freed,) = table.freed(region, (I,)).axes
        elsewhere = [other.axes[0] for other in table.elsewhere(region, (I, J))]
        for at in instances():
            before = set().union(*(elements(one, {**at, I: v}) for v in VALUES[I] if v < at[I]), set())
            assert before <= elements(earlier, at)
            assert set().union(*(elements(one, {**at, I: v}) for v in VALUES[I])) <= elements(freed, at)
            others = set().union(*(elements(one, other) for other in instances() if other != at))
            assert others <= set().union(*(elements(other, at) for other in elsewhere))


def test_tiles_of_a_loop_are_disjoint_without_known_bounds():
    table = RegionTable()
    unknown = LoopIndex(2, lower=None, step=None, trips=None)
    tile = table.region("root", (span(Affine(0, ((unknown, 16),)), [(1, 0, 15)]),))
    wide = table.region("root", (span(Affine(0, ((unknown, 16),)), [(1, 0, 16)]),))
    assert not tile.overlaps(table.earlier(tile, (unknown,)))
    assert wide.overlaps(table.earlier(wide, (unknown,)))
    assert not any(tile.overlaps(other) for other in table.elsewhere(tile, (unknown,)))


def test_what_takes_too_long_overlaps():
    table = RegionTable()
    many = [(m, 0, UNBOUNDED) for m in (6, 10, 15)]
    assert table.region("root", (span(Affine(), many),)).overlaps(table.region("root", (span(Affine(1), many),)))


def test_coordinate_systems_are_never_told_apart():
    table = RegionTable()
    a = table.region("bytes", (span(Affine(0), [(1, 0, 3)]),))
    b = table.region("elements", (span(Affine(100), [(1, 0, 3)]),))
    assert a.overlaps(b)
    assert not a.covers(b)


@dataclass(eq=False)
class Entry:
    region: Region


def test_the_index_finds_what_a_scan_finds():
    rng = random.Random(5)
    table = RegionTable()
    index: RegionIndex[Entry] = RegionIndex()
    present: list[Entry] = []
    for step in range(1500):
        size = rng.choice((1, 4, 16, 300))
        terms = ((I, 64),) if rng.random() < 0.2 else ()
        region = table.region("root", (span(Affine(rng.randint(0, 1000), terms), [(1, 0, size)]),))
        if rng.random() < 0.6 or not present:
            entry = Entry(region)
            index.add(entry)
            present.append(entry)
        else:
            index.remove(present.pop(rng.randrange(len(present))))
        if step % 5 == 0:
            expected = {entry for entry in present if region.overlaps(entry.region)}
            assert set(index.overlapping(region)) == expected
            covered = {entry for entry in present if region.covers(entry.region)}
            assert set(index.covered(region)) == covered


def test_a_query_looks_at_few_of_many_tiles():
    table = RegionTable()
    index: RegionIndex[Entry] = RegionIndex()
    tiles = [table.region("root", (span(Affine(16 * i), [(1, 0, 15)]),)) for i in range(4096)]
    for tile in tiles:
        index.add(Entry(tile))
    query = table.region("root", (span(Affine(16 * 1000 + 8), [(1, 0, 15)]),))
    looked_at = []
    original = Region.overlaps
    try:
        Region.overlaps = lambda self, other: looked_at.append(other) or original(self, other)
        found = index.overlapping(query)
    finally:
        Region.overlaps = original
    assert [entry.region for entry in found] == tiles[1000:1002]
    assert len(looked_at) < 10
