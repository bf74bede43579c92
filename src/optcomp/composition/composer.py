"""`Composer`: a list of mechanisms that grows and shrinks, with its total at hand.

After a first total the quadrature behind it is kept; the next totals of the same question only account for what came
and went since, which costs about as much for a hundred thousand mechanisms as for one.  For (ε, δ) pairs that is
`moved.py`, for lists with other mechanisms `growing_totals.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from optcomp.composition.composer_document import (
    Mechanism,
    mechanism_document,
    read_exact,
    read_mechanism_document,
)
from optcomp.composition.entry import checked_rtol, compose, target_of
from optcomp.composition.growing_totals import GrowingTotals
from optcomp.composition.moved import KeptTotal, Pair, moved
from optcomp.composition.pairs import optimum
from optcomp.composition.reading import MOST_COPIES, Item, Items, read_any, read_item, read_mechanism, read_parts
from optcomp.composition.widths import with_width_note
from optcomp.errors import InvalidInput, PrecisionNotReached
from optcomp.guarantees import KnownLoss, RenyiBounded
from optcomp.instances import Mixture, Parts, check_neighbours, log_kept
from optcomp.numerics import DEEP_BITS, Exact, Number, plain, precision, whole
from optcomp.theorems import Bound, Parameters, Target, opt

_FORMAT, _VERSION = "optcomp-composer", 1
"""What `as_dict` writes and `of` reads."""
_MOST_KEPT = 4
"""Quadratures, each of some megabytes."""
_Key = TypeVar("_Key")


class Composer:
    """Mechanisms of any kind whose parameters were fixed in advance, added and removed at will."""

    def __init__(self, parts: Items = (), *, parameters: Parameters = "fixed") -> None:
        if parameters not in ("fixed", "adaptive"):
            raise InvalidInput("parameters", parameters, "must be 'fixed' or 'adaptive'")
        read = read_any(parts)
        pairs = read.pairs if isinstance(read, Mixture) else read
        self.parameters: Parameters = parameters
        self._counts: Counter[Pair] = Counter({(eps, delta): copies for eps, delta, copies in pairs.groups})
        self._others: Counter[Mechanism] = Counter(dict(read.others) if isinstance(read, Mixture) else {})
        self._pairs: Parts | None = pairs
        self._parts: Parts | Mixture | None = read
        self._order = read if isinstance(read, Mixture) else Mixture(pairs)
        self._journal: list[tuple[Pair, int]] = []
        self._kept: dict[tuple[Target, float | None], KeptTotal] = {}
        self._growing = GrowingTotals()

    def add(self, mechanism: Item, copies: int = 1) -> None:
        """One more mechanism, or several alike."""
        read = read_mechanism(mechanism, "mechanism")
        self._check_neighbours(read)
        self._change(read, whole(copies, "copies", 1, MOST_COPIES))

    def remove(self, mechanism: Item, copies: int = 1) -> None:
        """One mechanism less; it must be there."""
        read, count = read_mechanism(mechanism, "mechanism"), whole(copies, "copies", 1, MOST_COPIES)
        here = self._counts[read] if isinstance(read, tuple) else self._others[read]
        if here < count:
            raise InvalidInput("mechanism", mechanism, f"is here {here} times, not {count}")
        self._change(read, -count)

    def _check_neighbours(self, read: Pair | Mechanism) -> None:
        """Refuse a mechanism that is about other neighbours than those that are here."""
        if isinstance(read, KnownLoss) and read.neighbours is not None:
            check_neighbours((*(value for value in self._others if isinstance(value, KnownLoss)), read))

    def _change(self, read: Pair | Mechanism, copies: int) -> None:
        if isinstance(read, tuple):
            _count(self._counts, read, copies)
            self._pairs = None
            self._journal.append((read, copies))
        else:
            _count(self._others, read, copies)
        self._parts = None

    def total(self, *, delta: Number | None = None, epsilon: Number | None = None, rtol: float | None = None) -> Bound:
        """What all of them cost together, as `compose` says it."""
        return self._answer(target_of(delta, epsilon), rtol, {})

    def upper_ahead(self, delta: Exact, rtol: float) -> float | None:
        """The upper side of a total ε that was computed ahead, because the list grew evenly; None if there is none."""
        if self._counts or self.parameters == "adaptive":
            return None
        counts = cast(Counter[KnownLoss], self._others)  # others than losses are in no table
        return self._growing.ahead(counts, Target("epsilon", delta), rtol)

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
        read = read_mechanism(mechanism, "mechanism")
        self._check_neighbours(read)
        count = whole(copies, "copies", 0, MOST_COPIES)
        return self._answer(target_of(delta, epsilon), rtol, {read: count} if count else {})

    def _answer(self, target: Target, rtol: float | None, extra: Mapping[Pair | Mechanism, int]) -> Bound:
        wanted = None if rtol is None else checked_rtol(rtol)
        if self.parameters == "adaptive":
            given = {target.pick("delta", "epsilon"): target.given}
            return compose(self._with(extra), parameters="adaptive", rtol=wanted, **given)  # type: ignore[arg-type]
        if not self._others and all(isinstance(read, tuple) for read in extra):  # grouping a long list takes its time
            bound = with_width_note(self._of_pairs(target, wanted, cast(Mapping[Pair, int], extra)), wanted)
        else:
            mixture = cast(Mixture, self._with(extra))
            bound = self._growing.total(mixture, target, wanted, self._mixture() if extra else None)
            bound = with_width_note(bound, wanted, bool(mixture.bounded))
        if wanted is not None and not bound.width <= wanted:
            raise PrecisionNotReached(bound, wanted, bound.width)
        return bound

    def _of_pairs(self, target: Target, wanted: float | None, extra: Mapping[Pair, int]) -> Bound:
        """The total where there is nothing but (ε, δ) pairs."""
        kept = self._kept.get((target, wanted))
        bound = None if kept is None else moved(kept, target, wanted, self._since(kept.moment, extra))
        return self._afresh(target, wanted, extra) if bound is None else bound

    def _since(self, moment: int, extra: Mapping[Pair, int]) -> Counter[Pair]:
        changes: Counter[Pair] = Counter(dict(extra))
        for pair, copies in self._journal[moment:]:
            changes[pair] += copies
        return Counter({pair: copies for pair, copies in changes.items() if copies})

    def _afresh(self, target: Target, rtol: float | None, extra: Mapping[Pair, int]) -> Bound:
        """Compose from nothing; keep the quadrature unless it is about a mechanism that is not here."""
        parts = self._pairs_with(extra)
        bound, anchor = optimum(parts, target, (opt.RTOL if rtol is None else rtol) / 2)
        bound = replace(bound, about=parts)
        if anchor is not None and not extra and parts.exact_sizes and parts.coin_tally.total is not None:
            with precision(DEEP_BITS):
                kept = KeptTotal(parts, bound, anchor, parts.coin_tally.total, log_kept(parts), len(self._journal))
            self._kept.pop((target, rtol), None)
            self._kept[target, rtol] = kept
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return bound

    def _with(self, extra: Mapping[Pair | Mechanism, int]) -> Parts | Mixture:
        if not extra:
            return self.parts
        pairs = {read: copies for read, copies in extra.items() if isinstance(read, tuple)}
        others = self._others + Counter({read: n for read, n in extra.items() if not isinstance(read, tuple)})
        return self._mixture(pairs, others) if others else self._pairs_with(pairs)

    def _pairs_with(self, extra: Mapping[Pair, int]) -> Parts:
        """The (ε, δ) pairs, grouped, and some more."""
        if extra:
            return read_parts(dict(self._counts + Counter(dict(extra))))
        if self._pairs is None:
            self._pairs = read_parts(dict(self._counts))
        return self._pairs

    def _mixture(self, extra: Mapping[Pair, int] | None = None, others: Counter[Mechanism] | None = None) -> Mixture:
        """Pairs and others, grouped; while the kinds stay the same, so does their order, which takes time to find."""
        counts, pairs, order = self._others if others is None else others, self._pairs_with(extra or {}), self._order
        if len(counts) == len(order.others) and all(value in counts for value, _ in order.others):
            losses, bounded = (
                tuple((value, counts[value]) for value, _ in known) for known in (order.losses, order.bounded)
            )
            return Mixture(pairs, cast(tuple[tuple[KnownLoss, int], ...], losses), bounded)  # type: ignore[arg-type]
        known = {value: copies for value, copies in counts.items() if isinstance(value, KnownLoss)}
        rest = {value: copies for value, copies in counts.items() if isinstance(value, RenyiBounded)}
        self._order = Mixture.of(pairs, known, rest)
        return self._order

    @property
    def parts(self) -> Parts | Mixture:
        """The mechanisms, grouped."""
        if self._parts is None:
            self._parts = self._mixture() if self._others else self._pairs_with({})
        return self._parts

    @property
    def count(self) -> int:
        """How many mechanisms there are."""
        return sum(self._counts.values()) + sum(self._others.values())

    def copy(self) -> Composer:
        """The same mechanisms, from now on independent; what was computed is shared."""
        other = Composer(parameters=self.parameters)
        other._counts, other._others = self._counts.copy(), self._others.copy()
        other._pairs, other._parts, other._order = self._pairs, self._parts, self._order
        other._journal, other._kept = self._journal.copy(), self._kept.copy()
        other._growing = self._growing.copy()
        return other

    __copy__ = copy

    def as_dict(self) -> dict[str, object]:
        """A JSON-ready document; `Composer.of` reads it."""
        rows = [[plain(eps), plain(delta), copies] for eps, delta, copies in self._pairs_with({}).groups]
        others = [{**mechanism_document(value), "copies": copies} for value, copies in self._mixture().others]
        document = {"format": _FORMAT, "version": _VERSION, "parameters": self.parameters, "mechanisms": rows}
        return {**document, "others": others} if others else document

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
        counts: Counter[Pair | Mechanism] = Counter()
        for number, (eps, delta, copies) in enumerate(rows):
            place = f"document['mechanisms'][{number}]"
            pair = read_item((read_exact(eps), read_exact(delta)), place)
            counts[pair] += whole(copies, f"{place}[2]", 1, MOST_COPIES)
        for number, row in enumerate(_rows(document.get("others", ()))):
            place = f"document['others'][{number}]"
            copies = whole(row.get("copies"), f"{place}['copies']", 1, MOST_COPIES)
            counts[read_mechanism_document(row, place)] += copies
        return cls(counts, parameters=cast(Parameters, document.get("parameters", "fixed")))

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<Composer of {self.count} mechanisms, {len(self._counts) + len(self._others)} different>"

    def __getstate__(self) -> dict[str, object]:
        return self.as_dict()

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(Composer.of(state).__dict__)


def _count(counts: Counter[_Key], key: _Key, copies: int) -> None:
    counts[key] += copies
    if not counts[key]:
        del counts[key]


def _rows(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list | tuple) or not all(isinstance(row, Mapping) for row in value):
        raise InvalidInput("document['others']", value, "must be a list of mechanisms with their copies")
    return list(value)
