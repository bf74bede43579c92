"""Long lists as arrays: items that are all floats, all pairs of floats, or all guarantees with floats.

Whatever these functions do not know they leave (None) to the reader that goes item by item, which also words what is
wrong.  A value is never converted that is not a float already: an int or a fraction may not be one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from optcomp.guarantees import LEAST_EPSILON, MOST_EPSILON, ApproxDP, PureDP
from optcomp.numerics import Floats, Ints

_FLOATS = {float, np.float64}
_epsilon, _delta = attrgetter("epsilon"), attrgetter("delta")


def plain_columns(items: Sequence[Any]) -> tuple[Floats, Floats] | None:
    """ε and δ of items of one known form."""
    types = set(map(type, items))
    if types <= _FLOATS:
        return _with_zeros(np.fromiter(items, np.float64, len(items)))
    if types == {PureDP}:
        return _with_zeros(_floats(list(map(_epsilon, items))))
    if types <= {PureDP, ApproxDP}:
        return _both(_floats(list(map(_epsilon, items))), _floats(list(map(_delta, items))))
    if types <= {tuple, list} and set(map(len, items)) == {2}:
        flat = _floats(list(chain.from_iterable(items)))
        return None if flat is None else (flat[::2], flat[1::2])
    return None


def _floats(values: Collection[Any]) -> Floats | None:
    return np.fromiter(values, np.float64, len(values)) if set(map(type, values)) <= _FLOATS else None


def _with_zeros(eps: Floats | None) -> tuple[Floats, Floats] | None:
    return None if eps is None else (eps, np.broadcast_to(0.0, eps.size))


def _both(eps: Floats | None, delta: Floats | None) -> tuple[Floats, Floats] | None:
    return None if eps is None or delta is None else (eps, delta)


def plain_counts(counts: Collection[Any], most: int) -> Ints | None:
    """Counts that are all ints between 0 and `most`, which is below 2^53."""
    if set(map(type, counts)) - {int} or not 0 <= min(counts, default=0) <= max(counts, default=0) <= most:
        return None
    return np.fromiter(counts, np.int64, len(counts))


def all_within_reason(eps: Floats, delta: Floats) -> bool:
    """Whether every row is a guarantee: by the extremes if no ε is zero, else row by row."""
    if eps.size and eps.min() >= LEAST_EPSILON and eps.max() <= MOST_EPSILON and delta.min() >= 0 and delta.max() < 1:
        return True
    return bool(within_reason(eps, delta).all())


def within_reason(eps: Floats, delta: Floats) -> npt.NDArray[np.bool_]:
    """Which rows are guarantees."""
    good: npt.NDArray[np.bool_] = ((eps == 0) | ((eps >= LEAST_EPSILON) & (eps <= MOST_EPSILON))) & (delta >= 0)
    return good & (delta < 1)
