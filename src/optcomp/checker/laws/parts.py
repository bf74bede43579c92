r"""A law as atoms and pieces with known masses below every loss, under P and under Q.

A piece has the masses of the losses from its lower end to l, which are analytic functions of l between its ends; they
are given as functions of power series, so that all their derivatives are known.  The *mirror image* of a pair has P and
Q exchanged, and every loss with the other sign.  With A = 1 - q + q e^k, k the loss of the noise itself:

    removed     loss log A, masses (1-q)Q + qP and Q of the noise;           added    its mirror image
    replaced    Gaussian noise: L = log A(x)/A(-x);   Laplace noise: half of it, and the mirror image of that half
    a batch     the losses log A > 0 of a removed person, their mirror image, and the rest at 0

Gaussian noise below x has Φ(x) under Q and Φ(x - μ) under P, Laplace noise between its atoms (1 - e^{-(k+ε)/2})/2 and
(e^{(k-ε)/2} - e^{-ε})/2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from flint import arb, arb_series

from optcomp.checker.balls import Exact, ball
from optcomp.checker.laws.batch_normal import BatchNormal
from optcomp.checker.laws.laplace import Laplace
from optcomp.checker.laws.law import Law, Spotted
from optcomp.checker.laws.sampled_laplace import BatchLaplace, ReplacedLaplace, SampledLaplace
from optcomp.checker.laws.sampled_normal import ReplacedNormal, SampledNormal
from optcomp.checker.laws.sampled_whole import SampledWhole

Masses = tuple[arb_series, arb_series]
"""Under P and under Q."""


class Lump(NamedTuple):
    """An atom: its loss, and its masses under P and under Q."""

    loss: arb
    own: arb
    other: arb

    def mirrored(self) -> Lump:
        """With P and Q exchanged."""
        return Lump(-self.loss, self.other, self.own)


class Smooth(NamedTuple):
    """Losses between two ends, their masses in all, and the masses of those below l."""

    low: arb
    high: arb
    own: arb
    other: arb
    below: Callable[[arb_series], Masses]

    def mirrored(self) -> Smooth:
        """With P and Q exchanged."""

        def below(place: arb_series) -> Masses:
            own, other = self.below(-place)
            return self.other - other, self.own - own

        return Smooth(-self.high, -self.low, self.other, self.own, below)


class Parts(NamedTuple):
    """A law at the working precision: all of its pieces, and those of its atoms that count."""

    anchor: arb
    """About where most of the mass is, or an end of it: a good place for a node."""
    lumps: list[Lump]
    pieces: list[Smooth]

    def mirrored(self) -> Parts:
        """With P and Q exchanged."""
        lumps, pieces = [lump.mirrored() for lump in self.lumps], [piece.mirrored() for piece in self.pieces]
        return Parts(-self.anchor, lumps, pieces)


def parts_of(law: Law) -> Parts | None:
    """The parts of a law; None if it has no such form here."""
    if isinstance(law, SampledNormal):
        found = _sampled_normal(law.mu, law.rate)
        return found if law.way == "removed" else found.mirrored()
    if isinstance(law, SampledLaplace):
        found = _sampled_laplace(law.epsilon, law.rate)
        return found if law.way == "removed" else found.mirrored()
    if isinstance(law, ReplacedNormal):
        return _replaced_normal(law.mu, law.rate)
    if isinstance(law, ReplacedLaplace):
        return _replaced_laplace(law.epsilon, law.rate)
    if isinstance(law, BatchNormal):
        return _batch_normal(law.mu, law.rate)
    if isinstance(law, BatchLaplace):
        return _batch_laplace(law.epsilon, law.rate)
    if isinstance(law, Laplace):
        return _laplace(law.epsilon)
    return _spotted(law) if isinstance(law, Spotted) else None


def normal(variance: arb) -> Parts:
    """The loss N(v/2, v) of Gaussian noise."""
    root = variance.sqrt()

    def below(place: arb_series) -> Masses:
        return _phi((place - variance / 2) / root), _phi((place + variance / 2) / root)

    return Parts(variance / 2, [], [Smooth(arb.neg_inf(), arb.pos_inf(), arb(1), arb(1), below)])


def _spotted(law: Spotted) -> Parts:
    """Tilted by 0 the weights are masses under P."""
    spots = law.spots(arb(0))
    lumps = [Lump(loss, mass, mass * (-loss).exp()) for mass, loss in zip(spots.weights, spots.losses, strict=True)]
    anchor = arb(0)
    if isinstance(law, SampledWhole):
        bottom = (-ball(law.rate)).log1p()
        anchor = bottom if law.way == "removed" else -bottom
    return Parts(anchor, lumps, [])


def _phi(x: arb_series) -> arb_series:
    """Φ."""
    return (x * (-1 / arb(2).sqrt())).erfc() * (arb(1) / 2)


def _normal_place(mu: arb, q: arb, place: arb_series) -> arb_series:
    """x where log A = l."""
    return ((place.exp() - (1 - q)).log() - q.log() + mu * mu / 2) / mu


def _mixed(q: arb, plain: arb_series, lifted: arb_series) -> arb_series:
    return plain * (1 - q) + lifted * q


def _sampled_normal(mean: Exact, rate: Exact) -> Parts:
    mu, q = ball(mean), ball(rate)

    def below(place: arb_series) -> Masses:
        x = _normal_place(mu, q, place)
        plain = _phi(x)
        return _mixed(q, plain, _phi(x - mu)), plain

    bottom = (-q).log1p()
    return Parts(bottom, [], [Smooth(bottom, arb.pos_inf(), arb(1), arb(1), below)])


def _replaced_normal(mean: Exact, rate: Exact) -> Parts:
    mu, q = ball(mean), ball(rate)
    factor = (1 - q) / q * (mu * mu / 2).exp()

    def right(place: arb_series) -> arb_series:
        half = place / 2
        rise = half.exp()
        bent = (rise - 1 / rise) * (factor / 2)
        return (half + (bent + (bent * bent + 1).sqrt()).log()) / mu

    def below(place: arb_series) -> Masses:
        x = -right(-place) if place[0] < 0 else right(place)  # odd; on the left the logarithm would cancel
        plain = _phi(x)
        return _mixed(q, plain, _phi(x - mu)), _mixed(q, plain, _phi(x + mu))

    return Parts(arb(0), [], [Smooth(arb.neg_inf(), arb.pos_inf(), arb(1), arb(1), below)])


def _batch_normal(mean: Exact, rate: Exact) -> Parts:
    mu, q = ball(mean), ball(rate)
    root = arb(2).sqrt()
    start = [(-shift / root).erfc() / 2 for shift in (mu / 2, -mu / 2)]  # Φ(μ/2) and Φ(-μ/2)

    def below(place: arb_series) -> Masses:
        x = _normal_place(mu, q, place)
        plain = _phi(x) - start[0]
        return _mixed(q, plain, _phi(x - mu) - start[1]), plain

    own = (1 - q) * (1 - start[0]) + q * (1 - start[1])
    piece = Smooth(arb(0), arb.pos_inf(), own, 1 - start[0], below)
    none = (1 - q) * (start[0] - start[1])
    return Parts(arb(0), [Lump(arb(0), none, none)], [piece, piece.mirrored()])


def _laplace(epsilon: Exact) -> Parts:
    eps = ball(epsilon)
    fall, half = (-eps).exp(), (-eps / 2).exp()

    def below(place: arb_series) -> Masses:
        rise = (place / 2).exp()
        return (rise * half - fall) / 2, (1 - half / rise) / 2

    lumps = [Lump(eps, arb(1) / 2, fall / 2), Lump(-eps, fall / 2, arb(1) / 2)]
    return Parts(-eps, lumps, [Smooth(-eps, eps, (1 - fall) / 2, (1 - fall) / 2, below)])


class _Ramp(NamedTuple):
    """Laplace noise about a sample: the losses log A(k) - shift for k from `first` to ε."""

    eps: arb
    q: arb
    first: arb
    shift: arb

    def log_rise(self, k: arb) -> arb:
        """log A."""
        return (self.q * k.expm1()).log1p()

    def piece(self) -> Smooth:
        """The masses of the noise are (e^{-(first+ε)/2} - e^{-(k+ε)/2})/2 and (e^{(k-ε)/2} - e^{(first-ε)/2})/2."""
        eps, q, shift, half = self.eps, self.q, self.shift, (-self.eps / 2).exp()
        begin = [(-(self.first + eps) / 2).exp(), ((self.first - eps) / 2).exp()]
        scale = (-shift).exp()

        def below(place: arb_series) -> Masses:
            rise = (((place + shift).exp() - (1 - q)) / q).sqrt()  # e^{k/2}
            plain, lifted = (begin[0] - half / rise) / 2, (rise * half - begin[1]) / 2
            return _mixed(q, plain, lifted), plain / scale

        plain, lifted = (begin[0] - (-eps).exp()) / 2, (1 - begin[1]) / 2
        low, high = self.log_rise(self.first) - shift, self.log_rise(eps) - shift
        return Smooth(low, high, (1 - q) * plain + q * lifted, plain / scale, below)

    def top(self) -> Lump:
        """Noise beyond ε."""
        loss = self.log_rise(self.eps)
        mass = (-self.eps).exp() / 2
        return Lump(loss - self.shift, mass * loss.exp(), mass * self.shift.exp())


def _sampled_laplace(epsilon: Exact, rate: Exact) -> Parts:
    eps, q = ball(epsilon), ball(rate)
    ramp = _Ramp(eps, q, -eps, arb(0))
    bottom = ramp.log_rise(-eps)
    return Parts(bottom, [ramp.top(), Lump(bottom, bottom.exp() / 2, arb(1) / 2)], [ramp.piece()])


def _replaced_laplace(epsilon: Exact, rate: Exact) -> Parts:
    eps, q = ball(epsilon), ball(rate)
    ramp = _Ramp(eps, q, -eps, (q * (-eps).expm1()).log1p())
    piece, top = ramp.piece(), ramp.top()
    return Parts(arb(0), [top, top.mirrored()], [piece, piece.mirrored()])


def _batch_laplace(epsilon: Exact, rate: Exact) -> Parts:
    eps, q = ball(epsilon), ball(rate)
    ramp = _Ramp(eps, q, arb(0), arb(0))
    piece, top = ramp.piece(), ramp.top()
    none = (q - 1) * (-eps / 2).expm1()
    return Parts(arb(0), [top, Lump(arb(0), none, none), top.mirrored()], [piece, piece.mirrored()])
