"""Mechanisms as text: where each was written, its ε and δ or its expression, and how many there are of it.

Texts become guarantees here and nowhere else, so that command line and files give the same errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from optcomp.composition import MOST_COPIES, Item
from optcomp.errors import InvalidInput
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.reading.complaints import Complaint
from optcomp.reading.expressions import Call, Malformed
from optcomp.reading.mechanism_syntax import make
from optcomp.reading.numbers import plain, whole_number

MechanismCounts = dict[Item, int]
"""How many mechanisms there are of each guarantee; a billion of one kind is one entry."""


@dataclass(frozen=True, slots=True)
class MechanismText:
    """One line of a file, or one item of the command line."""

    where: str
    """How to point at it in an error."""
    epsilon: str = ""
    delta: str = ""
    """Empty for pure differential privacy."""
    count: str = ""
    """Empty for one."""
    call: Call | None = None
    """A mechanism in place of ε and δ."""


def tally(entries: Iterable[MechanismText]) -> MechanismCounts:
    """Count the mechanisms of every guarantee, in the order in which they first appear."""
    guarantees: dict[tuple[str, str, Call | None], Item] = {}
    counts: MechanismCounts = {}
    for entry in entries:
        text = (entry.epsilon, entry.delta, entry.call)
        if text not in guarantees:
            guarantees[text] = _mechanism(entry.call, entry.where) if entry.call else _guarantee(entry)
        guarantee = guarantees[text]
        counts[guarantee] = total = counts.get(guarantee, 0) + _count(entry)
        if total > MOST_COPIES:
            raise Complaint(f"{entry.where}: count: with the ones before more than 10^15 of the same kind, got {total}")
    return counts


def _mechanism(call: Call, where: str) -> Item:
    try:
        return make(call)
    except Malformed as error:
        raise Complaint(f"{where}: {error}") from None


def _guarantee(entry: MechanismText) -> Item:
    if not entry.epsilon:
        raise Complaint(f"{entry.where}: epsilon: is missing")
    eps, delta = plain(entry.epsilon, f"{entry.where}: epsilon"), plain(entry.delta, f"{entry.where}: delta")
    try:
        return ApproxDP(eps, delta) if delta else PureDP(eps)
    except InvalidInput as error:
        raise Complaint(f"{entry.where}: {error}") from None


def _count(entry: MechanismText) -> int:
    return whole_number(entry.count, f"{entry.where}: count", 0, MOST_COPIES) if entry.count else 1
