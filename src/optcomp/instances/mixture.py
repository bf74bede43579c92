"""What the theorems beyond (ε, δ) take: pairs, mechanisms with a known loss, and Rényi bounds, grouped and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

from flint import arb, ctx

from optcomp.errors import InvalidInput, shown
from optcomp.guarantees import LEAST_RATIO, MOST_RATIO, Gaussian, GaussianDP, KnownLoss, Neighbours, RenyiBounded
from optcomp.instances.coins import coins_of
from optcomp.instances.parts import Parts
from optcomp.numerics import Exact, ball, ratio
from optcomp.numerics.contour import CoinLaw
from optcomp.numerics.laws import NormalLaw, Summand

Laws = list[tuple[Summand, int]]


@dataclass(frozen=True)
class Mixture:
    """Any mechanisms, in an order that depends on nothing but themselves."""

    pairs: Parts
    losses: tuple[tuple[KnownLoss, int], ...] = ()
    """What has a known loss, with counts."""
    bounded: tuple[tuple[RenyiBounded, int], ...] = ()
    """What is known by a bound on its Rényi divergences only, with counts."""

    @classmethod
    def of(cls, pairs: Parts, losses: Mapping[KnownLoss, int], bounded: Mapping[RenyiBounded, int]) -> Mixture:
        """From counts; zero counts vanish.  All mechanisms must be about the same neighbours."""
        mixture = cls(
            pairs,
            tuple(sorted(((value, count) for value, count in losses.items() if count), key=_place)),
            tuple(sorted(((value, count) for value, count in bounded.items() if count), key=_place)),
        )
        check_neighbours(value for value, _ in mixture.losses)
        return mixture

    @cached_property
    def neighbours(self) -> Neighbours | None:
        """The neighbours that the list is about; none if every mechanism says by its parameters what they change."""
        return next((value.neighbours for value, _ in self.losses if value.neighbours is not None), None)

    @cached_property
    def loose(self) -> bool:
        """Whether the law of some mechanism is an upper bound only, which no pair of tables has."""
        return any(value.attained is not value for value, _ in self.losses)

    @cached_property
    def count(self) -> int:
        """How many mechanisms there are."""
        return self.pairs.count + sum(count for _, count in self.others)

    @property
    def others(self) -> tuple[tuple[KnownLoss | RenyiBounded, int], ...]:
        """All but the pairs."""
        return (*self.losses, *self.bounded)

    @cached_property
    def leaky(self) -> Parts:
        """The pairs together with the δ of Rényi bounds that hold only with probability 1 - δ."""
        counts = {(eps, delta): copies for eps, delta, copies in self.pairs.groups}
        for value, copies in self.bounded:
            if value.leak:
                key: tuple[Exact, Exact] = (0.0, value.leak)
                counts[key] = counts.get(key, 0) + copies
        return self.pairs if len(counts) == len(self.pairs.groups) else Parts.of(counts)

    @property
    def directions(self) -> range:
        """One direction if every loss is symmetric, else two: all mechanisms see the same data sets in the same order.

        Mixed orders are no case of it, and could cost more (docs/losses.md).
        """
        return range(max((len(value.laws) for value, _ in self.losses), default=1))

    @cached_property
    def gaussian(self) -> tuple[tuple[Exact, int], ...]:
        """The Gaussian mechanisms: μ with counts."""
        return tuple((value.mu, count) for value, count in self.losses if isinstance(value, Gaussian | GaussianDP))

    @property
    def all_gaussian(self) -> bool:
        """Whether there is nothing but Gaussian mechanisms and leaks."""
        return len(self.gaussian) == len(self.losses) and not self.pairs.kinds and not self.bounded

    def squared_mu(self) -> arb:
        """Σμ² of the Gaussian mechanisms, summed once for each precision."""
        known = self._squared_mu
        if ctx.prec not in known:
            known[ctx.prec] = sum((count * ball(mu) ** 2 for mu, count in self.gaussian), arb(0))
        return known[ctx.prec]

    @cached_property
    def _squared_mu(self) -> dict[int, arb]:
        return {}

    def laws(self, direction: int, rounding: int) -> Laws:
        """All known losses, in one direction; coins that are not floats rounded in a direction."""
        laws: Laws = []
        if self.pairs.kinds:
            laws.append((CoinLaw(coins_of(self.pairs, rounding)), 1))
        if self.gaussian:
            laws.append((NormalLaw(self.squared_mu), 1))
        for value, count in self.losses:
            if not isinstance(value, Gaussian | GaussianDP):
                known = value.laws
                laws.append((known[min(direction, len(known) - 1)], count))
        return laws

    def attained(self) -> Mixture:
        """In place of every Rényi bound a mechanism that satisfies it, or nothing: what privacy may cost at least.

        In place of a law that is only an upper bound one that two neighbouring tables have.
        """
        squares = sum((Fraction(value.gaussian) * count for value, count in self.bounded), Fraction(0))
        return Mixture(
            _plus(self.leaky, [(value.response, count) for value, count in self.bounded]),
            (*((value.attained, count) for value, count in self.losses), *_root(squares)),
        )

    def by_pure(self) -> Mixture | None:
        """The ε of every Rényi bound in its place, if each has one."""
        pures = [(value.pure, count) for value, count in self.bounded]
        known = [(eps, count) for eps, count in pures if eps is not None]
        return Mixture(_plus(self.leaky, known), self.losses) if len(known) == len(pures) else None

    def with_block(self, eps: float, delta: float) -> Mixture:
        """All Rényi bounds together as one (ε, δ) mechanism."""
        return Mixture(_plus(self.leaky, [(eps, 1)], delta), self.losses)

    def as_pairs(self) -> Parts | None:
        """Everything by its (ε, δ), if each has one."""
        rest = self.by_pure()
        pures = [(value.pure, count) for value, count in self.losses]
        known = [(eps, count) for eps, count in pures if eps is not None]
        return _plus(rest.pairs, known) if rest is not None and len(known) == len(pures) else None

    def without_bounded(self) -> Mixture:
        """The rest, without the Rényi bounds and their leaks."""
        return Mixture(self.pairs, self.losses)


def check_neighbours(losses: Iterable[KnownLoss]) -> None:
    """Refuse a list whose mechanisms are about different neighbours: no total would be true of either."""
    first: KnownLoss | None = None
    for value in losses:
        if value.neighbours is None:
            continue
        if first is None:
            first = value
        elif first.neighbours != value.neighbours:
            raise InvalidInput(
                "parts",
                value,
                f"is about neighbours {value.neighbours!r}, and {shown(first)} is about {first.neighbours!r}: "
                "a list is about one kind of neighbours; PoissonSubsampled(…, neighbours=…) takes either",
            )


def _root(square: Fraction) -> tuple[tuple[KnownLoss, int], ...]:
    """Gaussian DP with at most this μ²."""
    if not square:
        return ()
    mu = float(square) ** 0.5
    while Fraction(mu) ** 2 > square:
        mu *= 1 - 2.0**-52
    return ((GaussianDP(mu), 1),) if LEAST_RATIO <= mu <= MOST_RATIO else ()


def _plus(parts: Parts, more: Iterable[tuple[Exact, int]], delta: float = 0.0) -> Parts:
    """The parts and some more pairs of the same δ."""
    counts = {(eps, known): copies for eps, known, copies in parts.groups}
    for eps, copies in more:
        if eps or delta:
            counts[eps, delta] = counts.get((eps, delta), 0) + copies
    return Parts.of(counts)


def _place(item: tuple[object, int]) -> tuple[str, ...]:
    """By name and exact parameters, so that 10 and 10.0 stand in the same place."""
    value = item[0]
    return type(value).__name__, *(_text(getattr(value, entry.name)) for entry in fields(cast(Any, value)))


def _text(value: object) -> str:
    if isinstance(value, int | float | Fraction):
        return ratio(Fraction(value))
    return " ".join(_place((value, 0))) if is_dataclass(value) else repr(value)
