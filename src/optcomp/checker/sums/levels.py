r"""Few rounds of smooth laws: densities that are level on each cell of a grid, one below and one above the law.

Write V(t) = E(e^{t-L} - 1)_+, so that F(t) = 1 - e^t K + V(t), K the mass of Q.  Any masses D_j >= 0, each spread
evenly over the cell from l_j = l_0 + jh to l_{j+1}, may stand in for a law, with a K of their own.

*From above.*  First let what lies below l_0 be moved up to it, which makes F larger; that law has a V less by
e^{t-l_0} V(l_0).  If V of the masses is at least V(t) - κe^t of the law for all t up to the last node, and κ >=
e^{-l_0} V(l_0), then with K = 1 - κ the sum gets an F that is too large or right.  For if rounds are replaced one by
one, F changes by e^y κ' K' + ∫ p(ds) (V_D - V)(y - s) >= e^y κ' (K' - ∫ p(ds) e^{-s}), p the masses of the other
rounds and K' their K: all losses count from their first nodes on, so y - s is at most the last node, and no law may
have more of Q in its cells than its K.

*From below.*  If V of the masses is at most V(t) + κe^t, then with K = 1 + κ it gets an F that is too small or right,
for the same reason.  Here losses below the first nodes stay, so that must hold beyond the last node too: it does if
it holds at the last node, and the cells hold at most κ more of Q than the law has below it, because then the
difference grows.

*Between nodes.*  In x = e^t the second derivative of V is e^{-2t} times the density.  So if a difference w of two V
is at least σ at both ends of a cell, and the difference of their densities at most g >= 0 in it, then w >= σ - g(e^h
- 1)²/8 there.  The density of the law is its mass P_j over h up to half of h times its largest slope, and is not
negative. V e^{-t} of the law grows, so κ >= Q(L < l_1) will do from above in the first cell, and before it; and where
the masses have not begun, their V is 0, which is never too much from below.

*The sum* is a sum of whole cells, whose masses are a product of polynomials, and of n numbers that are even on [0,
h], with the sum B:

    F(y) = 1 - e^y K + Σ p_k E(e^{y-s_k-B} - 1)_+,     E e^{-B} = ((1 - e^{-h})/h)^n.

For s_k above y - nh the expectation is n integrals of e^{hu} - 1, and n differences of that: Σ_i (-1)^i C(n,i)
ψ(θ-i), ψ(τ) = Σ_{m>n} h^{m-n} τ^m/m!, i < θ = (y - s_k)/h.

*Which masses.*  D_j = P_j - (P_{j+1} - 2P_j + P_{j-1})/12 has V right up to h⁴; to that is added, or taken from it,
what has as its V what is missing between nodes.  That leaves about n h³/16 times the slope of a density; any choice
is sound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate, pairwise

from flint import arb, fmpz, fmpz_mat, fmpz_poly

from optcomp.checker.balls import ball, working
from optcomp.checker.effort import looked
from optcomp.checker.instance import Range
from optcomp.checker.laws import Law, TooMuch
from optcomp.checker.laws.parts import Parts, Smooth, parts_of
from optcomp.checker.sums.cells import Factors, Near, above, down, first_node
from optcomp.checker.sums.nodes import OFF, Cumulated, Grid
from optcomp.checker.sums.shape import Shape
from optcomp.checker.sums.total import Total

_MOST_NODES = 300_000  # more are for cells, whose work is not done node by node
_EXTRA, _FINER = 16, 24  # bits of the masses beside those of the polynomials, and of the powers beside those
_FINE = 384  # bits for the first nodes
_LIFT = 1.15  # how much more than what is missing is added, since adding changes what is missing
_ROUGH = (0.25, 0.15, 0.4, 0.08)  # of the mass of a cell: where more would be taken away, a law is too rough to begin
_ENOUGH = 400  # bits of a sum of powers
_GOOD = 22  # bits by which a κ may be more than a unit


def suits(total: Total) -> bool:
    """Whether every law is one piece that has a least loss, beside which cells can begin, and all of Q."""
    return not total.gaussians and all(_piece(parts_of(law)) is not None for law, _ in total.laws)


def _piece(parts: Parts | None) -> Smooth | None:
    """The only piece of a law without atoms, if it is as K = 1 and a first cell take it to be."""
    if parts is None or parts.lumps or len(parts.pieces) != 1:
        return None
    (piece,) = parts.pieces
    return piece if piece.other == 1 and piece.low.is_finite() else None


class _Tables:
    """A law at the nodes, in units of 2^-B: masses below them and of the cells, bends, and e^{-jh} in finer units."""

    def __init__(self, piece: Smooth, grid: Grid, digits: int) -> None:
        found = Cumulated(piece, grid, digits, bent=True)
        self.grid, self.digits = grid, digits
        self.own, self.other = list(map(int, found.own)), list(map(int, found.other))
        self.masses = [right - left for left, right in pairwise(self.own)]
        self.bends = [None if None in pair else max(pair) for pair in pairwise(found.bends)]  # type: ignore[type-var]
        self.fine = digits + _FINER
        self.falls = _powers(grid, self.fine)
        step = ball(grid.step)
        self.first = down((-grid.place(0)).exp() * arb(2) ** self.fine)
        self.first_even = down((-grid.place(0)).exp() * even(step) * arb(2) ** self.fine)
        self.eighth = above(step.expm1() ** 2 / (8 * step), self.fine)
        self.off = (2 * OFF + 6) * above((-grid.place(0)).exp().max(arb(1)), 0)

    @cached_property
    def filtered(self) -> list[int]:
        """P_j - (P_{j+1} - 2P_j + P_{j-1})/12."""
        masses = self.masses
        around = [0, *masses, masses[-1] + _slope(masses)]
        triples = zip(around, masses, around[2:], strict=False)
        return [mass - (right - 2 * mass + left) // 12 for left, mass, right in triples]

    @cached_property
    def roughness(self) -> list[float]:
        """What is missing over the mass of the cell, for the cells of the lowest quarter of the law."""
        quarter = next((node for node, own in enumerate(self.own) if own << 2 > self.own[-1]), 0)
        lost, per_cell = self.missing(self.masses[:quarter], -1), 1 / float(self.grid.step)
        pairs = zip(lost, self.masses, strict=False)
        return [math.inf if each is None or not mass else each * per_cell / mass for each, mass in pairs]

    def missing(self, masses: Sequence[int], side: int) -> list[int | None]:
        """What w may lose between the ends of each cell, if it is that of the masses (1), or of the law (-1), first."""
        found: list[int | None] = []
        for mass, mine, bend in zip(masses, self.masses, self.bends, strict=False):
            wrong = None if bend is None else side * (mass - mine) + bend + 2 * OFF
            if side > 0:
                wrong = mass if wrong is None else min(wrong, mass)
            found.append(None if wrong is None else (max(wrong, 0) * self.eighth >> self.fine) + 1)
        return found


class _Stand:
    """Masses that stand in for a law from above (side 1) or from below (-1), in units of 2^-b, and what κ they need."""

    def __init__(self, law: _Tables, side: int, bits: int) -> None:
        self._law, self._side, self._bits = law, side, bits
        self._shift = law.digits - bits
        found: list[tuple[int, int, list[int]]] = []
        for rough in _ROUGH:
            with suppress(TooMuch):
                masses = self._chosen(rough)
                found.append((*self._needed(masses), masses))
            if found and found[-1][0] <= 1 << (self._shift + _GOOD):
                break
        if not found:
            raise TooMuch
        kappa, held, self.masses = min(found)
        unit = arb(2) ** -law.digits
        self.kappa, self.held = kappa * unit, held * unit

    def _chosen(self, share: float) -> list[int]:
        law, side = self._law, self._side
        chosen, start = _begun(law, share, side)
        lift = _lifted(law.missing(chosen, side), law, start)
        if side < 0:
            chosen[-1] += _slope(law.masses) // 12  # so that no more of Q is in the cells than the law has there
        sums = accumulate(max(mass + side * more, 0) for mass, more in zip(chosen, lift, strict=True))
        masses = [right - left for left, right in pairwise([0, *(each >> self._shift for each in sums)])]
        largest = max(range(len(masses)), key=masses.__getitem__)
        masses[largest] -= max(sum(masses) - (1 << self._bits), 0)  # what products are off counts masses up to 1
        if masses[largest] < 0:
            raise TooMuch
        return masses

    def _needed(self, masses: Sequence[int]) -> tuple[int, int]:
        """κ, and at most how much of Q is in the cells: what V lacks at a node, times e^{-l}, with what is between."""
        law, side = self._law, self._side
        finer = [mass << self._shift for mass in masses]
        between = self._between(finer)
        begun = next((number for number, mass in enumerate(finer) if mass), 0) if side < 0 else 0
        most, own, risen, other = 2 * (law.other[1] + OFF), 0, 0, 0  # the first cell: V e^{-t} of the law grows
        for node in looked(range(begun, len(law.own))):
            other = risen * law.first_even >> 2 * law.fine
            falls = law.first * law.falls[node] >> law.fine
            over = law.other[node] - other + (falls * (own - law.own[node]) >> law.fine)
            rest = falls * max(between[max(node - 1, 0) : node + 1]) >> law.fine
            most = max(most, side * over + rest + 1)
            if node < len(finer):
                own, risen = own + finer[node], risen + finer[node] * law.falls[node]
        if side < 0:  # beyond the last node
            most = max(most, other - law.other[-1])
        if most >= 1 << law.digits:
            raise TooMuch
        return most + law.off, other + law.off

    def _between(self, masses: Sequence[int]) -> list[int]:
        """What is missing in each cell, but for the first from above, and those before the masses begin from below."""
        begun = next((number for number, mass in enumerate(masses) if mass), 0) if self._side < 0 else 1
        found = []
        for number, lost in enumerate(looked(self._law.missing(masses, self._side))):
            if lost is None and number >= begun:
                raise TooMuch
            found.append(0 if lost is None or number < begun else lost)
        return found


@dataclass(frozen=True)
class _Sum:
    """The cells of all rounds, K, and how many rounds there are."""

    cells: Factors
    kept: arb
    rounds: int


class Levels:
    """F of a sum of few rounds of smooth laws."""

    def __init__(self, total: Total, shape: Shape, highest: Fraction) -> None:
        self._step, self._bits = shape.step, shape.bits
        if not suits(total):
            raise TooMuch
        laws = total.laws
        with working(_FINE):
            parts = [_parts(law) for law, _ in laws]
            starts = [
                first_node(each, low, self._step) - self._step for each, low in zip(parts, shape.lows, strict=True)
            ]
        self._start = sum((start * copies for start, (_, copies) in zip(starts, laws, strict=True)), Fraction(0))
        self._size = math.ceil((highest - self._start) / self._step) + 2
        if not 1 < self._size <= _MOST_NODES:
            raise TooMuch
        digits, reach = self._bits + _EXTRA, float(self._size * self._step)
        sides: list[list[tuple[_Stand, int]]] = [[], []]
        for (law, copies), start in looked(zip(laws, starts, strict=True)):
            with working(digits + 64 + math.ceil(3 * reach)):
                piece = _piece(_parts(law))
                if piece is None:
                    raise TooMuch
                tables = _Tables(piece, Grid(start, self._step, self._size + 1), digits)
                for place, side in enumerate((-1, 1)):
                    sides[place].append((_Stand(tables, side, self._bits), copies))
        with working(digits + 64):
            self._below, self._above = (self._sum(made, side) for made, side in zip(sides, (-1, 1), strict=True))

    def _sum(self, made: Sequence[tuple[_Stand, int]], side: int) -> _Sum:
        kept, size, bits = arb(1), self._size, self._bits
        for stand, copies in made:
            own = 1 - side * stand.kappa
            if not own >= stand.held:
                raise TooMuch  # cells would hold more of Q than there is
            kept *= own**copies
        laws = [(Near(fmpz_poly(stand.masses), 0), copies) for stand, copies in made]
        rounds = sum(copies for _, copies in laws)
        if len(laws) == 1 and rounds > 1:
            return _Sum(Factors(*laws[0][0].halves(rounds, size, bits), size, bits), kept, rounds)
        one = Near(fmpz_poly([1 << bits]), 0)
        *first, last = [one, *(near.power(copies, size, bits) for near, copies in laws)]
        left = reduce(lambda left, right: left.times(right, size, bits), first)
        return _Sum(Factors(left, last, size, bits), kept, rounds)

    def excess(self, y: Fraction) -> Range:
        """F(y)."""
        with working(self._bits + 96 + math.ceil(2 * abs(float(y - self._start))) + 6 * self._above.rounds):
            rise = ball(y - self._start).exp()
            low, high = self._value(self._below, y), self._value(self._above, y)
            low, high = low - self._below.cells.off * rise, high + self._above.cells.off * rise
            return Range(low.max(arb(0)), high.min(arb(1)))

    def _value(self, found: _Sum, y: Fraction) -> arb:
        """1 - e^y K + Σ p_k E(e^{y-s_k-B} - 1)_+."""
        place, rounds, step = (y - self._start) / self._step, found.rounds, ball(self._step)
        whole = min(max(math.floor(place) - rounds + 1, 0), self._size)
        last = min(max(math.ceil(place), 0), self._size)
        cells = found.cells
        value = cells.lifted(whole, self._step) * ball((place - whole) * self._step).exp() * even(step) ** rounds
        value -= cells.below(whole)
        for number in looked(range(whole, last)):
            value += cells.about(number) * near_end(place - number, rounds, step)
        return 1 - ball(y).exp() * found.kept + value


def even(step: arb) -> arb:
    """E e^{-B}, B even on [0, h]."""
    return -(-step).expm1() / step


def near_end(place: Fraction, rounds: int, step: arb) -> arb:
    """E(e^{h(θ-B)} - 1)_+ for a sum B of n numbers that are even on [0, 1], 0 < θ < n."""
    return sum(
        ((-1) ** i * math.comb(rounds, i) * _repeated(ball(place - i), rounds, step) for i in range(math.ceil(place))),
        arb(0),
    )


def _repeated(place: arb, rounds: int, step: arb) -> arb:
    """ψ = Σ_{m>n} h^{m-n} τ^m/m!: terms until they fall by half, and a ball for all others."""
    term, value, count = step * place ** (rounds + 1) / arb(math.factorial(rounds + 1)), arb(0), rounds + 1
    product = step * place
    if not 2 * product <= rounds:
        raise TooMuch
    while not term <= arb(2) ** -_ENOUGH:
        value, count = value + term, count + 1
        term = term * product / count
    return value + arb(0, (2 * term).upper())  # from here each is at most half of the one before


def _slope(masses: Sequence[int]) -> int:
    """By how much the next mass would be more than the last."""
    return 2 * masses[-1] - 3 * masses[-2] + masses[-3]


def _begun(law: _Tables, share: float, side: int) -> tuple[list[int], int]:
    """What lies where the law is too rough is put into two cells, around it or beyond it.

    V is then right at the last node, and so wherever the law is smooth.
    """
    masses, rough = law.filtered, [number for number, each in enumerate(law.roughness) if each > share]
    start = (rough[-1] if rough else 0) + 2
    if start >= len(masses):
        raise TooMuch
    falls = law.falls
    own = law.own[-1] - _slope(law.masses) // 12
    other = law.other[-1] + (law.first * falls[-1] * (own - law.own[-1]) >> 2 * law.fine)
    other = (other << 2 * law.fine) // law.first_even
    own -= sum(masses[start:])
    other -= sum(mass * fall for mass, fall in zip(masses[start:], falls[start:], strict=False))
    left = start - 1 if side < 0 else 0
    second = (own * falls[left] - other) // (falls[left] - falls[start])
    begun = [0] * start
    begun[left] = own - second
    return [*begun, masses[start] + second, *masses[start + 1 :]], start


def _lifted(missing: Sequence[int | None], law: _Tables, start: int) -> list[int]:
    """What a V that is a little more than what is missing beside each node, from the start on, has at the nodes."""
    cells = [0 if number < start - 1 else lost or 0 for number, lost in enumerate(missing)]
    wide = [0, 0, *cells, cells[-1], cells[-1], cells[-1]]
    nodes = [int(max(wide[number : number + 4]) * _LIFT) for number in range(len(cells) + 2)]
    nodes[:start] = [0] * start
    one, fall = law.falls[:2]
    return [
        (fall * right - (one + fall) * node + one * left) // (one - fall)
        for left, node, right in zip([0, *nodes], nodes, nodes[1:], strict=False)
    ][: len(missing)]


def _powers(grid: Grid, digits: int) -> list[int]:
    """e^{-jh} in units, each at most 6 below the truth."""
    unit, scale = arb(2) ** digits, fmpz(1 << digits)
    width = math.isqrt(grid.nodes) + 1
    coarse = [[down((-ball(grid.step * width * j)).exp() * unit)] for j in looked(range(grid.nodes // width + 1))]
    fine = [down((-ball(grid.step * i)).exp() * unit) for i in looked(range(width))]
    found = (fmpz_poly((fmpz_mat(coarse) * fmpz_mat([fine])).entries()) // scale).coeffs()
    return list(map(int, found))


def _parts(law: Law) -> Parts:
    found = parts_of(law)
    if found is None:
        raise TooMuch
    return found
