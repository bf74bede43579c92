"""Totals of a mixture that grows: the first from nothing, the next from contours that are kept.

A total from kept contours is returned only if it is as narrow as one from nothing is meant to be.  Otherwise contours
are made for the list as it is now, and where they do not help either the total is composed from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from optcomp.composition import named
from optcomp.composition.widths import is_narrow
from optcomp.guarantees import KnownLoss
from optcomp.instances import Mixture
from optcomp.theorems import LOOSE, Bound, Effort, Growing, Target, opt

_AIM = 0.8
"""The share of the wanted width that contours aim at: a list may grow, and they must still do."""
_MANY = 10
"""Mechanisms from which contours are tried at once: fewer are mostly summed on a grid, and contours do not serve.
Where a wider answer will do, grids are kept too."""
_NOT_FAR = 1.5
"""Times as many mechanisms have about the answer that the last ones had, or a little more."""
_MOST_KEPT = 4
"""Questions whose contours are kept, each of up to some megabytes."""


@dataclass
class _Asked:
    """One question: its contours, the last list with its total, and the size at which contours did not help."""

    growing: Growing
    last: tuple[Mixture, Bound]
    given_up: int = 0

    def hopeless(self, mixture: Mixture) -> bool:
        """Whether contours did not help for a list of about this size."""
        return self.given_up < 2 * mixture.count < 4 * self.given_up


class GrowingTotals:
    """For a few questions, how to answer them quickly once more."""

    def __init__(self) -> None:
        self._asked: dict[tuple[Target, float | None], _Asked] = {}

    def copy(self) -> GrowingTotals:
        """The same, from now on independent; contours are shared."""
        other = GrowingTotals()
        other._asked = {key: replace(asked, growing=asked.growing.copy()) for key, asked in self._asked.items()}
        return other

    def ahead(self, counts: Mapping[KnownLoss, int], target: Target, rtol: float | None) -> float | None:
        """The upper side of the ε of just these mechanisms, at once, if it was computed ahead."""
        asked = self._asked.get((target, rtol))
        return None if asked is None else asked.growing.ahead(counts)

    def total(self, mixture: Mixture, target: Target, rtol: float | None, base: Mixture | None = None) -> Bound:
        """The total of a mixture; of something that may come on top of `base`, contours are made for that alone."""
        key = target, rtol
        asked = self._asked.get(key)
        if asked is None:
            return self._first(mixture, target, rtol) if base is None else _afresh(mixture, target, rtol)
        known, before = asked.last
        if mixture == known:
            return before
        bound = self._moved(asked, mixture, rtol, base or mixture) or _afresh(mixture, target, rtol)
        if base is None:
            asked.last = mixture, bound
        return bound

    def _first(self, mixture: Mixture, target: Target, rtol: float | None) -> Bound:
        """The first total: from contours made for it and for what may come, mostly quicker than from nothing."""
        growing = Growing(target, Effort(_AIM * (opt.RTOL if rtol is None else rtol)))
        bound = _renewed(growing, mixture, mixture, rtol) if _worth(mixture, rtol) else None
        if bound is None:
            bound = _afresh(mixture, target, rtol)
        bound = replace(bound, about=mixture)
        self._asked[target, rtol] = _Asked(growing, (mixture, bound))
        while len(self._asked) > _MOST_KEPT:
            del self._asked[next(iter(self._asked))]
        return bound

    def _moved(self, asked: _Asked, mixture: Mixture, rtol: float | None, base: Mixture) -> Bound | None:
        """From contours, the kept ones or new ones, if that is narrow enough."""
        bound = asked.growing.answer(mixture)
        if bound is None or not _enough(bound, rtol):
            if asked.hopeless(base) or not _worth(base, rtol):
                return None
            known, last = asked.last
            about = last.upper if known.count <= base.count <= _NOT_FAR * known.count and last.upper > 0 else None
            bound = _renewed(asked.growing, mixture, base, rtol, about)
            asked.given_up = 0 if bound is not None else base.count
        return None if bound is None else replace(bound, about=mixture)


def _renewed(
    growing: Growing, mixture: Mixture, base: Mixture, rtol: float | None, about: float | None = None
) -> Bound | None:
    """From what is made anew for the base, where the answer may be about known, the first that is narrow enough."""
    for made in growing.renewed(base, mixture.count / max(base.count, 1), about):
        bound = growing.answer(mixture) if made else None
        if bound is not None and _enough(bound, rtol):
            return bound
    return None


def _worth(mixture: Mixture, rtol: float | None) -> bool:
    """Whether something may be kept that serves such a list."""
    return mixture.count >= _MANY or (rtol is not None and rtol >= LOOSE)


def _enough(bound: Bound, rtol: float | None) -> bool:
    return is_narrow(bound) if rtol is None else bound.width <= rtol


def _afresh(mixture: Mixture, target: Target, rtol: float | None) -> Bound:
    return replace(named.AUTO.answer(mixture, target, named.Options(rtol=rtol)), about=mixture)
