"""The numbers behind the figures: the papers' pictures computed anew, and two pictures of the proofs.

Nothing here draws.  Each function yields the rows of one figure, in the order in which they are drawn and stored.
Bounds are floats rounded up, only `lower` is rounded down; probabilities of the proofs are fractions, exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from optcomp.composition import compose
from optcomp.proofs.concurrent import leaky_responses_delta
from optcomp.proofs.distributions import Finite, Real
from optcomp.proofs.indistinguishability import indistinguishable
from optcomp.proofs.simulation import leaky, simulate
from optcomp.proofs.systems import Distribution, History, Pair, Query, System, tabulate
from optcomp.proofs.transcripts import worst_delta
from optcomp.theorems import Bound

# --- the lecture's Figure 1 -----------------------------------------------------------------------------------------

LECTURE_EPSILON, LECTURE_DELTA = "0.01", "1e-6"
LECTURE_SIZES = range(1, 201)


@dataclass(frozen=True)
class LecturePoint:
    """ε of k mechanisms by basic composition, by the lecture's Theorem 1.1, and the least there is."""

    k: int
    basic: float
    strong: float
    optimal: float


def lecture_points(sizes: Sequence[int] = LECTURE_SIZES) -> Iterator[LecturePoint]:
    """Basic against strong composition of k mechanisms with ε = 0.01 at δ = 1e-6  (DKMMN06, Smith25-1.1, KOV15-3.3)."""
    for k in sizes:
        bounds = (_bound(LECTURE_EPSILON, k, LECTURE_DELTA, method) for method in ("basic", "strong", "auto"))
        yield LecturePoint(k, *(bound.upper for bound in bounds))


def _bound(eps: str, k: int, delta: str | float, method: str) -> Bound:
    return compose({eps: k}, delta=delta, method=method)


# --- Murtagh and Vadhan's Figure 2 ----------------------------------------------------------------------------------

EPSILONS = ("0.005", "0.02", "0.1")
DELTAS = (2.0**-10, 2.0**-25, 2.0**-40)  # of the third panel; the middle one is that of the others
USUAL_EPSILON, USUAL_DELTA = EPSILONS[0], DELTAS[1]
MANY = (1, 5, 10, 20, 30, 40, 50, 75, 100, *range(150, 1001, 50))
FEW = (1, *range(2, 101, 2))
PANEL_POINTS = len(EPSILONS) * (2 * len(MANY) + len(FEW)) + len(DELTAS) * len(MANY)


@dataclass(frozen=True)
class PanelPoint:
    """ε_g of k mechanisms by four theorems; `lower` is proved to be at most the least ε_g there is.

    In the panel "relative" the numbers are multiples of the optimal one.
    """

    panel: str
    epsilon: str
    delta: float
    k: int
    basic: float
    advanced: float
    kov: float
    optimal: float
    lower: float

    def relative(self) -> PanelPoint:
        """The same point with every bound divided by the optimal one."""
        basic, advanced, kov, lower = (
            bound / self.optimal for bound in (self.basic, self.advanced, self.kov, self.lower)
        )
        return replace(self, panel="relative", basic=basic, advanced=advanced, kov=kov, optimal=1.0, lower=lower)


def panel_points(many: Sequence[int] = MANY, few: Sequence[int] = FEW) -> Iterator[PanelPoint]:
    """The four panels of Murtagh and Vadhan's section 6: many k, few k, several δ_g, and all relative to the optimum.

    k mechanisms, each (ε, 0)-DP; δ_g = 2^−25 but for the third panel, where ε = 0.005.
    """
    for eps in EPSILONS:
        points = [_panel_point("many", eps, USUAL_DELTA, k) for k in many]
        yield from points
        yield from (point.relative() for point in points)
        yield from (_panel_point("few", eps, USUAL_DELTA, k) for k in few)
    for delta in DELTAS:
        yield from (_panel_point("deltas", USUAL_EPSILON, delta, k) for k in many)


def _panel_point(panel: str, eps: str, delta: float, k: int) -> PanelPoint:
    basic, advanced, kov, best = (_bound(eps, k, delta, method) for method in ("basic", "advanced", "kov", "auto"))
    return PanelPoint(panel, eps, delta, k, basic.upper, advanced.upper, kov.upper, best.upper, best.lower)


# --- concurrent composition -----------------------------------------------------------------------------------------

LEVELS = (Fraction(3, 2), Fraction(2))
"""e^ε of the two guarantees of each mechanism that OptComp is asked about."""
ODDS = tuple(1 + Fraction(step, 16) for step in range(65))
_CHANCES = {"start": ("0.7", "0.45"), "left": ("0.6", "1"), "right": ("0", "0.3")}


@dataclass(frozen=True)
class ConcurrentPoint:
    """The worst δ at e^ε = odds of two interactive mechanisms, and OptComp's for the guarantees they have."""

    odds: Fraction
    epsilon: float
    one_by_one: Real
    interleaved: Real
    optcomp_low: Real
    optcomp_high: Real


def two_question_pair() -> Pair:
    """A mechanism of two questions, on two data sets: a hint, then a choice of which data set may be given away.

    The first question, "start", is answered yes with probability 0.7 or 0.45.  Then "left" is answered no with
    probability 0.4 on the first data set only, or "right" yes with probability 0.3 on the second one only.  Which of
    them is worth asking depends on all hints so far, and so also on those of other mechanisms.
    """
    return Pair(_two_questions(0), _two_questions(1))


def _two_questions(bit: int) -> System:
    def answer(_history: History, query: Query) -> Distribution:
        chance = Fraction(_CHANCES[query][bit])
        return {"yes": chance, "no": 1 - chance}

    return tabulate(answer, lambda history: ("left", "right") if history else ("start",), rounds=2)


def concurrent_points(odds: Sequence[Fraction] = ODDS) -> Iterator[ConcurrentPoint]:
    """Two such mechanisms, finished one by one or interleaved, never exceed OptComp of their guarantees  (Lyu22-1).

    Each has the guarantees (log λ, δ) with λ from `LEVELS` and the least δ for it.
    """
    pair = two_question_pair()
    parameters = [(level, _worst([pair], level, interleaved=True)) for level in LEVELS]
    for at in odds:
        worst = (_worst([pair, pair], at, interleaved=how) for how in (False, True))
        bounds = (leaky_responses_delta([guarantee] * 2, at) for guarantee in parameters)
        yield ConcurrentPoint(at, math.log(at), *worst, *bounds)


def _worst(pairs: Sequence[Pair], odds: Fraction, *, interleaved: bool) -> Real:
    """The worst adversary's δ, in whichever direction is worse."""
    swapped = [pair.swapped() for pair in pairs]
    return max(worst_delta(way, odds, interleaved=interleaved).value for way in (pairs, swapped))


# --- the simulation lemma: the lecture's Figure 2 -------------------------------------------------------------------

SIMULATED_ODDS = Fraction(2)  # e^ε of the figure: both sides of the lemma are seen
SIMULATED_X = Finite({z: Fraction(weight, 36) for z, weight in enumerate((2, 5, 8, 9, 6, 3, 2, 1))})
SIMULATED_Y = Finite({z: Fraction(weight, 36) for z, weight in enumerate((1, 1, 3, 5, 8, 9, 6, 3))})
SYMBOLS = {0: "I am U", 1: "0", 2: "1", 3: "I am V"}
"""The outcomes of leaky randomized response, by what they say."""


@dataclass(frozen=True)
class SimulationPart:
    """What one outcome of leaky randomized response contributes to one value of X and of Y."""

    outcome: int
    symbol: int
    chance: Real
    """T(symbol)(outcome)."""
    x_part: Real
    y_part: Real


def simulated_delta() -> Real:
    """The least δ with which X and Y of the figure are (log 2, δ)-indistinguishable."""
    return indistinguishable(SIMULATED_X, SIMULATED_Y).delta(SIMULATED_ODDS)


def simulation_parts() -> Iterator[SimulationPart]:
    """X and Y taken apart by the simulation lemma: X = Σ U(s) T(s), Y = Σ V(s) T(s)  (MV18-3.2, KOV15-simulation)."""
    delta = simulated_delta()
    u, v = leaky(SIMULATED_ODDS, delta)
    kernel = simulate(SIMULATED_X, SIMULATED_Y, SIMULATED_ODDS, delta)
    for outcome in SIMULATED_X:
        for symbol in SYMBOLS:
            chance = kernel(symbol)[outcome]
            yield SimulationPart(outcome, symbol, chance, u[symbol] * chance, v[symbol] * chance)
