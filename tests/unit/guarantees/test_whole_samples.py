"""Discrete Gaussian noise on a Poisson sample: what dominates, and totals against every sequence of answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

import pytest
from flint import arb, fmpq

import optcomp as oc
from optcomp.checker import check
from optcomp.guarantees import KnownLoss
from optcomp.guarantees.subsampled import MOST_WHOLE_SIGMA
from optcomp.interactive.filters.request_documents import read_request_document, request_document
from tests.oracles import rounded
from tests.oracles.losses import response_atoms
from tests.oracles.sampled_whole import Side, pair, whole_hockey, whole_rounds
from tests.oracles.truth import Rational, rational_ends, real, working

WAYS: dict[str, tuple[Side, ...]] = {"add-remove": ("towards", "away"), "replace": ("replaced",)}
REACH = 24
ODDS = [fmpq(1, 3), fmpq(9, 10), fmpq(1), fmpq(11, 10), fmpq(3, 2), fmpq(4)]


def sampled(sigma: Any, rate: Any, shift: int = 1, neighbours: Any = "add-remove") -> oc.PoissonSubsampled:
    return oc.PoissonSubsampled(oc.DiscreteGaussian(sigma, shift), rate, neighbours)


# What dominates.  With t = e^{-1/2σ²} rational the weights t^{(x-a)²} are; all laws share one normalisation, which is
# left out, and what lies beyond the window is counted.


def weights(centre: int, base: fmpq) -> list[fmpq]:
    return [base ** ((x - centre) ** 2) for x in range(-REACH, REACH + 1)]


def by_coins(table: Iterable[int], rate: fmpq, base: fmpq) -> list[fmpq]:
    """The noisy sum of a sample of a table, up to the normalisation."""
    records, found = tuple(table), [fmpq(0)] * (2 * REACH + 1)
    for size in range(len(records) + 1):
        for chosen in combinations(records, size):
            share = prod([rate] * size + [1 - rate] * (len(records) - size), start=fmpq(1))
            found = [known + share * more for known, more in zip(found, weights(sum(chosen), base), strict=True)]
    return found


def curve(one: list[fmpq], other: list[fmpq], odds: fmpq) -> fmpq:
    return sum((max(p - odds * q, fmpq(0)) for p, q in zip(one, other, strict=True)), fmpq(0))


def beyond(base: fmpq) -> fmpq:
    """More than what any law here has beyond the window: sums of at most 6 are the centres."""
    return 4 * base ** ((REACH - 6) ** 2) / (1 - base)


@pytest.mark.parametrize(("rate", "base"), [(fmpq(1, 4), fmpq(3, 5)), (fmpq(2, 3), fmpq(9, 10))], ids=str)
def test_the_pairs_of_the_largest_shift_dominate_all_small_tables(rate: fmpq, base: fmpq) -> None:
    """Records from -2 to 2 beside two others, sensitivity 2: a person who comes or goes, and one who is another."""
    plain, right, left = (weights(centre, base) for centre in (0, 2, -2))
    mixture, mirror = ([(1 - rate) * a + rate * b for a, b in zip(plain, side, strict=True)] for side in (right, left))
    room = beyond(base)
    for others in product((-2, 0, 1), repeat=2):
        without = by_coins(others, rate, base)
        tables = {record: by_coins((record, *others), rate, base) for record in (-2, -1, 0, 1, 2)}
        for odds in ODDS:
            limits = curve(mixture, plain, odds), curve(plain, mixture, odds), curve(mixture, mirror, odds)
            for law in tables.values():
                assert curve(law, without, odds) <= limits[0] + room
                assert curve(without, law, odds) <= limits[1] + room
                assert all(curve(law, other, odds) <= limits[2] + room for other in tables.values())
            if others == (0, 0):
                assert abs(curve(tables[2], without, odds) - limits[0]) <= room
                assert abs(curve(without, tables[-2], odds) - limits[1]) <= room
                assert abs(curve(tables[2], tables[-2], odds) - limits[2]) <= room


# Totals.


def truth(part: oc.PoissonSubsampled, copies: int, eps: float, reach: int) -> tuple[arb, arb]:
    """δ between two numbers, the worse direction."""
    mechanism = part.mechanism
    assert isinstance(mechanism, oc.DiscreteGaussian)
    ends = []
    for side in WAYS[part.neighbours]:
        listed = pair(mechanism.sigma, mechanism.sensitivity, part.rate, side, reach)
        ends.append(whole_rounds([listed] * copies, eps))
    return max(low for low, _ in ends), max(high for _, high in ends)


FEW = [
    (sampled(1, "0.01"), 2, 12),
    (sampled(1, "0.1"), 3, 11),
    (sampled("0.4", Fraction(1, 3)), 4, 5),
    (sampled(2, "0.3", 2), 2, 24),
    (sampled("0.7", "0.9", 3), 3, 11),
    (sampled(1, "0.05", 1, "replace"), 3, 11),
    (sampled("1.5", "0.6", 2, "replace"), 2, 18),
]


@pytest.mark.parametrize(("part", "copies", "reach"), FEW, ids=str)
def test_every_sequence_of_answers(part: oc.PoissonSubsampled, copies: int, reach: int) -> None:
    """Both ways of asking; the truth lies inside, and the bracket is narrow."""
    for eps in (0.0, 0.1, 1.0, 2.5):
        with working(200):
            low, high = truth(part, copies, eps, reach)
            if not low > 1e-13:
                continue
            assert high - low <= 1e-13 + 1e-6 * high, "the oracle is too wide to tell"
            bound = oc.compose({part: copies}, epsilon=eps)
            assert bound.lower <= high
            assert bound.upper >= low
            assert bound.upper - bound.lower <= 1e-7 * bound.upper + 1e-13
    for delta in (1e-3, 1e-6):
        bound = oc.compose({part: copies}, delta=delta)
        with working(200):
            if bound.upper:
                assert truth(part, copies, bound.upper, reach)[0] <= delta
            if bound.lower:
                assert truth(part, copies, bound.lower, reach)[1] >= delta
        assert bound.upper - bound.lower <= 1e-7 * bound.upper + 1e-12
        assert bound.theorem == "ZDW22"


@pytest.mark.parametrize("neighbours", list(WAYS))
def test_one_round_in_closed_form(neighbours: Any) -> None:
    for sigma, rate, shift in ((1, "0.01", 1), ("0.3", "0.5", 2), (40, "0.2", 7)):
        part = sampled(sigma, rate, shift, neighbours)
        for eps in (0.0, 0.01, 0.3):
            bound = oc.compose([part], epsilon=eps)
            with working(300):
                most = max(
                    whole_hockey(Fraction(sigma), shift, Fraction(rate), side)(real(eps)) for side in WAYS[neighbours]
                )
                assert bound.lower <= most <= bound.upper
            assert bound.upper - bound.lower <= 1e-14 * bound.upper


@pytest.mark.parametrize(
    ("part", "copies"),
    [
        pytest.param(sampled(1, "0.01"), 60, marks=pytest.mark.slow),
        pytest.param(sampled(2, "0.1"), 25, marks=pytest.mark.slow),
        (sampled("0.5", "0.02"), 12),
        (sampled(1, "0.1", 1, "replace"), 15),
    ],
    ids=str,
)
def test_more_rounds_lie_between_rounded_losses(part: oc.PoissonSubsampled, copies: int) -> None:
    """Losses rounded up and down to a grid and convolved."""
    mechanism = part.mechanism
    assert isinstance(mechanism, oc.DiscreteGaussian)
    reach = math.ceil(11 * float(mechanism.sigma)) + 2

    def points(side: Side) -> rounded.Points:
        def atoms() -> list[tuple[Fraction, arb]]:
            listed = pair(mechanism.sigma, mechanism.sensitivity, part.rate, side, reach)
            return [(sum(rational_ends((p / q).log()), Fraction(0)) / 2, p) for p, q in listed]

        return rounded.Points(atoms, copies)

    known = [rounded.Rounded([points(side)]) for side in WAYS[part.neighbours]]
    for eps in (0.0, 0.3, 1.0):
        ends = [each.excess(eps) for each in known]
        low, high = max(low for low, _ in ends), max(high for _, high in ends)
        bound = oc.compose({part: copies}, epsilon=eps)
        assert bound.lower <= high
        assert bound.upper >= low
        assert bound.upper - bound.lower <= 1e-6 * bound.upper + 1e-12


ORDINARY: list[tuple[Any, Any, int, float]] = [
    (1, "0.01", 1000, 1e-5),
    (1, "0.01", 1000, 1e-12),
    (3, "0.01", 1000, 1e-6),
    (10, "0.01", 1000, 1e-6),
    (4, "1/3000", 10_000, 1e-18),
]


@pytest.mark.parametrize(("sigma", "rate", "copies", "delta"), ORDINARY)
def test_ordinary_rounds_are_narrow_and_near_gaussian_noise(sigma: Any, rate: Any, copies: int, delta: float) -> None:
    """Much noise on whole numbers is Gaussian noise; with σ = 1 both differ in the sixth digit."""
    bound = oc.compose({sampled(sigma, rate): copies}, delta=delta)
    assert bound.upper - bound.lower <= 5e-9 * bound.upper
    smooth = oc.compose({oc.PoissonSubsampled(oc.Gaussian(sigma), rate): copies}, delta=delta)
    if sigma >= 3:
        assert bound.lower <= smooth.upper
        assert smooth.lower <= bound.upper
    else:
        assert abs(bound.upper - smooth.upper) > 1e-6 * bound.upper
        assert bound.upper == pytest.approx(smooth.upper, rel=1e-4)


@pytest.mark.parametrize(("neighbours", "most", "shift"), [("add-remove", 200, 100), ("replace", 60, 30)])
def test_very_much_noise_is_gaussian_noise(neighbours: Any, most: int, shift: int) -> None:
    whole = oc.compose({sampled(most, "0.02", shift, neighbours): 100}, delta=1e-6)
    part = oc.PoissonSubsampled(oc.Gaussian(most, shift), "0.02", neighbours)
    smooth = oc.compose({part: 100}, delta=1e-6)
    assert whole.lower <= smooth.upper
    assert smooth.lower <= whole.upper
    assert whole.upper - whole.lower < 1e-7 * whole.upper


def test_the_checker_agrees() -> None:
    """Proved again by sums of its own; a claim that is moved is not."""
    bound = oc.compose({sampled(2, "0.02", 2): 300, (0.1, 1e-9): 4}, delta=1e-6)
    document = bound.certificate(rtol=1e-4)
    assert document["laws"] == [
        {
            "kind": "poisson_subsampled_discrete_gaussian",
            "sigma": "2",
            "sensitivity": 2,
            "rate": "1/50",
            "copies": 300,
        }
    ]
    assert check(document).status == "proved"
    for share in (-3e-4, 3e-4):
        moved = document | {end: float(str(document[end])) * (1 + share) for end in ("lower", "upper")}
        assert check(moved).status == "false"


def test_repetition_larger_shifts_and_everybody() -> None:
    part = sampled(1, "0.1")
    many, listed = oc.compose({part: 5}, delta=1e-6), oc.compose([part] * 5, delta=1e-6)
    assert (many.lower, many.upper) == (listed.lower, listed.upper)
    assert many.upper < oc.compose({sampled(1, "0.1", 2): 5}, delta=1e-6).lower
    assert many.upper < oc.compose({sampled(1, "0.1", 1, "replace"): 5}, delta=1e-6).lower
    for neighbours, shift in (("add-remove", 1), ("replace", 2)):
        everybody = oc.compose({sampled(3, 1, 1, neighbours): 7}, delta=1e-6)
        assert everybody.upper == oc.compose({oc.DiscreteGaussian(3, shift): 7}, delta=1e-6).upper


def test_beside_other_mechanisms() -> None:
    """Two rounds and two answers of randomized response: all sequences of answers."""
    part = sampled(1, "0.2")
    given: dict[Any, int] = {part: 2, oc.RandomizedResponse(0.5, 3): 2}
    with working(200):
        answers = [(p, p * (-real(a)).exp()) for a, p in response_atoms(Fraction(1, 2), 3)]
        for eps in (0.2, 1.0, 2.0):
            low, high = [], []
            for side in WAYS["add-remove"]:
                ends = whole_rounds([pair(1, 1, Fraction(1, 5), side, 11)] * 2 + [answers] * 2, eps)
                low.append(ends[0])
                high.append(ends[1])
            bound = oc.compose(given, epsilon=eps)
            assert bound.lower <= max(high)
            assert bound.upper >= max(low)
            assert bound.upper - bound.lower <= 1e-6 * bound.upper
    assert oc.compose({**given, oc.Gaussian(5): 3, oc.ZCDP(0.01): 1}, delta=1e-6).upper < 8
    assert oc.compose({part: 2, oc.Gaussian(5): 3}, delta=1e-6).width < 1e-8


@pytest.mark.slow
def test_composer() -> None:
    composer = oc.Composer()
    part = sampled(2, "0.05")
    for copies in (1, 30, 200):
        composer.add(part, copies)
        total, whole = composer.total(delta=1e-6), oc.compose({part: composer.count}, delta=1e-6)
        assert total.lower <= whole.upper
        assert whole.lower <= total.upper
    again = oc.Composer.of(composer.as_dict())
    assert again.parts == composer.parts


def test_calibrate() -> None:
    sigma = oc.calibrate(lambda x: {sampled(x, "0.05"): 50}, epsilon=1, delta=1e-6)
    assert oc.compose({sampled(float(sigma), "0.05"): 50}, delta=1e-6).upper <= 1


def test_refused() -> None:
    big = MOST_WHOLE_SIGMA + 1
    for make, problem in (
        (lambda: sampled(big, "0.1"), f"sigma of at most {MOST_WHOLE_SIGMA} on a sample"),
        (lambda: sampled(big, "0.1", 1000, "replace"), "summed one by one"),
        (lambda: sampled("0.125", "0.1", 3, "replace"), "at most 20"),
        (lambda: sampled(100, 1, 501, "replace"), "sensitivity: must be"),
        (lambda: oc.WithoutReplacement(oc.DiscreteGaussian(1), 1, 10), "must be a Gaussian or a Laplace"),  # type: ignore[arg-type]
        (lambda: oc.PoissonSubsampled(oc.DiscreteLaplace(1), 0.1), "Gaussian, Laplace or DiscreteGaussian"),  # type: ignore[arg-type]
    ):
        with pytest.raises(oc.InvalidInput, match=problem):
            make()
    assert len(sampled(big, 1).laws) == 1


def test_documents() -> None:
    known: list[KnownLoss] = [sampled("1/3", "0.1"), sampled(2, 0.25, 3, "replace")]
    for part in known:
        assert read_request_document(request_document(part)) == part
    noise = request_document(oc.DiscreteGaussian(1))
    with pytest.raises(oc.InvalidInput, match="must be a Gaussian or a Laplace"):
        read_request_document({"kind": "WithoutReplacement", "mechanism": noise, "batch": 1, "population": 9})


def test_losses_to_look_at() -> None:
    loss = sampled(1, "0.1").loss
    assert loss.delta(0.0) == pytest.approx(0.1 * oc.DiscreteGaussian(1).loss.delta(0.0), rel=1e-12)
    assert 0 < loss.mean < loss.variance < 0.1
    rates: list[Rational] = [0.0, 0.5, 1.0]
    assert [loss.tradeoff(float(rate)) for rate in rates] == sorted(
        (loss.tradeoff(float(r)) for r in rates), reverse=True
    )
