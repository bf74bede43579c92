"""`calibrate`: never over the budget, and next to the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from optcomp import calibrate
from optcomp.composition.calibration import Calibrated
from optcomp.composition.reading import Items
from tests.campaign.judge import Outcome
from tests.campaign.lists import Generator, drawn, generator
from tests.campaign.questions import plain_delta
from tests.oracles.equal import Equal
from tests.oracles.halves import Halves
from tests.oracles.truth import Rational, Truth

RTOL = 1e-6
NEXT = 2e-6
"""A number this much beyond the one found (relatively) is over the budget ..."""
HAIR = 1 + 1e-12
"""So much more than the cost a budget is: the last float of a cost is nobody's to promise."""
ALL_BUT = 1 - Fraction(1, 10**8)
"""... or over this share of it."""


@dataclass(frozen=True)
class _Search:
    """What is built from a number, its truth, and a budget that some number just fits."""

    build: Callable[[float], Items]
    truth: Callable[[float], Truth]
    beyond: Callable[[float], float]
    epsilon: float
    delta: float
    told: str
    whole: bool = False


def calibrated(outcome: Outcome, kind: str) -> None:
    """The number found fits, and the next one does not."""
    rng = generator(kind, outcome.seed)
    search = _DRAWS[int(rng.integers(len(_DRAWS)))](rng)
    what = f"calibrate({search.told}, epsilon={search.epsilon!r}, delta={search.delta!r})"
    found = outcome.answer(what, lambda: _ask(search))
    if found is None:
        return
    if not (found.bound.upper <= search.epsilon and _fits(search, float(found), search.epsilon)):
        outcome.found("violation", f"{what}: {float(found)!r} is over the budget")
    after = search.beyond(float(found))
    if _fits(search, after, Fraction(search.epsilon) * ALL_BUT):
        outcome.found("useless", f"{what}: {float(found)!r} is short of the best; {after!r} fits too")


def _ask(search: _Search) -> Calibrated:
    return calibrate(search.build, epsilon=search.epsilon, delta=search.delta, whole=search.whole)


def _fits(search: _Search, number: float, epsilon: Rational) -> bool:
    return search.truth(number).at_most(epsilon, search.delta)


def _a_little_more(number: float) -> float:
    return number * (1 + NEXT)


def _scaled(rng: Generator) -> _Search:
    """A list times a number."""
    sizes = [float(x) for x, m in drawn(rng, "wide") for _ in range(m)]

    def build(number: float) -> list[float]:
        return [number * x for x in sizes]

    return _budget(rng, build, _a_little_more, f"lambda s: [s * x for x in {sizes}]")


def _one_more(rng: Generator) -> _Search:
    """A list and one more mechanism."""
    sizes = [float(x) for x, m in drawn(rng, "wide") for _ in range(m)]

    def build(number: float) -> list[float]:
        return [*sizes, number]

    return _budget(rng, build, _a_little_more, f"lambda x: {sizes} + [x]")


def _budget(
    rng: Generator, build: Callable[[float], list[float]], beyond: Callable[[float], float], told: str
) -> _Search:
    """A hair more than a number between a tenth and 3 costs at some δ, or at some ε."""

    def truth(number: float) -> Truth:
        return Halves((x, 0.0, 1) for x in build(number))

    there = truth(10.0 ** float(rng.uniform(-1, 0.5)))
    epsilon = float(there.total) * float(rng.uniform(0.05, 0.98))
    delta = float(there.delta(Fraction(epsilon), 256).mid())
    return _Search(build, truth, beyond, epsilon * HAIR, delta if delta > 1e-300 else plain_delta(rng), told)


def _copies(rng: Generator) -> _Search:
    """As many copies as fit."""
    size = round(10.0 ** float(rng.uniform(-2, 0.5)), 3)
    epsilon, delta = round(size * float(rng.uniform(1, 40)), 3), plain_delta(rng)

    def build(number: float) -> dict[float, int]:
        return {size: int(number)}

    return _Search(
        build,
        lambda number: Equal(int(number), size),
        lambda number: number + 1,
        epsilon,
        delta,
        f"lambda k: {{{size}: k}}, whole=True",
        whole=True,
    )


_DRAWS = (_scaled, _scaled, _one_more, _copies)
