"""Mechanisms as text: where each was written, its ε, its δ and how many there are of it.

Texts become guarantees here and nowhere else, so that command line and files give the same errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import optcomp as oc
from optcomp.cli.failures import Refused
from optcomp.composition.reading import Item

Counts = dict[Item, int]
"""How many mechanisms there are of each guarantee; a billion of one kind is one entry."""

MOST = 10**12
"""The largest count of one entry."""

_LONG_EXPONENT = re.compile(r"[eE][+-]?[\d_]{5,}\s*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a file, or one item of the command line."""

    where: str
    """How to point at it in an error."""
    epsilon: str
    delta: str = ""
    """Empty for pure differential privacy."""
    count: str = ""
    """Empty for one."""


def tally(entries: Iterable[Entry]) -> Counts:
    """Count the mechanisms of every guarantee, in the order in which they first appear."""
    guarantees: dict[tuple[str, str], Item] = {}
    counts: Counts = {}
    for entry in entries:
        pair = (entry.epsilon, entry.delta)
        if pair not in guarantees:
            guarantees[pair] = _guarantee(entry)
        guarantee = guarantees[pair]
        counts[guarantee] = counts.get(guarantee, 0) + (_count(entry) if entry.count else 1)
    return counts


def plain(text: str, what: str) -> str:
    """Refuse exponents that would take forever to write out; everything else is checked by the library."""
    if _LONG_EXPONENT.search(text):
        raise Refused(f"{what}: the exponent is too long, got {text!r}")
    return text


def _guarantee(entry: Entry) -> Item:
    if not entry.epsilon:
        raise Refused(f"{entry.where}: epsilon: is missing")
    eps, delta = plain(entry.epsilon, f"{entry.where}: epsilon"), plain(entry.delta, f"{entry.where}: delta")
    try:
        return oc.ApproxDP(eps, delta) if delta else oc.PureDP(eps)
    except oc.InvalidInput as error:
        raise Refused(f"{entry.where}: {error}") from None


def _count(entry: Entry) -> int:
    where = f"{entry.where}: count"
    try:
        count = Fraction(plain(entry.count, where))
    except (ValueError, ZeroDivisionError):
        raise Refused(f"{where}: must be a whole number, got {entry.count!r}") from None
    if count.denominator != 1:
        raise Refused(f"{where}: must be a whole number, got {entry.count!r}")
    if not 0 <= count <= MOST:
        raise Refused(f"{where}: must be between 0 and 10^12, got {entry.count!r}")
    return int(count)
