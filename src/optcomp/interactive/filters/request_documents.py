"""Requests as JSON, exact: whoever reads one again finds the same guarantee, at the same price in every filter.

Numbers are rational, in strings such as "1/20"; a float is written as the rational number that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from optcomp.errors import InvalidInput
from optcomp.guarantees import (
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    KnownLoss,
    Laplace,
    NameAndShame,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    RenyiBounded,
    RenyiDP,
    SparseVectorDP,
    WithoutReplacement,
    checked_neighbours,
)
from optcomp.interactive.filters.cost import MOST_BITS
from optcomp.interactive.filters.documents import count, loaded, mapping, rational
from optcomp.interactive.filters.renyi import checked_order
from optcomp.interactive.filters.requests import Request, divergence, in_words, read_request
from optcomp.numerics import Number

_NAMES: dict[type, tuple[str, ...]] = {
    PureDP: ("epsilon",),
    ApproxDP: ("epsilon", "delta"),
    ZCDP: ("rho",),
    ApproxZCDP: ("rho", "delta"),
    TCDP: ("rho", "omega"),
    GaussianDP: ("mu",),
    Gaussian: ("sigma", "sensitivity"),
    Laplace: ("scale", "sensitivity"),
    DiscreteGaussian: ("sigma", "sensitivity"),
    DiscreteLaplace: ("scale", "sensitivity"),
    Exponential: ("epsilon",),
    RandomizedResponse: ("epsilon", "answers"),
    NameAndShame: ("delta",),
    SparseVectorDP: ("threshold_epsilon", "queries_epsilon"),
}
"""The guarantees that are made of a few numbers, with these in the order in which they are made."""
_WHOLE = {(DiscreteGaussian, "sensitivity"), (DiscreteLaplace, "sensitivity"), (RandomizedResponse, "answers")}
"""Numbers that count something: they are JSON numbers."""
_KINDS = {kind.__name__: kind for kind in (*_NAMES, RenyiDP, PoissonSubsampled, WithoutReplacement)}
"""All guarantees that can be written, by name."""


def request_document(request: Request, *, orders: Sequence[Number] = ()) -> dict[str, object]:
    """The request as a JSON-ready document, exact; `read_request_document` reads it.

    A Rényi curve that is a function cannot be written: it is written at these orders, where it is finite, rounded up.
    """
    known: Any = read_request(request)
    if isinstance(known, RenyiDP):
        return {"kind": "RenyiDP", "orders": [[_text(a), _text(eps)] for a, eps in _listed(known, orders)]}
    if isinstance(known, PoissonSubsampled):
        inner = request_document(known.mechanism)
        told = {} if known.neighbours == "add-remove" else {"neighbours": known.neighbours}
        return {"kind": "PoissonSubsampled", "mechanism": inner, "rate": _text(known.rate), **told}
    if isinstance(known, WithoutReplacement):
        sizes = {"batch": known.batch, "population": known.population}
        return {"kind": "WithoutReplacement", "mechanism": request_document(known.mechanism), **sizes}
    names = _NAMES.get(type(known))
    if names is None:
        if isinstance(known, KnownLoss | RenyiBounded) or not (hasattr(known, "epsilon") and hasattr(known, "delta")):
            raise InvalidInput("request", in_words(known), f"can only be written if it is one of {', '.join(_KINDS)}")
        return request_document((known.epsilon, known.delta))
    numbers = {name: getattr(known, name) for name in names}
    written = {name: value if (type(known), name) in _WHOLE else _text(value) for name, value in numbers.items()}
    return {"kind": type(known).__name__, **written}


def read_request_document(document: object) -> Request:
    """The request that wrote this document, or its JSON text."""
    found = loaded(document)
    kind = _KINDS.get(str(found.get("kind"))) if isinstance(found, Mapping) else None
    if kind is None:
        raise InvalidInput("document", found, f"must be an object with a kind, one of {', '.join(_KINDS)}")
    if kind is RenyiDP:
        return RenyiDP(_points(mapping(found, "document", ("kind", "orders"))["orders"]))
    if kind is PoissonSubsampled:
        told = ("neighbours",) if isinstance(found, Mapping) and "neighbours" in found else ()
        entries = mapping(found, "document", ("kind", "mechanism", "rate", *told))
        neighbours = checked_neighbours(entries["neighbours"] if told else "add-remove")
        return PoissonSubsampled(_inner(entries["mechanism"]), rational(entries["rate"], "rate"), neighbours)
    if kind is WithoutReplacement:
        entries = mapping(found, "document", ("kind", "mechanism", "batch", "population"))
        sizes = (count(entries[name], name) for name in ("batch", "population"))
        noise = _inner(entries["mechanism"])
        if isinstance(noise, DiscreteGaussian):
            raise InvalidInput("mechanism", entries["mechanism"], "must be a Gaussian or a Laplace mechanism")
        return WithoutReplacement(noise, *sizes)
    entries = mapping(found, "document", ("kind", *_NAMES[kind]))
    read = ((count if (kind, name) in _WHOLE else rational)(entries[name], name) for name in _NAMES[kind])
    make: Callable[..., Request] = kind
    return make(*read)


def _inner(document: object) -> Gaussian | Laplace | DiscreteGaussian:
    """The mechanism that runs on a sample."""
    if not isinstance(document, Mapping) or document.get("kind") not in ("Gaussian", "Laplace", "DiscreteGaussian"):
        raise InvalidInput("mechanism", document, "must be a Gaussian, Laplace or DiscreteGaussian mechanism")
    return cast(Gaussian | Laplace | DiscreteGaussian, read_request_document(document))


def _listed(curve: RenyiDP, orders: Sequence[Number]) -> list[tuple[object, object]]:
    """The orders that it promises, or those that are asked for of a function."""
    if curve.curve is None:
        return list(curve.orders)
    if not orders:
        raise InvalidInput("request", in_words(curve), "is a function, so the orders to write it at must be given")
    found = {order: divergence(curve, float(order)) for order in (checked_order(each, "orders") for each in orders)}
    points: list[tuple[object, object]] = [(order, eps) for order, eps in sorted(found.items()) if eps is not None]
    if not points:
        raise InvalidInput("orders", orders, "must hold an order at which the curve is finite")
    return points


def _points(value: object) -> dict[Number, Number]:
    points = [_point(pair) for pair in value] if isinstance(value, list) else []
    if not points or len(dict(points)) < len(points):
        raise InvalidInput("orders", value, "must be a list of pairs [order, epsilon], at least one, each order once")
    return dict(points)


def _point(value: object) -> tuple[Number, Number]:
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidInput("orders", value, "must be a pair [order, epsilon]")
    return rational(value[0], "order"), rational(value[1], "epsilon")


def _text(value: Any) -> str:
    number = Fraction(value)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
        raise InvalidInput("request", "a fraction", f"must have numbers of at most {MOST_BITS} bits to be written")
    return str(number)
