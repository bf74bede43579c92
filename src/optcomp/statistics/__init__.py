"""What can be asked of a table: domains, sensitivities, expressions; nothing here spends budget."""

from optcomp.statistics.accuracy import noise_reach
from optcomp.statistics.cdf import CDF
from optcomp.statistics.contingency import Contingency
from optcomp.statistics.count import Count
from optcomp.statistics.domains import Categories, Domain, Integers, Numbers, Reals
from optcomp.statistics.histogram import Histogram
from optcomp.statistics.mean import Mean
from optcomp.statistics.part import Part
from optcomp.statistics.quantiles import Median, Quantiles
from optcomp.statistics.question import Question
from optcomp.statistics.statistic import Statistic
from optcomp.statistics.sum import Sum
from optcomp.statistics.table import Contribution, Declared, Table
from optcomp.statistics.variance import Variance

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
