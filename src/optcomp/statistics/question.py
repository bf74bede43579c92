"""A question: a statistic together with what may be spent on it; nothing here sees data.

    Question(Count(), epsilon=0.1)              discrete Laplace noise (or the exponential mechanism for quantiles)
    Question(Histogram("region"), rho=0.005)    discrete Gaussian noise, accounted as zCDP
    Question(Sum("income"), epsilon=0.5, delta=1e-7)    discrete Gaussian noise, accounted as (ε, δ)

Scales are rounded up to floats, so a question costs at most what it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import InvalidInput, Written
from optcomp.guarantees import ZCDP, ApproxDP, Exponential, PureDP
from optcomp.numerics.balls import ball, float_up, precision
from optcomp.numerics.exact import Exact, Number, exact
from optcomp.statistics.accuracy import Noise, checked_confidence, noise_reach
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.statistic import Mechanism, Part, Statistic
from optcomp.statistics.table import Declared
from optcomp.theorems.fz21 import largest_rho

LEAST_SCALE, MOST_SCALE = 1e-3, 1e15
"""What can be sampled: in units of the part."""
_BITS = 128
Cost = PureDP | ApproxDP | ZCDP | Exponential


@dataclass(frozen=True, repr=False)
class Question(Written):
    """A statistic and its budget: ε, or ρ, or (ε, δ)."""

    statistic: Statistic
    mechanism: Mechanism
    epsilon: Exact | None
    delta: Exact | None
    rho: Exact | None

    def __init__(
        self,
        statistic: Statistic,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: Mechanism | None = None,
    ) -> None:
        if not isinstance(statistic, Statistic):
            raise InvalidInput("statistic", statistic, "must be a statistic such as Count() or Mean('age')")
        if (epsilon is None) == (rho is None):
            raise InvalidInput("epsilon", epsilon, "must be given, or rho instead, but not both")
        if delta is not None and (rho is not None or "gaussian" not in statistic.mechanisms):
            raise InvalidInput("delta", delta, "belongs to an epsilon for Gaussian noise")
        wanted = mechanism or _default(statistic, gaussian=rho is not None or delta is not None)
        if wanted not in statistic.mechanisms:
            raise InvalidInput("mechanism", wanted, f"must be one of {', '.join(statistic.mechanisms)}")
        if wanted == "gaussian" and rho is None and delta is None:
            raise InvalidInput("mechanism", wanted, "needs rho, or epsilon and delta")
        if wanted == "laplace" and epsilon is None:
            raise InvalidInput("mechanism", wanted, "needs epsilon")
        if wanted != "gaussian" and delta is not None:
            raise InvalidInput("delta", delta, f"belongs to Gaussian noise, not to {wanted}")
        object.__setattr__(self, "statistic", statistic)
        object.__setattr__(self, "mechanism", wanted)
        object.__setattr__(self, "epsilon", _positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _positive(delta, "delta"))
        object.__setattr__(self, "rho", _positive(rho, "rho"))
        if self.delta is not None:
            ApproxDP(self.epsilon or 0, self.delta)  # refuses what is no probability
            if not self._whole_rho():
                raise InvalidInput("epsilon", epsilon, "is too small for Gaussian noise at this delta")

    def _whole_rho(self) -> Fraction:
        """ρ for all parts together."""
        if self.rho is not None:
            return Fraction(self.rho)
        return largest_rho(Fraction(self.epsilon or 0), Fraction(self.delta or 0))

    def costs(self, table: Declared) -> tuple[Cost, ...]:
        """What answering costs: guarantees that are spent together."""
        shares = [part.share for part in self.statistic.parts(table)]
        if self.mechanism == "exponential":
            return tuple(Exponential(self._choice_epsilon(share)) for share in shares)
        if self.mechanism == "laplace":
            return tuple(PureDP(Fraction(self.epsilon or 0) * share) for share in shares)
        if self.rho is not None:
            return (ZCDP(self.rho),)
        return (ApproxDP(self.epsilon or 0, self.delta or 0),)

    def scales(self, table: Declared) -> tuple[float, ...]:
        """The scale of the noise of each part, in its units: Laplace scale, σ, or the scale of the scores."""
        return tuple(self.scale(part) for part in self.statistic.parts(table))

    def scale(self, part: Part) -> float:
        """The scale of the noise of one part."""
        asked = "rho" if self.epsilon is None else "epsilon"
        if self.mechanism == "gaussian":
            return gaussian_sigma(part.l2_squared, self._whole_rho() * part.share, asked)
        if self.mechanism == "laplace":
            return laplace_scale(part.l1, Fraction(self.epsilon or 0) * part.share)
        return laplace_scale(2 * part.l1, self._choice_epsilon(part.share), asked)

    def _choice_epsilon(self, share: Fraction) -> Fraction:
        """Its share of ε; or the ε whose ε²/8 is its share of ρ (CR21)."""
        if self.epsilon is not None:
            return Fraction(self.epsilon) * share
        with precision(_BITS):
            return 1 / Fraction(float_up(1 / (8 * ball(self._whole_rho() * share)).sqrt()))

    def error(self, table: Declared, confidence: Number = 0.95) -> tuple[float, ...] | None:
        """How far off the amounts of each part may be, in units of the column; all parts together have the confidence.

        None for choices, whose error depends on the data.
        """
        if self.mechanism == "exponential":
            return None
        sure, parts = checked_confidence(confidence), self.statistic.parts(table)
        return tuple(  # as if every part had as many cells as it takes for each part to miss equally often
            float(noise_reach(self.noise, scale, sure, len(part.cells) * len(parts)) * part.unit)
            for part, scale in zip(parts, self.scales(table), strict=True)
        )

    @property
    def noise(self) -> Noise:
        """The law of the noise, if it is no choice."""
        return "gaussian" if self.mechanism == "gaussian" else "laplace"

    def noises(self, table: Declared, confidence: float) -> Noises:
        """The noise of all parts, for errors at this confidence."""
        return Noises(self.noise, self.scales(table), confidence)

    def __str__(self) -> str:
        spent = {"ε": self.epsilon, "δ": self.delta, "ρ": self.rho}
        shown = ", ".join(f"{name} = {float(value):g}" for name, value in spent.items() if value is not None)
        return f"{self.statistic} at {shown}"


def laplace_scale(l1: int, epsilon: Fraction, asked: str = "epsilon") -> float:
    """The least float at or above Δ/ε."""
    with precision(_BITS):
        return _sampled(float_up(ball(l1 / epsilon)), asked)


def gaussian_sigma(l2_squared: int, rho: Fraction, asked: str = "rho") -> float:
    """The least float at or above √(Δ²/2ρ)."""
    with precision(_BITS):
        return _sampled(float_up((ball(l2_squared / (2 * rho))).sqrt()), asked)


def _sampled(scale: float, asked: str) -> float:
    if scale > MOST_SCALE:
        problem = f"is too small: noise may have scales up to {MOST_SCALE:g}"
        raise InvalidInput(asked, f"a scale of {scale:.3g}", problem)
    return max(scale, LEAST_SCALE)


def _default(statistic: Statistic, *, gaussian: bool) -> Mechanism:
    return "gaussian" if gaussian and "gaussian" in statistic.mechanisms else statistic.mechanisms[0]


def _positive(value: Number | None, argument: str) -> Exact | None:
    if value is None:
        return None
    number = exact(value, argument)
    if not number > 0:
        raise InvalidInput(argument, value, "must be positive")
    if argument != "delta" and not 1e-12 <= number <= 1e6:
        raise InvalidInput(argument, value, "must lie between 1e-12 and 1e6")
    return number
