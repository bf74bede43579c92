"""A plan carried out once: a look at the data, one debit, the answers, a report, and the proof that all of it fits."""

from optcomp.interactive import never_a_formula
from optcomp.release.advice import percent, plain, shortened
from optcomp.release.committing import commit_plans
from optcomp.release.csv_table import csv_text
from optcomp.release.entering import enter_release
from optcomp.release.exported_code import notebook_text, script_text
from optcomp.release.file_counts import ColumnCounts, ConditionCounts, FileCounts, MovedShare, PersonCounts
from optcomp.release.first_facts import first_facts
from optcomp.release.first_look import BOUNDS, NOTICE, Preflight, look_at, preflight
from optcomp.release.first_plan import first_plan
from optcomp.release.kept import paid_release, release_snapshot, stored_release
from optcomp.release.ledger_entry import offers_of, so_far
from optcomp.release.payer import Payer
from optcomp.release.paying import ReleaseInterrupted
from optcomp.release.pictures import printable
from optcomp.release.plan_facts import facts, growth, near, totals, up
from optcomp.release.prepared_data import PreparedData, prepare_data
from optcomp.release.proved_plan import Prepared, prepare
from optcomp.release.released import release_plan
from optcomp.release.report import page
from optcomp.release.store import NotReleased, Store, plan_digest, replace_file, text_of
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
    "csv_text",
    "enter_release",
    "facts",
    "first_facts",
    "first_plan",
    "growth",
    "look_at",
    "near",
    "never_a_formula",
    "notebook_text",
    "offers_of",
    "page",
    "paid_release",
    "percent",
    "plain",
    "plan_digest",
    "plan_sheet",
    "preflight",
    "prepare",
    "prepare_data",
    "printable",
    "release_plan",
    "release_snapshot",
    "replace_file",
    "result_sheet",
    "script_text",
    "shortened",
    "so_far",
    "stored_release",
    "text_of",
    "totals",
    "up",
    "verify_release",
]
