"""The parts of the contour integral in ball arithmetic, straight from their definitions."""

from __future__ import annotations

from collections.abc import Iterable

from flint import acb, arb

from tests.oracles.truth import working

Coin = tuple[float, float]
"""Size and copies."""


def phi(coins: Iterable[Coin], c: float, theta: float, bits: int = 160) -> acb:
    """E e^{(c+iθ)L} / E e^{cL}: the product of cosh((c+1/2+iθ)x)/cosh((c+1/2)x)."""
    with working(bits):
        a = arb(c) + arb(1) / 2
        value = acb(1)
        for x, m in coins:
            value *= (acb(a * arb(x), arb(theta) * arb(x)).cosh() / acb(a * arb(x)).cosh()) ** int(m)
        return value


def log_mean(coins: Iterable[Coin], c: float, bits: int = 160) -> arb:
    """log E e^{cL}: the sum of log(cosh(x(c+1/2))/cosh(x/2))."""
    with working(bits):
        a = arb(c) + arb(1) / 2
        return sum((int(m) * ((arb(x) * a).cosh() / (arb(x) / 2).cosh()).log() for x, m in coins), arb(0))


def within(value: complex, truth: acb, error: float, bits: int = 160) -> bool:
    """Whether a computed complex number is proved to be that close to the truth."""
    with working(bits):
        return bool(abs(acb(value.real, value.imag) - truth) <= error)
