"""A plan carried out once: a look at the data, one debit, the answers, a report, and the proof that all of it fits."""

from optcomp.release.advice import percent, plain, shortened
from optcomp.release.committing import commit_plans
from optcomp.release.entering import enter_release
from optcomp.release.file_counts import ColumnCounts, ConditionCounts, FileCounts, MovedShare, PersonCounts
from optcomp.release.first_look import BOUNDS, NOTICE, Preflight, preflight
from optcomp.release.ledger_entry import so_far
from optcomp.release.payer import Payer
from optcomp.release.pictures import printable
from optcomp.release.plan_facts import facts, growth, near, up
from optcomp.release.prepared_data import PreparedData, prepare_data
from optcomp.release.released import Prepared, ReleaseInterrupted, prepare, release_plan
from optcomp.release.report import page
from optcomp.release.store import NotReleased, Store, replace_file
from optcomp.release.tables import (
    Row,
    Sheet,
    cell_sheet,
    plan_sheet,
    result_sheet,
)
from optcomp.release.told import Released
from optcomp.release.verification import Verification, verify_release

__all__ = [
    "BOUNDS",
    "ColumnCounts",
    "ConditionCounts",
    "FileCounts",
    "MovedShare",
    "NOTICE",
    "NotReleased",
    "Payer",
    "PersonCounts",
    "Preflight",
    "Prepared",
    "PreparedData",
    "ReleaseInterrupted",
    "Released",
    "Row",
    "Sheet",
    "Store",
    "Verification",
    "cell_sheet",
    "commit_plans",
    "enter_release",
    "facts",
    "growth",
    "near",
    "page",
    "percent",
    "plain",
    "plan_sheet",
    "preflight",
    "prepare",
    "prepare_data",
    "printable",
    "release_plan",
    "replace_file",
    "result_sheet",
    "shortened",
    "so_far",
    "up",
    "verify_release",
]
