"""Poisson subsampling: every person takes part with probability q, independently, before the mechanism runs."""

from __future__ import annotations

from dataclasses import dataclass

from optcomp.errors import InvalidGuarantee
from optcomp.guarantees.known_loss import KnownLoss, kept
from optcomp.guarantees.noise import Gaussian, Laplace
from optcomp.numerics import Exact, Number, exact
from optcomp.numerics.laws import Law, MixedLaplaceLaw, MixedNormalLaw

_LEAST_RATE = 1e-7  # below, one person in ten million, the rate is a mistake


@dataclass(frozen=True, slots=True, repr=False)
class PoissonSubsampled(KnownLoss):
    """A Gaussian or Laplace mechanism on a random sample that holds each person with probability `rate`.

    For neighbours that differ by one person added or removed, in all mechanisms of a list the same way round.  The two
    directions differ; both are accounted for.
    """

    mechanism: Gaussian | Laplace
    rate: Exact

    def __init__(self, mechanism: Gaussian | Laplace, rate: Number) -> None:
        if not isinstance(mechanism, Gaussian | Laplace):
            raise InvalidGuarantee("mechanism", mechanism, "must be a Gaussian or a Laplace mechanism")
        q = exact(rate, "rate", InvalidGuarantee)
        if not _LEAST_RATE <= q <= 1:
            raise InvalidGuarantee("rate", rate, f"must lie in [{_LEAST_RATE:g}, 1]")
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "rate", q)

    @property
    def laws(self) -> tuple[Law, ...]:
        """Removing a person turns the mixture into the plain law; adding one does the opposite."""
        if self.rate == 1:
            return self.mechanism.laws
        if isinstance(self.mechanism, Gaussian):
            return tuple(kept(MixedNormalLaw, self.mechanism.mu, self.rate, way) for way in ("towards", "away"))
        return tuple(kept(MixedLaplaceLaw, self.mechanism.pure, self.rate, way) for way in ("towards", "away"))
