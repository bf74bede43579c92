"""Mechanisms of a composer as JSON, exact: what is read again is what was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, get_args

from optcomp.errors import InvalidInput
from optcomp.guarantees import (
    TCDP,
    ZCDP,
    ApproxZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    KnownLoss,
    Laplace,
    Neighbours,
    PoissonSubsampled,
    RandomizedResponse,
    RenyiBounded,
    RenyiDP,
    WithoutReplacement,
)
from optcomp.numerics import plain

Mechanism = KnownLoss | RenyiBounded
_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        ApproxZCDP,
        DiscreteGaussian,
        DiscreteLaplace,
        Exponential,
        Gaussian,
        GaussianDP,
        Laplace,
        PoissonSubsampled,
        RandomizedResponse,
        RenyiDP,
        TCDP,
        WithoutReplacement,
        ZCDP,
    )
}
"""What can be written beside (ε, δ) pairs, by name; parameters stand in the order in which they are given."""


def mechanism_document(value: Mechanism) -> dict[str, object]:
    """The kind and its parameters; a Rényi curve that is a function cannot be written."""
    kind = type(value).__name__
    if kind not in _KINDS or (isinstance(value, RenyiDP) and value.curve is not None):
        raise InvalidInput("mechanism", value, f"can only be written if it is one of {', '.join(_KINDS)}, by numbers")
    if isinstance(value, RenyiDP):
        return {"kind": kind, "parameters": [[plain(order), plain(eps)] for order, eps in value.orders]}
    numbers = [getattr(value, entry.name) for entry in fields(value)]  # type: ignore[arg-type]  # all are dataclasses
    if numbers[-1] == "add-remove":  # the usual neighbours go without saying
        del numbers[-1]
    return {"kind": kind, "parameters": [_written(number) for number in numbers]}


def read_mechanism_document(document: object, place: str) -> Mechanism:
    """From what `mechanism_document` gave."""
    kind = document.get("kind") if isinstance(document, Mapping) else None
    given = document.get("parameters") if isinstance(document, Mapping) else None
    if kind not in _KINDS or not isinstance(given, list | tuple):
        raise InvalidInput(place, document, f"must have parameters and a kind, one of {', '.join(_KINDS)}")
    read = [_read(number, f"{place}['parameters']") for number in given]
    try:
        made = RenyiDP(dict(read)) if kind == "RenyiDP" else _KINDS[str(kind)](*read)
    except (TypeError, ValueError) as error:
        raise InvalidInput(place, document, f"must hold the parameters of {kind}") from error
    assert isinstance(made, KnownLoss | RenyiBounded)
    return made


def _written(value: Any) -> object:
    if isinstance(value, KnownLoss):
        return mechanism_document(value)
    return value if isinstance(value, int | str) else plain(value)


def _read(value: object, place: str) -> Any:
    if isinstance(value, Mapping):
        return read_mechanism_document(value, place)
    if isinstance(value, list | tuple):
        return tuple(_read(each, place) for each in value)
    return value if value in get_args(Neighbours) else read_exact(value)


def read_exact(value: object) -> Any:
    """A fraction is a string; anything else is as it is."""
    return Fraction(value) if isinstance(value, str) else value
