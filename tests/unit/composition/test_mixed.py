"""Mechanisms, pairs and notions composed together: laws that always hold, and truths by other means."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.composition.reading import Item
from optcomp.theorems import zdw22
from tests.oracles.checks import encloses
from tests.oracles.losses import (
    Beside,
    Sum,
    atoms_part,
    gaussian_hockey,
    laplace_part,
    response_atoms,
    subsampled_gaussian_moment,
    sums_of,
    variance_hockey,
)
from tests.oracles.truth import real, working

Parts = list[Item]

few = settings(max_examples=15)
sizes = st.sampled_from([0.01, 0.1, 0.3, 1.0, 2.5])
deltas = st.sampled_from([0.9, 0.3, 1e-2, 1e-5, 1e-9, 1e-15, 1e-30, 1e-100])
epsilons = st.sampled_from([0.0, 0.05, 0.4, 1.0, 3.0, 11.0])
losses = st.one_of(
    sizes.map(oc.GaussianDP),
    sizes.map(lambda x: oc.Gaussian(1 / x)),
    sizes.map(lambda x: oc.Laplace(1 / x)),
    st.tuples(sizes, st.integers(2, 6)).map(lambda pair: oc.RandomizedResponse(*pair)),
    st.tuples(sizes, st.integers(1, 4)).map(lambda pair: oc.DiscreteLaplace(1 / pair[0], pair[1])),
    st.sampled_from([0.5, 1.0, 4.0]).map(oc.DiscreteGaussian),
    sizes.map(oc.PureDP),
    st.tuples(sizes, st.sampled_from([1e-12, 1e-4])).map(lambda pair: oc.ApproxDP(*pair)),
    st.sampled_from([1e-10, 1e-3]).map(oc.NameAndShame),
)
notions = st.one_of(
    sizes.map(oc.ZCDP),
    sizes.map(lambda x: oc.ApproxZCDP(x / 4, 1e-10)),
    sizes.map(lambda x: oc.TCDP(x / 4, 20)),
    sizes.map(oc.Exponential),
    sizes.map(lambda x: oc.RenyiDP({2: x, 16: 4 * x})),
)
lists = st.lists(losses, min_size=1, max_size=3)


def smooth(parts: Parts) -> Parts:
    """With Gaussian noise beside them, which makes every question quick to answer."""
    return [*parts, oc.GaussianDP(0.7)]


def both(parts: object, delta: float, epsilon: float) -> tuple[oc.Bound, oc.Bound]:
    return oc.compose(parts, delta=delta), oc.compose(parts, epsilon=epsilon)  # type: ignore[arg-type]  # any form


@few
@given(losses, st.integers(1, 30), deltas, epsilons)
def test_counting_is_repeating(part: Item, copies: int, delta: float, epsilon: float) -> None:
    counted = {part: copies, oc.GaussianDP(0.7): 1}
    assert both(counted, delta, epsilon) == both(smooth([part] * copies), delta, epsilon)


@few
@given(notions, st.integers(1, 9), deltas, epsilons)
def test_counting_notions_is_repeating(part: Item, copies: int, delta: float, epsilon: float) -> None:
    assert both({part: copies}, delta, epsilon) == both([part] * copies, delta, epsilon)


@few
@given(lists, deltas, epsilons, st.randoms(use_true_random=False))
def test_order_does_not_matter(parts: Parts, delta: float, epsilon: float, shuffler: Random) -> None:
    shuffled = smooth(parts)
    shuffler.shuffle(shuffled)
    assert both(smooth(parts), delta, epsilon) == both(shuffled, delta, epsilon)


@few
@given(lists, losses, deltas, epsilons)
def test_one_more_mechanism_costs_no_less(parts: Parts, more: Item, delta: float, epsilon: float) -> None:
    old, new = both(smooth(parts), delta, epsilon), both(smooth([*parts, more]), delta, epsilon)
    for before, after in zip(old, new, strict=True):
        assert after.upper >= before.lower


@few
@given(lists, deltas)
def test_duality(parts: Parts, delta: float) -> None:
    bound = oc.compose(smooth(parts), delta=delta)
    if math.isfinite(bound.upper):
        assert oc.compose(smooth(parts), epsilon=bound.upper).lower <= delta
        assert bound.lower == 0 or oc.compose(smooth(parts), epsilon=bound.lower).upper >= delta


@few
@given(st.lists(st.one_of(losses, notions), min_size=1, max_size=3), deltas, epsilons)
def test_sides_are_ordered_and_notes_are_right(parts: Parts, delta: float, epsilon: float) -> None:
    for bound in both(smooth(parts), delta, epsilon):
        assert 0 <= bound.lower <= bound.upper
        assert bound.count == len(parts) + 1
        assert oc.theorem(bound.theorem).id == bound.theorem


PURE: list[tuple[dict[Item, int], Fraction, float]] = [
    ({oc.Laplace(4): 3, oc.PureDP("0.1"): 2}, Fraction(19, 20), 0.0),
    ({oc.Laplace(3): 3}, Fraction(1), 0.0),
    ({oc.RandomizedResponse(0.5, 4): 3, oc.NameAndShame(1e-6): 1}, Fraction(3, 2), 1e-6),
    ({oc.DiscreteLaplace(10, 2): 5, oc.Laplace(10): 5}, Fraction(3, 2), 0.0),
]
"""Mechanisms, the sum of their ε, and what they leak."""


@pytest.mark.parametrize(("parts", "total", "leak"), PURE)
def test_never_worse_than_basic_composition(parts: dict[Item, int], total: Fraction, leak: float) -> None:
    for delta in (1e-2, 1e-5):
        upper = oc.compose(parts, delta=delta).upper
        assert upper <= oc.compose(parts, delta=delta, method="basic").upper
        assert upper <= total
    assert oc.compose({oc.Exponential(0.5): 4, oc.Laplace(2): 1}, delta=1e-5 + leak).upper <= 2.5


@pytest.mark.parametrize(("parts", "total", "leak"), PURE)
def test_no_delta_is_needed_at_the_sum(parts: dict[Item, int], total: Fraction, leak: float) -> None:
    """At ε = Σε_i, exactly, only the leaks are left."""
    assert oc.compose(parts, epsilon=total).upper <= leak * (1 + 1e-15)


@pytest.mark.parametrize("scale", [0.05, 0.7, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_gaussian_beside_atoms(seed: int, scale: float) -> None:
    """Exactly: one closed form for every sum of atoms."""
    rng = Random(seed)
    known = [(scale * rng.choice([0.3, 1.0, 1.9]), rng.randint(2, 5), rng.randint(1, 3)) for _ in range(2)]
    mu, leak = scale * rng.choice([0.5, 1.5]), rng.choice([0.0, 1e-7])
    parts: dict[Item, int] = {oc.GaussianDP(mu): 2, oc.ApproxDP(0.125, leak): 2}
    for eps, answers, copies in known:
        mechanism = oc.RandomizedResponse(eps, answers)
        parts[mechanism] = parts.get(mechanism, 0) + copies
    truth = Beside(
        [variance_hockey(2 * Fraction(mu) ** 2)],
        lambda: sums_of([*((response_atoms(e, n), m) for e, n, m in known), (response_atoms(0.125), 2)]),
        [(leak, 2)] if leak else [],
    )
    for delta in (0.9, 0.2, 1e-3, 1e-6, 1e-30, 1e-100):
        bound = oc.compose(parts, delta=delta)
        assert encloses(truth, bound), delta
        assert math.isinf(bound.upper) or bound.width <= 1e-9
    for epsilon in (0.0, 0.1 * scale, scale, 4 * scale, 40 * scale):
        assert encloses(truth, oc.compose(parts, epsilon=epsilon)), epsilon


@pytest.mark.parametrize(("eps", "copies"), [(1.0, 2), (0.2, 3)])
def test_few_laplace_mechanisms(eps: float, copies: int) -> None:
    truth, parts = Sum([laplace_part(eps, copies)]), {oc.Laplace(1, eps): copies}
    for delta in (0.9, 0.3, 1e-2):
        assert encloses(truth, oc.compose(parts, delta=delta)), delta
    for share in (0.0, 0.3, 1.5):
        assert encloses(truth, oc.compose(parts, epsilon=share * eps * copies)), share


@pytest.mark.parametrize("copies", [1, 7, 10**6])
@pytest.mark.parametrize("mu", [1e-3, 0.3, 9.0])
def test_engine_against_the_closed_form(mu: float, copies: int) -> None:
    truth, parts = Beside([variance_hockey(Fraction(mu) ** 2 * copies)]), {oc.GaussianDP(mu): copies}
    for delta in (1e-3, 1e-12, 1e-40, 1e-100):
        for method in ("certified", "auto"):
            bound = oc.compose(parts, delta=delta, method=method)
            assert encloses(truth, bound)
            assert bound.width <= 1e-9
    for epsilon in (0.0, mu, 3 * mu * math.sqrt(copies) + mu * mu * copies / 2):
        assert encloses(truth, oc.compose(parts, epsilon=epsilon, method="certified"))


def _subsampled_delta(mu: float, q: float, copies: int, y: float, c: float, step: float, nodes: int) -> arb:
    """δ at y of subsampled Gaussian noise when a person is removed, as an inverse Laplace transform.

    (1/π) ∫ Re M(s)^n e^{-sy}/(s(s+1)) dθ by a sum over evenly spaced θ; what it misses is far below the tolerance.
    """
    moment, total = subsampled_gaussian_moment(mu, q, "towards"), arb(0)
    for j in range(nodes):
        s = acb(arb(c), arb(j * step))
        value = (moment(s) ** copies * (-s * y).exp() / (s * (s + 1))).real
        total += value / 2 if j == 0 else value
    return total * step / arb.pi()


@pytest.mark.parametrize(
    ("mu", "q", "copies", "delta", "tilt", "step"),
    [(0.5, 0.2, 40, 1e-5, 4.75, 0.3), (1.0, 0.05, 400, 1e-3, 2.0, 0.15), (0.1, 0.5, 2000, 1e-9, 2.75, 0.13)],
)
def test_subsampled_gaussian(mu: float, q: float, copies: int, delta: float, tilt: float, step: float) -> None:
    parts = {oc.PoissonSubsampled(oc.Gaussian(1, mu), q): copies}
    bound = oc.compose(parts, delta=delta)
    assert bound.width <= 1e-9
    with working(80):
        at_top = _subsampled_delta(mu, q, copies, bound.upper, tilt, step, 48)
        assert abs(at_top / _subsampled_delta(mu, q, copies, bound.upper, tilt, 0.7 * step, 70) - 1) < 1e-13
        assert at_top <= arb(delta) * (1 + 1e-13)
        assert _subsampled_delta(mu, q, copies, bound.lower, tilt, step, 48) >= arb(delta) * (1 - 1e-13)


def test_subsampling_is_monotone() -> None:
    def cost(sigma: float, q: float, copies: int) -> oc.Bound:
        return oc.compose({oc.PoissonSubsampled(oc.Gaussian(sigma), q): copies}, delta=1e-6)

    assert cost(1.0, 0.1, 100).upper < cost(1.0, 0.1, 120).lower
    assert cost(1.0, 0.1, 100).upper < cost(1.0, 0.11, 100).lower
    assert cost(1.1, 0.1, 100).upper < cost(1.0, 0.1, 100).lower
    assert cost(1.0, 0.99, 100).upper < oc.compose({oc.Gaussian(1): 100}, delta=1e-6).lower
    assert cost(1.0, 1, 100).upper == pytest.approx(oc.compose({oc.Gaussian(1): 100}, delta=1e-6).upper, rel=1e-8)


def test_top_atom_alone() -> None:
    """δ just below the mass of the largest loss: the lower side stands on that atom, and must not pass the truth."""
    eps, answers, copies, gap = 23.5, 10**9, 2, 18.1
    truth = Sum([atoms_part(lambda: response_atoms(eps, answers), copies)])
    with working(200):
        mass = (real(eps).exp() / (real(eps).exp() + answers - 1)) ** copies
        delta = float((mass * (1 - (-real(gap)).exp())).mid())
    assert encloses(truth, oc.compose({oc.RandomizedResponse(eps, answers): copies}, delta=delta))


@pytest.mark.parametrize("gap", [18.1, 18.9, 19.4, 19.9, 20.3])
@pytest.mark.parametrize("copies", [2, 3, 5])
def test_lower_side_of_the_top_atom(gap: float, copies: int) -> None:
    """F(y) >= A (1 - e^{y - top}), A the mass of the top atom."""
    eps, answers = 23.5, 10**9
    with working(200):
        mass = (real(eps).exp() / (real(eps).exp() + answers - 1)) ** copies
        t = float((mass * (1 - (-real(gap)).exp())).mid())
        near = float(real(t).log().mid())
        log_t = near if real(near) >= real(t).log() else math.nextafter(near, 0.0)
        true = copies * real(eps) + (1 - real(t) / mass).log()
        assert not real(zdw22._top_lower([(oc.RandomizedResponse(eps, answers).laws[0], copies)], log_t)) > true


@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-9, 1e-60])
@pytest.mark.parametrize("rho", [1e-6, 0.02, 1.5, 200.0])
def test_gaussian_noise_satisfies_zcdp(rho: float, delta: float) -> None:
    truth = Beside([variance_hockey(2 * 3 * Fraction(rho))])
    for parts in ({oc.ZCDP(rho): 3}, {oc.ZCDP(rho): 2, oc.TCDP(rho, 10**6): 1}, {oc.ApproxZCDP(rho, 0): 3}):
        assert encloses(truth, oc.compose(parts, delta=delta))


@pytest.mark.parametrize("delta", [0.3, 1e-4, 1e-8])
def test_gaussian_noise_beside_mechanisms(delta: float) -> None:
    truth = Beside([gaussian_hockey(0.5)], lambda: sums_of([(response_atoms(0.25, 3), 2), (response_atoms(0.1), 4)]))
    parts: dict[Item, int] = {oc.ZCDP(0.125): 1, oc.RandomizedResponse(0.25, 3): 2, oc.PureDP(0.1): 4}
    assert encloses(truth, oc.compose(parts, delta=delta))
    bound = oc.compose(parts, epsilon=0.6)
    assert encloses(truth, bound)


def _exponential(eps: Fraction, scores: list[int]) -> list[arb]:
    """The exponential mechanism for scores that one person changes by at most 1."""
    weights = [(real(eps * score) / 2).exp() for score in scores]
    return [weight / sum(weights, arb(0)) for weight in weights]


def _hockey(pairs: list[tuple[arb, arb]], y: arb) -> arb:
    return sum(((p - y.exp() * q).max(arb(0)) for p, q in pairs), arb(0))


@pytest.mark.parametrize("seed", range(6))
def test_exponential_mechanisms_adaptively(seed: int) -> None:
    """Each next question depends on the answers so far: all answers listed, no bound is ever too small."""
    rng, eps, rounds = Random(seed), Fraction(1, 2), 4
    asked: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}

    def question(answers: tuple[int, ...]) -> tuple[list[int], list[int]]:
        if answers not in asked:
            scores = [rng.randint(0, 3) for _ in range(3)]
            asked[answers] = scores, [score + rng.choice([-1, 0, 1]) for score in scores]
        return asked[answers]

    with working(160):
        joint: dict[tuple[int, ...], tuple[arb, arb]] = {(): (arb(1), arb(1))}
        for _ in range(rounds):
            joint = {
                (*answers, answer): (p * here[answer], q * there[answer])
                for answers, (p, q) in joint.items()
                for here, there in [tuple(_exponential(eps, scores) for scores in question(answers))]
                for answer in range(3)
            }
        pairs = list(joint.values())
        for delta in (0.05, 1e-3):
            upper = oc.compose({oc.Exponential(eps): rounds}, delta=delta).upper
            assert _hockey(pairs, real(upper)) <= delta
            assert _hockey([(q, p) for p, q in pairs], real(upper)) <= delta
        for epsilon in (0.0, 0.3, 1.0):
            upper = oc.compose({oc.Exponential(eps): rounds}, epsilon=epsilon).upper
            assert not _hockey(pairs, real(epsilon)) > upper
            assert not _hockey([(q, p) for p, q in pairs], real(epsilon)) > upper


def test_worst_exponential_mechanism_is_the_lower_side() -> None:
    """Two answers whose scores change places: randomized response with ε/2."""
    with working(160):
        one, other = _exponential(Fraction(1, 2), [1, 0]), _exponential(Fraction(1, 2), [0, 1])
        pairs = [
            (p[0] * r[0] * t[0], p[1] * r[1] * t[1]) for p, r, t in product(zip(one, other, strict=True), repeat=3)
        ]
        bound = oc.compose({oc.Exponential("0.5"): 3}, delta=1e-2)
        assert bound.lower > 0
        assert not _hockey(pairs, real(bound.lower)) < real(1e-2) * (1 - 1e-5)
        assert _hockey(pairs, real(bound.upper)) <= 1e-2


def test_below_the_leaks_nothing_works() -> None:
    for part in (oc.ApproxDP(0.1, 1e-3), oc.NameAndShame(1e-3), oc.ApproxZCDP(0.1, 1e-3)):
        bound = oc.compose([part, oc.Laplace(1)], delta=9e-4)
        assert bound.upper == math.inf
    assert 1e-3 <= oc.compose([oc.NameAndShame(1e-3), oc.Gaussian(1)], epsilon=1e6).upper <= 1e-3 * (1 + 1e-15)


def test_exactly_the_leaks() -> None:
    assert oc.compose([oc.NameAndShame(0.25), oc.Laplace(2)], delta=0.25).upper == 0.5
    assert oc.compose([oc.NameAndShame(0.25), oc.Gaussian(2)], delta=0.25).upper == math.inf


@pytest.mark.parametrize("parts", [[oc.Laplace(1)] * 3, [oc.Gaussian(1), oc.Laplace(1)], [oc.DiscreteGaussian(2)] * 4])
def test_large_delta_costs_nothing(parts: Parts) -> None:
    bound = oc.compose(parts, delta=0.999)
    assert bound.lower == bound.upper == 0


@pytest.mark.parametrize("epsilon", [50.0, 1e4, 1e12])
def test_huge_epsilon(epsilon: float) -> None:
    parts: dict[Item, int] = {oc.Gaussian(1): 1, oc.RandomizedResponse(1.0, 3): 2}
    bound = oc.compose(parts, epsilon=epsilon)
    assert 0 <= bound.lower <= bound.upper <= 1e-200
    if epsilon == 50:
        truth = Beside([gaussian_hockey(1)], lambda: sums_of([(response_atoms(1.0, 3), 2)]))
        assert encloses(truth, bound)
