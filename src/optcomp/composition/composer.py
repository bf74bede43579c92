"""`Composer`: a list of mechanisms that grows and shrinks, with its total at hand.

After a first total the quadrature behind it is kept; the next totals of the same question only account for what came
and went since, which costs about as much for a hundred thousand mechanisms as for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import cast

import numpy as np
from flint import arb

from optcomp.composition.entry import checked_rtol, compose, target_of
from optcomp.composition.pairs import optimum
from optcomp.composition.reading import MOST_COPIES, Item, Items, read_item, read_parts
from optcomp.composition.widths import with_width_note
from optcomp.errors import InvalidInput, PrecisionNotReached
from optcomp.instances import Parts, log_kept
from optcomp.numerics import (
    DEEP_BITS,
    Exact,
    Number,
    ball,
    decimal_down,
    decimal_up,
    float_down,
    plain,
    precision,
    told_down,
    told_up,
    whole,
)
from optcomp.numerics.contour import Anchor, Coins, excess, root, shifted
from optcomp.theorems import Bound, Parameters, Target, opt

Pair = tuple[Exact, Exact]

_FORMAT, _VERSION = "optcomp-composer", 1
"""What `as_dict` writes and `of` reads."""
_MOST_CHANGES = 24
"""After more changes than this a fresh quadrature is quicker."""
_MOST_KEPT = 4
"""Quadratures, each of some megabytes."""


@dataclass(frozen=True, eq=False)
class _Kept:
    """A total with its quadrature, for the mechanisms as they were then."""

    parts: Parts
    bound: Bound
    anchor: Anchor
    total: Fraction
    log_kept: arb
    moment: int


class Composer:
    """Mechanisms whose parameters were fixed in advance, added and removed at will."""

    def __init__(self, parts: Items = (), *, parameters: Parameters = "fixed") -> None:
        if parameters not in ("fixed", "adaptive"):
            raise InvalidInput("parameters", parameters, "must be 'fixed' or 'adaptive'")
        read = read_parts(parts)
        self.parameters: Parameters = parameters
        self._counts: Counter[Pair] = Counter({(eps, delta): copies for eps, delta, copies in read.groups})
        self._parts: Parts | None = read
        self._journal: list[tuple[Pair, int]] = []
        self._kept: dict[tuple[Target, float | None], _Kept] = {}

    def add(self, mechanism: Item, copies: int = 1) -> None:
        """One more mechanism, or several alike."""
        self._change(read_item(mechanism, "mechanism"), whole(copies, "copies", 1, MOST_COPIES))

    def remove(self, mechanism: Item, copies: int = 1) -> None:
        """One mechanism less; it must be there."""
        pair, count = read_item(mechanism, "mechanism"), whole(copies, "copies", 1, MOST_COPIES)
        if self._counts[pair] < count:
            raise InvalidInput("mechanism", mechanism, f"is here {self._counts[pair]} times, not {count}")
        self._change(pair, -count)

    def _change(self, pair: Pair, copies: int) -> None:
        self._counts[pair] += copies
        if not self._counts[pair]:
            del self._counts[pair]
        self._parts = None
        self._journal.append((pair, copies))

    def total(self, *, delta: Number | None = None, epsilon: Number | None = None, rtol: float | None = None) -> Bound:
        """What all of them cost together, as `compose` says it."""
        return self._answer(target_of(delta, epsilon), rtol, {})

    def what_if(
        self,
        mechanism: Item,
        copies: int = 1,
        *,
        delta: Number | None = None,
        epsilon: Number | None = None,
        rtol: float | None = None,
    ) -> Bound:
        """The total if this mechanism were added too; nothing is added."""
        pair = read_item(mechanism, "mechanism")
        return self._answer(target_of(delta, epsilon), rtol, {pair: whole(copies, "copies", 0, MOST_COPIES)})

    def _answer(self, target: Target, rtol: float | None, extra: Mapping[Pair, int]) -> Bound:
        wanted = None if rtol is None else checked_rtol(rtol)
        if self.parameters == "adaptive":
            given = {target.pick("delta", "epsilon"): target.given}
            return compose(self._with(extra), parameters="adaptive", rtol=wanted, **given)  # type: ignore[arg-type]
        key = target, wanted
        kept = self._kept.get(key)
        bound = None if kept is None else _moved(kept, target, wanted, self._since(kept.moment, extra))
        if bound is None:
            bound = self._afresh(target, wanted, extra)
        bound = with_width_note(bound, wanted)
        if wanted is not None and not bound.width <= wanted:
            raise PrecisionNotReached(bound, wanted, bound.width)
        return bound

    def _since(self, moment: int, extra: Mapping[Pair, int]) -> Counter[Pair]:
        changes: Counter[Pair] = Counter(dict(extra))
        for pair, copies in self._journal[moment:]:
            changes[pair] += copies
        return Counter({pair: copies for pair, copies in changes.items() if copies})

    def _afresh(self, target: Target, rtol: float | None, extra: Mapping[Pair, int]) -> Bound:
        """Compose from nothing; keep the quadrature unless it is about a mechanism that is not here."""
        parts = self._with(extra)
        bound, anchor = optimum(parts, target, (opt.RTOL if rtol is None else rtol) / 2)
        bound = replace(bound, about=parts)
        if anchor is not None and not extra and parts.exact_sizes and parts.coin_tally.total is not None:
            with precision(DEEP_BITS):
                kept = _Kept(parts, bound, anchor, parts.coin_tally.total, log_kept(parts), len(self._journal))
            self._kept.pop((target, rtol), None)
            self._kept[target, rtol] = kept
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return bound

    def _with(self, extra: Mapping[Pair, int]) -> Parts:
        if extra:
            return read_parts(dict(self._counts + Counter(dict(extra))))
        return self.parts

    @property
    def parts(self) -> Parts:
        """The mechanisms, grouped."""
        if self._parts is None:
            self._parts = read_parts(dict(self._counts))
        return self._parts

    @property
    def count(self) -> int:
        """How many mechanisms there are."""
        return sum(self._counts.values())

    def copy(self) -> Composer:
        """The same mechanisms, from now on independent; what was computed is shared."""
        other = Composer(parameters=self.parameters)
        other._counts, other._parts = self._counts.copy(), self._parts
        other._journal, other._kept = self._journal.copy(), self._kept.copy()
        return other

    __copy__ = copy

    def as_dict(self) -> dict[str, object]:
        """A JSON-ready document; `Composer.of` reads it."""
        rows = [[plain(eps), plain(delta), copies] for eps, delta, copies in self.parts.groups]
        return {"format": _FORMAT, "version": _VERSION, "parameters": self.parameters, "mechanisms": rows}

    @classmethod
    def of(cls, document: Mapping[str, object]) -> Composer:
        """From what `as_dict` gave."""
        if not isinstance(document, Mapping) or document.get("format") != _FORMAT:
            raise InvalidInput("document", document, f"must be a mapping with format {_FORMAT!r}")
        if document.get("version") != _VERSION:
            raise InvalidInput("document['version']", document.get("version"), f"must be {_VERSION}")
        rows = document.get("mechanisms")
        if not isinstance(rows, Iterable) or not all(isinstance(row, list | tuple) and len(row) == 3 for row in rows):
            raise InvalidInput("document['mechanisms']", rows, "must be rows of epsilon, delta and copies")
        counts: Counter[Pair] = Counter()
        for number, (eps, delta, copies) in enumerate(rows):
            place = f"document['mechanisms'][{number}]"
            counts[read_item((_exact(eps), _exact(delta)), place)] += whole(copies, f"{place}[2]", 1, MOST_COPIES)
        return cls(counts, parameters=cast(Parameters, document.get("parameters", "fixed")))

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<Composer of {self.count} mechanisms, {len(self._counts)} different>"

    def __getstate__(self) -> dict[str, object]:
        return self.as_dict()

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(Composer.of(state).__dict__)


def _moved(kept: _Kept, target: Target, rtol: float | None, changes: Counter[Pair]) -> Bound | None:
    """The total after a few changes, from the quadrature that is kept; None where that cannot be had well enough."""
    if not changes:
        return kept.bound
    if len(changes) > _MOST_CHANGES or not all(isinstance(eps, float) for eps, _ in changes):
        return None
    count = kept.parts.count + sum(changes.values())
    anchor = shifted(kept.anchor, _coins(changes, +1), _coins(changes, -1))
    with precision(DEEP_BITS), np.errstate(all="ignore"):
        total = ball(kept.total + sum((Fraction(eps) * copies for (eps, _), copies in changes.items()), Fraction(0)))
        logs = kept.log_kept + sum(((-ball(delta)).log1p() * n for (_, delta), n in changes.items() if delta), arb(0))
        if target.quantity == "epsilon":
            t = -((-ball(target.given)).log1p() - logs).expm1()
            if not t > 0:
                return None
            found = root(anchor, opt.goal_for(t))
            lower, upper = decimal_down(found.lower), min(decimal_up(found.upper), told_up(total))
        else:
            y = float_down(ball(target.given))
            if y != target.given or not total > target.given:
                return None
            found = excess(anchor, y)
            leaked = -logs.expm1()
            lower = told_down(leaked + (1 - leaked) * opt.exponential(found.lower))
            upper = min(told_up(leaked + (1 - leaked) * opt.exponential(found.upper)), 1.0)
    if not lower <= upper:
        return None
    bound = opt.bound(target.quantity, target.given, found, lower, upper, count)
    return replace(bound, about=partial(_merged, kept.parts, changes)) if bound.width <= (rtol or opt.RTOL) else None


def _coins(changes: Mapping[Pair, int], sign: int) -> Coins:
    counts: Counter[float] = Counter()
    for (eps, _), copies in changes.items():
        if eps > 0 and copies * sign > 0:
            counts[float(eps)] += abs(copies)
    return Coins(np.array(sorted(counts)), np.array([float(counts[x]) for x in sorted(counts)]))


def _merged(parts: Parts, changes: Counter[Pair]) -> Parts:
    counts = Counter({(eps, delta): copies for eps, delta, copies in parts.groups})
    counts.update(changes)
    return read_parts({pair: copies for pair, copies in counts.items() if copies})


def _exact(value: object) -> object:
    return Fraction(value) if isinstance(value, str) else value
