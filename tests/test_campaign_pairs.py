"""The pairs that the campaign on tables draws: all statistics, as much as is declared; and what it notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from optcomp.statistics import Declared, Frequent
from optcomp.statistics.noise import Noise
from optcomp.statistics.part import Part
from optcomp.statistics.preparing import Lot
from optcomp.statistics.register import known_statistics
from tests.campaign import found_values, pairs
from tests.campaign.tables import statistics
from tests.oracles import cells, leaks

TENTH = 200
"""Of the pairs, which every run of the tests asks."""
PARTS, THRESHOLD, LOT = Frequent.parts, Frequent.threshold, Lot.__init__


def test_every_statistic_of_the_register_is_drawn() -> None:
    """In the tenth that the tests run: none is forgotten when a new one comes."""
    drawn = Counter(type(each.statistic) for seed in range(TENTH) for each in pairs.drawn(seed).questions)
    assert set(drawn) == set(known_statistics())
    assert min(drawn.values()) >= TENTH // 10, drawn


@pytest.mark.parametrize("name", sorted(statistics()))
def test_a_statistic_can_be_drawn_alone(name: str) -> None:
    only = statistics()[name]
    assert {type(each.statistic) for seed in range(10) for each in pairs.drawn(seed, only).questions} == {only}


def frequent(seeds: int) -> Iterator[tuple[int, pairs.Pair, pairs.Asked, Frequent, found_values.Apart]]:
    """Questions for values that nobody declared, with their seed and what an oracle counts."""
    for seed in range(seeds):
        pair = pairs.drawn(seed, Frequent)
        vectors = [pairs.counted(pair, pairs.stored_rows(pair, rows)) for rows in (*pair.tables, pair.others)]
        for question, *each in zip(pair.questions, *vectors, strict=True):
            assert isinstance(question.statistic, Frequent)
            yield seed, pair, question, question.statistic, found_values.Apart.of(*each)


def test_what_is_declared_of_values_that_nobody_declared_is_reached() -> None:
    """Pairs that change little would find nothing: the largest changes and the worst rows to be told all happen."""
    seen, asked = Counter[str](), 0
    for seed, pair, question, statistic, apart in frequent(TENTH):
        asked += 1
        (part,), changes = statistic.parts(pair.declared), apart.changes(list(apart.others))
        rows, groups, each = found_values.allowed(statistic, pair.declared)
        alone = [tuple(sorted(apart.alone(table), reverse=True)) for table in apart.tables]
        seen[f"all of L1, {pair.declared.neighbours}"] += sum(changes) == part.l1
        seen["all of L2"] += sum(change**2 for change in changes) == part.l2_squared
        seen["alone in both"] += all(alone)
        seen["alone with all rows"] += any(sum(counts) == rows > 1 for counts in alone)
        seen["alone in all values"] += any(len(counts) == groups > 1 for counts in alone)
        seen["alone in one value"] += any(counts[:1] == (each,) and each > 1 for counts in alone)
        seen["alone within bounds of groups"] += statistic.column in pair.declared.grouped_by and any(alone)
        seen["a condition"] += question.where is not None and any(alone)
        seen[f"of {statistic.of}"] += any(alone)
        assert all(counts in set(leaks.ways(rows, groups, each)) for counts in alone), f"seed {seed}"
    assert min(seen.values()) >= asked // 200, seen


def _changes_less(self: Frequent, table: Declared) -> tuple[Part, ...]:
    (part,) = PARTS(self, table)
    return (replace(part, l1=max(part.l1 - 1, 1), l2_squared=max(part.l2_squared - 1, 1)),)


def _one_lower(self: Frequent, table: Declared, noise: Noise, scale: float) -> int:
    return THRESHOLD(self, table, noise, scale) - 1


def _lot_by_places(self: Any, *given: Any) -> None:
    """Which depend on who else is there."""
    LOT(self, *given)
    self._drawn_by, self._texts = list(self._cells), set()


def _all_groups(self: Frequent, table: Declared) -> None:
    """Whatever the lot bounds."""


BROKEN: dict[str, tuple[Any, str, Any, str]] = {
    "less is declared than changes": (Frequent, "parts", _changes_less, "and declares"),
    "the threshold is one too low": (Frequent, "threshold", _one_lower, "leaks"),
    "the lot depends on others": (Lot, "__init__", _lot_by_places, "stored"),
    "groups are not bounded": (Frequent, "_bounded", _all_groups, "expected"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_what_is_broken_about_values_that_nobody_declared_is_noticed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, method, broken, word = BROKEN[name]
    monkeypatch.setattr(place, method, broken)
    lines = (line for seed in range(25) for line in pairs.judge(seed, only=Frequent))
    assert any(word in line for line in lines)


def test_the_oracle_of_texts_gives_each_its_own_integer() -> None:
    texts = {cell for cell in pairs.CELLS[-1] if cell}
    codes = {cells.text_code(text): text for text in texts}
    assert {cells.coded_text(code) for code in codes} == set(codes.values()) == texts
