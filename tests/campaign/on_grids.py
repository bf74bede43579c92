"""The grid alone, on random subsampled Gaussian noise and random lattices: its brackets meet those of the contour.

The two engines share nothing but the laws.  A bracket is as narrow as asked for, or the grid says that it is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from flint import arb

import optcomp as oc
from optcomp.numerics.contour import Bracket, Independent, excess_at, excess_root
from optcomp.numerics.grids import Found, way_for
from optcomp.numerics.laws import MixedNormalLaw
from optcomp.numerics.laws.law import Summand
from optcomp.numerics.laws.mixed_normal import Direction
from optcomp.theorems.opt import goal_for
from optcomp.theorems.zdw22 import _end as end_of
from tests.campaign.judge import Outcome

RTOL, WORK = 1e-9, 2.5e8
"""What is asked of the grid."""
_ROUGH, _ROUGH_WORK = 1e-6, 1e8
"""What is asked of the contour, which is there to contradict."""
_LEAST = 1e-11
"""A bracket this narrow is a point, however small its ends are."""


@dataclass(frozen=True)
class Asked:
    """Laws with their copies, in words, a place and the log of a δ."""

    what: str
    laws: list[tuple[Summand, int]]
    y: float
    log_t: float


def drawn(rng: Random) -> Asked:
    """A quarter are lattices, the others subsampled; of those a third have few rounds, little noise and small rates."""
    kind = rng.choice((_lattice, _subsampled, _subsampled, _rare))
    what, laws = kind(rng)
    log_t = -math.log(10) * rng.uniform(4, 30)
    end = end_of(laws, log_t)
    return Asked(what, laws, end * rng.random(), log_t)


def _copies(rng: Random) -> int:
    return round(math.exp(rng.uniform(0, math.log(200))))


def _subsampled(rng: Random) -> tuple[str, list[tuple[Summand, int]]]:
    way: Direction = rng.choice(("towards", "away"))
    laws: list[tuple[Summand, int]] = []
    words = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        sigma, copies = math.exp(rng.uniform(math.log(0.1), math.log(50))), _copies(rng)
        q = math.exp(rng.uniform(math.log(1e-6), 0))
        q = 1 - q if rng.random() < 0.1 and q < 0.5 else q
        laws.append((MixedNormalLaw(1 / sigma, q, way), copies))
        words.append(f"{copies} x q={q!r} sigma={sigma!r}")
    return f"{way}: {', '.join(words)}", laws


def _rare(rng: Random) -> tuple[str, list[tuple[Summand, int]]]:
    """One law with rare and large losses: nothing of its transform fades but what a round that takes part has."""
    way: Direction = rng.choice(("towards", "towards", "towards", "away"))
    sigma, q = math.exp(rng.uniform(math.log(0.1), math.log(0.7))), math.exp(rng.uniform(math.log(1e-6), math.log(0.1)))
    copies = round(math.exp(rng.uniform(math.log(3), math.log(1000))))
    return f"{way}: {copies} x q={q!r} sigma={sigma!r}", [(MixedNormalLaw(1 / sigma, q, way), copies)]


def _lattice(rng: Random) -> tuple[str, list[tuple[Summand, int]]]:
    items: list[tuple[oc.RandomizedResponse | oc.DiscreteLaplace | oc.DiscreteGaussian, int]] = []
    kind = rng.randrange(3)
    for _ in range(rng.choice([1, 1, 2])):
        eps, copies = round(math.exp(rng.uniform(-4, 1)), 2) or 0.01, _copies(rng)
        if kind == 0:
            items.append((oc.RandomizedResponse(eps, rng.randint(2, 8)), copies))
        elif kind == 1:
            items.append((oc.DiscreteLaplace(rng.choice([2, 4, 5, 8, 10]), rng.randint(1, 4)), copies))
        else:
            items = [(oc.DiscreteGaussian(rng.choice([0.5, 1, 2, 4, 10, 0.3, 25]), rng.randint(1, 2)), copies)]
    return str(items), [(item.laws[0], copies) for item, copies in items]


def on_grid(outcome: Outcome) -> None:
    """Where the excess is some t, or what it is at some place."""
    rng = Random(f"grid {outcome.seed}")
    asked = drawn(rng)
    rng.choice((_root, _excess))(outcome, asked)


def _root(outcome: Outcome, asked: Asked) -> None:
    goal = goal_for(arb(asked.log_t).exp())
    way = way_for(asked.laws)
    assert way is not None
    what = f"root at log t = {asked.log_t!r} of {asked.what}"
    found = outcome.answer(what, lambda: way.root(goal.log_t, RTOL, WORK))
    if found is None:
        return
    contour = excess_root(Independent(asked.laws, end_of(asked.laws, asked.log_t)), goal, _ROUGH, _ROUGH_WORK)[0]
    met(outcome, what, found, contour)
    width = found.upper - found.lower
    narrow(outcome, what, found, 0.0 if width <= _LEAST else width / found.upper)


def _excess(outcome: Outcome, asked: Asked) -> None:
    way = way_for(asked.laws)
    assert way is not None
    what = f"log F({asked.y!r}) of {asked.what}"
    found = outcome.answer(what, lambda: way.excess(asked.y, RTOL, WORK))
    if found is None:
        return
    contour = excess_at(Independent(asked.laws, math.inf), asked.y, _ROUGH, _ROUGH_WORK)[0]
    met(outcome, what, found, contour)
    narrow(outcome, what, found, -math.expm1(found.lower - found.upper))


def met(outcome: Outcome, what: str, found: Found, contour: Bracket) -> None:
    """The two brackets have a point in common."""
    if found.lower > found.upper or found.lower > contour.upper or contour.lower > found.upper:
        outcome.found("violation", f"{what}: {found} against [{contour.lower!r}, {contour.upper!r}]")


def narrow(outcome: Outcome, what: str, found: Found, width: float) -> None:
    """As narrow as asked for, or told not to be."""
    if found.capped:
        outcome.noted += 1
        return
    outcome.widths.append(width)
    if width > 1.01 * RTOL:
        outcome.found("useless", f"{what}: width {width:.2g} without a note, {found}")
