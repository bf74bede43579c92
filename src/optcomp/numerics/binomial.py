r"""Certified tails of k equal coins, for any k and arbitrarily far out, in about a millisecond.

With J ~ Bin(k, p), p = e^x/(1+e^x), the sum of k coins of size x is L = x(2J - k).  Both numbers that the
excess needs are tail sums of the same probabilities p_i = Pr[J = i]:

    A_j = \sum_{i>=j} p_i          B_j = \sum_{i>=j} p_i e^{-2x(i-j)}

and on the cell L_{j-1} <= y <= L_j the excess is A_j - e^{y-L_j} B_j: linear in e^y, so its root is closed form.

Near the top, and where terms fall quickly, the sums are added term by term.  Elsewhere they are contour integrals of
the generating function G(z) = (q + pz)^k on |z| = r = e^rho.  The trapezoid rule with N nodes is, with
p_i^r = p_i r^i / G(r) the tilted probabilities and everything divided by G(r) r^{-j},

    T = sum_i p_i^r w_i,   A_j = (1 - r^{-N}) T - alias,   0 <= alias <= E(rho),
    E(rho) = Pr_r[J >= j + N/2] + Pr_r[J <= j - N/2] + e^{-|rho| N/2}

because a term i = j + aN + b (0 <= b < N) enters with weight r^{-b} instead of r^{-(i-j)} (i >= j) or 0 (i < j).
For r < 1 the same holds for the complementary sum over i < j, and for B_j with rho + 2x in place of rho.
The two tilted tails are bounded by Chernoff.  Nodes are summed until |G(r e^{i theta})|/G(r), which decreases on
[0, pi], is negligible; what is left out is bounded by its first omitted term.  All of it in ball arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, fmpq

from optcomp.numerics.balls import ball, fraction, precision
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.saddle import excess_root_guess

_DIRECT_TERMS = 300  # so many terms are added up sooner than a contour is set up
_FEW_TERMS = 50  # so few are added up in balls as quickly as in whole numbers
_SPARE = 16  # bits of a sum beyond those asked for
_MOST_BITS = 1 << 13  # here doubling ends: what is undecided then is a tie
_PATIENCE = 12  # steps of Newton's method before halving
_ENOUGH = 60  # bits of a root that are always worth a second attempt
_GAP = 4.0  # least distance of the contour from a pole, in standard deviations of the frequency variable


@dataclass(frozen=True)
class Tails:
    """A_j and B_j of k coins of size x, as balls."""

    k: int
    j: int
    size: arb
    above: arb
    damped: arb

    @property
    def place(self) -> arb:
        """L_j, the value of the sum at the right end of the cell."""
        return self.size * (2 * self.j - self.k)

    def excess(self, y: arb) -> arb:
        """E(1 - e^{y-L})_+ for y in this cell."""
        return self.above - (y - self.place).exp() * self.damped

    def root(self, t: arb) -> arb:
        """Where this cell's line meets t: minus infinity when it stays below t, NaN when that is undecided."""
        rest = self.above - t
        if rest < 0:
            return arb.neg_inf()
        return self.place + (rest / self.damped).log()

    def guess(self, t: arb) -> float:
        """About where the excess meets t, from its logarithm's slope at this cell's right end."""
        height = (self.above - self.damped).mid()
        if not height > 0:
            return float(self.place)
        return float(self.place + (height / t).log() * height / self.damped)


def tails(k: int, x: Exact, j: int, bits: int) -> Tails:
    """A_j and B_j to about `bits` bits; 0 <= j <= k.  Call inside `precision`."""
    size = ball(x)
    few = max(_DIRECT_TERMS, bits)
    if k - j > _FEW_TERMS and _falls(k, float(size), j, bits) <= 2 * few:
        summed = _upward
    else:
        summed = _direct if k - j <= few else _contour
    above, damped = summed(k, size, j, bits)
    return Tails(k, j, size, above, damped)


def equal_excess(k: int, x: Exact, y: Exact, bits: int) -> arb:
    """E(1 - e^{y-L})_+ for k coins of size x at 0 <= y <= kx."""
    below = math.floor((Fraction(y) / Fraction(x) + k) / 2)  # L_below <= y, exactly
    with precision(working_bits(bits)):
        return tails(k, x, min(below + 1, k), bits).excess(ball(y))


def equal_root(k: int, x: Exact, t: arb, bits: int) -> arb:
    """The y >= 0 with E(1 - e^{y-L})_+ = t > 0 for k coins of size x (zero when the excess is below t at 0).

    Newton's method on a convex, piecewise linear function F of e^y: every cell's line lies below F, so the root is at
    least each line's root; and if y is at least the root of the line of *its own* cell, F(y) <= t.  So the largest root
    of the lines seen is the answer as soon as the cell of its upper end has been seen.
    """
    enough = min(_ENOUGH, t.rel_accuracy_bits() - 24)
    while True:
        root = _root(k, x, t, bits)
        if root is not None and (root.is_zero() or root.rel_accuracy_bits() >= min(bits, enough)):
            return root
        if bits > _MOST_BITS:
            if root is not None:
                return root
            low, high = (_root(k, x, end, bits) for end in (t.upper(), t.lower()))
            if low is None or high is None:
                raise ArithmeticError("the excess agrees with t to thousands of bits")
            return low.union(high)
        bits *= 2


def _root(k: int, x: Exact, t: arb, bits: int) -> arb | None:
    """One attempt with this many bits; None when they do not decide on which side of t a line stays."""
    guess = excess_root_guess([float(x)], [k], float(t.mid().log().mid()))
    search = _Search(k, x, guess)
    with precision(working_bits(bits)):
        best = arb(0)
        while True:
            while search.j not in search.seen:
                here = tails(k, x, search.j, bits)
                root = here.root(t)
                if root.is_nan():
                    return None
                best = best.max(root)
                search.advance(root, here.guess(t))
            search.j = search.cell(best.upper())
            if search.j in search.seen:
                return best


class _Search:
    """Which cell to look at next: the answer's cell is above `low` and below `high`."""

    def __init__(self, k: int, x: Exact, guess: float) -> None:
        self._k, self._size = k, Fraction(x)
        self._least = k // 2 + 1 if k % 2 == 0 else (k + 1) // 2  # the cell of y = 0
        self._low, self._high = self._least - 1, k + 1
        self.j = self._near(guess)
        self.seen: set[int] = set()

    def cell(self, y: arb) -> int:
        """The cell that contains an exact point, by exact arithmetic."""
        return min(max(math.ceil((fraction(y) / self._size + self._k) / 2), self._least), self._k)

    def _near(self, y: float) -> int:
        if not math.isfinite(y):
            return self._least
        return min(max(math.ceil((y / float(self._size) + self._k) / 2), self._least), self._k)

    def advance(self, root: arb, guess: float) -> None:
        """Stay with a root in its own cell; else go where the logarithm's slope points; halve where that creeps."""
        self.seen.add(self.j)
        if root.is_finite():
            first, last = self.cell(root.lower()), self.cell(root.upper())
            if first <= self.j <= last:
                self.j = last
                return
            near = first
        else:
            near = self.j - 1
        if near < self.j:
            self._high = min(self._high, self.j)
        else:
            self._low = max(self._low, self.j)
        target = self._near(guess)
        if not self._low < target < self._high:
            target = near
        if len(self.seen) > _PATIENCE:
            target = (self._low + self._high) // 2
        self.j = min(max(target, self._low + 1, self._least), max(self._high - 1, self._least))


def working_bits(bits: int) -> int:
    """Working precision that leaves room for cancellation and for powers with huge exponents."""
    return bits + max(96, bits)


def _direct(k: int, size: arb, j: int, bits: int) -> tuple[arb, arb]:
    """Both sums term by term from the top: n = k - i coins have landed low."""
    odds = (-size).exp()
    term = (1 + odds) ** (-k) if k < 1 << 40 else (-(odds.log1p() * k)).exp()
    back = (2 * size).exp()
    above = damped = arb(0)
    weight = (-2 * size * (k - j)).exp()
    for n in range(k - j + 1):
        above += term
        damped += term * weight
        weight *= back
        term = term * odds * (k - n) / (n + 1)
    return above, damped


def _falls(k: int, x: float, j: int, bits: int) -> float:
    """About how many terms from j upward matter."""
    ratio = (k - j) / (j + 1) * math.exp(min(x, 700.0))
    return (bits + _SPARE) * math.log(2) / -math.log(ratio) if 0 < ratio < 1 else 0.0 if ratio == 0 else math.inf


def _upward(k: int, size: arb, j: int, bits: int) -> tuple[arb, arb]:
    """Both sums from the term j upward, where terms fall quickly."""
    low = (1 + size.exp()).log()  # minus the log of the chance to land low
    first = arb.bin_uiui(k, j) * (size * j - low * k).exp()
    return first * _series(k - j, j + 1, size.exp(), bits), first * _series(k - j, j + 1, (-size).exp(), bits)


def _series(top: int, bottom: int, ratio: arb, bits: int) -> arb:
    r"""\sum_n ratio^n \prod_{m<n} (top-m)/(bottom+m), whose terms fall from the first on, in whole numbers.

    Each term is rounded down: after n terms all are within 2n units and n times the error of the ratio.
    """
    shift = bits + 64
    scaled = ratio * arb(2) ** shift
    step = int(scaled.lower().floor().unique_fmpz())
    term = total = 1 << shift
    least, n = 1 << (shift - bits - _SPARE), 0
    while term > least:
        term = (term * (top - n) * step >> shift) // (bottom + n)
        total += term
        n += 1
    fall = arb(top) / bottom * ratio
    off = n * (scaled.upper() - step) / step * total * 2 + 2 * n * (n + 1) + (2 * term + 2 * n) * fall / (1 - fall)
    return (arb(total) + off.union(arb(0))) * arb(2) ** -shift


def _contour(k: int, size: arb, j: int, bits: int) -> tuple[arb, arb]:
    """Both sums by the trapezoid rule on a circle through the saddle point."""
    x = float(size)
    sigma = math.sqrt(j / k * (k - j))
    saddle = math.log(j) - math.log(k - j) - x
    nats = bits * math.log(2) + 12
    rho = _radius(saddle, x, max(_GAP, 0.4 * math.sqrt(2 * nats)) / sigma)
    shift = abs(rho - saddle) * sigma  # standard deviations from the saddle: the sums are e^{-shift^2/2} of the scale
    decay = math.sqrt(2 * nats + shift * shift)
    half = math.ceil((shift + decay) * sigma * 1.05)
    tilt = arb(rho)
    odds = (size + tilt).exp()
    up = odds / (1 + odds)  # tilted probability of landing high
    above, damped, left = _trapezoid(k, up, j, tilt, tilt + 2 * size, 2 * half, decay * 1.1 / sigma)
    alias = _chernoff(k, up, j + half) + _chernoff(k, 1 - up, k - j + half)
    scale = ((1 + odds).log() * k - (1 + size.exp()).log() * k - tilt * j).exp()
    edge = abs(tilt)
    error_above = (alias + (-edge * half).exp()).union(arb(0)) + left / (1 - (-edge).exp())
    error_damped = (alias + (-(tilt + 2 * size) * half).exp()).union(arb(0)) + left / (1 - (-tilt - 2 * size).exp())
    tail = scale * (above * (1 - (-edge * 2 * half).exp()) - error_above)
    damped = scale * (damped * (1 - (-(tilt + 2 * size) * 2 * half).exp()) - error_damped)
    return (tail if rho > 0 else 1 - tail), damped


def _radius(saddle: float, x: float, gap: float) -> float:
    """log r: at the saddle point, or beside it when a pole (at 0 for A, at -2x for B) is nearer than the gap."""
    if saddle >= gap or (saddle <= -gap and saddle + 2 * x >= gap):
        return saddle
    return -gap if saddle < 0 and 2 * x >= 2 * gap else gap


def _trapezoid(k: int, up: arb, j: int, rho: arb, rho_damped: arb, n: int, reach: float) -> tuple[arb, arb, arb]:
    """Means of the two kernels over n nodes, and a ball [-e, e] / kernel bound for the nodes left out."""
    last = min(math.ceil(reach * n / (2 * math.pi)), n // 2 - 1)
    pole, pole_damped = (-rho).exp(), (-rho_damped).exp()
    sign = 1 if rho > 0 else -1
    above = 1 / (1 - pole) * sign
    damped = 1 / (1 - pole_damped)
    down = 1 - up
    for i in range(1, last + 1):
        sin, cos = arb.sin_cos_pi_fmpq(fmpq(2 * i, n))
        turn_sin, turn_cos = arb.sin_cos_pi_fmpq(fmpq(2 * (i * j % n), n))
        node = acb(down + up * cos, up * sin) ** k * acb(turn_cos, -turn_sin)
        back = acb(cos, -sin)
        above += 2 * sign * (node / (1 - back * pole)).real
        damped += 2 * (node / (1 - back * pole_damped)).real
    sine = arb.sin_pi_fmpq(fmpq(last + 1, n))
    size = ((1 - 4 * up * down * sine * sine).log() * k / 2).exp() * (n - 2 * last - 1)
    return above / n, damped / n, (size / n).union(-size / n)


def _chernoff(k: int, up: arb, place: int) -> arb:
    """An upper bound on Pr[Bin(k, up) >= place], trivial (1) when place is not above the mean."""
    if place > k:
        return arb(0)
    share = fmpq(place, k)
    if not arb(share) > up:
        return arb(1)
    low = (1 - arb(share)) * ((1 - arb(share)) / (1 - up)).log() if place < k else arb(0)
    return (-k * (arb(share) * (arb(share) / up).log() + low)).exp()
