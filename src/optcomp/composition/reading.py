"""From what people write to `Parts`: guarantees, plain pairs and floats, multiplicities, arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from optcomp.composition.columns import all_within_reason, plain_columns, plain_counts, within_reason
from optcomp.errors import InvalidGuarantee, InvalidInput, shown
from optcomp.guarantees import (
    ApproxDP,
    Guarantee,
    KnownLoss,
    PureDP,
    RandomizedResponse,
    RenyiBounded,
    checked_delta,
    mechanism_epsilon,
)
from optcomp.instances import Mixture, Parts
from optcomp.numerics import Exact, Number, whole

MOST_COPIES = 10**15
"""More copies of one mechanism than this are taken for a mistake."""

Item = Guarantee | KnownLoss | RenyiBounded | Number | tuple[Number, Number]
"""One mechanism of a list: a guarantee, a mechanism whose loss is known, a number (ε) or a pair (ε, δ)."""
Items = Iterable[Item] | Mapping[Item, int] | npt.NDArray[np.floating] | Parts | Mixture
"""A list of mechanisms: one after the other, with counts, or as an array of ε."""


def read_parts(parts: object) -> Parts:
    """Group (ε, δ) guarantees; anything else is refused."""
    read = read_any(parts)
    if isinstance(read, Mixture):
        value = read.others[0][0]
        raise InvalidInput("parts", value, "must be (ε, δ) guarantees only here")
    return read


def read_any(parts: object) -> Parts | Mixture:
    """Group a list, a mapping to counts, or an array (1-D of ε, or two columns ε, δ); a series is a 1-D array."""
    if isinstance(parts, Parts | Mixture):
        return parts
    if not isinstance(parts, np.ndarray | Mapping | list | tuple):
        parts = _unwrapped(parts)
    if isinstance(parts, np.ndarray):
        return _from_array(parts)
    if isinstance(parts, str | bytes) or not isinstance(parts, Iterable):
        raise InvalidInput("parts", parts, "must be a list of guarantees, a mapping to counts or an array")
    known = parts if isinstance(parts, Mapping | list | tuple) else list(parts)
    quickly = _all_at_once(known)
    return _one_by_one(known) if quickly is None else quickly


def _unwrapped(parts: Any) -> object:
    """The values of a series of pandas, polars or Arrow; a data frame, which would be a list of names, is refused."""
    kind = type(parts)
    if hasattr(kind, "columns"):
        problem = "must not be a data frame: give its columns, as in frame[['epsilon', 'delta']].to_numpy()"
        raise InvalidInput("parts", kind.__name__, problem)
    if hasattr(kind, "to_pylist"):
        return parts.to_pylist()
    if not hasattr(kind, "to_numpy"):
        return parts
    values = np.asarray(parts.to_numpy())
    return values if values.dtype.kind in "fiu" else list(parts)


def _all_at_once(parts: Mapping[object, object] | Sequence[object]) -> Parts | None:
    """The parts as arrays, if they are floats of one and the same form and nothing is wrong with them."""
    items, copies = parts, None
    if isinstance(parts, Mapping):
        items, copies = list(parts), plain_counts(parts.values(), MOST_COPIES)
        if copies is None:
            return None
    columns = plain_columns(cast(Sequence[object], items))
    if columns is None or not all_within_reason(*columns):
        return None
    return Parts.of_arrays(*columns, copies)


def _one_by_one(parts: Mapping[object, object] | Sequence[object]) -> Parts | Mixture:
    """Any parts; the first that is wrong is named by its place."""
    counts: dict[tuple[Exact, Exact], int] = {}
    losses: dict[KnownLoss, int] = {}
    bounded: dict[RenyiBounded, int] = {}
    for place, item, count in _counted(parts):
        read = read_mechanism(item, f"parts[{place}]")
        if isinstance(read, KnownLoss):
            losses[read] = losses.get(read, 0) + count
        elif isinstance(read, RenyiBounded):
            bounded[read] = bounded.get(read, 0) + count
        else:
            counts[read] = counts.get(read, 0) + count
    mixture = Mixture.of(Parts.of(counts), losses, bounded)
    return mixture if mixture.losses or mixture.bounded else mixture.pairs


def _is_coin(item: KnownLoss) -> bool:
    """Randomized response between two answers is the worst of all with its ε: nothing is lost by the pair."""
    return isinstance(item, RandomizedResponse) and item.answers == 2


def _counted(parts: Mapping[object, object] | Sequence[object]) -> Iterable[tuple[int, object, int]]:
    if isinstance(parts, Mapping):
        checked = [(item, _copies(item, count)) for item, count in parts.items()]
        return ((place, item, count) for place, (item, count) in enumerate(checked))
    return _run_lengths(parts)


def _copies(item: object, count: object) -> int:
    """How many there are; what is wrong is told with the item, which takes long to write."""
    if type(count) is int and 0 <= count <= MOST_COPIES:
        return count
    return whole(count, f"count of {shown(item)}", 0, MOST_COPIES)


def _run_lengths(items: Iterable[object]) -> Iterable[tuple[int, object, int]]:
    """Count repeated objects before looking into them: [g] * n costs one look."""
    counts: dict[int, tuple[int, object, int]] = {}
    for place, item in enumerate(items):
        first, _, count = counts.get(id(item), (place, item, 0))
        counts[id(item)] = first, item, count + 1
    return counts.values()


def read_mechanism(item: object, argument: str) -> tuple[Exact, Exact] | KnownLoss | RenyiBounded:
    """(ε, δ) of one mechanism, or the mechanism itself where more is known of it."""
    if isinstance(item, KnownLoss):
        return (item.pure or 0.0, 0.0) if _is_coin(item) else item
    return item if isinstance(item, RenyiBounded) else read_item(item, argument)


def read_item(item: object, argument: str) -> tuple[Exact, Exact]:
    """(ε, δ) of one mechanism: a guarantee, a plain ε, or a pair."""
    if type(item) is float:  # the plain cases first: looking for a protocol takes microseconds
        return mechanism_epsilon(item, argument), 0.0
    if isinstance(item, (PureDP, ApproxDP, Guarantee)):
        return mechanism_epsilon(item.epsilon, f"{argument}.epsilon"), checked_delta(item.delta, f"{argument}.delta")
    if isinstance(item, tuple | list | np.ndarray):
        if len(item) != 2:
            raise InvalidGuarantee(argument, item, "must be a pair (epsilon, delta)")
        return mechanism_epsilon(item[0], f"{argument}[0]"), checked_delta(item[1], f"{argument}[1]")
    return mechanism_epsilon(item, argument), 0.0


def _from_array(array: npt.NDArray[np.generic]) -> Parts | Mixture:
    if array.dtype.kind not in "fiu":
        raise InvalidInput("parts", array.dtype.name, "must be an array of real numbers")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:  # not every value may be a float64: read one by one
        return read_any(array.tolist() if array.dtype.kind != "f" else list(array))
    values = np.asarray(array, dtype=np.float64)
    if values.ndim == 1:
        eps, delta = values, np.broadcast_to(0.0, values.size)
    elif values.ndim == 2 and values.shape[1] == 2:
        eps, delta = values[:, 0], values[:, 1]
    else:
        raise InvalidInput("parts", array.shape, "must be a 1-D array of epsilon or have two columns (epsilon, delta)")
    if not all_within_reason(eps, delta):  # name the first row that is wrong
        row = int(np.argmin(within_reason(eps, delta)))
        read_item((float(eps[row]), float(delta[row])), f"parts[{row}]")
    return Parts.of_arrays(eps, delta)
