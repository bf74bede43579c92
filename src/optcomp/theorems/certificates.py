"""A claim as a document that can be proved again: what is claimed, about which mechanisms, and by which choices."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

from optcomp.errors import InvalidInput
from optcomp.guarantees import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GaussianDP,
    KnownLoss,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    WithoutReplacement,
)
from optcomp.instances import Mixture, Parts
from optcomp.numerics import Exact, exact, plain, ratio


class Claim(Protocol):
    """What a certificate says of an answer; `Bound` has it all."""

    @property
    def quantity(self) -> str:
        """Which of ε and δ was computed."""

    @property
    def given(self) -> Exact:
        """The other one."""

    @property
    def lower(self) -> float:
        """The lower side."""

    @property
    def upper(self) -> float:
        """The upper side."""

    @property
    def theorem(self) -> str:
        """What proves it."""

    @property
    def method(self) -> str:
        """How it was computed."""

    @property
    def count(self) -> int:
        """How many mechanisms it is about."""

    @property
    def enclosure(self) -> tuple[Fraction, Fraction] | None:
        """The exact ends, if there are such."""

    @property
    def choices(self) -> Mapping[str, float]:
        """Free choices of the method."""

    @property
    def parts(self) -> Parts | Mixture | None:
        """The mechanisms, if it knows them."""


_POISSON = {"add-remove": "poisson_subsampled", "replace": "poisson_replaced"}
"""How kinds of Poisson samples begin, by their neighbours."""
MOST_INLINE = 1000
"""A certificate lists up to this many groups; of more it holds a digest, and more different laws it refuses."""


def certificate(bound: Claim, rtol: float | None = None) -> dict[str, object]:
    """What is claimed, about which mechanisms, and by which choices.

    Of version 2 if there is Gaussian noise, of version 3 if there are other known losses.  With `rtol` the claim is a
    bracket of about this relative width around the answer's own, which may be cheaper to prove.
    """
    known = bound.parts
    if known is None:
        raise InvalidInput("bound", bound, "knows nothing of its mechanisms; take the answer of compose")
    parts, gaussians, laws = (known, [], []) if isinstance(known, Parts) else (known.pairs, *_others(bound, known))
    groups = parts.groups
    lower, upper = bound.lower, bound.upper
    if rtol is not None:
        lower, upper = _wider(bound, rtol)
    document: dict[str, object] = {
        "format": "optcomp-certificate",
        "version": 3 if laws else 2 if gaussians else 1,
        "quantity": bound.quantity,
        "given": ratio(Fraction(bound.given)),
        "lower": finite(lower),
        "upper": finite(upper),
        "theorem": bound.theorem,
        "method": bound.method,
        "count": bound.count,
        "mechanisms": [[plain(eps), plain(delta), copies] for eps, delta, copies in groups]
        if len(groups) <= MOST_INLINE
        else {"digest": digest(parts), "groups": len(groups)},
        "parameters": dict(bound.choices),
    }
    if gaussians:
        document["gaussians"] = gaussians
    if laws:
        document["laws"] = laws
        if any("rate" in law for law in laws):
            assert isinstance(known, Mixture)
            document["neighbours"] = "replace" if known.neighbours == "replace" else "add/remove"
    if bound.enclosure is not None and rtol is None:
        document["enclosure"] = [ratio(end) for end in bound.enclosure]
    return document


def _wider(bound: Claim, rtol: float) -> tuple[float, float]:
    """The bracket made wider on both sides, to this relative width; never narrower than it is.

    Where laws only dominate, its sides are two different sums, and each of them gets half of that room.
    """
    width = float(exact(rtol, "rtol"))
    if not 0 < width < 1:
        raise InvalidInput("rtol", rtol, "must lie between 0 and 1")
    if not math.isfinite(bound.upper):
        return bound.lower, bound.upper
    loose = isinstance(bound.parts, Mixture) and bound.parts.loose
    room = max(0.0, width * bound.upper - (0.0 if loose else bound.upper - bound.lower)) / 2
    upper = bound.upper + room
    return max(0.0, bound.lower - room), min(1.0, upper) if bound.quantity == "delta" else upper


def _others(bound: Claim, mixture: Mixture) -> tuple[list[list[object]], list[dict[str, object]]]:
    """What stands beside the pairs: Gaussian noise as [μ, copies], other known losses as objects."""
    if mixture.bounded:
        raise InvalidInput(
            "bound",
            bound,
            "is about notions such as Rényi bounds, and certificates cover only (ε, δ) pairs and mechanisms whose "
            "loss is known",
        )
    gaussians, laws = described(mixture)
    for number, what in ((len(gaussians), "Gaussian noise of {} different μ"), (len(laws), "{} different laws")):
        if number > MOST_INLINE:
            reason = f"has {what.format(number)}, and a certificate lists at most {MOST_INLINE}"
            raise InvalidInput("bound", bound, reason)
    return gaussians, laws


def described(mixture: Mixture) -> tuple[list[list[object]], list[dict[str, object]]]:
    """The known losses of a mixture as certificates list them: Gaussian noise, and the others; equal ones together."""
    counts: dict[Exact, int] = {}
    others: dict[tuple[tuple[str, object], ...], int] = {}
    for value, copies in mixture.losses:
        mu = _mu(value)
        if mu is not None:
            counts[mu] = counts.get(mu, 0) + copies
        else:
            key = tuple(_described(value).items())
            others[key] = others.get(key, 0) + copies
    gaussians: list[list[object]] = [[_number(mu), copies] for mu, copies in sorted(counts.items(), reverse=True)]
    return gaussians, [{**dict(key), "copies": copies} for key, copies in others.items()]


def _mu(value: KnownLoss) -> Exact | None:
    """μ of Gaussian noise; a sample of everybody is none."""
    if isinstance(value, PoissonSubsampled | WithoutReplacement) and value.rate == 1:
        return _mu(value.whole)
    return value.mu if isinstance(value, Gaussian | GaussianDP) else None


def _described(value: KnownLoss) -> dict[str, object]:
    """The kind of a law with its parameters."""
    if isinstance(value, PoissonSubsampled | WithoutReplacement):
        return _sampled(value)
    if isinstance(value, Laplace):
        return {"kind": "laplace", "epsilon": _number(value.pure)}
    if isinstance(value, RandomizedResponse):
        return {"kind": "randomized_response", "epsilon": _number(value.epsilon), "answers": value.answers}
    if isinstance(value, DiscreteLaplace):
        return {"kind": "discrete_laplace", "scale": _number(value.scale), "sensitivity": value.sensitivity}
    if isinstance(value, DiscreteGaussian):
        return {"kind": "discrete_gaussian", "sigma": _number(value.sigma), "sensitivity": value.sensitivity}
    raise InvalidInput("mechanism", value, "has no kind in certificates")


def _sampled(value: PoissonSubsampled | WithoutReplacement) -> dict[str, object]:
    """A law about a sample; of everybody, that of the mechanism itself."""
    if value.rate == 1:
        return _described(value.whole)
    kind = "batch" if isinstance(value, WithoutReplacement) else _POISSON[value.neighbours]
    inner, rate = value.mechanism, _number(value.rate)
    if isinstance(inner, DiscreteGaussian):
        sizes = {"sigma": _number(inner.sigma), "sensitivity": inner.sensitivity}
        return {"kind": f"{kind}_discrete_gaussian", **sizes, "rate": rate}
    if isinstance(inner, Gaussian):
        return {"kind": f"{kind}_gaussian", "mu": _number(inner.mu), "rate": rate}
    return {"kind": f"{kind}_laplace", "epsilon": _number(inner.pure), "rate": rate}


def _number(value: Exact) -> object:
    return value if isinstance(value, float) else ratio(value)


def digest(parts: Parts) -> str:
    """SHA-256 of the groups in their order, a line for each: ε, δ (as fractions) and the count."""
    groups = ((Fraction(eps), Fraction(delta), copies) for eps, delta, copies in parts.groups)
    lines = "".join(f"{ratio(eps)} {ratio(delta)} {copies}\n" for eps, delta, copies in groups)
    return "sha256:" + hashlib.sha256(lines.encode()).hexdigest()


def finite(value: float) -> float | None:
    """As JSON has it: no infinities."""
    return value if math.isfinite(value) else None
