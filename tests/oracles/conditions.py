"""Random conditions, with what they mean for a row of codes: worked out in fractions, not by any engine."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from optcomp.statistics import Categories, Domain, Numbers, Text
from tests.oracles.cells import grid, half_up

Row = Mapping[str, int | None]
"""The codes of a row by column."""
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """As people write it, and whether a row satisfies it."""

    text: str
    holds: Callable[[Row], bool]


def condition(rng: Random, columns: Mapping[str, Domain], depth: int = 2) -> Condition:
    """Comparisons, joined by and, or, not."""
    kind = rng.random()
    if depth and kind < 0.4:
        left, right = (condition(rng, columns, depth - 1) for _ in range(2))
        if rng.random() < 0.5:
            return Condition(f"({left.text}) and ({right.text})", lambda row: left.holds(row) and right.holds(row))
        return Condition(f"({left.text}) or ({right.text})", lambda row: left.holds(row) or right.holds(row))
    if depth and kind < 0.55:
        inner = condition(rng, columns, depth - 1)
        return Condition(f"not ({inner.text})", lambda row: not inner.holds(row))
    name = rng.choice(list(columns))
    return _comparison(rng, name, columns[name])


def _comparison(rng: Random, name: str, domain: Domain) -> Condition:
    sort = "none" if isinstance(domain, Text) else rng.choice(("none", "same", "among", "order"))

    def there(row: Row) -> bool:
        return _there(domain, row[name])

    if sort == "none":
        if rng.random() < 0.5:
            return Condition(f"{name} is None", lambda row: not there(row))
        return Condition(f"{name} is not None", there)
    if sort == "same":
        constant = _constant(rng, domain)
        code = _code(domain, constant)
        if rng.random() < 0.5:
            return Condition(f"{name} == {constant!r}", lambda row: row[name] is not None and row[name] == code)
        return Condition(f"{name} != {constant!r}", lambda row: there(row) and row[name] != code)
    if sort == "among":
        constants = [_constant(rng, domain) for _ in range(rng.randint(1, 3))]
        codes = [_code(domain, constant) for constant in constants]
        return Condition(f"{name} in {constants!r}", lambda row: row[name] is not None and row[name] in codes)
    sign, constant = rng.choice(list(ORDER)), _constant(rng, domain, ordered=True)
    compare = ORDER[sign]
    return Condition(
        f"{name} {sign} {constant!r}",
        lambda row: there(row) and compare(_value(domain, row[name]), _number(constant)),
    )


def _number(constant: Any) -> Any:
    return (
        Fraction(repr(constant)) if isinstance(constant, int | float) and not isinstance(constant, bool) else constant
    )


def _there(domain: Domain, code: int | None) -> bool:
    return code is not None and not (isinstance(domain, Categories) and code == len(domain.values))


def _value(domain: Domain, code: int | None) -> Any:
    assert code is not None
    if isinstance(domain, Categories):
        return _number(domain.values[code])
    assert isinstance(domain, Numbers)
    step, first, _ = grid(domain)
    return (first + code) * step


def _constant(rng: Random, domain: Domain, *, ordered: bool = False) -> Any:
    """Only where order is asked may a category be one that was not declared."""
    if isinstance(domain, Categories):
        others: dict[type, list[Any]] = {str: ["z", "A"], bool: [True, False], int: [99, 0]}
        return rng.choice([*domain.values, *(others[type(domain.values[0])] if ordered else [])])
    assert isinstance(domain, Numbers)
    step, first, top = grid(domain)
    place = float((first + rng.randint(-1, top + 1)) * step)
    return rng.choice([int(place), place, place + float(step) / 2, place + float(step) / 3])


def _code(domain: Domain, constant: Any) -> int | None:
    """None if no cell holds it."""
    if isinstance(domain, Categories):
        return domain.values.index(constant) if constant in domain.values else None
    assert isinstance(domain, Numbers)
    step, first, top = grid(domain)
    place = half_up(Fraction(repr(constant)) / step) - first
    return place if 0 <= place <= top else None
