"""Everything that optcomp ships is audited, passes, and would not pass with much less noise."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import pytest

import optcomp.interactive as interactive
import optcomp.statistics as statistics
from optcomp.interactive import Filter, SparseVector
from optcomp.interactive.answers import measured, noised
from optcomp.interactive.audit import Audit, audit, known_mechanisms, mechanism
from optcomp.interactive.audit.answered import Attacker, question_of
from optcomp.interactive.audit.conversed import GROWS, NORTH, SHRINKS, SOUTH, STAYS, answers, share_of_north
from optcomp.interactive.audit.run import epsilon_down
from optcomp.interactive.audit.tables import NEIGHBOURHOODS, Tables, neighbouring
from optcomp.statistics import Count, Histogram, Quantiles, Statistic, Table
from optcomp.statistics.noise import Results, drawing, known_noises
from optcomp.statistics.register import audit_cases, known_statistics

ASKED = audit_cases()
"""By name."""
UNLIKELY = Fraction(1, 10**12)
"""The chance that one audit calls a true claim false."""
NOTHING = -1.0
"""Where so few runs promise no bound at all; that less noise would be noticed is shown below."""
TRIES = 20
"""Audits until one comes out as it should.  A bound comes out low in about a tenth of them at most, and much less noise
goes unnoticed in fewer: even at a fifth, all of them do with a probability of 1e-14.
"""

POWER: dict[str, tuple[int, float]] = {
    "count-laplace": (1_500, 0.5),
    "count-gaussian": (1_500, 0.4),
    "count-replaced": (1_500, 0.5),
    "count-rows": (1_500, 0.5),
    "sum-integers": (1_000, 1.2),
    "sum-reals": (1_000, 1.2),
    "sum-gaussian": (500, 0.05),
    "sum-replaced": (1_000, 1.2),
    "mean-laplace": (800, 0.9),
    "mean-gaussian": (800, 0.3),
    "mean-rows": (800, 0.9),
    "variance-laplace": (700, 0.8),
    "histogram-laplace": (1_200, 0.5),
    "histogram-gaussian": (1_200, 0.5),
    "histogram-replaced": (1_000, 1.0),
    "histogram-rows": (1_000, 1.2),
    "frequent": (1_500, 0.3),
    "frequent-gaussian": (1_500, 0.5),
    "frequent-replaced": (1_500, NOTHING),
    "frequent-rows": (1_500, 0.3),
    "frequent-people": (1_500, 0.3),
    "contingency": (800, 1.2),
    "cdf": (800, 1.2),
    "median": (1_000, 0.6),
    "median-replaced": (1_000, 0.6),
    "quantiles": (1_000, 0.2),
    "count-by": (1_500, 0.4),
    "people": (1_500, 0.4),
    "people-replaced": (1_500, 0.2),
    "people-by": (1_000, 1.0),
    "sum-by": (1_000, 1.0),
    "mean-by": (800, 0.1),
    "mean-public": (800, 0.9),
    "means": (800, 0.4),
    "means-by": (800, 0.3),
    "variance-by": (700, 0.6),
    "variance-public": (700, 0.8),
    "median-by": (1_000, NOTHING),
    "regression": (700, 0.3),
    "sparse-vector": (1_000, 0.6),
    "sparse-vector-monotone": (1_000, 0.8),
    "sparse-vector-refreshed": (600, NOTHING),
    "sparse-vector-gaussian": (600, NOTHING),
    "guess-and-check": (600, NOTHING),
    "multiplicative-weights": (500, NOTHING),
    "committed-plan": (600, 0.8),
    "session": (600, 0.2),
    "randomized-response": (20_000, 0.9),
}
"""Runs on each input, and what the bound on ε should come to at confidence 0.95."""

LESS: dict[str, tuple[int, int]] = {
    "count-gaussian": (600, 5),
    "mean-gaussian": (600, 5),
    "histogram-gaussian": (600, 5),
    "mean-rows": (500, 5),
    "mean-by": (600, 10),
    "means": (800, 10),
    "means-by": (800, 10),
    "variance-laplace": (700, 5),
    "variance-by": (700, 10),
    "median": (1_000, 10),
    "median-replaced": (1_000, 10),
    "median-by": (1_000, 10),
    "quantiles": (1_000, 10),
    "regression": (700, 10),
    "sparse-vector": (800, 5),
    "sparse-vector-monotone": (700, 5),
    "sparse-vector-refreshed": (600, 10),
    "sparse-vector-gaussian": (600, 10),
    "guess-and-check": (600, 10),
    "multiplicative-weights": (600, 10),
}
"""Runs on each input in which noise smaller by a factor gives a mechanism away; for the others (400, 5)."""


@pytest.mark.parametrize("name", known_mechanisms(private=True))
def test_shipped_mechanisms_pass(name: str) -> None:
    """Not above the claim, but for a chance of 2e-11 in all tries; nor so far below that more would not have shown."""
    trials, least = POWER[name]
    for _ in range(TRIES):
        found = audit(name, trials)
        assert sure_lower(found) <= found.claimed_epsilon
        if found.lower > least:
            return
    pytest.fail(f"{name} seems to tell little: {found.lower} after {TRIES} audits")


def sure_lower(found: Audit) -> float:
    return epsilon_down(found.counts, found.measured, found.delta, UNLIKELY / 2)


@pytest.mark.parametrize("name", [name for name in known_mechanisms(private=True) if name != "randomized-response"])
def test_too_little_noise_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same mechanisms with noise of a fifth or a tenth of its scale: the audits can fail."""
    trials, factor = LESS.get(name, (400, 5))
    checked = drawing._sampled
    monkeypatch.setattr(drawing, "_sampled", lambda scale: checked(scale / factor))
    assert any(audit(name, trials).violated for _ in range(TRIES))


def test_half_the_noise_is_caught_in_more_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = drawing._sampled
    monkeypatch.setattr(drawing, "_sampled", lambda scale: checked(scale / 2))
    assert any(audit("sum-integers", 2_000).violated for _ in range(TRIES))


def test_every_statistic_is_audited() -> None:
    exported = [getattr(statistics, name) for name in statistics.__all__]
    known = {one for one in exported if inspect.isclass(one) and issubclass(one, Statistic) and one is not Statistic}
    assert {type(asked.statistic) for asked in ASKED.values()} == known == set(known_statistics())
    assert {question_of(asked).noise for asked in ASKED.values()} == set(known_noises())
    assert {asked.how for asked in ASKED.values()} == set(NEIGHBOURHOODS)


RECORDS = {
    *(
        "Admitted",
        "Answer",
        "AnswerRow",
        "Checked",
        "Consistent",
        "Converted",
        "Cost",
        "Entry",
        "Estimate",
        "Odometer",
        "PricedOffer",
    ),
    *("RecordedTotal", "Refused", "Remaining", "Taken", "Tally"),
}
"""Exported classes that see no data; whatever else is exported, and is no filter, has to be audited."""


def test_every_interactive_mechanism_is_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    exported = {name: getattr(interactive, name) for name in interactive.__all__ if name not in RECORDS}
    kinds = {one for one in exported.values() if inspect.isclass(one) and not inspect.isabstract(one)}
    classes = {one for one in kinds if not issubclass(one, Filter)}
    seen: set[type] = set()
    for one in classes:
        watch(monkeypatch, one, "start" if hasattr(one, "start") else "__init__", seen)
    for name in known_mechanisms(private=True):
        mechanism(name).features(0, 1)
    assert seen == classes


def watch(monkeypatch: pytest.MonkeyPatch, one: type, method: str, seen: set[type]) -> None:
    """Notes whose method is called, unless it is called by another mechanism as a part of its own."""
    inner = getattr(one, method)

    def spy(self: Any, *arguments: Any, **named: Any) -> Any:
        within = [frame for frame in inspect.stack(0)[1:] if "optcomp" in frame.filename]
        if not any(frame.function == "start" for frame in within):
            seen.add(one)
        return inner(self, *arguments, **named)

    monkeypatch.setattr(one, method, spy)


def by_name(tables: Tables, results: Results) -> Results:
    """Results that consist of places and numbers, as numbers of all names in one order."""
    pairs = zip(tables, results, strict=True)
    found = [dict(zip(table.texts(codes), numbers, strict=True)) for table, (codes, numbers) in pairs]
    names = sorted({name for each in found for name in each})
    one, other = (tuple(each.get(name, 0) for name in names) for each in found)
    return (one,), (other,)


@pytest.mark.parametrize("name", ASKED)
def test_tables_differ_by_all_that_is_declared(name: str) -> None:
    """One person changes the exact results by exactly the sensitivities: no neighbours could be further apart."""
    asked = ASKED[name]
    results = Attacker.of(question_of(asked), neighbouring(asked.how)).results
    if asked.statistic.finds:  # numbers by the names that either table has
        results = by_name(neighbouring(asked.how), results)
    for part, first, second in zip(asked.statistic.parts(neighbouring(asked.how)[0]), *results, strict=True):
        changes = [abs(x - y) for x, y in zip(first, second, strict=True)]
        if question_of(asked).mechanism == "exponential":  # a choice in each group
            statistic = asked.statistic
            assert isinstance(statistic, Quantiles)
            cells = len(statistic.groups(neighbouring(asked.how)[0]).cells) if statistic.by else 1
            size = len(changes) // cells
            assert sum(max(changes[place : place + size]) for place in range(0, len(changes), size)) == part.l1
        else:
            assert sum(changes) == part.l1
        if question_of(asked).mechanism == "gaussian":
            assert sum(change**2 for change in changes) == part.l2_squared


@pytest.mark.parametrize("name", ASKED)
def test_values_follow_from_noisy_amounts(name: str) -> None:
    """An answer tells nothing beyond its noisy amounts: with the other table they come to the same value."""
    question, tables = question_of(ASKED[name]), neighbouring(ASKED[name].how)
    for table, other in (tables, tables[::-1]):
        answer = noised(question, table, measured(question.statistic, table))
        assert answer.value == question.statistic.named(answer.names).value(other, answer.amounts)


def test_the_engine_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = neighbouring("added")[0]
    asked: list[Any] = []
    inner = Table.run

    def run(self: Table, query: Any) -> Any:
        asked.append(query)
        return inner(self, query)

    monkeypatch.setattr(Table, "run", run)
    statistic = Histogram("region", where="age == 5")
    assert [statistic.measure(table) for _ in range(3)] == [((1, 1, 0),)] * 3
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("statistic", "how", "values"),
    [
        (GROWS, "added", (1, 2)),
        (GROWS, "replaced", (1, 2)),
        (SHRINKS, "replaced", (2, 1)),
        (STAYS, "added", (2, 2)),
        (Count(), "added", (NORTH + SOUTH, NORTH + SOUTH + 1)),
    ],
)
def test_questions_for_sparse_vectors(statistic: Count, how: Any, values: tuple[int, int]) -> None:
    assert tuple(statistic.measure(table) for table in neighbouring(how)) == tuple(((value,),) for value in values)


def test_a_refreshed_threshold_is_asked_from_the_start() -> None:
    """Below, below, above, and again; else three questions and no more.  Noise is not 0 with a chance of e^-60."""
    table = neighbouring("added")[0]
    questions = [Count("score == 7"), Count("score == 8"), Count("score == 4")]
    spec = SparseVector(2, epsilon=1000, positives=2, refresh=True)
    assert answers(spec.start(table), questions) == "⊥⊥⊤⊥⊥⊤"
    assert answers(SparseVector(2, epsilon=1000, positives=2).start(table), questions) == "⊥⊥⊤"
    assert answers(SparseVector(2, epsilon=1000).start(table), questions[::-1]) == "⊤"


@pytest.mark.parametrize("rows", [12, 19, 21, 24, 30])
@pytest.mark.parametrize("excess", [0, 1])
def test_weights_make_the_guess_wrong_by_so_much(rows: int, excess: int) -> None:
    north = share_of_north(rows, excess)
    assert (1 + north) * rows / 3 - (NORTH * north + SOUTH) == pytest.approx(excess, abs=0.01)


@pytest.mark.parametrize("rows", [1, 3, 50, 1000])
def test_weights_are_weights_for_any_number_of_rows(rows: int) -> None:
    assert 0 <= share_of_north(rows, 1) <= share_of_north(rows, 0) <= 1
