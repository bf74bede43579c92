"""Random mixtures of two to six mechanisms of every kind, asked both ways, against oracles that share no code.

Atoms and Laplace noise, and one other loss beside atoms, are checked exactly; everything else between losses rounded
up and losses rounded down.  A bound on Rényi divergences is checked by a mechanism that satisfies it.  An answer must
hold, come in time, and be as narrow as documented or say that it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from flint import arb

import optcomp as oc
from optcomp.composition.reading import Item
from tests.campaign.judge import Outcome
from tests.oracles import rounded
from tests.oracles.checks import above, below
from tests.oracles.losses import (
    Beside,
    Hockey,
    Sum,
    Way,
    atoms_part,
    discrete_gaussian_hockey,
    discrete_laplace_atoms,
    laplace_part,
    response_atoms,
    subsampled_gaussian_hockey,
    subsampled_laplace_hockey,
    sums_of,
    variance_hockey,
)
from tests.oracles.truth import Truth, real, working

_MOST_SUMS, _MOST_TERMS = 400, 9
WAYS: tuple[Way, Way] = ("towards", "away")


@dataclass
class Drawn:
    """The mechanisms, and what is known of each from first principles."""

    items: dict[Item, int] = field(default_factory=dict)
    square: Fraction = Fraction(0)
    """Σμ² of all Gaussian noise."""
    atoms: list[tuple[Callable[[], list[tuple[Fraction, arb]]], int]] = field(default_factory=list)
    laplace: list[tuple[Fraction, int]] = field(default_factory=list)
    others: list[tuple[Callable[[Way], Hockey], Callable[[Way], rounded.Spread | rounded.Points], int]] = field(
        default_factory=list
    )
    leaks: list[tuple[float, int]] = field(default_factory=list)
    notions: bool = False

    def add(self, item: Item, copies: int) -> None:
        """So many more of these."""
        self.items[item] = self.items.get(item, 0) + copies

    def truth(self) -> Truth | None:
        """Exactly, where the kinds allow it."""
        smooth = bool(self.square) + sum(copies for _, _, copies in self.others)
        if not smooth and sum(copies for _, copies in self.laplace) + len(self.atoms) <= _MOST_TERMS:
            parts = [atoms_part(atoms, copies) for atoms, copies in self.atoms]
            return Sum([*parts, *(laplace_part(eps, copies) for eps, copies in self.laplace)], self.leaks)
        size = math.prod(len(atoms()) ** copies for atoms, copies in self.atoms)
        if smooth != 1 or self.laplace or size > _MOST_SUMS:
            return None
        hockeys = [variance_hockey(self.square)] if self.square else [self.others[0][0](way) for way in WAYS]
        return Beside(hockeys, lambda: sums_of([(atoms(), copies) for atoms, copies in self.atoms]), self.leaks)

    def rounded(self) -> list[rounded.Rounded]:
        """Between two numbers, one for each direction."""
        found = []
        for way in WAYS if self.others else WAYS[:1]:
            parts: list[rounded.Spread | rounded.Points] = [rounded.Points(*atoms) for atoms in self.atoms]
            parts += [rounded.laplace(eps, copies) for eps, copies in self.laplace]
            parts += [make(way) for _, make, _ in self.others]
            parts += [rounded.gaussian(self.square)] if self.square else []
            found.append(rounded.Rounded(parts or [rounded.Points(lambda: response_atoms(1e-9))]))
        return found


def drawn(rng: Random) -> Drawn:
    """Two to six mechanisms."""
    found = Drawn()
    for _ in range(rng.randint(2, 6)):
        rng.choice(_KINDS)(rng, found, rng.choice([1, 1, 1, 2, 3]))
    return found


def _size(rng: Random, least: float, most: float) -> float:
    value = math.exp(rng.uniform(math.log(least), math.log(most)))
    return float(f"{value:.3g}") if rng.random() < 0.7 else value


def _pair(rng: Random, mixture: Drawn, copies: int) -> None:
    eps, delta = _size(rng, 0.01, 3), rng.choice([0.0, 0.0, _size(rng, 1e-12, 1e-3)])
    mixture.add(oc.ApproxDP(eps, delta) if delta else oc.PureDP(eps), copies)
    mixture.atoms.append((lambda: response_atoms(eps), copies))
    mixture.leaks += [(delta, copies)] if delta else []


def _sparse(rng: Random, mixture: Drawn, copies: int) -> None:
    parts = _size(rng, 0.05, 1), _size(rng, 0.05, 1)
    mixture.add(oc.SparseVectorDP(*parts), copies)
    mixture.atoms.append((lambda: response_atoms(Fraction(parts[0]) + Fraction(parts[1])), copies))


def _shame(rng: Random, mixture: Drawn, copies: int) -> None:
    delta = _size(rng, 1e-12, 1e-3)
    mixture.add(oc.NameAndShame(delta), copies)
    mixture.leaks.append((delta, copies))


def _response(rng: Random, mixture: Drawn, copies: int) -> None:
    eps, answers = _size(rng, 0.05, 3), rng.randint(2, 6)
    mixture.add(oc.RandomizedResponse(eps, answers), copies)
    mixture.atoms.append((lambda: response_atoms(eps, answers), copies))


def _geometric(rng: Random, mixture: Drawn, copies: int) -> None:
    scale, shift = _size(rng, 0.5, 8), rng.randint(1, 3)
    mixture.add(oc.DiscreteLaplace(scale, shift), copies)
    mixture.atoms.append((lambda: discrete_laplace_atoms(scale, shift), copies))


def _laplace(rng: Random, mixture: Drawn, copies: int) -> None:
    scale = _size(rng, 0.4, 10)
    mixture.add(oc.Laplace(scale), copies)
    mixture.laplace.append((1 / Fraction(scale), copies))


def _gaussian(rng: Random, mixture: Drawn, copies: int) -> None:
    sigma = _size(rng, 0.3, 20)
    mixture.add(oc.Gaussian(sigma), copies)
    mixture.square += copies / Fraction(sigma) ** 2


def _gdp(rng: Random, mixture: Drawn, copies: int) -> None:
    mu = _size(rng, 0.05, 3)
    mixture.add(oc.GaussianDP(mu), copies)
    mixture.square += copies * Fraction(mu) ** 2


def _discrete_gaussian(rng: Random, mixture: Drawn, copies: int) -> None:
    sigma, shift = _size(rng, 0.4, 6), rng.randint(1, 2)
    mixture.add(oc.DiscreteGaussian(sigma, shift), copies)
    made = rounded.discrete_gaussian(sigma, shift, copies)
    mixture.others.append((lambda _: discrete_gaussian_hockey(sigma, shift), lambda _: made, copies))


def _subsampled(rng: Random, mixture: Drawn, copies: int) -> None:
    sigma, q = _size(rng, 0.05, 10), rng.choice([_size(rng, 1e-5, 0.9), _size(rng, 0.01, 0.5)])
    mu = 1 / Fraction(sigma)
    if rng.random() < 0.5:
        mixture.add(oc.PoissonSubsampled(oc.Gaussian(sigma), q), copies)
        mixture.others.append(
            (
                lambda way: subsampled_gaussian_hockey(mu, q, way),
                lambda way: rounded.subsampled_gaussian(mu, q, way, copies),
                copies,
            )
        )
        return
    scale = max(sigma, 0.3)
    eps = 1 / Fraction(scale)
    mixture.add(oc.PoissonSubsampled(oc.Laplace(scale), q), copies)
    mixture.others.append(
        (
            lambda way: subsampled_laplace_hockey(eps, q, way),
            lambda way: rounded.subsampled_laplace(eps, q, way, copies),
            copies,
        )
    )


def _notion(rng: Random, mixture: Drawn, copies: int) -> None:
    """A notion, and in the oracle a mechanism that satisfies it."""
    mixture.notions, size = True, _size(rng, 0.01, 1)
    kind = rng.choice(["zcdp", "approximate", "truncated", "exponential", "renyi"])
    if kind == "exponential":
        mixture.add(oc.Exponential(size), copies)
        mixture.atoms.append((lambda: response_atoms(Fraction(size) / 2), copies))
        return
    if kind == "renyi":
        mixture.add(oc.RenyiDP({2: size, 8: 2 * size, 32: 4 * size}), copies)
        return
    made: Item = oc.ZCDP(size) if kind == "zcdp" else oc.TCDP(size, 20)
    if kind == "approximate":
        made = oc.ApproxZCDP(size, 1e-9)
        mixture.leaks.append((1e-9, copies))
    mixture.add(made, copies)
    mixture.square += 2 * copies * Fraction(size)


_KINDS = (
    *(_pair, _pair, _sparse, _shame, _response, _response, _geometric, _laplace, _laplace, _gaussian, _gaussian, _gdp),
    *(_discrete_gaussian, _discrete_gaussian, _subsampled, _subsampled, _subsampled, _notion),
)


def mixture(outcome: Outcome) -> None:
    """ε at a δ and δ at an ε."""
    rng = Random(f"mixture {outcome.seed}")
    asked = drawn(rng)
    delta = 10.0 ** -rng.uniform(0.5, rng.choice([6, 14, 40]))
    epsilon = rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 8)])
    for name, value in (("delta", delta), ("epsilon", epsilon)):
        what = f"compose({asked.items}, {name}={value!r})"
        bound = outcome.answer(what, lambda: oc.compose(asked.items, **{name: value}))  # type: ignore[arg-type]  # noqa: B023
        if bound is not None:
            outcome.narrow(what, bound)
            judge(asked, bound, outcome)


def judge(asked: Drawn, bound: oc.Bound, outcome: Outcome) -> None:
    """Both sides hold, exactly or for all that rounded losses say."""
    truth = asked.truth()
    lower, upper = _exactly(truth, bound) if truth is not None else _roughly(asked, bound)
    if not (lower and upper):
        outcome.found("violation", f"{'upper' if lower else 'lower'} side of {bound} of {asked.items}")


def _exactly(truth: Truth, bound: oc.Bound) -> tuple[bool, bool]:
    return above(truth, bound, bound.lower), below(truth, bound, bound.upper)


def _roughly(mixture: Drawn, bound: oc.Bound) -> tuple[bool, bool]:
    """Whether either side may be true, for all that rounded losses say."""
    sums = mixture.rounded()
    with working(128):
        kept = arb(1)
        for delta, copies in mixture.leaks:
            kept *= (1 - real(delta)) ** copies
        goal = 1 - (1 - real(bound.given)) / kept if bound.quantity == "epsilon" else arb(0)

        def ends(y: float) -> tuple[arb, arb]:
            pairs = [rounding.excess(y) for rounding in sums]
            return max(arb(low) for low, _ in pairs), max(arb(high) for _, high in pairs)

        if bound.quantity == "delta":
            low, high = ends(float(bound.given))
            leaked = 1 - kept
            return (
                not real(bound.lower) > leaked + kept * high,
                not real(bound.upper) < leaked + kept * low * (1 - 1e-15),
            )
        if math.isinf(bound.lower):
            return not goal > 0, True
        high_at = ends(max(bound.lower - 1e-12, 0.0))[1]
        low_at = arb(0) if math.isinf(bound.upper) else ends(bound.upper + 1e-12)[0]
        return bound.lower == 0 or not high_at < goal, not low_at > goal
