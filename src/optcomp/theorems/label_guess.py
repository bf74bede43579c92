"""Where to put the ends of labels: guesses in floats, which prove nothing; any ends give a true bracket."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optcomp.numerics import Floats
from optcomp.numerics.contour import log_reach, short
from optcomp.numerics.laws import MixedNormalLaw

_TILTS = np.exp(np.linspace(-3, 16, 77))
_SURE = 36.0
"""The log of how sure it shall be that the other rounds do not take back a giant."""
_POINTS, _LEFT = 600, -9.0
"""Points of a guess, and where they begin: nine deviations to the left next to nothing is left."""
_CANDIDATES = np.exp2(-np.arange(0.0, 12.0, 0.5))
"""Parts of a giant's loss at which the middle may begin."""
_BETTER = 0.3
"""By how much a bound must be better, in logs, for the middle to begin earlier."""
_LARGEST = 690.0
"""Exponents that are looked at."""
_HALVINGS, _NARROW, _OFTEN = 30, 0.1, 3.0
"""Of a search, how narrow a bracket needs none, and how far Chernoff's bound usually is above F, in logs."""
Rounds = list[tuple[MixedNormalLaw, int]]
_PLACES = 2.0**10
"""Ends are whole multiples of 1/1024."""


@dataclass(frozen=True)
class Ends:
    """For each kind of rounds the ends of none and of the middle, and the power of the bound on giants."""

    none: tuple[float, ...]
    giant: tuple[float, ...]
    power: float


class _Guess:
    """A law on evenly spaced points."""

    def __init__(self, law: MixedNormalLaw, count: int, end: float) -> None:
        self.mu, self.q, self.count = float(law.mu), float(law.q), count
        width = (end - _LEFT) / _POINTS
        self.x = _LEFT + width * (np.arange(_POINTS) + 0.5)
        self.loss = law.losses(np.asarray(self.x, dtype=np.float64))
        self.p = width / math.sqrt(2 * math.pi) * np.exp(-0.5 * self.x**2 + self.loss)
        grown = np.minimum(_TILTS[:, np.newaxis] * self.loss, _LARGEST)
        self.changes = np.cumsum(self.p * np.expm1(grown), axis=1)
        self.masses = np.cumsum(self.p * np.exp(grown), axis=1)
        self.beyond = np.append(np.cumsum(self.p[::-1])[::-1][1:], 0.0) + _tail(self.mu, self.q, end)

    def logs(self, end: float) -> tuple[Floats, Floats]:
        """n log E[e^{cL}; x <= end] and n log1p(middle/none), for all tilts."""
        i = min(max(int(np.searchsorted(self.x, end)) - 1, 0), _POINTS - 1)
        none = np.log1p(np.maximum(self.changes[:, i] - float(self.beyond[i]), -0.9))
        middle = np.maximum(self.masses[:, -1] - self.masses[:, i], 1e-300)
        none = np.where(_TILTS * self.loss[i] < _LARGEST, none, math.inf)
        middle = np.where(_TILTS * self.loss[-1] < _LARGEST, middle, math.inf)
        return self.count * none, self.count * np.log1p(middle * np.exp(-none))

    def place(self, loss: float) -> float:
        """The x with that loss, as a short binary fraction."""
        return _place(self.mu, self.q, loss)


def _place(mu: float, q: float, loss: float) -> float:
    log_up = math.log1p(math.expm1(loss) / q) if loss < 500 else loss - math.log(q)
    return math.ceil((log_up / mu + 0.5 * mu) * _PLACES) / _PLACES


def ends_at(rounds: Rounds, y: float, log_f: float) -> Ends:
    """Ends for which the parts together are bounded best at y, where F is about e^log_f."""
    power, spare = _spare(rounds)
    none, giant = _best(rounds, y, spare, log_f)[1]
    return Ends(none, giant, power)


def bound_at(rounds: Rounds, y: float, log_most: float) -> float:
    """About log F(y), which is at most the bound that is given."""
    return min(_best(rounds, y, _spare(rounds)[1], log_most)[0] - _OFTEN, log_most)


def place_of(rounds: Rounds, low: float, high: float, log_t: float) -> float:
    """About where the excess is t."""
    if high - low <= _NARROW * high:
        return 0.5 * (low + high)
    spare = _spare(rounds)[1]
    for _ in range(_HALVINGS):
        y = 0.5 * (low + high)
        low, high = (y, high) if _best(rounds, y, spare, log_t)[0] - _OFTEN > log_t else (low, y)
    return 0.5 * (low + high)


def _spare(rounds: Rounds) -> tuple[float, float]:
    """The power a, and what the other rounds take back at most, about."""
    powers = short(np.exp(np.linspace(-3, 14, 69)))
    with np.errstate(all="ignore"):
        logs = sum(count * MixedNormalLaw(law.mu, law.q, "away").log_mean_guess(powers) for law, count in rounds)
        back = (logs + _SURE) / powers
    best = int(np.argmin(np.where(np.isfinite(back), back, math.inf)))
    return float(powers[best]), float(back[best])


def _best(
    rounds: Rounds, y: float, spare: float, log_t: float
) -> tuple[float, tuple[tuple[float, ...], tuple[float, ...]]]:
    """The best bound on both parts at y, and the ends that give it."""
    loss = 1.01 * y + spare
    giant = tuple(
        min(_place(float(law.mu), float(law.q), loss), _far(law, log_t - _SURE - math.log(count * len(rounds))))
        for law, count in rounds
    )
    guesses = [_Guess(law, count, end) for (law, count), end in zip(rounds, giant, strict=True)]
    best: tuple[float, tuple[float, ...]] = math.inf, giant
    reach = log_reach(True, _TILTS) - _TILTS * y
    for part in [1.0, *(_CANDIDATES * 0.9).tolist()]:
        ends = tuple(
            min(guess.place(part * loss), end) if part < 1 else end for guess, end in zip(guesses, giant, strict=True)
        )
        logs = [guess.logs(end) for guess, end in zip(guesses, ends, strict=True)]
        none = np.asarray(sum(one for one, _ in logs))
        x = np.maximum(sum(some for _, some in logs), 1e-300)
        bounds = [float(np.nanmin(none + reach))]
        if part < 1:
            bounds.append(float(np.nanmin(none + x + np.log(-np.expm1(-x)) + reach)))
        score = float(np.logaddexp.reduce(bounds))
        if score < best[0] - _BETTER:
            best = score, ends
    return best[0], (best[1], giant)


def _far(law: MixedNormalLaw, log_p: float) -> float:
    """About the x beyond which the mixture has probability e^log_p."""
    mu, q, low, high = float(law.mu), float(law.q), 0.0, 38.0 + float(law.mu)
    for _ in range(_HALVINGS):
        x = 0.5 * (low + high)
        low, high = (x, high) if _tail(mu, q, x) > math.exp(max(log_p, -740.0)) else (low, x)
    return math.ceil(high * _PLACES) / _PLACES


def _tail(mu: float, q: float, x: float) -> float:
    """About the probability beyond x under the mixture."""
    return 0.5 * (1 - q) * math.erfc(x / math.sqrt(2)) + 0.5 * q * math.erfc((x - mu) / math.sqrt(2))
