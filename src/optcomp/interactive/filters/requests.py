"""What a request is, and what it costs in each currency: the least that the proved steps between notions give.

A request is any guarantee, a plain ε, or a pair (ε, δ).  A function here returns None where no proved step leads from
the request to the currency; the filter then says so instead of guessing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, cast

from optcomp.composition import Item, convert, read_item
from optcomp.errors import InvalidInput, shown
from optcomp.guarantees import (
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    GaussianDP,
    KnownLoss,
    PureDP,
    RenyiBounded,
    RenyiDP,
)
from optcomp.interactive.filters.cost import short_up
from optcomp.numerics import FLOAT_BITS, float_up, precision
from optcomp.theorems import fz21

Request = Item
"""What `compose` takes as one mechanism."""


def pair(request: object) -> tuple[Fraction, Fraction] | None:
    """(ε, δ), if the request promises that without further choices."""
    if type(request) is PureDP or type(request) is ApproxDP:  # checked when they were made
        return Fraction(request.epsilon), Fraction(request.delta)
    if isinstance(request, KnownLoss | RenyiBounded):
        return None if request.pure is None else (Fraction(request.pure), Fraction(0))
    eps, delta = read_item(request, "request")
    return Fraction(eps), Fraction(delta)


def runs_of(requests: Iterable[Request]) -> Iterator[tuple[Request, int]]:
    """Each request with the number of times that it comes in a row: a mechanism may cost a million times the same."""
    for _, run in groupby(requests, key=id):
        same = list(run)
        yield same[0], len(same)


def added_up(requests: Iterable[Request]) -> ApproxDP | None:
    """The sums of all ε and of all δ; None where a request is not a pair of them."""
    eps, delta = Fraction(0), Fraction(0)
    for request, count in runs_of(requests):
        known = pair(request)
        if known is None:
            return None
        eps, delta = eps + known[0] * count, delta + known[1] * count
    return ApproxDP(eps, delta)


def concentrated(request: object) -> tuple[Fraction, Fraction] | None:
    """(ρ, δ) of ρ-zCDP given an event of probability 1 - δ.

    (ε, δ)-DP is ε²/2-zCDP given such an event, for it is a mixture of an ε-DP mechanism and anything (KOV15, BS16).
    """
    if isinstance(request, Exponential | ZCDP | ApproxZCDP):
        return Fraction(request.rho), Fraction(request.delta) if isinstance(request, ApproxZCDP) else Fraction(0)
    if isinstance(request, Gaussian | GaussianDP):
        return Fraction(request.mu) ** 2 / 2, Fraction(0)
    if isinstance(request, DiscreteGaussian):
        return (Fraction(request.sensitivity) / Fraction(request.sigma)) ** 2 / 2, Fraction(0)
    known = pair(request)
    return None if known is None else (known[0] ** 2 / 2, known[1])


def divergence(request: object, order: float) -> Fraction | None:
    """D_α at this order, rounded up where it is not rational."""
    if isinstance(request, RenyiDP | TCDP):
        return _promised(request, order)
    bounds = []
    known = pair(request)
    if known is not None and not known[1]:
        bounds.append(fz21.response_divergence(known[0], order))
    about = concentrated(request)
    if about is not None and not about[1]:
        bounds.append(about[0] * Fraction(order))
    if isinstance(request, KnownLoss) and all(order - 1 <= law.most_tilt for law in request.laws):
        bounds += _finite(convert(request, RenyiDP), order)
    return min(bounds, default=None)


def _promised(request: RenyiDP | TCDP, order: float) -> Fraction | None:
    if isinstance(request, TCDP):
        return Fraction(request.rho) * Fraction(order) if order < request.omega else None
    exactly = [Fraction(eps) for known, eps in request.orders if known == order]
    return exactly[0] if exactly else min(_finite(request, order), default=None)


def _finite(curve: RenyiDP, order: float) -> list[Fraction]:
    """ε(α) rounded up, if it is finite."""
    if curve.curve is not None:  # somebody's function: it runs before anything is locked
        told = curve.curve(order)
        curve = RenyiDP(lambda _: told)
    with precision(FLOAT_BITS):
        value = max(float_up(curve.renyi(order)), 0.0)
    return [Fraction(value)] if math.isfinite(value) else []


def read_request(request: object) -> object:
    """The request as a guarantee; plain numbers and pairs become one."""
    if isinstance(request, KnownLoss | RenyiBounded) or is_dataclass(request):
        return request
    if isinstance(request, tuple | list):
        if len(request) != 2:
            raise InvalidInput("request", request, "must be a guarantee, an epsilon or a pair (epsilon, delta)")
        eps, delta = read_item(request, "request")
        return ApproxDP(eps, delta)
    eps, delta = read_item(request, "request")
    return ApproxDP(eps, delta) if delta else PureDP(eps)


def holds_float(request: object) -> bool:
    """Whether a parameter was given as a float that is not a short binary fraction."""
    if not is_dataclass(request):
        return False
    values = [getattr(request, entry.name) for entry in fields(cast(Any, request))]
    return any(isinstance(value, float) and Fraction(value) != Fraction(repr(value)) for value in values)


def in_words(request: object) -> str:
    """The request as a person would name it."""
    known = read_request(request)
    if isinstance(known, ZCDP):
        return f"ρ = {short_up(Fraction(known.rho))}"
    if isinstance(known, PureDP) or (isinstance(known, ApproxDP) and not known.delta):
        return f"ε = {short_up(Fraction(known.epsilon))}"
    if isinstance(known, ApproxDP):
        return f"(ε, δ) = ({short_up(Fraction(known.epsilon))}, {short_up(Fraction(known.delta))})"
    if isinstance(known, RenyiDP) and len(known.orders) == 1:
        return f"D_α = {short_up(Fraction(known.orders[0][1]))} at α = {short_up(Fraction(known.orders[0][0]))}"
    return _named(known)


def _named(value: object) -> str:
    """Name(parameter=value, ...) with numbers as people write them."""
    if isinstance(value, int | float | Fraction):
        return short_up(Fraction(value))
    if not is_dataclass(value) or isinstance(value, type):
        return shown(value)
    entries = ((entry.name, getattr(value, entry.name)) for entry in fields(value))
    return f"{type(value).__name__}({', '.join(f'{name}={_named(entry)}' for name, entry in entries)})"
