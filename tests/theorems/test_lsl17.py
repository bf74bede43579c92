"""LSL17: exact chances of all answers of the running sparse vector, on neighbouring questions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from flint import arb

from optcomp.interactive import SparseVector
from optcomp.interactive.sparse_vector import best_split
from tests.oracles.thresholds import Answers, sparse_courses, worst_loss
from tests.oracles.truth import real

Instance = tuple[int, int, str, list[int], list[int], float]
TIGHT: list[Instance] = [
    (1, 1, "2", [68, 68, -9], [-1, -1, 1], 0.92),
    (1, 2, "2", [84, 81, 95, -21], [-2, -2, -2, 2], 0.999),
    (1, 1, "1", [39, 10, 19, 12, 24, -56], [1, 1, 1, 1, 1, -1], 0.999),
    (2, 1, "2", [-19, 16, -5, 14, 12, -9], [1, 1, -1, 1, 1, -1], 0.89),
    (2, 2, "4", [11, -41, 76, 63, 75, 20], [2, -2, 2, 2, 2, -2], 0.85),
    (3, 1, "4", [-3, -14, -14, 42, 43, 38], [1, -1, -1, 1, 1, 1], 0.65),
]
"""Positives, sensitivity, ε, questions, their changes, and the part of ε that these at least come to."""
TIGHT_MONOTONE: list[Instance] = [
    (1, 1, "2", [33, 33, 33, 0], [1, 1, 1, 0], 0.999),
    (2, 1, "2", [47, 47, 1, 47, -4], [1, 1, 0, 1, 0], 0.92),
    (2, 2, "2", [47, 53, -40, 65, -33], [2, 2, 0, 2, 0], 0.91),
]


class Halved(SparseVector):
    """Half the noise on questions."""

    def scales(self) -> tuple[float, float]:
        first, second = super().scales()
        return first, second / 2


class Certain(SparseVector):
    """No noise on the threshold."""

    def draw_threshold(self) -> int:
        return int(self.threshold)


def loss(spec: SparseVector, values: list[int], changes: list[int]) -> arb:
    """The greatest |log P/P'|."""
    return worst_loss(spec, values, [q + change for q, change in zip(values, changes, strict=True)], len(values))


def eps(spec: SparseVector) -> arb:
    return real(Fraction(spec.epsilon))


def test_all_answers_are_there() -> None:
    """Five questions until the second ⊤; their chances add up to one."""
    found = sparse_courses(SparseVector(3, epsilon=1, positives=2), [1, 2, 3, 4, 5], 5)
    assert len(found) == 16
    assert all(sum(answers) <= 2 and (sum(answers) < 2 or answers[-1]) for answers in found)
    assert abs(sum((script.chance() for script in found.values()), arb(0)) - 1) < 1e-14


@pytest.mark.parametrize(("positives", "change", "epsilon", "values", "changes", "part"), TIGHT)
def test_the_worst_that_was_found_is_within_and_near(
    positives: int, change: int, epsilon: str, values: list[int], changes: list[int], part: float
) -> None:
    spec = SparseVector(0, epsilon=epsilon, positives=positives, sensitivity=change)
    found = loss(spec, values, changes)
    assert part * eps(spec) < found
    assert found <= eps(spec)


@pytest.mark.parametrize(("positives", "change", "epsilon", "values", "changes", "part"), TIGHT_MONOTONE)
def test_the_worst_that_was_found_for_monotone_questions(
    positives: int, change: int, epsilon: str, values: list[int], changes: list[int], part: float
) -> None:
    spec = SparseVector(0, epsilon=epsilon, positives=positives, sensitivity=change, monotone=True)
    found = loss(spec, values, changes)
    assert part * eps(spec) < found
    assert found <= eps(spec)
    assert loss(spec, values, [-each for each in changes]) <= eps(spec)


@pytest.mark.parametrize("values", list(product((-40, 0, 3, 25), repeat=2)))
def test_two_questions_and_every_change(values: tuple[int, int]) -> None:
    for positives, change in ((1, 1), (2, 1), (1, 2)):
        spec = SparseVector("1/2", epsilon="3/2", positives=positives, sensitivity=change)
        for changes in product(range(-change, change + 1), repeat=2):
            assert loss(spec, list(values), list(changes)) <= eps(spec)


@pytest.mark.parametrize("seed", range(12))
def test_random_questions(seed: int) -> None:
    rng = Random(seed)
    count, change, monotone = rng.randint(3, 6), rng.randint(1, 2), rng.random() < 0.4
    spec = SparseVector(
        rng.randint(-3, 3),
        epsilon=rng.choice(("1/2", "1", "3")),
        positives=rng.randint(1, 3),
        sensitivity=change,
        monotone=monotone,
        share=rng.choice((None, "1/2", "1/5")),
    )
    for _ in range(3):
        values = [rng.choice((rng.randint(-5, 5), rng.randint(20, 60), -30)) for _ in range(count)]
        changes = [rng.choice((0, change) if monotone else (-change, 0, change)) for _ in range(count)]
        assert loss(spec, values, changes) <= eps(spec)


def test_questions_chosen_on_the_way() -> None:
    """Each question, and how it differs between the neighbours, depends on all answers before."""
    spec = SparseVector(0, epsilon=2, positives=2)
    for seed in range(6):
        rng = Random(seed)
        tree = {
            answers: (rng.choice((-12, 0, 20, 45)), rng.choice((-1, 1)))
            for length in range(5)
            for answers in product((False, True), repeat=length)
        }

        def question(answers: Answers, tree: dict[Answers, tuple[int, int]] = tree) -> int:
            return tree[answers][0]

        def moved(answers: Answers, tree: dict[Answers, tuple[int, int]] = tree) -> int:
            return sum(tree[answers])

        worst = worst_loss(spec, question, moved, 5)
        assert 0.3 * eps(spec) < worst
        assert worst <= eps(spec)


@pytest.mark.parametrize(
    ("positives", "change", "epsilon", "values", "changes"),
    [
        (1, 1, "2", [39, 39, 0], [1, 1, -1]),
        (1, 2, "2", [53, 62, 55, 3], [2, 2, 2, -2]),
        (2, 2, "4", [-7, 39, 37, 37, -4], [-2, 2, 2, 2, -2]),
        (3, 1, "4", [-15, -12, 12, 17, 13, -8], [-1, -1, 1, 1, 1, -1]),
    ],
)
def test_half_the_noise_on_questions_would_be_caught(
    positives: int, change: int, epsilon: str, values: list[int], changes: list[int]
) -> None:
    broken = Halved(0, epsilon=epsilon, positives=positives, sensitivity=change)
    assert loss(broken, values, changes) > 1.5 * eps(broken)


def test_a_threshold_without_noise_would_be_caught() -> None:
    broken = Certain(0, epsilon=1, positives=1)
    assert loss(broken, [40, 40, 40, 40, 40, -60], [1, 1, 1, 1, 1, -1]) > eps(broken)


def test_too_many_positives_would_be_caught() -> None:
    """The noise of one positive answer, and two of them."""

    class Generous(SparseVector):
        def scales(self) -> tuple[float, float]:
            return SparseVector(0, epsilon=self.epsilon).scales()

    broken = Generous(0, epsilon=2, positives=2)
    assert loss(broken, [34, -14, 39, 42, -10], [1, -1, 1, 1, -1]) > 1.5 * eps(broken)


@pytest.mark.parametrize(
    ("positives", "values", "changes"),
    [(1, [47, 47, -67, -2], [1, 1, -1, -1]), (2, [44, 43, -6, 41, -6], [1, 1, -1, 1, -1])],
)
def test_monotone_noise_is_not_enough_for_other_questions(
    positives: int, values: list[int], changes: list[int]
) -> None:
    spec = SparseVector(0, epsilon=2, positives=positives, monotone=True)
    assert loss(spec, values, changes) > 1.4 * eps(spec)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("positives", [1, 2, 7, 100])
def test_the_split_makes_the_comparison_vary_least(positives: int, monotone: bool) -> None:
    def variance(share: Fraction) -> Fraction:
        spec = SparseVector(0, epsilon="1/50", positives=positives, monotone=monotone, share=share)
        return sum((2 * Fraction(scale) ** 2 for scale in spec.scales()), Fraction(0))

    best = best_split(positives, monotone=monotone)
    assert SparseVector(0, epsilon=1, positives=positives, monotone=monotone).share == best
    assert float((1 - best) / best) == pytest.approx((positives if monotone else 2 * positives) ** (2 / 3))
    for step in range(1, 100):
        assert variance(best) <= variance(Fraction(step, 100))
        assert variance(best) < variance(best * (1 + Fraction(step, 10_000)))
        assert variance(best) < variance(best * (1 - Fraction(step, 10_000)))
