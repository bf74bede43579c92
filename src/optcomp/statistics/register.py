"""The statistics that plans may name, that schemas describe and that audits run; a new one is one file and a line here.

Others may `register_statistic` one of their own.
"""

from __future__ import annotations

from typing import NamedTuple

from optcomp.errors import InvalidInput
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.cdf import CDF
from optcomp.statistics.contingency import Contingency
from optcomp.statistics.count import Count
from optcomp.statistics.frequent import Frequent
from optcomp.statistics.histogram import Histogram
from optcomp.statistics.mean import Mean
from optcomp.statistics.means import Means
from optcomp.statistics.people import People
from optcomp.statistics.quantiles import Quantiles
from optcomp.statistics.regression import Regression
from optcomp.statistics.statistic import Keyword, Statistic
from optcomp.statistics.sum import Sum
from optcomp.statistics.variance import Variance

_KNOWN: list[type[Statistic]] = [
    *(Count, People, Sum, Mean, Means, Variance, Histogram, Frequent, Contingency, CDF, Quantiles, Regression)
]
"""In the order in which they are told."""


class Named(NamedTuple):
    """A word of plans, and the statistic that it names."""

    keyword: Keyword
    statistic: type[Statistic]


def register_statistic(statistic: type[Statistic]) -> None:
    """Make a statistic known, whose keywords and audits must have new names."""
    words, audits = known_keywords(), audit_cases()
    for word in (keyword.word for keyword in statistic.keywords):
        if word in words:
            raise InvalidInput("statistic", word, "is a keyword that is taken")
    for name in statistic.audits():
        if name in audits:
            raise InvalidInput("statistic", name, "is the name of an audit that is taken")
    _KNOWN.append(statistic)


def unregister_statistic(statistic: type[Statistic]) -> None:
    """Forget a statistic."""
    if statistic in _KNOWN:
        _KNOWN.remove(statistic)


def known_statistics() -> tuple[type[Statistic], ...]:
    """All of them."""
    return tuple(_KNOWN)


def known_keywords() -> dict[str, Named]:
    """By the word that names a statistic in a plan."""
    return {keyword.word: Named(keyword, statistic) for statistic in _KNOWN for keyword in statistic.keywords}


def audit_cases() -> dict[str, AuditCase]:
    """How all of them are audited, by name."""
    return {name: case for statistic in _KNOWN for name, case in statistic.audits().items()}
