"""Ever larger parts of a list, for curves of totals over the number of mechanisms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from optcomp.composition.reading import Item


def growing(counts: Mapping[Item, int], points: int) -> Iterator[dict[Item, int]]:
    """Ever larger parts of the list, from very few mechanisms to all, closer to each other where there are few.

    Many copies of few guarantees grow in proportion; guarantees that occur once enter in their order.  Each part
    contains the one before, and no two have the same size.
    """
    size = 0
    for point in range(1, points + 1):
        part = _part(counts, point**2, points**2)
        if sum(part.values()) > size:
            size = sum(part.values())
            yield part


def _part(counts: Mapping[Item, int], share: int, whole: int) -> dict[Item, int]:
    """The share share/whole of every count, rounded up for the first kind and down for the last."""
    kinds = len(counts)
    return {
        item: (2 * kinds * share * count + whole * (2 * kinds - 2 * place - 1)) // (2 * kinds * whole)
        for place, (item, count) in enumerate(counts.items())
        if count
    }
