"""The bound on ε: its confidence exactly where that can be enumerated, by real runs elsewhere, and what it refuses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from math import comb
from typing import Any

import pytest

import optcomp as oc
from optcomp.interactive import audit as front
from optcomp.interactive.audit import AtMost, Audit, Auditable, Event, Side, audit, audit_all, known_mechanisms
from optcomp.interactive.audit.run import epsilon_down
from optcomp.numerics.balls import ball, precision
from optcomp.numerics.exact_numbers import Exact


def coin(claimed: float = 1.0, *, delta: float = 0.0, period: int = 4) -> Auditable:
    """Shows 1 on the second input, and on the first in one of `period` runs, by rote: enough to test bookkeeping."""
    ticks = itertools.count()

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        return [1 if side else int(next(ticks) % period == 0) for _ in range(trials)]

    return Auditable(
        name="coin", epsilon=claimed, delta=delta, description="a coin", source="this test", private=False, run=run
    )


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


@pytest.mark.parametrize("error", [Fraction(1, 40), Fraction(1, 10)], ids=float)
@pytest.mark.parametrize(
    ("p", "q", "delta"),
    [
        (Fraction(3, 4), Fraction(1, 4), Fraction(0)),
        (Fraction(1, 2), Fraction(1, 10), Fraction(1, 10)),
        (Fraction(9, 10), Fraction(9, 10), Fraction(0)),
        (Fraction(1, 5), Fraction(1, 40), Fraction(1, 1000)),
    ],
)
def test_confidence_by_enumeration(p: Fraction, q: Fraction, delta: Fraction, error: Fraction) -> None:
    """Over all pairs of counts: the bound exceeds ln((p - δ)/q) with probability at most twice the error."""
    n = 24
    likely, rare = binomial(n, p), binomial(n, q)
    failure = Fraction(0)
    for k, i in itertools.product(range(n + 1), repeat=2):
        lower = epsilon_down((k, i), n, delta, error)
        with precision(128):
            if lower > 0 and not ball(lower).exp() <= ball((p - delta) / q):
                failure += likely[k] * rare[i]
    assert failure <= 2 * error


def test_bound_is_the_formula_rounded_down() -> None:
    from optcomp.interactive.audit.confidence import probability_down, probability_up

    least, most = probability_down(700, 1000, 0.025), probability_up(80, 1000, 0.025)
    lower = epsilon_down((700, 80), 1000, 0.01, 0.025)
    assert lower == pytest.approx(math.log((least - 0.01) / most), rel=1e-14)
    with precision(128):
        assert ball(lower) <= ((ball(least) - ball(0.01)) / ball(most)).log()


def test_nothing_learned_is_zero() -> None:
    assert epsilon_down((0, 0), 100, 0.0, 0.025) == 0
    assert epsilon_down((50, 50), 100, 0.0, 0.025) == 0
    assert epsilon_down((5, 0), 100, 0.5, 0.025) == 0


def most_failures(audits: int, probability: Fraction, chance: Fraction) -> int:
    """The least k such that more than k failures of this probability happen with at most this chance."""
    tail, weights = Fraction(0), binomial(audits, probability)
    for k in range(audits, -1, -1):
        tail += weights[k]
        if tail > chance:
            return k
    return 0


@pytest.mark.parametrize("confidence", ["0.95", "0.6"])
def test_coverage_on_randomized_response(confidence: str) -> None:
    """Exact coins, ε = ln 3: the bound errs no more often than it says, but for a chance of at most 1e-10."""
    found = [audit("randomized-response", 400, confidence=confidence) for _ in range(200)]
    failures = sum(result.violated for result in found)
    assert failures <= most_failures(len(found), 1 - Fraction(confidence), Fraction(1, 10**10))
    assert max(result.lower for result in found) > 0.5  # nine of ten are, so that none is with a probability of 1e-200


def test_result_carries_what_was_done() -> None:
    shares: list[tuple[str, float]] = []
    result = audit(coin(), 1001, progress=lambda what, share: shares.append((what, share)))
    assert result.event == Event(AtMost(0), 0)
    assert result.lower == epsilon_down(result.counts, 501, 0.0, (1 - Fraction(0.95)) / 2)
    assert (result.mechanism, result.claimed_epsilon, result.delta, result.confidence) == ("coin", 1.0, 0.0, 0.95)
    assert (result.trials, result.measured) == (1001, 501)
    assert result.violated == (result.lower > 1)
    assert result.seconds > 0
    assert shares[-1] == ("coin", 1.0)
    assert [share for _, share in shares] == sorted(share for _, share in shares)
    view = result.as_dict()
    assert view["counts"] == list(result.counts)
    assert view["event"] == str(result.event)


def test_the_leak_of_the_coin_is_found() -> None:
    """On the first input 0 comes up in three of four runs, on the second never."""
    result = audit(coin(), 4000)
    assert result.event.likelier == 0
    assert result.counts == (1500, 0)
    assert result.violated
    assert not audit(coin(claimed=9.0), 4000).violated


def test_counted_runs_are_fresh() -> None:
    """The half that chose the event is not counted again."""
    seen: list[tuple[Side, int]] = []
    inner = coin()

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        seen.append((side, trials))
        return inner.run(side, trials)

    result = audit(_with(inner, run=run), 50_001)
    assert sum(size for side, size in seen if side == 0) == sum(size for side, size in seen if side == 1) == 50_001
    assert max(size for _, size in seen) <= 10_000
    assert result.measured == 25_001


def _with(subject: Auditable, **changes: Any) -> Auditable:
    from dataclasses import replace

    return replace(subject, **changes)


def test_delta_of_the_claim_unless_told() -> None:
    subject = coin(delta=1e-3)
    assert audit(subject, 400).delta == 1e-3
    assert audit(subject, 400, delta="0.5").delta == Fraction(1, 2)
    assert audit(subject, 4000, delta=0.7).lower < audit(subject, 4000).lower
    with pytest.raises(oc.InvalidInput, match=r"delta: must be at least the 0.001 that coin claims, got 1e-06"):
        audit(subject, 400, delta=1e-6)


def test_trials_of_the_mechanism_unless_told() -> None:
    assert audit(_with(coin(), trials=120)).trials == 120


def test_all_share_the_error() -> None:
    found = list(audit_all([coin(), coin(), "broken-stoddard14", coin()], 200, confidence="0.9"))
    assert [result.mechanism for result in found] == ["coin", "coin", "broken-stoddard14", "coin"]
    assert {result.confidence for result in found} == {Fraction(39, 40)}
    assert list(audit_all([])) == []


def test_all_refuses_before_it_runs() -> None:
    def run(side: Side, trials: int) -> Iterable[Hashable]:
        raise AssertionError

    with pytest.raises(oc.InvalidInput, match="claims"):
        audit_all([_with(coin(), run=run), coin(delta=0.1)], 200, delta=0.01)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"trials": 99}, "trials"),
        ({"trials": 1000.0}, "trials"),
        ({"delta": 1}, "delta"),
        ({"delta": -0.1}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": "sure"}, "confidence"),
    ],
)
def test_bad_input(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(oc.InvalidInput) as caught:
        audit(coin(), **arguments)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "claim", [{"epsilon": -1.0}, {"epsilon": math.inf}, {"epsilon": math.nan}, {"delta": 1.0}, {"delta": -1e-9}]
)
def test_bad_claims(claim: dict[str, Exact]) -> None:
    with pytest.raises(oc.InvalidGuarantee) as caught:
        _with(coin(), **claim)
    assert caught.value.argument in claim


def test_a_run_that_gives_too_little_is_refused() -> None:
    with pytest.raises(oc.InvalidInput, match="one feature for each of 100 runs of coin"):
        audit(_with(coin(), run=lambda side, trials: [0] * (trials - 1)), 400)


def test_unknown_names() -> None:
    with pytest.raises(oc.InvalidInput, match="did you mean count-laplace"):
        audit("count-laplac")
    with pytest.raises(oc.InvalidInput, match="known_mechanisms"):
        audit("zzz")


def test_known_names() -> None:
    private, broken = known_mechanisms(private=True), known_mechanisms(private=False)
    assert known_mechanisms() == private + broken
    assert len(broken) == 6
    for name in known_mechanisms():
        subject = front.mechanism(name)
        assert subject.name == name
        assert subject.private == (name in private)
        assert subject.description
        assert subject.source


def test_front() -> None:
    assert front.__all__ == sorted(front.__all__, key=lambda name: (name[0].islower(), name))
    assert all(hasattr(front, name) for name in front.__all__)
    assert front.Audit is Audit
