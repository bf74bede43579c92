"""False claims, which the checker must refuse in time, and lists in units of 1e-4, which only it can judge."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from optcomp import Bound, compose
from optcomp.checker import check
from tests.campaign.judge import Outcome
from tests.campaign.lists import Generator, generator
from tests.campaign.questions import plain_delta

_UNIT = 1e-4


def false_claim(outcome: Outcome, kind: str) -> None:
    """40 to 120 different ε, and a claim moved off the truth on either side, by a tenth or by a hair."""
    rng = generator(kind, outcome.seed)
    sizes = [float(x) for x in _spread(rng, int(rng.integers(40, 121)))]
    what = f"{len(sizes)} different ε"
    bound = outcome.answer(f"compose({what})", lambda: compose(sizes, **_question(rng, sizes)))  # type: ignore[arg-type]
    if bound is None or not 0 < bound.lower < math.inf:
        return
    claim = _moved(rng, bound)
    told = f"{what}: [{claim['lower']}, {claim['upper']}] claimed about {bound}"
    verdict = outcome.answer(f"check of {told}", lambda: check(claim), seconds=outcome.limits.check_seconds)
    if verdict is not None and verdict.status != "false":
        outcome.found("violation" if verdict.proved else "slow", f"{told}: {verdict.status}, {verdict.reason}")


def _spread(rng: Generator, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    scale = 10 ** float(rng.uniform(-2, 0))
    sizes = scale * (rng.uniform(0.01, 1, count) if rng.random() < 0.5 else 10 ** rng.uniform(-2, 0, count))
    return np.round(sizes, int(rng.integers(4, 7))) if rng.random() < 0.3 else sizes


def _question(rng: Generator, sizes: list[float]) -> dict[str, float]:
    if rng.random() < 0.5:
        return {"delta": plain_delta(rng)}
    return {"epsilon": _somewhere(rng, dict.fromkeys(sizes, 1))}


def _moved(rng: Generator, bound: Bound) -> dict[str, object]:
    """The certificate with both ends below the truth, or both above it."""
    off = 10 ** -float(rng.uniform(1, 8))
    claim = bound.certificate()
    if rng.random() < 0.7:
        claim["lower"], claim["upper"] = float(rng.choice([0.0, bound.lower * (1 - 2 * off)])), bound.lower * (1 - off)
    else:
        claim["lower"], claim["upper"] = bound.upper * (1 + off), bound.upper * (1 + 2 * off)
    return claim


def _somewhere(rng: Generator, counts: dict[float, int]) -> float:
    """An ε in the bulk or in the tail."""
    mean = math.fsum(x * math.tanh(x / 2) * m for x, m in counts.items())
    spread = math.sqrt(math.fsum(x * x * m for x, m in counts.items()))
    return min(mean + spread * float(rng.uniform(0, 8)), math.fsum(x * m for x, m in counts.items()))


def in_units(outcome: Outcome, kind: str) -> None:
    """Hundreds of mechanisms of a dozen ε in units of 1e-4; ε asked on the lattice and beside it, and δ."""
    rng = generator(kind, outcome.seed)
    steps = rng.choice(np.arange(1, 1 + int(10 ** rng.uniform(1.5, 3.3))), int(rng.integers(3, 16)), replace=False)
    copies = rng.integers(1, int(rng.integers(10, 60)), steps.size)
    counts = {round(int(a) * _UNIT, 4): int(m) for a, m in zip(steps, copies, strict=True)}
    total = int(steps @ copies)
    place = round(_somewhere(rng, counts) / _UNIT)
    place -= (total - place) % 2  # sums of ±a_i have the parity of their total
    on = float(Fraction(max(place, 0), 10**4))
    beside = on + _UNIT * float(rng.choice([1.0, 0.3, 1e-9]))
    questions = ({"epsilon": on}, {"epsilon": beside}, {"delta": plain_delta(rng)})
    proved = questions[int(rng.integers(3))]  # one check takes as long as many answers
    for given in questions:
        what = f"compose({counts}, {', '.join(f'{name}={value!r}' for name, value in given.items())})"
        bound = outcome.answer(what, lambda g=given: compose(counts, **g))  # type: ignore[misc]
        if bound is not None:
            outcome.narrow(what, bound)
            if given is proved:
                outcome.proved(what, bound)
