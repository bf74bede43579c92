"""Which data sets are neighbours: events leave it open, guarantees do not.

ADD_OR_REMOVE_ONE   a record comes or goes: a sum of vectors of norm at most C moves by C
REPLACE_SPECIAL     a record becomes the zero record: the same for sums and for samples of them
REPLACE_ONE         a record becomes another one: a sum moves by 2C; randomized response is about this relation only

Guarantees that already speak about neighbours, such as zCDP or (ε, δ), hold for whichever relation was meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from dp_accounting.privacy_accountant import NeighboringRelation as Relation

from optcomp.errors import InvalidInput

__all__ = ["Relation", "checked_relation", "moves", "relation_or_own"]

_MIXED = (
    "must be given: randomized response is about replacing a record and noise, unless told otherwise, "
    "about adding or removing one"
)


def checked_relation(relation: object) -> Relation:
    """One of the three."""
    if not isinstance(relation, Relation):
        raise InvalidInput("neighboring_relation", relation, "must be a dp_accounting.NeighboringRelation")
    return relation


def moves(relation: Relation) -> int:
    """By how many times its norm bound one record moves a sum."""
    return 2 if relation is Relation.REPLACE_ONE else 1


def relation_or_own(
    relation: Relation | None, kinds: Iterable[type], response: str, noise: Collection[str]
) -> Relation:
    """The relation given; else the one that mechanisms of these kinds are about, if it is one and the same.

    `response` and `noise` are the names of the kinds that care.
    """
    if relation is not None:
        return checked_relation(relation)
    names = {kind.__name__ for kind in kinds}
    if response not in names:
        return Relation.ADD_OR_REMOVE_ONE
    if names.intersection(noise):
        raise InvalidInput("neighboring_relation", None, _MIXED)
    return Relation.REPLACE_ONE
