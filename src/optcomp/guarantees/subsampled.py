"""Mechanisms on a random sample: every person by a coin of their own, or a fixed number of people.

A sample must be drawn anew for each round.  Batches that are cut from one shuffled list are another matter: each person
is in exactly one of them, so the rounds are not independent, and neither law here holds for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import InvalidGuarantee, shown
from optcomp.guarantees.known_loss import KnownLoss, kept
from optcomp.guarantees.neighbours import Neighbours, checked_neighbours
from optcomp.guarantees.noise import DiscreteGaussian, Gaussian, Laplace
from optcomp.numerics import Exact, Number, exact, whole
from optcomp.numerics.laws import (
    GluedLaplaceLaw,
    GluedNormalLaw,
    Law,
    MixedLaplaceLaw,
    MixedNormalLaw,
    MixedWholeLaw,
    ReplacedLaplaceLaw,
    ReplacedNormalLaw,
    ReplacedWholeLaw,
)

_LEAST_RATE = 1e-7  # below, one person in ten million, the rate is a mistake
_MOST_PEOPLE = 10**15  # a larger population is a mistake
MOST_REPLACED_RATIO = 20
"""Sensitivity over noise where a record is replaced: beyond, losses are too large to be summed, and to be of use."""
MOST_WHOLE_SIGMA = 1000
"""Of discrete Gaussian noise on a sample: beyond, its whole numbers are too many to be summed one by one."""

SampledNoise = Gaussian | Laplace | DiscreteGaussian
"""Noise that is known on a Poisson sample."""


@dataclass(frozen=True, slots=True, repr=False)
class PoissonSubsampled(KnownLoss):
    """A Gaussian, Laplace or discrete Gaussian mechanism on a sample that holds each person with probability `rate`.

    For neighbours that differ by one person added or removed, or with `neighbours="replace"` by one record replaced by
    another one; in all mechanisms of a list the same way round.  In both cases the mechanism's `sensitivity` is what
    the presence of one person in the sample moves: for a sum of vectors that were clipped to norm C it is C.
    """

    mechanism: Gaussian | Laplace | DiscreteGaussian
    rate: Exact
    neighbours: Neighbours

    def __init__(
        self, mechanism: Gaussian | Laplace | DiscreteGaussian, rate: Number, neighbours: Neighbours = "add-remove"
    ) -> None:
        object.__setattr__(self, "mechanism", _sampled_noise(mechanism))
        object.__setattr__(self, "rate", _rate(exact(rate, "rate", InvalidGuarantee), rate))
        object.__setattr__(self, "neighbours", checked_neighbours(neighbours))
        if self.neighbours == "replace":
            _within_replaced(mechanism)
        if isinstance(mechanism, DiscreteGaussian):
            _within_whole(mechanism, self.neighbours, self.rate)

    @property
    def laws(self) -> tuple[Law, ...]:
        """Removing a person turns the mixture into the plain law; adding one does the opposite.

        A record that is replaced has one law: whichever comes first, the two pull to opposite sides (REPLACE).
        """
        if self.rate == 1:
            return self.whole.laws
        mixed, replaced = _LAWS[type(self.mechanism)]
        noise: tuple[Exact, ...] = (
            (self.mechanism.sigma, self.mechanism.sensitivity)
            if isinstance(self.mechanism, DiscreteGaussian)
            else (_size(self.mechanism),)
        )
        if self.neighbours == "replace":
            return (kept(replaced, *noise, self.rate),)
        return tuple(kept(mixed, *noise, self.rate, way) for way in ("towards", "away"))

    @property
    def whole(self) -> SampledNoise:
        """With everybody in the sample: a replaced record moves a sum twice as far as one that comes or goes."""
        if self.neighbours == "add-remove":
            return self.mechanism
        if isinstance(self.mechanism, DiscreteGaussian):
            return DiscreteGaussian(self.mechanism.sigma, 2 * self.mechanism.sensitivity)
        twice = 2 * Fraction(self.mechanism.sensitivity)
        if isinstance(self.mechanism, Gaussian):
            return Gaussian(self.mechanism.sigma, twice)
        return Laplace(self.mechanism.scale, twice)

    def __repr__(self) -> str:
        """As it is called; the usual neighbours are left out."""
        told = "" if self.neighbours == "add-remove" else f", neighbours={self.neighbours!r}"
        return f"PoissonSubsampled(mechanism={shown(self.mechanism)}, rate={shown(self.rate)}{told})"


@dataclass(frozen=True, slots=True, repr=False)
class WithoutReplacement(KnownLoss):
    """A Gaussian or Laplace mechanism on a random batch: `batch` different people out of `population`, drawn anew.

    For neighbours that differ by one record replaced by another one (ZDW22-11); the population is public.  The
    mechanism's `sensitivity` is what one record of the batch moves when it becomes another: for a sum of vectors that
    were clipped to norm C it is 2C.
    """

    mechanism: Gaussian | Laplace
    batch: int
    population: int

    def __init__(self, mechanism: Gaussian | Laplace, batch: int, population: int) -> None:
        object.__setattr__(self, "mechanism", _noise(mechanism))
        object.__setattr__(self, "population", whole(population, "population", 1, _MOST_PEOPLE))
        object.__setattr__(self, "batch", whole(batch, "batch", 1, self.population))
        _rate(self.rate, batch)
        _within_replaced(mechanism)

    @property
    def neighbours(self) -> Neighbours:
        """Records are replaced: a batch of fixed size knows no other neighbours."""
        return "replace"

    @property
    def rate(self) -> Fraction:
        """The share of the population that is in a batch."""
        return Fraction(self.batch, self.population)

    @property
    def whole(self) -> Gaussian | Laplace:
        """With everybody in the batch."""
        return self.mechanism

    @property
    def laws(self) -> tuple[Law, ...]:
        """One law that dominates all pairs of tables, though no single pair has it (ZDW22-11)."""
        if self.rate == 1:
            return self.mechanism.laws
        maker = GluedNormalLaw if isinstance(self.mechanism, Gaussian) else GluedLaplaceLaw
        return (kept(maker, _size(self.mechanism), self.rate),)

    @property
    def attained(self) -> KnownLoss:
        """Two tables whose laws are those of a Poisson sample: all records but one are alike."""
        return self.mechanism if self.rate == 1 else PoissonSubsampled(self.mechanism, self.rate)


def _noise(mechanism: object) -> Gaussian | Laplace:
    if not isinstance(mechanism, Gaussian | Laplace):
        raise InvalidGuarantee("mechanism", mechanism, "must be a Gaussian or a Laplace mechanism")
    return mechanism


def _sampled_noise(mechanism: object) -> SampledNoise:
    if not isinstance(mechanism, SampledNoise):
        raise InvalidGuarantee("mechanism", mechanism, "must be a Gaussian, Laplace or DiscreteGaussian mechanism")
    return mechanism


def _within_whole(mechanism: DiscreteGaussian, neighbours: Neighbours, rate: Exact) -> None:
    if rate < 1 and mechanism.sigma > MOST_WHOLE_SIGMA:
        limit = f"must have a sigma of at most {MOST_WHOLE_SIGMA} on a sample: its whole numbers are summed one by one"
        raise InvalidGuarantee("mechanism", mechanism, limit)
    if rate == 1 and neighbours == "replace":
        DiscreteGaussian(mechanism.sigma, 2 * mechanism.sensitivity)


def _rate(rate: Exact, value: object) -> Exact:
    if not _LEAST_RATE <= rate <= 1:
        raise InvalidGuarantee("rate", value, f"must lie in [{_LEAST_RATE:g}, 1]")
    return rate


def _size(mechanism: SampledNoise) -> Fraction:
    """Sensitivity over noise."""
    if isinstance(mechanism, DiscreteGaussian):
        return mechanism.sensitivity / Fraction(mechanism.sigma)
    return mechanism.mu if isinstance(mechanism, Gaussian) else mechanism.pure


def _within_replaced(mechanism: SampledNoise) -> None:
    if _size(mechanism) > MOST_REPLACED_RATIO:
        limit = f"must have sensitivity/noise of at most {MOST_REPLACED_RATIO} on a sample where records are replaced"
        raise InvalidGuarantee("mechanism", mechanism, limit)


_LAWS: dict[type, tuple[type[Law], type[Law]]] = {
    Gaussian: (MixedNormalLaw, ReplacedNormalLaw),
    Laplace: (MixedLaplaceLaw, ReplacedLaplaceLaw),
    DiscreteGaussian: (MixedWholeLaw, ReplacedWholeLaw),
}
"""The laws on a Poisson sample: persons added or removed, and records replaced."""
