"""Statistics without code: a form in the words of plans, ready for JSON and exact, that can be stored and read back."""

from __future__ import annotations

from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics.entries import Entries
from optcomp.statistics.register import known_keywords
from optcomp.statistics.statistic import Statistic


def statistic_document(statistic: Statistic) -> dict[str, Any]:
    """A statistic in the words of plans, such as {"mean": "income", "where": "age >= 18"}.

    Equal statistics have equal documents, and `read_statistic` gives an equal statistic back; one that does not is
    refused, and so is one whose class brings no writing of its own.
    """
    if not isinstance(statistic, Statistic):
        raise InvalidInput("statistic", statistic, "must be a statistic such as Count() or Mean('age')")
    document = statistic.document()
    if read_statistic(document) != statistic:
        raise InvalidInput("statistic", statistic, "cannot be written down: its document reads as another statistic")
    return document


def read_statistic(document: object) -> Statistic:
    """The statistic that these words of a plan name; it must be registered."""
    entries, known = Entries(document, "statistic"), known_keywords()
    words = [word for word in known if entries.has(word)]
    if len(words) != 1:
        raise InvalidInput("statistic", words or entries.names(), f"must have one of {', '.join(known)}")
    statistic = known[words[0]].keyword.read(entries)
    entries.done()
    return statistic
