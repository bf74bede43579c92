"""A tenth of the campaign, and proof that the campaign notices what is false, useless, slow or broken."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from _pytest.mark import ParameterSet

from optcomp import Bound, NotAffordable, OptcompError, compose
from optcomp.theorems.opt import CAPPED
from tests.campaign import run
from tests.campaign.asked import kept
from tests.campaign.classes import CLASSES, judged
from tests.campaign.judge import Limits, Outcome
from tests.campaign.lists import KINDS
from tests.campaign.questions import counts, question
from tests.oracles.checks import encloses
from tests.oracles.halves import Halves

TENTH = run.INSTANCES // 10
SECONDS, SLOW_SECONDS = 0.5, 6.0
"""Processor time that a test of the fast tier may take, about, and one of the others, so that workers share them."""
TYPICAL = {
    "bits": 0.02,
    "calibrate": 0.02,
    "equal": 0.1,
    "types": 0.05,
    "middle": 0.05,
    "thousand": 0.04,
    "units": 0.1,
    "engine-equal": 0.1,
    "engine-thousand": 0.05,
    "engine-middle": 0.1,
    "false-claims": 0.15,
    "real": 0.3,
    "grids": 0.4,
    "labels": 0.8,
    "lattice": 0.3,
    "mixtures": 0.6,
    "settings": 1.4,
    "near-rates": 1.0,
    "hostile-certificates": 0.1,
    "hostile-arguments": 0.5,
}
"""Seconds of processor time for an instance, where it is more than a hundredth."""
CHEAP = {
    "grids": (0, 1, 2, 3),
    "labels": (0, 1, 2),
    "lattice": (0, 1, 2, 3),
    "mixtures": (0, 1, 3, 4),
    "settings": (2, 4, 5),
    "near-rates": (0, 3, 5, 7),
    "hostile-arguments": (0, 1, 10, 18, 21),
}
"""Instances that take less than a second, of classes in which others take several: these are in the fast tier."""


def _chunks() -> dict[bool, list[tuple[str, list[int]]]]:
    """All instances of a tenth, a few in each test; whether they are slow."""
    found: dict[bool, list[tuple[str, list[int]]]] = {False: [], True: []}
    for kind, amount in run.amounts(list(CLASSES), TENTH).items():
        if kind in CHEAP:
            found[False] += [(kind, [seed]) for seed in CHEAP[kind]]
        seeds = [seed for seed in range(amount) if seed not in CHEAP.get(kind, ())]
        each = max(1, round((SLOW_SECONDS if kind in CHEAP else SECONDS) / TYPICAL.get(kind, 0.01)))
        found[kind in CHEAP] += [(kind, seeds[first : first + each]) for first in range(0, len(seeds), each)]
    return found


def _cases(slow: bool) -> list[ParameterSet]:
    return [pytest.param(kind, seeds, id=f"{kind}-{seeds[0]}") for kind, seeds in _chunks()[slow]]


@pytest.mark.parametrize(("kind", "seeds"), _cases(slow=False))
def test_a_tenth(kind: str, seeds: list[int]) -> None:
    findings = [line for seed in seeds for line in run.told(judged(kind, seed))]
    assert not findings, "\n".join(findings)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seeds"), _cases(slow=True))
def test_slow_instances_of_a_tenth(kind: str, seeds: list[int]) -> None:
    test_a_tenth(kind, seeds)


def test_the_chunks_are_a_tenth() -> None:
    jobs = [(kind, seed) for chunks in _chunks().values() for kind, seeds in chunks for seed in seeds]
    assert sorted(jobs) == sorted(run.campaign(list(CLASSES), TENTH, 0))
    assert len(jobs) >= 0.99 * TENTH


def _outcome(limits: Limits | None = None) -> Outcome:
    return Outcome("wide", 0, limits or Limits())


def _words(outcome: Outcome) -> list[str]:
    return [word for word, _ in outcome.findings]


@pytest.mark.parametrize("kind", ["wide", "few", "types", "lattice"])
def test_a_wrong_answer_is_noticed(kind: str) -> None:
    """The wrong side of either end."""
    asked = next(found for found in (question(kind, seed) for seed in range(99)) if found.place == "bulk")
    bound = compose(counts(asked), delta=asked.delta)
    assert asked.truth is not None
    assert encloses(asked.truth, bound)
    above, below = bound.upper * (1 + 1e-6), bound.lower * (1 - 1e-6)
    for wrong in (replace(bound, lower=above, upper=2 * above), replace(bound, lower=0.0, upper=below)):
        outcome = _outcome()
        outcome.true("wrong", wrong, asked.truth)
        outcome.proved("wrong", wrong)
        assert _words(outcome) == ["violation", "violation"]


def _bound(lower: float, upper: float, *notes: str) -> Bound:
    return replace(compose([1.0, 1.0], delta=0.1), lower=lower, upper=upper, notes=notes)


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (_bound(1.0, 1.0 + 1e-10), []),
        (_bound(1.0, 1.0 + 1e-8), ["useless"]),
        (_bound(0.0, 2.0), ["useless"]),
        (_bound(0.0, 2.0, "every ε_i is a multiple of 1"), ["useless"]),
        (_bound(0.0, 2.0, CAPPED), []),
        (_bound(0.0, 1e-16), []),
    ],
)
def test_a_wide_answer_is_noticed_unless_a_note_says_so(bound: Bound, words: list[str]) -> None:
    outcome = _outcome(Limits(hair=1e-15))
    outcome.narrow("answer", bound)
    assert _words(outcome) == words


def _work(rounds: int) -> int:
    total = 0
    for i in range(rounds):
        total += i
    return total


def test_a_slow_answer_is_noticed_and_given_up() -> None:
    outcome = _outcome()
    assert outcome.answer("quick", lambda: _work(10)) == 45
    assert not outcome.findings
    assert outcome.answer("slow", lambda: _work(10**5), seconds=1e-4) is not None or outcome.findings
    assert outcome.answer("endless", lambda: _work(10**12), seconds=0.1) is None
    assert set(_words(outcome)) == {"slow"}
    assert "given up" in outcome.findings[-1][1]


@pytest.mark.parametrize(
    ("error", "refusable", "words"),
    [
        (ValueError("raw"), (), ["crashed"]),
        (ArithmeticError("no convergence"), (), ["crashed"]),
        (ArithmeticError("contradictory sides"), (), ["violation"]),
        (NotAffordable("it", 2.0, 1.0, "ask for less"), (), ["useless"]),
        (NotAffordable("it", 2.0, 1.0, "ask for less"), (NotAffordable,), []),
    ],
)
def test_errors_are_findings(error: Exception, refusable: tuple[type[OptcompError], ...], words: list[str]) -> None:
    def ask() -> None:
        raise error

    outcome = _outcome()
    outcome.answer("question", ask, refusable=refusable)
    assert _words(outcome) == words


def test_a_broken_promise_is_noticed() -> None:
    truth = Halves([(0.5, 0.0, 1), (1.0, 0.0, 1)])
    bound = compose([0.5, 1.0], delta=0.1, method="murtagh-vadhan", eta=0.01)
    assert kept(truth, bound, 0.01)
    assert not kept(truth, replace(bound, upper=bound.upper + 0.05), 0.01)


def test_seeds_repeat() -> None:
    for kind in KINDS:
        first, again = question(kind, 5), question(kind, 5)
        assert (first.mechanisms, first.delta, first.epsilon) == (again.mechanisms, again.delta, again.epsilon)


def test_wide_lists_are_as_they_should_be() -> None:
    lists = [question("wide", seed).mechanisms for seed in range(200)]
    assert {sum(count for _, _, count in mechanisms) for mechanisms in lists} == set(range(2, 13))
    sizes = [eps for mechanisms in lists for eps, _, _ in mechanisms]
    assert all(Fraction("0.01") <= eps <= 4 for eps in sizes)
    assert any(isinstance(eps, Fraction) for eps in sizes)


def test_a_campaign_is_large_and_varied() -> None:
    jobs = run.campaign(list(CLASSES), run.INSTANCES, 0)
    assert len(jobs) == len(set(jobs))
    assert 19_900 <= len(jobs) <= 20_100
    assert {kind for kind, _ in jobs} == set(CLASSES)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["--instances", "4", "--workers", "1", "--kind", "types", "--seed", "100"]) == 0
    told = capsys.readouterr().out
    assert "violation" in told
    assert "4 of 4 instances" in told
