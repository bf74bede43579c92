"""The central limit formula, as Opacus' accountant named GDP has it: many rounds as one Gaussian mechanism.

μ = q √rounds √(e^{1/σ²} - 1), and ε is read off the curve of μ-Gaussian differential privacy (Bu, Dong, Long and Su
2020).  It is a limit and no bound: at any number of rounds the truth may be larger.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.stats import norm

import optcomp as oc
from bench.answers import Answer
from bench.losses.questions import Entrant, Question

_MOST = 500.0
"""ε is sought up to here, as Opacus does."""


def _mu(question: Question) -> float:
    item = question.only
    if isinstance(item, oc.PoissonSubsampled) and isinstance(item.mechanism, oc.Gaussian):
        sigma, rate = float(item.mechanism.sigma), float(item.rate)
    elif isinstance(item, oc.Gaussian):
        sigma, rate = float(item.sigma), 1.0
    else:
        raise TypeError(item)
    return rate * math.sqrt(question.count) * math.sqrt(math.expm1(sigma**-2))


def _ask(question: Question) -> Answer:
    mu = _mu(question)

    def above(epsilon: float) -> float:
        first, second = norm.cdf(-epsilon / mu + mu / 2), math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)
        return float(first - second) - question.delta

    return Answer(float(brentq(above, 0.0, _MOST)))


GDP = Entrant("GDP (CLT)", _ask)
