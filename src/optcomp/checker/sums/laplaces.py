r"""Losses of Laplace noise, beside few atoms: an exact finite sum.

One law has M(s) = (e^{sε}/2)(1 + u + e^{-ε}e^{-2sε}(1 - u)) with u = 1/(1+2s), the same u whatever ε is.  So for n_i
losses with ε_i, n in all, and k_i of the second terms, K in all,

    M(s) = 2^{-n} Σ_k \prod_i C(n_i,k_i) e^{-k_i ε_i} e^{s(n_i-2k_i)ε_i} (1-u)^K (1+u)^{n-K}.

u^r is E e^{-sX}, X a Gamma variable of shape r and scale 2 (X = 0 for r = 0).  So L is a mixture, with weights of both
signs, of l - X with l = Σ(n_i-2k_i)ε_i, and with κ_{K,r} the whole coefficients of (1-u)^K (1+u)^{n-K}

    F(y) = 2^{-n} Σ_{k: l > y} \prod_i C(n_i,k_i) e^{-k_i ε_i} Σ_r κ_{K,r} G_r(l - y),
    G_r(z) = E(1 - e^{X-z})_+ = D_r(z) - e^{-z} H_r(z),
    D_r(z) = P(X <= z) = 1 - e^{-z/2} Σ_{i<r} (z/2)^i/i!,        D_0 = H_0 = 1,
    H_r(z) = E(e^X; X <= z) = (z/2)^{r-1} e^{z/2}/(r-1)! - H_{r-1}(z),      H_1(z) = e^{z/2} - 1.

(H_r by parts.)  An independent loss with finitely many atoms adds its place to l and its probability to the weight.
The sum cancels; as many bits are taken as that costs.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpz, fmpz_poly

from optcomp.checker.balls import ball, working
from optcomp.checker.instance import Range
from optcomp.checker.laws import Finite, Laplace, TooMuch
from optcomp.checker.sums.listed import powers
from optcomp.checker.sums.total import Total

_COPIES = 300
"""The most Laplace losses."""
_PLACES = 4000
"""The most different l."""
_WORK = 1_000_000
"""The most terms, a second's worth."""

Places = dict[tuple[Fraction, int], arb]
"""Weights by l and K."""


def laplace_copies(total: Total) -> int:
    """How many Laplace losses there are, if there is nothing else but finite atoms; else 0."""
    if total.gaussians or not all(isinstance(law, Laplace | Finite) for law, _ in total.laws):
        return 0
    copies = sum(copies for law, copies in total.laws if isinstance(law, Laplace))
    return copies if copies <= _COPIES else 0


def laplace_sum(total: Total, y: Fraction, bits: int) -> Range:
    """F(y) with so many bits beyond those that its terms cancel: less than 2^n in κ, and as much again in G."""
    copies = laplace_copies(total)
    with working(bits + 3 * copies):
        places = _places(total, y)
        if len(places) * copies > _WORK:
            raise TooMuch
        value = arb(0)
        for (place, second), weight in places.items():
            value += weight * _inner(second, copies, ball(place - y))
        value = (value / fmpz(2) ** copies).max(arb(0))
    return Range(value, value)


def _places(total: Total, y: Fraction) -> Places:
    """Every l above y."""
    found: Places = {(Fraction(0), 0): arb(1)}
    room = Fraction(total.top[0])  # the most that all laws together add
    for law, copies in sorted(total.laws, key=lambda each: each[1]):
        room -= Fraction(law.top()[1]) * copies
        moves = _laplace_moves(law, copies) if isinstance(law, Laplace) else _atom_moves(law, copies)
        grown: Places = {}
        for (place, second), weight in found.items():
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


def _inner(k: int, n: int, z: arb) -> arb:
    """Σ_r κ_{k,r} G_r(z)."""
    kappa = fmpz_poly([1, -1]) ** k * fmpz_poly([1, 1]) ** (n - k)
    half, fall, rise = z / 2, (-z / 2).exp(), (z / 2).exp()
    total = -(-z).expm1() * kappa[0]
    below, power, above = arb(0), arb(1), arb(0)  # Σ_{i<r} (z/2)^i/i!, (z/2)^{r-1}/(r-1)!, H_r
    for r in range(1, n + 1):
        below += power
        above = rise - 1 if r == 1 else power * rise - above
        total += kappa[r] * (1 - fall * below - fall * fall * above)
        power *= half / r
    return total
