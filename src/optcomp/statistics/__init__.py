"""What can be asked of a table: domains, sensitivities, expressions; nothing here spends budget."""

from optcomp.statistics.accuracy import noise_reach
from optcomp.statistics.count_tables import CDF, Contingency, Histogram
from optcomp.statistics.domains import Categories, Domain, Integers, Numbers, Reals
from optcomp.statistics.part import Part
from optcomp.statistics.quantiles import Median, Quantiles
from optcomp.statistics.question import Question
from optcomp.statistics.scalars import Count, Mean, Sum, Variance
from optcomp.statistics.statistic import Statistic
from optcomp.statistics.table import Contribution, Declared, Table

__all__ = [
    "CDF",
    "Categories",
    "Contingency",
    "Contribution",
    "Count",
    "Declared",
    "Domain",
    "Histogram",
    "Integers",
    "Mean",
    "Median",
    "Numbers",
    "Part",
    "Quantiles",
    "Question",
    "Reals",
    "Statistic",
    "Sum",
    "Table",
    "Variance",
    "noise_reach",
]
