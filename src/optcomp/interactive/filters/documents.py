"""Filters from their documents: exact, strict, and never with more left than when they were written.

A cap that was computed is computed again, and the smaller of the two counts: neither a document from elsewhere nor a
change of the software can make a budget larger.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

from optcomp.checker import from_json
from optcomp.errors import InvalidInput
from optcomp.interactive.filters.adaptive import AdaptiveFilter
from optcomp.interactive.filters.admission import Filter
from optcomp.interactive.filters.best import BestFilter
from optcomp.interactive.filters.cost import Cost
from optcomp.interactive.filters.renyi import RenyiFilter
from optcomp.interactive.filters.sums import SumFilter
from optcomp.interactive.filters.zcdp import ZCDPFilter

_OPENED = 1024
"""Budgets whose computed caps are remembered: more than are in use at a time, at about a kilobyte each."""
_SHOWN = 60
"""Characters of a document that an error shows."""
_MAKERS: dict[str, tuple[type[Filter], tuple[str, ...]]] = {
    maker.kind: (maker, names)
    for maker, names in (
        (SumFilter, ("epsilon", "delta")),
        (ZCDPFilter, ("rho", "delta")),
        (RenyiFilter, ("order", "epsilon")),
        (AdaptiveFilter, ("epsilon", "delta", "delta_parts", "cap")),
        (BestFilter, ("epsilon", "delta", "delta_parts", "cap")),
    )
}
"""By kind, the class of a filter and the parameters that it is made of."""


def restore(document: object) -> Filter:
    """The filter that wrote this document, or its JSON text; a text that gives a key twice is refused."""
    entries = mapping(loaded(document), "document", ("format", "version", "kind", "parameters", "spent", "admitted"))
    header(entries, "optcomp-filter")
    kind = entries["kind"]
    if not isinstance(kind, str) or kind not in _MAKERS:
        raise InvalidInput("kind", kind, f"must be one of {', '.join(_MAKERS)}")
    names = _MAKERS[kind][1]
    parameters = mapping(entries["parameters"], "parameters", names)
    texts = tuple(_text(parameters[name], name) for name in names)
    written, made = _opened(kind, texts)
    return made._moved(_spent(written, entries["spent"]), count(entries["admitted"], "admitted"))


@lru_cache(maxsize=_OPENED)
def _opened(kind: str, texts: tuple[str, ...]) -> tuple[Filter, Filter]:
    """A filter with nothing spent, with the cap that its document names; and the same with the cap that counts."""
    maker, names = _MAKERS[kind]
    numbers = {name: rational(text, name) for name, text in zip(names, texts, strict=True)}
    cap = numbers.pop("cap", None)
    make: Callable[..., Filter] = maker
    made = make(**numbers)
    if cap is None:
        return made, made
    written = made._moved(made.spent, 0)
    object.__setattr__(written, "cap", cap)
    return written, written if cap <= made.cap else made  # type: ignore[attr-defined]


def _spent(written: Filter, amounts: object) -> Cost:
    """The sums, each within the cap that the document names."""
    entries = mapping(amounts, "spent", written.currencies())
    read: dict[str, Fraction | None] = {}
    for name, value in entries.items():
        dead = value is None and name == "epsilon" and len(written.ways) > 1
        read[name] = None if dead else rational(value, name)
    sums = Cost(**read)  # type: ignore[arg-type]
    if not written.fits(sums):
        raise InvalidInput("spent", amounts, "is more than the budget")
    return sums


def loaded(document: object) -> object:
    """A document, read from its JSON text if that is given."""
    if not isinstance(document, str):
        return document
    try:
        return from_json(document)
    except json.JSONDecodeError as error:
        raise InvalidInput("document", document[:_SHOWN], f"is not JSON: {error.msg}, line {error.lineno}") from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError):
        raise InvalidInput("document", document[:_SHOWN], "is not JSON that can be read") from None


def mapping(value: object, argument: str, names: tuple[str, ...]) -> Mapping[str, object]:
    """A JSON object with exactly these entries."""
    if not isinstance(value, Mapping) or len(value) != len(names) or not all(name in value for name in names):
        raise InvalidInput(argument, value, f"must be an object with the entries {', '.join(names)}")
    return value


def header(entries: Mapping[str, object], format: str) -> None:
    """The right kind of document, in a version that is understood."""
    if entries["format"] != format:
        raise InvalidInput("format", entries["format"], f"must be {format}")
    if entries["version"] != 1 or isinstance(entries["version"], bool):
        raise InvalidInput("version", entries["version"], "must be 1")


def rational(value: object, argument: str) -> Fraction:
    """A rational number at or above 0, written as a string such as '1/20'."""
    digits = _text(value, argument).split("/")
    if len(digits) > 2 or not all(part.isascii() and part.isdigit() and len(part) <= 4299 for part in digits):
        raise InvalidInput(argument, value, "must be a rational number such as 1/20, at or above 0")
    if len(digits) == 1:
        return Fraction(int(digits[0]))
    below = int(digits[1])
    if not below:
        raise InvalidInput(argument, value, "must not divide by 0")
    return Fraction(int(digits[0]), below)


def _text(value: object, argument: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(argument, value, "must be a rational number in a string")
    return value


def count(value: object, argument: str) -> int:
    """A number of requests."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(argument, value, "must be a whole number at or above 0")
    return value
