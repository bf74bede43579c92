"""ZW20: the exact Rényi divergence of all answers of the running Gaussian sparse vector, against the bound."""

from __future__ import annotations

from itertools import product

import pytest
from flint import arb

from optcomp import MechanismClosed
from optcomp.interactive import GaussianSparseVector, RenyiFilter
from tests.oracles.thresholds import BITS, NO_TABLE, sparse_courses
from tests.oracles.truth import real, working

ALPHAS = (1.25, 2.0, 4.0, 16.0, 64.0)


def spec(questions: int, positives: int, *, monotone: bool = False, sensitivity: int = 1) -> GaussianSparseVector:
    return GaussianSparseVector(
        0,
        sigma_threshold=1.5 * sensitivity,
        sigma_questions=3.0 * sensitivity,
        questions=questions,
        positives=positives,
        sensitivity=sensitivity,
        monotone=monotone,
    )


def divergence(made: GaussianSparseVector, values: list[int], changes: tuple[int, ...], alpha: float) -> arb:
    """log Σ P^α P'^{1-α}/(α-1)."""
    moved = [value + change for value, change in zip(values, changes, strict=True)]
    one, two = (sparse_courses(made, each, made.questions) for each in (values, moved))
    with working(BITS):
        a = real(alpha)
        return sum((one[key].chance() ** a * two[key].chance() ** (1 - a) for key in one), arb(0)).log() / (a - 1)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    ("positives", "values", "changes"),
    [
        (1, [14, 14, 14, -14], (1, 1, 1, -1)),
        (1, [0, 0, 0, 0], (1, -1, 1, -1)),
        (2, [-14, 9, 14, -14], (-1, 1, 1, -1)),
        (3, [9, -9, 12, -12, -9], (-1, 1, -1, 1, 1)),
    ],
)
def test_within_the_bound(positives: int, values: list[int], changes: tuple[int, ...], alpha: float) -> None:
    made = spec(len(values), positives)
    for signs in (changes, tuple(-change for change in changes)):
        assert divergence(made, values, signs, alpha) <= real(made.divergence(alpha))


@pytest.mark.parametrize("changes", list(product((0, 2), repeat=3)))
def test_monotone(changes: tuple[int, ...]) -> None:
    made = spec(3, 2, monotone=True, sensitivity=2)
    for signs in (changes, tuple(-change for change in changes)):
        for alpha in (2.0, 16.0, 64.0):
            assert divergence(made, [25, 0, -25], signs, alpha) <= real(made.divergence(alpha))


def test_the_bound_is_not_idle() -> None:
    """Already these four questions have more than a third of it, so half the noise on questions would be caught."""
    made, values, changes = spec(4, 1), [13, 13, 13, -15], (1, 1, 1, -1)
    assert divergence(made, values, changes, 16.0) > real(made.divergence(16.0)) / 3
    broken = GaussianSparseVector(0, sigma_threshold=1.5, sigma_questions=1.5, questions=4)
    assert divergence(broken, values, changes, 16.0) > real(made.divergence(16.0))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("positives", [1, 3])
def test_the_formula(positives: int, alpha: float) -> None:
    made = spec(1000, positives, sensitivity=5)
    with working(400):
        a = real(alpha)
        b = (a * (a - 1) * 100 / (2 * arb(225))).exp()
        truth = a * 25 / (2 * arb(7.5) ** 2) + positives * (1 + 1000 * b).log() / (a - 1)
        assert real(made.divergence(alpha)) >= truth
        assert real(made.divergence(alpha)) <= truth * (1 + arb(10) ** -12)


def test_far_out_it_says_nothing() -> None:
    assert spec(4, 1).divergence(1e6) == float("inf")


def test_closed_after_so_many_questions() -> None:
    running = GaussianSparseVector(10**6, sigma_threshold=1, sigma_questions=1, questions=3).start(NO_TABLE)
    assert [running.above(0) for _ in range(3)] == [False] * 3
    with pytest.raises(MechanismClosed, match="all 3 questions"):
        running.above(0)


def test_a_renyi_filter_takes_it_at_its_order() -> None:
    made = spec(10, 1)
    assert RenyiFilter(4, 100).price(made.guarantee).divergence == made.divergence(4.0)
