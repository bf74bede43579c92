r"""Every (ε, δ)-indistinguishable pair of interactive systems is leaky randomized response in disguise (Lyu22-3).

Write λ = e^ε.  If M⁰ and M¹ are (ε, δ)-indistinguishable there are systems E⁰, E¹, N⁰, N¹ with

    M^b = δ E^b + (1 − δ) (λ/(1+λ) N^b + 1/(1+λ) N^{1−b})                                  (identity (4))

against every adversary: draw one of four symbols, then be the system that the symbol names.

**What is needed.**  Flows r_0, r_1 on the tree with root mass 1 − δ, r_b ≤ p_b and r_0 ≤ λ r_1, r_1 ≤ λ r_0 at every
complete history, p_b being the flows of M^b.  Then E^b = (p_b − r_b)/δ and
N^b = (λ r_b − r_{1−b}) / ((1 − δ)(λ − 1)) are flows, non-negative at complete histories and hence everywhere, and
identity (4) is what solving for r_b gives back.

**Which (r_0, r_1) are possible at a history?**  At a complete one: the box r_b ≤ p_b cut by the cone r_0 ≤ λ r_1,
r_1 ≤ λ r_0.  At another: the intersection over questions x of the Minkowski sums over responses y.  Let K(w_0, w_1) be
the box with corner (w_0, w_1) cut by the cone.  The answer at *every* history is such a K, with its corner in the cone:

- at a complete history w_0 = min(p_0, λ p_1), w_1 = min(p_1, λ p_0): cutting the box back to where it meets the cone;
- K(w) + K(w') = K(w + w') for corners in the cone: `split` writes any point of the right side as a sum;
- ⋂_x K(w^x) = K(min_x w^x_0, min_x w^x_1), and that corner is in the cone again, for if x attains min w^x_1 then
  min_x w^x_0 ≤ w^x_0 ≤ λ w^x_1.

So w_b(h) = min_x Σ_y w_b(h·(x, y)).  As p_b is conserved, p_b − w_b obeys the recursion of the worst adversary
(`transcripts.worst_delta`), and agrees with it at complete histories: w_b = p_b − V_b at every history.  At the root
(1 − δ, 1 − δ) lies in K(w) iff δ ≥ V_0 and δ ≥ V_1, which is indistinguishability: the decomposition exists if and only
if it may, and one pass up and one pass down the tree build it, for any ε ≥ 0 and any δ, needed or larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import OptcompError
from optcomp.proofs.distributions import Real
from optcomp.proofs.systems import (
    FLOAT_TOLERANCE,
    Flow,
    History,
    Pair,
    System,
    check_delta,
    check_odds,
    from_flow,
    laws,
    mix_systems,
)

Point = tuple[Real, Real]
"""A pair of masses (r_0, r_1)."""
SYMBOLS = (0, 1, 2, 3)
"""What leaky randomized response says: "surely 0", "likely 0", "likely 1", "surely 1"."""


class NotIndistinguishable(OptcompError):
    """The pair is not (ε, δ)-indistinguishable, so no decomposition exists; `.worst` is the least δ that would do."""

    def __init__(self, odds: Real, delta: Real, worst: Real) -> None:
        self.odds = odds
        self.delta = delta
        self.worst = worst
        super().__init__(f"at e^ε = {odds} the pair needs δ ≥ {worst}, more than the {delta} given")


@dataclass(frozen=True)
class Decomposition:
    """Four systems that leaky randomized response chooses from to be M⁰ or M¹, as in identity (4)."""

    pair: Pair
    odds: Real
    delta: Real
    leaks: tuple[System, System]
    """E⁰ and E¹: what the mechanism does when it gives the data set away."""
    likely: tuple[System, System]
    """N⁰ and N¹: what it does on a symbol that is e^ε times likelier on one data set than on the other."""

    def part(self, symbol: int) -> System:
        """The system to be on one of the four symbols: E⁰, N⁰, N¹, E¹."""
        return (self.leaks[0], *self.likely, self.leaks[1])[symbol]

    def weights(self, bit: int) -> dict[int, Real]:
        """The probabilities of the four symbols on data set `bit`."""
        return leaky_response(self.odds, self.delta, bit)

    def recombined(self, bit: int) -> System:
        """The right side of identity (4), as a system."""
        return mix_systems([(weight, self.part(symbol)) for symbol, weight in self.weights(bit).items()])

    def error(self) -> Real:
        """The largest violation of identity (4) over all histories: exactly 0 when the pair is exact.

        A transcript's probability is the system's flow times a factor of the adversary's alone, so equal flows are
        equal transcripts for every adversary.
        """
        gaps: list[Real] = []
        for bit in (0, 1):
            weights = self.weights(bit)
            for history, mass in self.pair.side(bit).flow.items():
                parts = (weight * self.part(symbol).flow[history] for symbol, weight in weights.items())
                total = sum(parts, start=Fraction(0))
                gaps.append(max(mass - total, total - mass))
        return max(gaps)


def leaky_response(odds: Real, delta: Real, bit: int) -> dict[int, Real]:
    """The four symbols' probabilities: `bit` given away with probability δ, else told truly with odds e^ε : 1."""
    likely, unlikely = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    weights: tuple[Real, ...] = (delta, likely, unlikely, Fraction(0))
    return dict(zip(SYMBOLS, reversed(weights) if bit else weights, strict=True))


def decompose(pair: Pair, odds: Real, delta: Real) -> Decomposition:
    """The systems E⁰, E¹, N⁰, N¹ of Lyu's Theorem 3, or `NotIndistinguishable` with the δ that the pair needs."""
    odds, delta = check_odds(odds), check_delta(delta)
    remaining = largest_flows(pair, odds)
    worst = max(1 - remaining[()][0], 1 - remaining[()][1])
    if delta < worst - _slack(worst):
        raise NotIndistinguishable(odds, delta, worst)
    flows = common_flows(pair, odds, 1 - delta, remaining)
    return Decomposition(pair, odds, delta, _leaks(pair, flows, delta), _likely(pair, flows, odds, delta))


def largest_flows(pair: Pair, odds: Real) -> dict[History, Point]:
    """The corner (w_0, w_1) of the set of possible (r_0, r_1) at every history: the pass up the tree."""
    corners: dict[History, Point] = {}
    zero, one = pair.zero.flow, pair.one.flow
    for history in reversed(list(zero)):  # longest histories first
        node = pair.zero.table.get(history)
        if node is None:
            p, q = zero[history], one[history]
            corners[history] = (min(p, odds * q), min(q, odds * p))
        else:
            sums = [_total([corners[(*history, (query, y))] for y in law]) for query, law in node.items()]
            corners[history] = (min(first for first, _ in sums), min(second for _, second in sums))
    return corners


def feasible_polygon(corner: Point, odds: Real) -> list[Point]:
    """The vertices of K(w), counter-clockwise from the origin: the box with this corner cut by the cone."""
    first, second = corner
    vertices: list[Point] = [(Fraction(0), Fraction(0))]
    for vertex in ((first, first / odds), corner, (second / odds, second)):
        if vertex not in vertices:
            vertices.append(vertex)
    return vertices


def common_flows(pair: Pair, odds: Real, mass: Real, corners: dict[History, Point]) -> dict[History, Point]:
    """Flows r_0, r_1 with this mass at the root, within the cone and below p_0, p_1: the pass down the tree."""
    flows: dict[History, Point] = {(): (mass, mass)}
    for history, query, law in laws(pair.zero.table):
        children = [(*history, (query, y)) for y in law]
        shares = split(flows[history], [corners[child] for child in children], odds)
        flows.update(zip(children, shares, strict=True))
    return flows


def split(point: Point, corners: Sequence[Point], odds: Real) -> list[Point]:
    """Writes a point of K(Σw) as a sum of points of the K(w): K(w) + K(w') = K(w + w').

    The ray through the point leaves K(W), W = Σw, on the edge r_1 = W_1 from (W_1/λ, W_1) to W, or on the other edge.
    Both ends of that edge are sums of the like-named vertices of the parts, so every point of it is a sum of the
    points at the same place of the parts' edges, and the parts are star-shaped about 0.
    """
    total = _total(corners)
    if not point[0] and not point[1]:
        return [(Fraction(0), Fraction(0))] * len(corners)
    if point[1] * total[0] < point[0] * total[1]:  # steeper edge: exchange the roles of 0 and 1
        mirrored = split((point[1], point[0]), [(second, first) for first, second in corners], odds)
        return [(first, second) for second, first in mirrored]
    scale = point[1] / total[1]
    start = total[1] / odds
    place = (point[0] / scale - start) / (total[0] - start) if total[0] > start else Fraction(0)
    return [(scale * ((1 - place) * second / odds + place * first), scale * second) for first, second in corners]


def _leaks(pair: Pair, flows: dict[History, Point], delta: Real) -> tuple[System, System]:
    """E^b = (p_b − r_b)/δ; at δ = 0 it is never used, and is M^b."""
    if not delta:
        return pair.zero, pair.one
    zero, one = (
        from_flow(_positive({h: mass - flows[h][bit] for h, mass in pair.side(bit).flow.items()}), pair.side(bit))
        for bit in (0, 1)
    )
    return zero, one


def _likely(pair: Pair, flows: dict[History, Point], odds: Real, delta: Real) -> tuple[System, System]:
    """N^b ∝ λ r_b − r_{1−b}; at ε = 0, where r_0 = r_1, N^b ∝ r_b; at δ = 1 it is never used, and is M^b."""
    if delta == 1:
        return pair.zero, pair.one
    slope = 1 if odds == 1 else odds
    shift = 0 if odds == 1 else 1
    zero, one = (
        from_flow(_positive({h: slope * r[bit] - shift * r[1 - bit] for h, r in flows.items()}), pair.side(bit))
        for bit in (0, 1)
    )
    return zero, one


def _positive(flow: Flow) -> Flow:
    """Rounding may put floats just below 0; a fraction below 0 would be a mistake in the proof."""
    if any(mass < -_slack(mass) for mass in flow.values()):
        raise ArithmeticError(f"a flow is negative: {min(flow.values())}")
    return {history: max(mass, Fraction(0)) for history, mass in flow.items()}


def _total(points: Sequence[Point]) -> Point:
    zero: Real = Fraction(0)
    return sum((first for first, _ in points), start=zero), sum((second for _, second in points), start=zero)


def _slack(value: Real) -> Real:
    return FLOAT_TOLERANCE if isinstance(value, float) else 0
