r"""Losses of Laplace noise, beside few atoms: an exact finite sum.

One law has M(s) = (e^{sε}/2)(1 + u + e^{-ε}e^{-2sε}(1 - u)) with u = 1/(1+2s), the same u whatever ε is.  So for n_i
losses with ε_i, n in all, and k_i of the second terms, K in all,

    M(s) = 2^{-n} Σ_k \prod_i C(n_i,k_i) e^{-k_i ε_i} e^{s(n_i-2k_i)ε_i} (1-u)^K (1+u)^{n-K}.

u^r is E e^{-sX}, X a Gamma variable of shape r and scale 2 (X = 0 for r = 0).  So L is a mixture, with weights of both
signs, of l - X with l = Σ(n_i-2k_i)ε_i, and with κ_{K,r} the whole coefficients of (1-u)^K (1+u)^{n-K}

    F(y) = 2^{-n} Σ_{k: l > y} \prod_i C(n_i,k_i) e^{-k_i ε_i} Σ_r κ_{K,r} G_r(l - y),
    G_r(z) = E(1 - e^{X-z})_+ = D_r(z) - E_r(z),    D_r = P(X <= z),    E_r = e^{-z} E(e^X; X <= z),    r >= 1,

and G_0 = 1 - e^{-z}.  With x = z/2 and p_r = e^{-x} x^r/r!, D_r = D_{r+1} + p_r, by parts E_r = p_r - E_{r+1}, so G_r =
D_{r+1} + E_{r+1}.  Both are followed downwards from some T, where 0 <= E_T <= D_T <= x^T/T!: nothing is lost that way.
Later r, if there are any, add at most Σ_{r>=T} C(n,r) x^r/r!, because |κ_r| <= C(n,r); the ratio of two of its terms is
below nx/(T+1)².
An independent loss with finitely many atoms adds its place to l and its probability to the weight.
The sum cancels; as many bits are taken as that costs.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpz, fmpz_poly

from optcomp.checker.balls import ball, spread, working
from optcomp.checker.effort import looked
from optcomp.checker.instance import Range
from optcomp.checker.laws import Finite, Laplace, TooMuch
from optcomp.checker.sums.listed import powers
from optcomp.checker.sums.total import Total

_COPIES = 3000
"""The most Laplace losses."""
_PLACES = 4000
"""The most different l."""
_WORK = 1_000_000
"""The most terms, a second's or two worth."""

Places = dict[tuple[Fraction, int], arb]
"""Weights by l and K."""


def laplace_copies(total: Total) -> int:
    """How many Laplace losses there are, if there is nothing else but finite atoms; else 0."""
    if total.gaussians or not all(isinstance(law, Laplace | Finite) for law, _ in total.laws):
        return 0
    copies = sum(copies for law, copies in total.laws if isinstance(law, Laplace))
    return copies if copies <= _COPIES else 0


def laplace_sum(total: Total, y: Fraction, bits: int) -> Range:
    """F(y) with so many bits beyond those that its terms cancel: they are e^{2√(nx)} at most."""
    copies, highest = laplace_copies(total), float(total.top[1] - y) / 2
    spare = int(3 * math.sqrt(copies * highest)) + 2 * copies.bit_length() + 20
    end = _end(copies, highest, bits + spare)
    with working(bits + spare):
        places = _places(total, y)
        if len(places) * end > _WORK:
            raise TooMuch
        value, kappas = arb(0), _Kappas(copies, end)
        for (place, second), weight in looked(places.items()):
            value += weight * _inner(kappas.at(second), copies, ball(place - y), end)
        value = (value / fmpz(2) ** copies).max(arb(0))
    return Range(value, value)


class _Kappas:
    """The coefficients of (1-u)^K (1+u)^{n-K}, those below a degree."""

    def __init__(self, copies: int, end: int) -> None:
        self._copies, self._end, self._known = copies, end, dict[int, fmpz_poly]()

    def at(self, second: int) -> fmpz_poly:
        """For one K."""
        if second not in self._known:
            minus, plus = (fmpz_poly([1, sign]) ** power for sign, power in ((-1, second), (1, self._copies - second)))
            cut = [fmpz_poly(list(each)[: self._end]) for each in (minus, plus)]
            self._known[second] = cut[0] * cut[1]
        return self._known[second]


def _places(total: Total, y: Fraction) -> Places:
    """Every l above y."""
    found: Places = {(Fraction(0), 0): arb(1)}
    room = Fraction(total.top[0])  # the most that all laws together add
    for law, copies in sorted(total.laws, key=lambda each: each[1]):
        room -= Fraction(law.top()[1]) * copies
        moves = _laplace_moves(law, copies) if isinstance(law, Laplace) else _atom_moves(law, copies)
        grown: Places = {}
        for (place, second), weight in looked(found.items()):
            for move, more, share in moves:
                key = place + move, second + more
                if key[0] + room > y:
                    grown[key] = grown.get(key, arb(0)) + weight * share
        found = grown
        if len(found) > _PLACES:
            raise TooMuch
    return found


def _laplace_moves(law: Laplace, copies: int) -> list[tuple[Fraction, int, arb]]:
    eps = Fraction(law.epsilon)
    return [((copies - 2 * k) * eps, k, (-k * ball(eps)).exp() * fmpz(math.comb(copies, k))) for k in range(copies + 1)]


def _atom_moves(law: object, copies: int) -> list[tuple[Fraction, int, arb]]:
    if not isinstance(law, Finite):
        raise TooMuch
    shares = powers(law, copies)
    return [(law.first * copies + number * law.span, 0, share) for number, share in enumerate(shares)]


def _inner(kappa: fmpz_poly, n: int, z: arb, end: int) -> arb:
    """Σ_r κ_r G_r(z), followed from T = end."""
    x = z / 2
    powers = [(-x).exp()]
    for r in range(1, end + 1):
        powers.append(powers[-1] * x / r)
    most = powers[end] * x.exp()
    below, above, total = arb(0).union(most), arb(0).union(most), -(-z).expm1() * kappa[0]
    for r in range(end - 1, 0, -1):  # below and above are D and E of r + 1
        total += kappa[r] * (below + above)
        below, above = below + powers[r], powers[r] - above
    return total if end > n else total + spread(_later(n, x, end))


def _later(n: int, x: arb, end: int) -> arb:
    """At least Σ_{r>=T} C(n,r) x^r/r!."""
    ratio = n * x / (end + 1) ** 2
    if not ratio < 1:
        return arb.pos_inf()
    first = (end * x.log() - arb(end + 1).lgamma()).exp() * fmpz(math.comb(n, end))
    return first / (1 - ratio)


def _end(n: int, x: float, bits: int) -> int:
    """T from which on terms of this many bits less than 1 are left out."""
    goal, end = -bits * math.log(2), 1
    log = 0.0  # of C(n, r) x^r/r!, with C(n, r) at its largest beyond the middle
    while log > goal or (end + 1) ** 2 < 2 * n * x:
        if end > _WORK:
            raise TooMuch
        log += math.log(x / end) + math.log(max((n - end + 1) / end, 1.0))
        end += 1
    return end
