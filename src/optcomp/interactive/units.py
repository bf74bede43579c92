"""Guarantees about other neighbours: converted by a theorem, or refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from optcomp.errors import HypothesisNotMet, InvalidInput, Written
from optcomp.interactive.filters.requests import Request, read_request
from optcomp.statistics import Neighbours
from optcomp.theorems import group

_STEPS = 2
"""To replace a person is to remove one and to add another."""


@dataclass(frozen=True, repr=False)
class Converted(Written):
    """A guarantee about the neighbours that were asked for."""

    guarantee: Request
    theorem: str | None
    """What proves it; None if the neighbours are the same."""


def convert_unit(guarantee: Request, from_neighbours: Neighbours, to_neighbours: Neighbours) -> Converted:
    """What a guarantee about tables with a person added or removed says where one is replaced (GROUP, k = 2).

    The other way round no theorem leads: what is private when a person is replaced may tell how many people there are.
    """
    for name, value in (("from_neighbours", from_neighbours), ("to_neighbours", to_neighbours)):
        if value not in get_args(Neighbours):
            raise InvalidInput(name, value, f"must be one of {', '.join(get_args(Neighbours))}")
    known = read_request(guarantee)
    if from_neighbours == to_neighbours:
        return Converted(known, None)  # type: ignore[arg-type]
    if from_neighbours == "replace":
        raise HypothesisNotMet(
            group.ID, "a guarantee for replaced people says nothing about a person added or removed, nor about how many"
        )
    return Converted(group.for_groups(known, _STEPS), group.ID)


def for_groups(guarantee: Request, size: int) -> Converted:
    """What a guarantee about single rows says about a person with up to `size` of them, or about a group (GROUP)."""
    return Converted(group.for_groups(read_request(guarantee), size), group.ID if size > 1 else None)
