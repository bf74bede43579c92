"""The catalogue of a centre: data sets, batches and seats; and changes that a second owner confirms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from optcomp.center.changes import Acting
from optcomp.center.datasets import Dataset
from optcomp.center.people import People
from optcomp.center.persons import By
from optcomp.center.seats import Seat
from optcomp.center.shelf import Release, Shelf

__all__ = ["Catalogue", "Dataset", "Release", "Seat"]


class Catalogue(Shelf):
    """What can be asked about, and whose slots there are; `Catalogue(store, ledger)`."""

    def confirm(self, number: int, *, by: By) -> dict[str, Any]:
        """Another owner confirms a change, and it is made; a confirmation that was interrupted may be repeated."""
        waiting = self._changes.confirm(number, by)
        acts = Acting(waiting.who, waiting.second, waiting.id)
        made = self._carry_out()[waiting.kind](waiting.detail, acts)
        about = {"kind": waiting.kind, "who": waiting.who, "second": waiting.second}
        return about | {"made": made.document() if isinstance(made, Dataset | Release) else made}

    def _carry_out(self) -> dict[str, Callable[[Mapping[str, Any], Acting], Any]]:
        people = People(self._store)
        return {
            "register": self._register,
            "register snapshot": self._register,
            "renew": self._renew,
            "lower": self._lower,
            "open data set": self._close,
            "cut": self._cut,
            "release": self._release_here,
            "hand on": self._hand_on,
            "lift suspension of seat": self._suspend_seat,
            "suspend owner": lambda detail, acts: people.suspend_confirmed(detail["name"], True, acts),
            "lift suspension": lambda detail, acts: people.suspend_confirmed(detail["name"], False, acts),
            "make token": people.token_confirmed,
            "add owner": lambda detail, acts: people.add_confirmed(detail["name"], acts),
        }
