"""What an account protects: whose data may change between neighbours, and how.

An ε for a row is no ε for a person of many rows, and one for neighbours of which one row is replaced is none for
neighbours of which one is missing.  An account has one unit.  What has another is converted by a theorem, or refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from optcomp.errors import HypothesisNotMet, Written
from optcomp.interactive import Offer, convert_unit
from optcomp.ledger.chain import digest
from optcomp.statistics import Declared, Neighbours, Table


@dataclass(frozen=True, repr=False)
class Unit(Written):
    """What one step between neighbours is."""

    neighbours: Neighbours
    """add-remove or replace."""
    whose: str
    """person: all rows of a person; row: each row by itself."""

    @classmethod
    def of(cls, declared: Declared) -> Unit:
        """That of a table."""
        return cls(declared.neighbours, "row" if declared.person is None else "person")

    def __str__(self) -> str:
        whose = "each row by itself" if self.whose == "row" else "all rows of a person"
        return f"{whose} ({self.neighbours})"

    def converted(self, offer: Offer, given: Unit) -> Offer:
        """Guarantees for another unit as guarantees for this one; HypothesisNotMet where no theorem leads there."""
        if given.whose != self.whose:
            reason = f"it protects {given}, and the account {self}"
            raise HypothesisNotMet("GROUP", reason)
        if given.neighbours == self.neighbours:
            return offer
        return tuple(convert_unit(each, given.neighbours, self.neighbours).guarantee for each in offer)


def snapshot_name(table: Table) -> str | None:
    """By what a ledger knows the snapshot of a table: a hash of its digest, which itself stays with the data."""
    return None if table.digest is None else digest(table.digest)
