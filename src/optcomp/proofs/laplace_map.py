r"""Laplace noise is randomized response in disguise: the map of `simulate` for a continuous pair, in closed form.

Lecture exercise 3.2.  P is Laplace noise of scale b around 0, Q the same around Δ, ε = Δ/b.  At δ = 0 the simulation
lemma leaves no choice: answer 1 of randomized response must be turned into the density g_1 = (e^ε p − q)/(e^ε − 1),

    (1 + e^{−ε}) p(z)                       for z ≤ 0,
    sinh((Δ−z)/b) / (b (e^ε − 1))           for 0 ≤ z ≤ Δ,
    0                                       for z ≥ Δ,

and answer 2 into its mirror image g_2(z) = g_1(Δ − z).  Left of 0 and right of Δ the ratio p/q is e^{±ε}, as far apart
as ε allows, so one answer alone makes these tails; between 0 and Δ both answers contribute.

In other words: draw a distance t > 0 with density sinh(t/b)/(b(e^ε − 1)) up to Δ and an exponential tail beyond, and go
that far to the left of Δ for answer 1, to the right of 0 for answer 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from optcomp.errors import InvalidInput
from optcomp.proofs.distributions import Finite, Uniform
from optcomp.proofs.simulation import leaky

_MOST = 700  # e^ε must be a float


@dataclass(frozen=True)
class LaplaceMap:
    """Turns an answer of randomized response, 1 or 2, into a number: Laplace noise around 0 or around `shift`.

    >>> LaplaceMap(shift=1.0, scale=2.0).epsilon
    0.5
    """

    shift: float
    scale: float

    def __post_init__(self) -> None:
        for name, value in (("shift", self.shift), ("scale", self.scale)):
            if not 0 < value < math.inf:
                raise InvalidInput(name, value, "must be positive and finite")
        if not 0 < self.epsilon <= _MOST:
            raise InvalidInput("shift", self.shift, f"must be positive and at most {_MOST} scales")

    @property
    def epsilon(self) -> float:
        """What the noise promises: ε = Δ/b."""
        return self.shift / self.scale

    @property
    def responses(self) -> tuple[Finite[int], Finite[int]]:
        """Randomized response with this ε, for the noise around 0 and for the noise around `shift`."""
        return leaky(math.exp(self.epsilon))

    def laplace(self, centre: float, z: float) -> float:
        """The density of the noise itself: e^{−|z − centre|/b} / 2b."""
        return math.exp(-abs(z - centre) / self.scale) / (2 * self.scale)

    def density(self, answer: int, z: float) -> float:
        """The density of the number that is made from this answer: g_1 or g_2."""
        t = self._distance(answer, z)
        if t >= self.shift:
            return (1 + math.exp(-self.epsilon)) * self.laplace(self.shift, t)
        return math.sinh(max(0.0, t) / self.scale) / (self.scale * math.expm1(self.epsilon))

    def mixed(self, secret: int, z: float) -> float:
        """The density after randomized response has answered: Laplace noise around 0 (secret 0) or `shift` (1)."""
        return sum(float(p) * self.density(answer, z) for answer, p in self.responses[secret].items())

    def cumulative(self, answer: int, z: float) -> float:
        """How probably the number made from this answer is at most z.

        The distance t is at most t ≤ Δ with probability (cosh(t/b) − 1)/(e^ε − 1), and more than t ≥ Δ with probability
        (1 + e^{−ε})/2 · e^{−(t−Δ)/b}.
        """
        t = self._distance(answer, z)
        above = (1 + math.exp(-self.epsilon)) / 2 * math.exp(-max(0.0, t - self.shift) / self.scale)
        half = math.sinh(min(max(0.0, t), self.shift) / (2 * self.scale))  # cosh(t) − 1 = 2 sinh²(t/2)
        below = 2 * half**2 / math.expm1(self.epsilon)
        if t >= self.shift:
            return above if answer == 1 else 1 - above
        return 1 - below if answer == 1 else below

    def quantile(self, answer: int, u: float) -> float:
        """The number below which this answer stays with probability u: the inverse of `cumulative`."""
        if not 0 < u < 1:
            raise InvalidInput("u", u, "must lie between 0 and 1")
        return self._distance(answer, self._reach(1 - u, u) if answer == 1 else self._reach(u, 1 - u))

    def sample(self, answer: int, generator: Uniform) -> float:
        """Turn one answer of randomized response into a number."""
        u = generator.random()
        return self._distance(answer, self._reach(u, 1 - u))

    def noise(self, secret: int, generator: Uniform) -> float:
        """Laplace noise around 0 (secret 0) or `shift` (secret 1), made from one randomized response."""
        return self.sample(self.responses[secret].sample(generator), generator)

    def _distance(self, answer: int, z: float) -> float:
        """How far z is from where the answer's density ends, Δ for 1 and 0 for 2; and z from the distance, just so."""
        if answer not in (1, 2):
            raise InvalidInput("answer", answer, "must be 1 or 2")
        return self.shift - z if answer == 1 else z

    def _reach(self, u: float, rest: float) -> float:
        """The distance that is not reached with probability u; rest = 1 − u, so that neither end loses digits."""
        beyond = (1 + math.exp(-self.epsilon)) / 2
        if rest <= beyond:
            return self.shift - self.scale * math.log(rest / beyond)
        return 2 * self.scale * math.asinh(math.sqrt(u * math.expm1(self.epsilon) / 2))
