"""Certificates for tests, written by hand from answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from optcomp import Bound
from optcomp.checker import digest
from tests.oracles.truth import Mechanism

Document = dict[str, Any]


def claim(
    mechanisms: Iterable[Mechanism],
    quantity: str,
    given: Fraction | float | str,
    lower: float | None,
    upper: float | None,
) -> Document:
    """The certificate of a claim."""
    groups = [(eps, delta, copies) for eps, delta, copies in mechanisms]
    return {
        "format": "optcomp-certificate",
        "version": 1,
        "quantity": quantity,
        "given": str(Fraction(given)),
        "lower": lower,
        "upper": upper,
        "theorem": "OPT",
        "method": "by hand",
        "count": sum(copies for _, _, copies in groups),
        "mechanisms": [[_number(eps), _number(delta), copies] for eps, delta, copies in groups],
    }


def certified(bound: Bound, mechanisms: Iterable[Mechanism], shift: float = 0.0) -> Document:
    """The certificate of an answer, with both ends moved by a relative shift."""
    lower, upper = (end * (1 + shift) if math.isfinite(end) else None for end in (bound.lower, bound.upper))
    document = claim(mechanisms, bound.quantity, Fraction(bound.given), lower, upper)
    if bound.enclosure is not None and not shift:
        document["enclosure"] = [str(end) for end in bound.enclosure]
    return document


def by_digest(document: Document, mechanisms: Iterable[Mechanism]) -> Document:
    """The same with the digest instead of the mechanisms."""
    groups = [(Fraction(eps), Fraction(delta), copies) for eps, delta, copies in mechanisms]
    return document | {"mechanisms": {"digest": digest(groups), "groups": len(groups)}}


def _number(value: Fraction | float) -> float | str:
    return str(value) if isinstance(value, Fraction) else float(value)
