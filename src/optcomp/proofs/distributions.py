"""Distributions with finitely many outcomes, and randomized maps between them.

A probability is a `Fraction`, and then everything computed from it is exact, or a float, and then sums may be off by
`TOLERANCE`.  One float makes a distribution a float one; no function here turns a fraction into a float by itself.
Outcomes of probability zero are not part of a distribution: asking for one gives 0, and two distributions that differ
by nothing else are equal.  A distribution never changes once it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, ItemsView, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product as pairs_of
from math import lcm
from typing import Any, Generic, Protocol, TypeVar

from optcomp.errors import InvalidInput
from optcomp.numerics import exact

Real = Fraction | float
"""A fraction, which is exact, or a float, which is not."""

TOLERANCE = 1e-12
"""How far the probabilities of a float distribution may sum from one."""

A = TypeVar("A", bound=Hashable)
B = TypeVar("B", bound=Hashable)
C = TypeVar("C", bound=Hashable)
V = TypeVar("V")


class Uniform(Protocol):
    """Whatever draws uniform floats from [0, 1): `random.Random`, numpy's `Generator`."""

    def random(self) -> float:
        """The next draw."""


def real(value: object, argument: str) -> Real:
    """A number as this room keeps it: floats stay floats, whole numbers and decimal strings become fractions."""
    return value if type(value) is Fraction else exact(value, argument)


def total(values: Iterable[Real]) -> Real:
    """Their sum: exact if all are fractions."""
    numbers = list(values)
    fractions = [number for number in numbers if isinstance(number, Fraction)]
    if len(fractions) < len(numbers):
        return sum(numbers, Fraction(0))
    common = lcm(*(number.denominator for number in fractions))  # one gcd instead of one per term
    return Fraction(sum(number.numerator * (common // number.denominator) for number in fractions), common)


def slack(*values: Real) -> float:
    """What rounding may cost a comparison: nothing between fractions, `TOLERANCE` if one value is a float."""
    return TOLERANCE if any(isinstance(value, float) for value in values) else 0


def positive_part(value: Real) -> Real:
    """The value if it is positive, else 0."""
    return value if value > 0 else Fraction(0)


class _Table(Generic[A, V]):
    """Rows under keys that never change after construction."""

    __slots__ = ("_rows",)
    _rows: dict[A, V]

    def __init__(self, rows: Mapping[A, V]) -> None:
        object.__setattr__(self, "_rows", dict(rows))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} never changes; make a new one")

    def __reduce__(self) -> tuple[type, tuple[dict[A, V]]]:
        return type(self), (dict(self._rows),)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, _Table) and self._rows == other._rows

    def __hash__(self) -> int:
        return hash(frozenset(self._rows.items()))

    def __iter__(self) -> Iterator[A]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._rows!r})"

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key}: {row}" for key, row in self._rows.items()) + "}"

    def items(self) -> ItemsView[A, V]:
        """Keys with their rows."""
        return self._rows.items()


class Finite(_Table[A, Real]):
    """A random outcome: what can happen, and how probably.

    >>> coin = Finite({"heads": "1/3", "tails": "2/3"})
    >>> coin["heads"], coin["edge"]
    (Fraction(1, 3), Fraction(0, 1))

    Probabilities are given as fractions, whole numbers, decimal strings ("0.1", "1/3") or floats; they are not negative
    and sum to one, exactly for fractions, within `TOLERANCE` for floats.
    """

    __slots__ = ()

    def __init__(self, probabilities: Mapping[A, Any]) -> None:
        super().__init__(_checked(probabilities))

    @classmethod
    def point(cls, outcome: A) -> Finite[A]:
        """The distribution that always gives the same outcome."""
        return cls({outcome: Fraction(1)})

    @classmethod
    def uniform(cls, outcomes: Collection[A]) -> Finite[A]:
        """All outcomes equally likely; one that is listed twice counts twice."""
        if not outcomes:
            raise InvalidInput("outcomes", outcomes, "must not be empty")
        return mixture((Fraction(1, len(outcomes)), cls.point(outcome)) for outcome in outcomes)

    @classmethod
    def proportional(cls, weights: Mapping[A, Any]) -> Finite[A]:
        """Probabilities in proportion to weights that are not negative and not all zero: w(a) / Σw."""
        numbers = {outcome: real(weight, f"weight of {outcome!r}") for outcome, weight in weights.items()}
        mass = total(numbers.values())
        if mass <= 0:
            raise InvalidInput("weights", mass, "must have a positive sum")
        return cls({outcome: number / mass for outcome, number in numbers.items()})

    def __getitem__(self, outcome: A) -> Real:
        return self._rows.get(outcome, Fraction(0))

    @property
    def support(self) -> tuple[A, ...]:
        """The outcomes of positive probability, in the order they were given."""
        return tuple(self._rows)

    def probability(self, event: Collection[A] | Callable[[A], bool]) -> Real:
        """How probable it is that the outcome lies in a set, or satisfies a predicate: P(E)."""
        inside = _predicate(event)
        return total(p for outcome, p in self.items() if inside(outcome))

    def given(self, event: Collection[A] | Callable[[A], bool]) -> Finite[A]:
        """The distribution once it is known that the event happened: P(a | E) = P(a) / P(E)."""
        inside = _predicate(event)
        kept = {outcome: p for outcome, p in self.items() if inside(outcome)}
        if not kept:
            raise InvalidInput("event", event, "must have positive probability")
        return Finite.proportional(kept)

    def map(self, function: Callable[[A], B]) -> Finite[B]:
        """The distribution of a function of the outcome: P(f = b) = Σ P(a) over f(a) = b."""
        return Finite(gathered((function(outcome), p) for outcome, p in self.items()))

    def through(self, kernel: Callable[[A], Finite[B]]) -> Finite[B]:
        """The distribution after post-processing by a randomized map: b has probability Σ P(a) K(a)(b)."""
        return mixture((p, kernel(outcome)) for outcome, p in self.items())

    def sample(self, generator: Uniform) -> A:
        """Draw one outcome."""
        left = generator.random()
        for outcome, p in self.items():
            left -= float(p)
            if left < 0:
                return outcome
        return self.support[-1]

    def floats(self) -> Finite[A]:
        """The same distribution in floating point."""
        return Finite({outcome: float(p) for outcome, p in self.items()})

    def distance(self, other: Finite[A]) -> Real:
        """The total variation distance: the most by which the probability of any event differs, Σ (p − q)₊."""
        return total(positive_part(p - other[outcome]) for outcome, p in self.items())


class Kernel(_Table[A, Finite[B]]):
    """A randomized map: for every input the distribution of its output, K(a)(b) = P(b | a)."""

    __slots__ = ()

    def __call__(self, key: A) -> Finite[B]:
        """The distribution of the output on this input."""
        if key not in self._rows:
            raise InvalidInput("input", key, f"must be one of {list(self._rows)}")
        return self._rows[key]

    def then(self, other: Callable[[B], Finite[C]]) -> Kernel[A, C]:
        """Another map after this one: Σ K(a)(b) L(b)(c)."""
        return Kernel({key: row.through(other) for key, row in self.items()})

    def floats(self) -> Kernel[A, B]:
        """The same map in floating point."""
        return Kernel({key: row.floats() for key, row in self.items()})


def product(*factors: Finite[Any]) -> Finite[tuple[Any, ...]]:
    """Independent outcomes side by side: (a_1, …, a_k) has probability ∏ P_i(a_i)."""
    joint: dict[tuple[Any, ...], Real] = {(): Fraction(1)}
    for factor in factors:
        joint = {(*before, a): p * q for (before, p), (a, q) in pairs_of(joint.items(), factor.items())}
    return Finite(joint)


def mixture(parts: Iterable[tuple[Real, Finite[A]]]) -> Finite[A]:
    """Draw one of several distributions, then an outcome from it: Σ w_i P_i, with weights that sum to one."""
    return Finite(gathered((outcome, weight * p) for weight, part in parts for outcome, p in part.items()))


def gathered(terms: Iterable[tuple[A, Real]]) -> dict[A, Real]:
    """One entry per outcome: the sum of all its terms."""
    sums: dict[A, Real] = {}
    for outcome, term in terms:
        sums[outcome] = sums[outcome] + term if outcome in sums else term
    return sums


def _predicate(event: Collection[A] | Callable[[A], bool]) -> Callable[[A], bool]:
    return event if callable(event) else set(event).__contains__


def _checked(probabilities: Mapping[A, Any]) -> dict[A, Real]:
    numbers = {a: real(p, f"probability of {a!r}") for a, p in probabilities.items()}
    for outcome, p in numbers.items():
        if p < 0:
            raise InvalidInput(f"probability of {outcome!r}", p, "must not be negative")
    mass = total(numbers.values())
    if not 1 - slack(mass) <= mass <= 1 + slack(mass):
        raise InvalidInput("probabilities", mass, "must sum to one")
    return {outcome: p for outcome, p in numbers.items() if p}
