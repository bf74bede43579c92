"""Rounds labelled none, middle and giant, with good ends and with random ones, against the plain contour and the grid.

Neither of these labels anything.  With random ends any part may matter; a bracket may then be wide, but never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

import numpy as np
from flint import arb

from optcomp.instances import Laws
from optcomp.numerics.contour import Bracket, Contour, Independent, excess_at
from optcomp.numerics.grids import way_for
from optcomp.numerics.laws import MixedNormalLaw
from optcomp.theorems import labels
from optcomp.theorems.label_guess import Ends
from optcomp.theorems.opt import Effort, goal_for
from optcomp.theorems.zdw22 import _end as end_of
from tests.campaign.judge import Outcome

RTOL, WORK = 1e-9, 5e8
"""What is asked for."""
_ROUGH, _ROUGH_WORK = 1e-7, 3e8
"""What is asked of those that contradict."""
_MOST_ON_GRID = 2000
_NO_PLAN = Contour(True, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Asked:
    """Rounds in words, and the log of a δ."""

    what: str
    rounds: list[tuple[MixedNormalLaw, int]]
    log_t: float


def drawn(rng: Random) -> Asked:
    """One kind of rounds, sometimes two; mostly small rates."""
    rounds, words = [], []
    for _ in range(rng.choice([1, 1, 1, 2])):
        sigma, q = math.exp(rng.uniform(math.log(0.35), math.log(5))), 10.0 ** rng.uniform(-6, -1)
        count = round(math.exp(rng.uniform(math.log(5), math.log(1e6))))
        rounds.append((MixedNormalLaw(1 / sigma, q, "towards"), count))
        words.append(f"{count} x q={q!r} sigma={sigma!r}")
    return Asked(", ".join(words), rounds, -math.log(10) * rng.uniform(3, 16))


def labelled(outcome: Outcome) -> None:
    """The root with labels, what F is there by others, and F with random labels."""
    rng = Random(f"labels {outcome.seed}")
    asked = drawn(rng)
    goal = goal_for(arb(asked.log_t).exp())
    laws: Laws = [(law, count) for law, count in asked.rounds]
    with np.errstate(all="ignore"):
        start = Bracket(0.0, end_of(laws, asked.log_t), _NO_PLAN, 0, True)
        what = f"root at log t = {asked.log_t!r} of {asked.what}"
        found = outcome.answer(what, lambda: labels.root(laws, goal, start, Effort(RTOL, WORK)))
        if found is None:
            return
        _held(outcome, what, asked, found)
        if found.capped:
            outcome.noted += 1
        else:
            outcome.widths.append((found.upper - found.lower) / found.upper if found.upper else 0.0)
        y = (found.lower + found.upper) / 2 * rng.choice([0.3, 0.9, 1.0, 1.1])
        ends = _ends(rng, asked.rounds)
        what = f"F({y!r}) of {asked.what} with {ends}"
        known = others(asked.rounds, y)
        sides = outcome.answer(what, lambda: _sides(asked.rounds, ends, y, known.upper))
    if sides is not None and (sides.lower > known.upper or sides.upper < known.lower):
        outcome.found("violation", f"{what}: {sides} against [{known.lower!r}, {known.upper!r}]")


def _held(outcome: Outcome, what: str, asked: Asked, found: Bracket) -> None:
    """Others do not say that F is below t at the lower end, or above it at the upper one."""
    low, high = others(asked.rounds, found.lower), others(asked.rounds, found.upper)
    if (found.lower > 0 and low.upper < asked.log_t) or high.lower > asked.log_t:
        outcome.found("violation", f"{what}: {found}, log F in {low} and {high}")


def others(rounds: list[tuple[MixedNormalLaw, int]], y: float) -> Bracket:
    """log F(y) by the plain contour, and by the grid if there are few rounds."""
    found = excess_at(Independent(rounds, math.inf), y, _ROUGH, _ROUGH_WORK)[0]
    way = way_for(rounds) if sum(count for _, count in rounds) <= _MOST_ON_GRID else None
    on_grid = way.excess(y, _ROUGH, 1e8) if way is not None else None
    if on_grid is not None:
        found = found.meet(Bracket(on_grid.lower, on_grid.upper, _NO_PLAN, 0, False))
    return found


def _ends(rng: Random, rounds: list[tuple[MixedNormalLaw, int]]) -> Ends:
    """Anywhere, in whole multiples of 1/1024."""
    none = tuple(math.floor(1024 * rng.uniform(1, 9)) / 1024 for _ in rounds)
    apart = rng.choice([0.0, 1.0])
    giant = tuple(end + apart * math.ceil(1024 * max(rng.uniform(-1, 4), 0.0)) / 1024 for end in none)
    return Ends(none, giant, float(round(math.exp(rng.uniform(0, 8)))))


def _sides(rounds: list[tuple[MixedNormalLaw, int]], ends: Ends, y: float, log_f: float) -> Bracket:
    made = labels._joint(labels.Labelled(rounds, ends), y, log_f, lambda c: _ROUGH / c, WORK)
    if made is None:
        return Bracket(-math.inf, 0.0, _NO_PLAN, 0, True)
    sides = made.integral.sides(y)
    return Bracket(sides.least, sides.most, _NO_PLAN, 0, False)
