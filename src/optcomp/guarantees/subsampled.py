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
from optcomp.guarantees.noise import Gaussian, Laplace
from optcomp.numerics import Exact, Number, exact, whole
from optcomp.numerics.laws import (
    GluedLaplaceLaw,
    GluedNormalLaw,
    Law,
    MixedLaplaceLaw,
    MixedNormalLaw,
    ReplacedLaplaceLaw,
    ReplacedNormalLaw,
)

_LEAST_RATE = 1e-7  # below, one person in ten million, the rate is a mistake
_MOST_PEOPLE = 10**15  # a larger population is a mistake
MOST_REPLACED_RATIO = 20
"""Sensitivity over noise where a record is replaced: beyond, losses are too large to be summed, and to be of use."""


@dataclass(frozen=True, slots=True, repr=False)
class PoissonSubsampled(KnownLoss):
    """A Gaussian or Laplace mechanism on a random sample that holds each person with probability `rate`.

    For neighbours that differ by one person added or removed, or with `neighbours="replace"` by one record replaced by
    another one; in all mechanisms of a list the same way round.  In both cases the mechanism's `sensitivity` is what
    the presence of one person in the sample moves: for a sum of vectors that were clipped to norm C it is C.
    """

    mechanism: Gaussian | Laplace
    rate: Exact
    neighbours: Neighbours

    def __init__(self, mechanism: Gaussian | Laplace, rate: Number, neighbours: Neighbours = "add-remove") -> None:
        object.__setattr__(self, "mechanism", _noise(mechanism))
        object.__setattr__(self, "rate", _rate(exact(rate, "rate", InvalidGuarantee), rate))
        object.__setattr__(self, "neighbours", checked_neighbours(neighbours))
        if self.neighbours == "replace":
            _within_replaced(mechanism)

    @property
    def laws(self) -> tuple[Law, ...]:
        """Removing a person turns the mixture into the plain law; adding one does the opposite.

        A record that is replaced has one law: whichever comes first, the two pull to opposite sides (REPLACE).
        """
        if self.rate == 1:
            return (self._doubled if self.neighbours == "replace" else self.mechanism).laws
        size = _size(self.mechanism)
        if self.neighbours == "replace":
            maker = ReplacedNormalLaw if isinstance(self.mechanism, Gaussian) else ReplacedLaplaceLaw
            return (kept(maker, size, self.rate),)
        both = MixedNormalLaw if isinstance(self.mechanism, Gaussian) else MixedLaplaceLaw
        return tuple(kept(both, size, self.rate, way) for way in ("towards", "away"))

    @property
    def _doubled(self) -> Gaussian | Laplace:
        """Where everybody takes part, a replaced record moves a sum twice as far as one that comes or goes."""
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


def _rate(rate: Exact, value: object) -> Exact:
    if not _LEAST_RATE <= rate <= 1:
        raise InvalidGuarantee("rate", value, f"must lie in [{_LEAST_RATE:g}, 1]")
    return rate


def _size(mechanism: Gaussian | Laplace) -> Fraction:
    """Sensitivity over noise."""
    return mechanism.mu if isinstance(mechanism, Gaussian) else mechanism.pure


def _within_replaced(mechanism: Gaussian | Laplace) -> None:
    if _size(mechanism) > MOST_REPLACED_RATIO:
        limit = f"must have sensitivity/noise of at most {MOST_REPLACED_RATIO} on a sample where records are replaced"
        raise InvalidGuarantee("mechanism", mechanism, limit)
