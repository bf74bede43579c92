"""From what people write to `Parts`: guarantees, plain pairs and floats, multiplicities, arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import numpy as np
import numpy.typing as npt

from optcomp.errors import InvalidGuarantee, InvalidInput
from optcomp.guarantees.approximate import LEAST_EPSILON, MOST_EPSILON, Guarantee, checked_delta, mechanism_epsilon
from optcomp.numerics.exact import Exact, Number, whole
from optcomp.theorems.parts import Group, Parts

MOST_COPIES = 10**15
"""More copies of one mechanism than this are taken for a mistake."""

Item = Guarantee | Number | tuple[Number, Number]
Items = Iterable[Item] | Mapping[Item, int] | npt.NDArray[np.floating]


def read_parts(parts: object) -> Parts:
    """Group a list, a mapping to counts, or an array (1-D of ε, or two columns ε, δ)."""
    if isinstance(parts, Parts):
        return parts
    if isinstance(parts, np.ndarray):
        return _from_array(parts)
    counts: dict[tuple[Exact, Exact], int] = {}
    for number, (item, count) in enumerate(_counted(parts)):
        pair = read_item(item, f"parts[{number}]")
        counts[pair] = counts.get(pair, 0) + count
    return Parts.of(counts)


def _counted(parts: object) -> Iterable[tuple[object, int]]:
    if isinstance(parts, Mapping):
        return [(item, whole(count, f"count of {item!r}", 0, MOST_COPIES)) for item, count in parts.items()]
    if isinstance(parts, str | bytes) or not isinstance(parts, Iterable):
        raise InvalidInput("parts", parts, "must be a list of guarantees, a mapping to counts or an array")
    return _run_lengths(cast(Iterable[object], parts))


def _run_lengths(items: Iterable[object]) -> Iterable[tuple[object, int]]:
    """Count repeated objects before looking into them: [g] * n costs one look."""
    counts: dict[int, tuple[object, int]] = {}
    for item in items:
        known = counts.get(id(item))
        counts[id(item)] = (item, 1 if known is None else known[1] + 1)
    return counts.values()


def read_item(item: object, argument: str) -> tuple[Exact, Exact]:
    """(ε, δ) of one mechanism: a guarantee, a plain ε, or a pair."""
    if isinstance(item, Guarantee):
        return mechanism_epsilon(item.epsilon, f"{argument}.epsilon"), checked_delta(item.delta, f"{argument}.delta")
    if isinstance(item, tuple | list | np.ndarray):
        if len(item) != 2:
            raise InvalidGuarantee(argument, item, "must be a pair (epsilon, delta)")
        return mechanism_epsilon(item[0], f"{argument}[0]"), checked_delta(item[1], f"{argument}[1]")
    return mechanism_epsilon(item, argument), 0.0


def _from_array(array: npt.NDArray[np.generic]) -> Parts:
    if array.dtype.kind not in "fiu":
        raise InvalidInput("parts", array.dtype.name, "must be an array of real numbers")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:  # not every value may be a float64: read one by one
        return read_parts(array.tolist() if array.dtype.kind != "f" else list(array))
    values = array.astype(np.float64)
    if values.ndim == 1:
        values = np.column_stack((values, np.zeros_like(values)))
    if values.ndim != 2 or values.shape[1] != 2:
        raise InvalidInput("parts", array.shape, "must be a 1-D array of epsilon or have two columns (epsilon, delta)")
    _check_columns(values)
    if not values[:, 1].any():
        sizes, counts = np.unique(values[:, 0] + 0.0, return_counts=True)
        pairs = zip(sizes[::-1].tolist(), counts[::-1].tolist(), strict=True)  # already in Parts' order
        return Parts(tuple(Group(eps, 0.0, count) for eps, count in pairs))
    rows, counts = np.unique(values + 0.0, axis=0, return_counts=True)
    return Parts.of({(eps, delta): count for (eps, delta), count in zip(rows.tolist(), counts.tolist(), strict=True)})


def _check_columns(values: npt.NDArray[np.float64]) -> None:
    """Name the first row that is wrong."""
    eps, delta = values[:, 0], values[:, 1]
    good = ((eps == 0) | ((eps >= LEAST_EPSILON) & (eps <= MOST_EPSILON))) & (delta >= 0) & (delta < 1)
    if not good.all():
        row = int(np.argmin(good))
        read_item((float(eps[row]), float(delta[row])), f"parts[{row}]")
