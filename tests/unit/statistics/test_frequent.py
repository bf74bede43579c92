"""Values that nobody declared: what a cell becomes, what one person changes, what is told, and how far off it is."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pytest

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.interactive import answer, question_offers, read_answer
from optcomp.statistics import (
    Contingency,
    Count,
    Declared,
    Frequent,
    Histogram,
    Integers,
    Mean,
    Noises,
    People,
    Question,
    Setting,
    Table,
    Text,
)
from optcomp.statistics.frequent import around_told
from optcomp.statistics.noise import GAUSSIAN, LAPLACE, AddedNoise
from optcomp.theorems import kkmn09
from tests.oracles.released import binomial_tail

Rows = list[tuple[str, str | None]]
PAIRS = 60
"""Of neighbouring tables, each asked for rows and for people; the fast tier asks of some, and campaigns of more."""


def table(rows: Rows, **bounds: Any) -> Table:
    who, words = zip(*rows, strict=True) if rows else ((), ())
    source = pyarrow.table(
        {"who": pyarrow.array(who, pyarrow.string()), "word": pyarrow.array(words, pyarrow.string())}
    )
    return Table(source, {"word": Text(8)}, person="who", **bounds)


def counts(asked: Frequent, about: Table) -> dict[str, int]:
    """The exact number of each value, by its name."""
    codes, numbers = asked.measure(about)
    return dict(zip(about.texts(codes), numbers, strict=True))


def test_what_a_cell_becomes(tmp_path: Path) -> None:
    """Blanks around are left out, breaks become blanks, what is long is cut, and the rest is told letter by letter."""
    cells = ["flu", " flu ", "Flu", "123456789", "12345678", "a\nb", "", "  ", None, "é", "1234567 9", "\t", "x\u2028y"]
    made = Table(pyarrow.table({"word": cells}), {"word": Text(8)})
    expected = {"flu": 2, "Flu": 1, "12345678": 2, "a b": 1, "é": 1, "1234567": 1, "x y": 1}
    assert counts(Frequent("word"), made) == expected
    assert Count("word is None").measure(made) == ((4,),)
    assert Count("word is not None").measure(made) == ((sum(expected.values()),),)
    numbers = Table(pyarrow.table({"word": [1.0, 2.5, None]}), {"word": Text()})
    assert counts(Frequent("word"), numbers) == {"1": 1, "2.5": 1}
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"word\n\xff\xfe\nfine\n" + b"7" * 5000 + b"\n")
    with pytest.raises(UnreadableData):
        Table(bad, {"word": Text()})
    assert counts(Frequent("word"), Table(bad, {"word": Text()}, bad_cells="missing")) == {"fine": 1}


@pytest.mark.parametrize("most", [0, 1001, 1.5, "64"])
def test_how_long_text_may_be(most: Any) -> None:
    with pytest.raises(InvalidInput, match="most"):
        Text(most)


def test_text_that_nobody_declared_is_no_group_and_no_constant() -> None:
    declared = Declared({"word": Text(), "age": Integers(0, 9)})
    for refused in (Histogram("word"), Count(by="word"), Mean("age", by="word"), Contingency(("word", "age"))):
        with pytest.raises(InvalidInput, match="integers, reals, dates or categories"):
            refused.parts(declared)
    with pytest.raises(InvalidInput, match="must be declared as text"):
        Frequent("age").parts(declared)
    made = Table(pyarrow.table({"word": ["a"], "age": [1]}), dict(declared.columns))
    for where in ("word == 'a'", "word != 'a'", "word in ('a',)", "word < 'b'", "'a' == word"):
        with pytest.raises(InvalidInput, match="ask only whether it is None"):
            Count(where).check(made)


def test_arguments() -> None:
    given: list[tuple[dict[str, Any], str]] = [({"of": "cells"}, "of"), ({"leak": 0}, "leak"), ({"leak": 1}, "leak")]
    for arguments, argument in given:
        with pytest.raises(InvalidInput) as refusal:
            Frequent("word", **arguments)
        assert refusal.value.argument == argument


def random_bounds(rng: Random) -> dict[str, Any]:
    rows = rng.randint(1, 4)
    found: dict[str, Any] = {"rows_per_person": rows, "neighbours": rng.choice(("add-remove", "replace"))}
    if rows > 1 and rng.random() < 0.6:
        groups, each = rng.randint(1, rows), rng.randint(1, rows)
        if min(groups, each) < rows:
            found |= {"groups_per_person": groups, "rows_per_group": each}
    return found


def random_pair(rng: Random, replaced: bool) -> tuple[Rows, Rows, set[str]]:
    """Neighbouring tables in any order of rows, and the values that others have."""
    words = [None, "a", "b", "c", "d", "e", *(f"own {i}" for i in range(6))]

    def person(who: str) -> Rows:
        return [(who, rng.choice(words)) for _ in range(rng.randint(1, 7))]

    others = [row for i in range(rng.randint(0, 4)) for row in person(f"p{i}")]
    one, two = others + person("it"), others + (person("it") if replaced else [])
    rng.shuffle(one)
    rng.shuffle(two)
    return one, two, {word for _, word in others if word is not None}


@pytest.mark.slow_cases("60")
@pytest.mark.parametrize("pairs", [5, PAIRS])
def test_one_person_changes_no_more_than_is_declared_on_random_pairs(pairs: int) -> None:
    """Over the values that others have in both, the noise; over the rest, one of the shapes of the threshold."""
    rng, seen = Random(11), Counter[str]()
    for _ in range(pairs):
        bounds, key = random_bounds(rng), rng.randbytes(32)
        first, second, _ = random_pair(rng, bounds["neighbours"] == "replace")
        tables = [table(rows, lot_key=key, **bounds) for rows in (first, second)]
        others = table([row for row in first if row[0] != "it"], lot_key=key, **bounds)
        for of in ("rows", "people"):
            asked = Frequent("word", of)
            shared = set(counts(asked, others))
            told = [counts(asked, each) for each in tables]
            (part,) = asked.parts(tables[0])
            changes = [abs(told[0].get(name, 0) - told[1].get(name, 0)) for name in shared]
            assert sum(changes) <= part.l1
            assert sum(change**2 for change in changes) <= part.l2_squared
            assert sum(map(bool, changes)) <= len(part.cells)
            bound = asked._contribution(tables[0])
            for each in told:
                alone = [number for name, number in each.items() if name not in shared]
                most = 1 if of == "people" else bound.rows_per_group
                assert len(alone) <= bound.groups
                assert max(alone, default=0) <= most
                assert sum(alone) <= bound.rows
                seen["alone"] += bool(alone)
                seen["full"] += sum(changes) == part.l1
    if pairs == PAIRS:
        assert min(seen.values()) > PAIRS // 10  # both happen often


def test_numbers_are_those_of_plain_python() -> None:
    rng = Random(5)
    for _ in range(12):
        rows = [(f"p{i}", rng.choice(["a", "b", "c", None])) for i in range(150) for _ in range(rng.randint(1, 3))]
        made = table(rows, rows_per_person=3)
        assert counts(Frequent("word"), made) == Counter(word for _, word in rows if word is not None)
        people = Counter(word for _, word in set(rows) if word is not None)
        assert counts(Frequent("word", "people"), made) == people


def test_the_lot_does_not_depend_on_others() -> None:
    """Which integer a text has depends on who else is there and on the order of rows; which rows stay does not."""
    rng, key = Random(3), bytes(32)
    mine: Rows = [("me", f"word {i}") for i in range(9)]
    alone = counts(Frequent("word"), table(mine, rows_per_person=3, lot_key=key))
    for _ in range(20):
        others: Rows = [(f"p{i}", f"word {rng.randint(0, 20)}") for i in range(30)]
        rows = mine + others
        rng.shuffle(rows)
        found = Counter(counts(Frequent("word"), table(rows, rows_per_person=3, lot_key=key)))
        found.subtract(Counter(str(word) for _, word in others))
        assert +found == Counter(alone)


def test_snapshots_keep_the_texts_with_the_owner(tmp_path: Path) -> None:
    made = table([("1", "flu"), ("2", "flu"), ("3", "secret")])
    path = made.save(tmp_path / "kept")
    assert counts(Frequent("word"), Table.open(path)) == {"flu": 2, "secret": 1}
    assert (path / "texts.json").stat().st_mode & 0o777 == 0o600
    assert "secret" not in (path / "declaration.json").read_text() + (path / "keys.json").read_text()
    kept = json.loads((path / "texts.json").read_text())
    (path / "texts.json").write_text(json.dumps(kept | {"texts": ["flu", "public"]}))
    with pytest.raises(UnreadableData, match="digest"):
        Table.open(path)
    (path / "texts.json").unlink()
    with pytest.raises(InvalidInput):
        Table.open(path)
    plain = Table(pyarrow.table({"age": [1]}), {"age": Integers(0, 9)}).save(tmp_path / "plain")
    assert not (plain / "texts.json").exists()


@pytest.mark.parametrize("spending", [{"epsilon": 1}, {"rho": "1/10"}, {"epsilon": 1, "delta": "1e-6"}])
def test_only_names_above_the_threshold_leave_in_order(spending: dict[str, Any]) -> None:
    rows: Rows = [(str(i), word) for i, word in enumerate(["b"] * 900 + ["a"] * 800 + [f"n{i}" for i in range(300)])]
    made = table(rows)
    question = Question(Frequent("word", leak="1e-12"), **spending)
    found = answer(question, made)
    assert list(found.value) == ["a", "b"] == list(found.names)  # a chance below 300·1e-12 otherwise
    limit = question.statistic.threshold(made, question.noise, found.scales[0])  # type: ignore[attr-defined]
    assert all(number > limit for number in found.value.values())
    assert found.costs[-1] == ApproxDP(0, Fraction(1, 10**12))
    again = read_answer(json.loads(json.dumps(found.document())), made.declared)
    assert again == found
    assert again.interval() == found.interval()
    assert "n1" not in json.dumps(found.document())
    assert [row.cell for row in found.rows()] == [("a",), ("b",)]
    assert "word,value,low,high" in found.to_csv()


def test_nothing_told_is_an_answer_too() -> None:
    made = table([("1", "flu")])
    found = answer(Question(Frequent("word", leak="1e-12"), epsilon=1), made)
    assert found.value == {} == found.interval()
    assert (found.rows(), found.names) == ([], ())
    assert found.to_csv() == "value,low,high,rows_off\r\n" or found.to_csv().startswith("value")
    assert read_answer(found.document(), made.declared) == found
    empty = answer(Question(Frequent("word"), epsilon=1), table([]))
    assert empty.value == {}


def test_documents_that_nobody_told_are_refused() -> None:
    made = table([(str(i), "flu") for i in range(200)])
    told = answer(Question(Frequent("word"), epsilon=1), made).document()
    for names, amounts in (
        (["flu"], ["1"]),
        (["flu", "cold"], ["300", "300"]),
        (["flu", "flu"], ["300", "300"]),
        (["x" * 9], ["300"]),
        ([""], ["300"]),
        ([7], ["300"]),
        (["flu"], []),
    ):
        with pytest.raises(InvalidInput):
            read_answer({**told, "names": names, "amounts": [amounts]}, made.declared)
    with pytest.raises(InvalidInput):
        read_answer({name: value for name, value in told.items() if name != "names"}, made.declared)


def test_prices() -> None:
    """The noise of the numbers that one person can change, and the leak beside it, also where ρ is offered."""
    declared = Declared({"word": Text()}, person="who", rows_per_person=3, neighbours="replace")
    rows, people = Frequent("word"), Frequent("word", "people")
    assert [(part.l1, part.l2_squared, len(part.cells)) for part in rows.parts(declared)] == [(6, 18, 6)]
    assert [(part.l1, part.l2_squared, len(part.cells)) for part in people.parts(declared)] == [(6, 6, 6)]
    leak = ApproxDP(0, "1e-9")
    assert Question(rows, epsilon=2).costs(declared) == (PureDP(2), leak)
    assert Question(rows, rho=2).costs(declared) == (ZCDP(2), leak)
    offers = question_offers(Question(rows, epsilon=1, delta="1e-6"), declared)
    assert [offer[-1] for offer in offers] == [leak, leak]
    assert not any(part.leak for part in People().parts(declared))


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_told_numbers_are_within_their_interval_given_that_they_are_told(noise: AddedNoise, confidence: float) -> None:
    """For values far below the threshold, near it and above: summed up over all noise, not drawn."""
    scale, leak = 3.0, Fraction(1, 1000)
    limit = kkmn09.least_threshold(lambda t: noise.tail(scale, t) / 2, leak, kkmn09.shapes(2, 2, 2))
    noises = Noises(noise, (scale,), confidence)
    far = 200
    weights = [_weight(noise, scale, x) for x in range(-far, far + 1)]
    whole, intervals = math.fsum(weights), dict[int, tuple[float, float]]()
    for size in (1, 2, limit // 2, limit - 2, limit, limit + 1, limit + 3, limit + 8, limit + 60):
        told = inside = 0.0
        for x, weight in zip(range(-far, far + 1), weights, strict=True):
            number = size + x
            if number > limit:
                told += weight
                if number not in intervals:
                    intervals[number] = around_told(number, limit, noises)
                low, high = intervals[number]
                assert low <= number <= high
                inside += weight * (low <= size <= high)
        assert inside >= confidence * told - 1e-12 * whole, size
        if size == limit + 60:  # nor is it much wider than the noise
            assert inside <= (confidence + 0.09) * told
    ends = [intervals[number] for number in sorted(intervals)]
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(ends))


def _weight(noise: AddedNoise, scale: float, x: int) -> float:
    return math.exp(-abs(x) / scale) if noise == LAPLACE else math.exp(-x * x / (2 * scale * scale))


@pytest.mark.parametrize("spending", [{"epsilon": "1/2"}, {"rho": "1/20"}])
def test_what_a_plan_says_of_values_that_are_frequent_enough(spending: dict[str, Any]) -> None:
    """A value of threshold + reach + 1 is told and within reach as often as stated, in 3,000 real answers."""
    asked = Frequent("word", leak="1/100")
    question = Question(asked, **spending)
    declared = Declared({"word": Text(8)})
    (scale,) = question.scales(declared)
    confidence, runs = 0.9, 3000
    stated = asked.stated(Setting(declared, question.noise, None, confidence))
    reach, limit = int(stated.error((scale,))), asked.threshold(declared, question.noise, scale)
    enough = limit + reach + 1
    note = stated.note((scale,))
    assert note is not None
    assert f"{enough:,} rows or more" in note
    words = [f"v{i:02d}" for i in range(60) for _ in range(enough)]
    made = Table(pyarrow.table({"word": words}), {"word": Text(8)})
    exact, good = asked.measure(made), 0
    for _ in range(runs // 60):
        told = asked.tell(made, exact, question.noise, (scale,))
        good += sum(abs(number - enough) <= reach for number in told.amounts[0])
    assert binomial_tail(good, runs, confidence) > 1e-10, good  # false with no more than that probability
    assert asked.chance(declared, question.noise, scale, enough) >= confidence
    assert asked.chance(declared, question.noise, scale, limit + 1) >= 0.5
    assert asked.chance(declared, question.noise, scale, limit) == 0
    found = sum(len(asked.tell(made, exact, question.noise, (scale,)).names) for _ in range(20))
    assert binomial_tail(found, 20 * 60, confidence) > 1e-10, found
