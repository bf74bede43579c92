"""Random settings of training and random lattices, as a user asks, against oracles that share nothing with any engine.

One round has a closed form, two are an integral in balls, lattices are convolved exactly, and everything else lies
between a dominating and a dominated discretisation, both directions of it.  An answer must hold, come in time, and be
as narrow as documented or say that it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from flint import arb

import optcomp as oc
from tests.campaign.judge import Outcome
from tests.oracles.gridded import TwoRounds
from tests.oracles.losses import Way, discrete_laplace_atoms, response_atoms, subsampled_gaussian_hockey
from tests.oracles.replaced_losses import (
    Sides,
    replaced_gaussian_sides,
    replaced_laplace_sides,
    subsampled_gaussian_sides,
)
from tests.oracles.rounded import discrete_gaussian
from tests.oracles.sandwich import Atoms, Lattice, Sandwich, Spread
from tests.oracles.truth import real, working

Excess = Callable[[float], tuple[float, float]]
"""y to numbers that E(1 - e^{y-L})_+ is at least and at most."""
Items = dict[oc.PoissonSubsampled | oc.RandomizedResponse | oc.DiscreteLaplace | oc.DiscreteGaussian, int]
WAYS: tuple[Way, Way] = ("towards", "away")
_BITS = 192
_LIKELY, _RARE = 5000, 2500
"""Cells of the direction that mostly costs more, and of the other one."""


@dataclass(frozen=True)
class Setting:
    """What is composed, at which δ, and what is known of it: an oracle for each direction."""

    items: Items
    delta: float
    oracles: Callable[[float], list[Excess]]
    """From about the smallest excess that is asked for."""


def drawn(rng: Random) -> Setting:
    """Half are runs of up to thousands of rounds; the others one or two rounds, records replaced, and lattices."""
    kind = rng.choice((_run, _run, _run, _run, _single, _double, _replaced, _lattice, _lattice))
    items, oracles = kind(rng)
    return Setting(items, 10.0 ** -rng.uniform(3, rng.choice([7, 12, 30])), oracles)


def _spread(rng: Random, least: float, most: float) -> float:
    return math.exp(rng.uniform(math.log(least), math.log(most)))


def _noise(rng: Random) -> tuple[float, float]:
    """σ and the rate."""
    q = _spread(rng, 1e-6, 1)
    return _spread(rng, 0.1, 50), 1 - q if rng.random() < 0.1 and q < 0.5 else q


def _sampled(sigma: float, q: float) -> oc.PoissonSubsampled:
    return oc.PoissonSubsampled(oc.Gaussian(sigma), q)


_Made = tuple[Items, Callable[[float], list[Excess]]]


def _run(rng: Random) -> _Made:
    rounds = [(*_noise(rng), round(_spread(rng, 3, 3000))) for _ in range(rng.choice([1, 1, 1, 2, 3]))]

    def oracles(least: float) -> list[Excess]:
        found: list[Excess] = []
        for way, cells in zip(WAYS, (_LIKELY, _RARE), strict=True):
            parts = [part_of(1 / Fraction(sigma), q, way, count, least) for sigma, q, count in rounds]
            found.append(Sandwich(parts, least, cells).excess)
        return found

    return {_sampled(sigma, q): count for sigma, q, count in rounds}, oracles


def part_of(mu: Fraction, q: float, way: Way, copies: int, least: float) -> Spread:
    """So many rounds, from where to where an excess of this size can come."""
    low, high = (math.log1p(q * math.expm1(end)) for end in _reach(float(mu), copies, least))
    sides = subsampled_gaussian_sides(mu, q, way)
    return Spread(sides, *((low, high) if way == "towards" else (-high, -low)), copies)


def _reach(mu: float, copies: int, least: float) -> tuple[float, float]:
    """μx - μ²/2 for x so far that what is beyond hardly counts."""
    far = math.sqrt(2 * (math.log(copies / least) + 25))
    return max(-mu * (far + mu / 2), -600.0), min(mu * (far + mu / 2), 600.0)


def _single(rng: Random) -> _Made:
    sigma, q = _noise(rng)
    hockeys = [subsampled_gaussian_hockey(1 / Fraction(sigma), q, way) for way in WAYS]
    return {_sampled(sigma, q): 1}, lambda _: [_known(hockey) for hockey in hockeys]


def _double(rng: Random) -> _Made:
    sigma, q = _spread(rng, 0.2, 20), _spread(rng, 1e-4, 0.9)
    rounds = [TwoRounds(1 / Fraction(sigma), q, way == "towards") for way in WAYS]
    return {_sampled(sigma, q): 2}, lambda _: [_known(lambda y, two=two: two.excess(float(y.mid()))) for two in rounds]  # type: ignore[misc]


def _known(excess: Callable[[arb], arb]) -> Excess:
    def ends(y: float) -> tuple[float, float]:
        with working(_BITS):
            ball = excess(real(y))
            low, high = float(ball.lower()), float(ball.upper())
        return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)

    return ends


def _replaced(rng: Random) -> _Made:
    sigma, q, count = _spread(rng, 0.3, 20), _spread(rng, 1e-4, 0.9), round(_spread(rng, 2, 1000))
    noise = rng.choice((oc.Gaussian(sigma), oc.Laplace(sigma)))
    size = 1 / Fraction(sigma)

    def oracles(least: float) -> list[Excess]:
        sides: Sides
        if isinstance(noise, oc.Gaussian):
            ends = _reach(float(size), count, least)
            grown, shrunk = (math.log1p(q * math.expm1(end)) for end in reversed(ends))
            sides, most = replaced_gaussian_sides(size, q), grown - shrunk
        else:
            grown, shrunk = (math.log1p(q * math.expm1(sign * float(size))) for sign in (1, -1))
            sides, most = replaced_laplace_sides(size, q), (grown - shrunk) * (1 + 1e-9)
        return [Sandwich([Spread(sides, -most, most, count)], least, _LIKELY).excess]

    return {oc.PoissonSubsampled(noise, q, "replace"): count}, oracles


def _lattice(rng: Random) -> _Made:
    copies, kind = round(_spread(rng, 1, 300)), rng.randrange(3)
    eps, answers = round(_spread(rng, 0.02, 3), 2), rng.randint(2, 8)
    scale, shift = rng.choice([2, 4, 5, 8, 10]), rng.randint(1, 4)
    sigma = rng.choice([0.5, 1, 2, 4, 10, 25])
    item: oc.RandomizedResponse | oc.DiscreteLaplace | oc.DiscreteGaussian
    atoms: Atoms
    if kind == 0:
        item, atoms = oc.RandomizedResponse(eps, answers), lambda: response_atoms(eps, answers)
    elif kind == 1:
        item, atoms = oc.DiscreteLaplace(scale, shift), lambda: discrete_laplace_atoms(scale, shift)
    else:
        item, atoms = oc.DiscreteGaussian(sigma, shift), discrete_gaussian(sigma, shift, 1).atoms
    return {item: copies}, lambda least: [Lattice([(atoms, copies)], least).excess]


def setting(outcome: Outcome) -> None:
    """ε at a δ, or δ at an ε."""
    rng = Random(f"setting {outcome.seed}")
    asked = drawn(rng)
    words = ", ".join(f"{count} x {item}" for item, count in asked.items.items())
    what = f"compose({words}, delta={asked.delta!r})"
    bound = outcome.answer(what, lambda: oc.compose(asked.items, delta=asked.delta))
    if bound is not None and bound.upper > 0 and rng.random() < 0.5:
        epsilon = bound.upper * rng.uniform(0.3, 1)
        what = f"compose({words}, epsilon={epsilon!r})"
        bound = outcome.answer(what, lambda: oc.compose(asked.items, epsilon=epsilon))
    if bound is not None:
        outcome.narrow(what, bound)
        judge(asked, bound, outcome, what)


def judge(asked: Setting, bound: oc.Bound, outcome: Outcome, what: str) -> None:
    """Both sides may be true, for all that the oracles say."""
    least = asked.delta if bound.quantity == "epsilon" else max(bound.upper, 1e-300)
    oracles = asked.oracles(least)
    if bound.quantity == "epsilon":
        below = max(excess(bound.upper)[0] for excess in oracles)
        above = max(excess(bound.lower)[1] for excess in oracles)
        good = bound.lower == 0 or above >= asked.delta, below <= asked.delta
    else:
        ends = [excess(float(bound.given)) for excess in oracles]
        good = bound.lower <= max(high for _, high in ends), bound.upper >= max(low for low, _ in ends)
    if not all(good):
        outcome.found("violation", f"{'upper' if good[0] else 'lower'} side of {what}: {bound}")
