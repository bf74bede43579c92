"""The answer: two numbers with the truth between them, and the theorem that proves it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from optcomp.instances import Mixture, Parts
from optcomp.numerics import Exact, float_above, ratio, text_of, whole
from optcomp.theorems.certificates import certificate, finite
from optcomp.theorems.target import Quantity, Target

_SHORT = 24
"""Characters of a given number that a line of text has room for."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bound:
    """lower <= the optimal total <= upper, rounding included.

    `quantity` says which of ε and δ was computed; the other one was given.  The number to publish is `upper`, which is
    also `epsilon` or `delta`, whichever was computed.
    """

    quantity: Quantity
    lower: float
    upper: float
    given: Exact
    theorem: str
    method: str
    count: int
    notes: tuple[str, ...] = ()
    enclosure: tuple[Fraction, Fraction] | None = None
    """The exact rational ends, when bits were asked for."""
    choices: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Free choices of the method that found the bracket: hints for whoever proves it again."""
    about: Parts | Mixture | Callable[[], Parts] | None = field(default=None, compare=False)
    """The mechanisms, or how to get them; see `parts`."""

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise ArithmeticError(f"contradictory sides: {self.lower!r} > {self.upper!r} by {self.method}")

    @property
    def parts(self) -> Parts | Mixture | None:
        """The mechanisms it is about, if it knows them."""
        return self.about() if callable(self.about) else self.about

    @property
    def target(self) -> Target:
        """What was asked."""
        return Target(self.quantity, self.given)

    @property
    def epsilon(self) -> float:
        """ε of the total guarantee: proved, or given and rounded up, so that (epsilon, delta) as a pair is true."""
        return self.upper if self.quantity == "epsilon" else float_above(self.given)

    @property
    def delta(self) -> float:
        """δ of the total guarantee: proved, or given and rounded up, so that (epsilon, delta) as a pair is true."""
        return self.upper if self.quantity == "delta" else float_above(self.given)

    @property
    def width(self) -> float:
        """Relative width of the bracket: 0 for a point, infinite when only one side is known."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / self.upper if math.isfinite(self.upper) else math.inf

    def decimal(self, digits: int = 17) -> tuple[str, str]:
        """Both ends as decimal strings with that many significant digits, the lower rounded down, the upper up."""
        digits = whole(digits, "digits", 1, 1_000_000)
        ends = self.enclosure or ((Fraction(self.lower), Fraction(self.upper)) if math.isfinite(self.upper) else None)
        if ends is None:
            return str(self.lower), str(self.upper)
        return _decimal(ends[0], digits, ROUND_FLOOR), _decimal(ends[1], digits, ROUND_CEILING)

    def as_dict(self) -> dict[str, object]:
        """A JSON-ready view; an infinite end is None, because JSON has no infinity."""
        view: dict[str, object] = {
            "quantity": self.quantity,
            "given": repr(self.given) if isinstance(self.given, float) else ratio(self.given),
            "epsilon": finite(self.epsilon),
            "delta": finite(self.delta),
            "lower": finite(self.lower),
            "upper": finite(self.upper),
            "theorem": self.theorem,
            "method": self.method,
            "count": self.count,
            "notes": list(self.notes),
        }
        if self.enclosure is not None:
            view["enclosure"] = [ratio(end) for end in self.enclosure]
        return view

    def certificate(self, rtol: float | None = None) -> dict[str, object]:
        """The claim as a JSON-ready document that `optcomp verify` proves again without the engine.

        With `rtol` it claims a bracket of this relative width, which may be cheaper to prove than the answer itself.
        """
        return certificate(self, rtol)

    def __repr__(self) -> str:
        ends = () if self.enclosure is None else (f"enclosure=({', '.join(map(_named, self.enclosure))})",)
        shown = ("quantity", "lower", "upper"), ("theorem", "method", "count", "notes")
        first, last = ([f"{name}={getattr(self, name)!r}" for name in names] for names in shown)
        return f"Bound({', '.join((*first, f'given={_named(self.given)}', *last, *ends))})"

    def __str__(self) -> str:
        symbol, other = ("ε", "δ") if self.quantity == "epsilon" else ("δ", "ε")
        given = text_of(self.given)
        if len(given) > _SHORT:
            given = _decimal(Fraction(self.given), 17, ROUND_CEILING)
        by = f"({self.theorem}, {self.method}; {self.count} mechanism{'' if self.count == 1 else 's'})"
        if math.isinf(self.upper) and self.lower == self.upper:
            return f"no finite {symbol} at {other} = {given} {by}"
        return f"{symbol} in [{self.lower!r}, {self.upper!r}] at {other} = {given} {by}"


def upper_bound(
    quantity: Quantity,
    upper: float,
    given: Exact,
    *,
    theorem: str,
    method: str,
    count: int,
    notes: tuple[str, ...] = (),
) -> Bound:
    """The answer of a theorem that proves an upper side only."""
    return Bound(
        quantity=quantity,
        lower=0.0,
        upper=upper,
        given=given,
        theorem=theorem,
        method=method,
        count=count,
        notes=notes,
    )


def _named(value: Exact) -> str:
    """As `repr`, for a number of any length."""
    if isinstance(value, float):
        return repr(value)
    return f"Fraction({Decimal(value.numerator)}, {Decimal(value.denominator)})"


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    with localcontext() as context:
        context.prec = digits
        context.rounding = rounding
        context.Emin, context.Emax = -999_999_999, 999_999_999
        return str(Decimal(value.numerator) / Decimal(value.denominator))
