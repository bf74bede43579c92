"""A claim as a document that can be proved again: what is claimed, about which mechanisms, and by which choices."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

from optcomp.errors import InvalidInput
from optcomp.instances import Mixture, Parts
from optcomp.numerics import Exact, plain, ratio


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


MOST_INLINE = 1000
"""A certificate lists up to this many groups; of more it holds a digest, and more different μ it refuses."""


def certificate(bound: Claim) -> dict[str, object]:
    """What is claimed, about which mechanisms, and by which choices; of version 2 if there is Gaussian noise."""
    known = bound.parts
    if known is None:
        raise InvalidInput("bound", bound, "knows nothing of its mechanisms; take the answer of compose")
    parts, gaussians = (known, []) if isinstance(known, Parts) else (known.pairs, _gaussians(bound, known))
    groups = parts.groups
    document: dict[str, object] = {
        "format": "optcomp-certificate",
        "version": 2 if gaussians else 1,
        "quantity": bound.quantity,
        "given": ratio(Fraction(bound.given)),
        "lower": finite(bound.lower),
        "upper": finite(bound.upper),
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
    if bound.enclosure is not None:
        document["enclosure"] = [ratio(end) for end in bound.enclosure]
    return document


def _gaussians(bound: Claim, mixture: Mixture) -> list[list[object]]:
    """[μ, copies] for each different μ, the largest first, if there is nothing else beyond pairs."""
    if mixture.bounded or len(mixture.gaussian) < len(mixture.losses):
        raise InvalidInput(
            "bound", bound, "is about more than (ε, δ) pairs and Gaussian noise, and certificates cover only those"
        )
    counts: dict[Exact, int] = {}
    for mu, copies in mixture.gaussian:
        counts[mu] = counts.get(mu, 0) + copies
    if len(counts) > MOST_INLINE:
        reason = f"has Gaussian noise of {len(counts)} different μ, and a certificate lists at most {MOST_INLINE}"
        raise InvalidInput("bound", bound, reason)
    ordered = sorted(counts.items(), reverse=True)
    return [[mu if isinstance(mu, float) else ratio(mu), copies] for mu, copies in ordered]


def digest(parts: Parts) -> str:
    """SHA-256 of the groups in their order, a line for each: ε, δ (as fractions) and the count."""
    groups = ((Fraction(eps), Fraction(delta), copies) for eps, delta, copies in parts.groups)
    lines = "".join(f"{ratio(eps)} {ratio(delta)} {copies}\n" for eps, delta, copies in groups)
    return "sha256:" + hashlib.sha256(lines.encode()).hexdigest()


def finite(value: float) -> float | None:
    """As JSON has it: no infinities."""
    return value if math.isfinite(value) else None
