"""A few hundred instances of the soundness campaign, and proof that the campaign notices a wrong answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.campaign import judge, run
from tests.campaign.judge import judged
from tests.campaign.lists import KINDS
from tests.campaign.questions import question
from tests.oracles.checks import encloses

QUICK = [kind for kind, drawn in KINDS.items() if drawn.oracle is not None]
EACH, CHUNKS = 4, 5


@pytest.mark.parametrize("kind", QUICK)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_truth_is_inside(kind: str, chunk: int) -> None:
    outcomes = [judged(kind, 10**6 + EACH * chunk + i) for i in range(EACH)]
    assert not [(outcome.wrong, outcome.crashed) for outcome in outcomes if not outcome.sound]


def test_two_real_lists_by_the_checker() -> None:
    outcomes = [judged("checked", seed) for seed in range(2)]
    assert not [(outcome.wrong, outcome.crashed) for outcome in outcomes if not outcome.sound]


@pytest.mark.parametrize("kind", ["few", "types", "lattice"])
def test_a_wrong_answer_is_noticed(kind: str) -> None:
    """The wrong side of either end."""
    asked = next(found for found in (question(kind, seed) for seed in range(99)) if found.place == "bulk")
    bound = judge._epsilon(replace(asked, rtol=1e-6, work=1e7, through_compose=False))
    assert asked.truth is not None
    assert encloses(asked.truth, bound)
    assert bound.lower < bound.upper
    above, below = replace(bound, lower=bound.upper), replace(bound, upper=bound.lower)
    assert not encloses(asked.truth, above)
    assert not encloses(asked.truth, below)


def test_seeds_repeat() -> None:
    for kind in QUICK:
        first, again = question(kind, 5), question(kind, 5)
        assert (first.mechanisms, first.delta, first.epsilon) == (again.mechanisms, again.delta, again.epsilon)


def test_a_campaign_is_large_and_varied() -> None:
    jobs = run.campaign(list(KINDS), run.INSTANCES, 0)
    assert len(jobs) == len(set(jobs)) >= 20_000
    assert {kind for kind, _ in jobs[: len(KINDS)]} == set(KINDS)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["--instances", "4", "--workers", "1", "--kind", "types", "--seed", "100"]) == 0
    told = capsys.readouterr().out
    assert "violations" in told
    assert "4 of 4 instances" in told
