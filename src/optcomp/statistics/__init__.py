"""What can be asked of a table: domains, sensitivities, expressions; nothing here spends budget."""

from optcomp.statistics import fragments
from optcomp.statistics.accuracy import checked_confidence, noise_reach
from optcomp.statistics.audited import AuditCase, Neighbourhood
from optcomp.statistics.cdf import CDF
from optcomp.statistics.cell_conditions import cells_where
from optcomp.statistics.cells import OTHER_ENCODING
from optcomp.statistics.contingency import Contingency
from optcomp.statistics.count import Count
from optcomp.statistics.dates import Dates, TimeUnit
from optcomp.statistics.declaration import difference, read_declaration
from optcomp.statistics.declaration import written_declaration as declaration_document
from optcomp.statistics.declared import Contribution, Declared, Neighbours
from optcomp.statistics.disjoint import could_be_one
from optcomp.statistics.domains import (
    MOST_TEXT,
    OTHER,
    Categories,
    Domain,
    Integers,
    Numbers,
    Reals,
    Text,
)
from optcomp.statistics.entries import TOP, Entries, as_written, kind_of, number_text
from optcomp.statistics.exact_counts import ExactCounts
from optcomp.statistics.forms import read_statistic, statistic_document
from optcomp.statistics.frequent import Frequent
from optcomp.statistics.histogram import Histogram
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.known import FACTS, UNKNOWN, Known, known_from
from optcomp.statistics.mean import Mean
from optcomp.statistics.means import Means
from optcomp.statistics.moments import MOST_ROWS
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.people import People
from optcomp.statistics.predicates import (
    check_condition,
    columns_of,
    condition,
    in_condition,
)
from optcomp.statistics.quantiles import Median, Quantiles
from optcomp.statistics.question import Question, leaks_of, read_question
from optcomp.statistics.register import Named, audit_cases, known_keywords
from optcomp.statistics.regression import Regression
from optcomp.statistics.row_files import remove_abandoned_folders, remove_own_folders
from optcomp.statistics.seen_columns import SeenColumn, seen_columns
from optcomp.statistics.snapshot import check_new as check_new_snapshot
from optcomp.statistics.snapshot import is_snapshot, named_ledger, reading_of
from optcomp.statistics.sources import (
    DECIMALS,
    ENCODINGS,
    FILE_ENDINGS,
    JOINS,
    QUOTES,
    THOUSANDS,
    Dialect,
    Proposal,
    Reading,
    database_at,
    files_of,
    has_dialect,
    is_address,
    is_pattern,
    is_relation,
    named_columns,
    propose,
    tables_in,
    tables_of,
)
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Statistic, Told
from optcomp.statistics.sum import Sum
from optcomp.statistics.table import BadCells, Preparation, Table, cells_digest
from optcomp.statistics.tallies import ColumnTally
from optcomp.statistics.variance import Variance

__all__ = [
    "AuditCase",
    "BadCells",
    "CDF",
    "Categories",
    "ColumnTally",
    "Contingency",
    "Contribution",
    "Count",
    "DECIMALS",
    "Dates",
    "Declared",
    "Dialect",
    "Domain",
    "ENCODINGS",
    "Entries",
    "ExactCounts",
    "FACTS",
    "FILE_ENDINGS",
    "Frequent",
    "Histogram",
    "IntegerVector",
    "Integers",
    "JOINS",
    "Known",
    "MOST_ROWS",
    "MOST_TEXT",
    "Mean",
    "Means",
    "Median",
    "Named",
    "Neighbourhood",
    "Neighbours",
    "Noises",
    "Numbers",
    "OTHER",
    "OTHER_ENCODING",
    "Part",
    "People",
    "Preparation",
    "Proposal",
    "QUOTES",
    "Quantiles",
    "Question",
    "Reading",
    "Reals",
    "Regression",
    "SeenColumn",
    "Setting",
    "StatedError",
    "Statistic",
    "Sum",
    "THOUSANDS",
    "TOP",
    "Table",
    "Text",
    "TimeUnit",
    "Told",
    "UNKNOWN",
    "Variance",
    "as_written",
    "audit_cases",
    "cells_digest",
    "cells_where",
    "check_condition",
    "check_new_snapshot",
    "checked_confidence",
    "columns_of",
    "condition",
    "could_be_one",
    "database_at",
    "declaration_document",
    "difference",
    "files_of",
    "fragments",
    "has_dialect",
    "in_condition",
    "is_address",
    "is_pattern",
    "is_relation",
    "is_snapshot",
    "kind_of",
    "known_from",
    "known_keywords",
    "leaks_of",
    "named_columns",
    "named_ledger",
    "noise_reach",
    "number_text",
    "propose",
    "read_declaration",
    "read_question",
    "read_statistic",
    "reading_of",
    "remove_abandoned_folders",
    "remove_own_folders",
    "seen_columns",
    "statistic_document",
    "tables_in",
    "tables_of",
]
