"""Which tables are neighbours: a person added or removed, or one person's record replaced by another one."""

from __future__ import annotations

from typing import Literal, get_args

from optcomp.errors import InvalidGuarantee

Neighbours = Literal["add-remove", "replace"]
"""What two neighbouring tables differ in: a person who is in one of them only, or a record that is another one."""


def checked_neighbours(value: object) -> Neighbours:
    """One of the two."""
    for known in get_args(Neighbours):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise InvalidGuarantee("neighbours", value, "must be 'add-remove' or 'replace'")
