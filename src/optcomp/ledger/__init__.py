"""Durable accounts of groups of people: budgets that outlive the process.

Optional: `pip install 'optcomp[ledger]'`.
"""

from optcomp.extras import needed

needed("sqlalchemy", "ledger")  # looked for here, so that its absence is told in one place

from optcomp.ledger.account import Account
from optcomp.ledger.books import LedgerCopied
from optcomp.ledger.caps import usual_filter
from optcomp.ledger.chain import Broken
from optcomp.ledger.columns import RowNumber, one_of
from optcomp.ledger.copies import Adoption, Waiting
from optcomp.ledger.database import Database, NoLedgerYet
from optcomp.ledger.debits import Debit, Placed
from optcomp.ledger.exports import Export, verify_export
from optcomp.ledger.history import HistoryEntry
from optcomp.ledger.holders import BudgetClosed, Stored
from optcomp.ledger.keys import WrongKey
from optcomp.ledger.ledger import Ledger
from optcomp.ledger.opening import SlotNotFree
from optcomp.ledger.overview import AccountView, SessionView
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.requests import RequestView
from optcomp.ledger.runs import DurableRun
from optcomp.ledger.session import DurablePlan, DurableSession
from optcomp.ledger.slots import Batch, Slot
from optcomp.ledger.states import AccountState, RequestState, SlotState
from optcomp.ledger.units import Unit, snapshot_name
from optcomp.ledger.verification import Verification, VerifiedAccount

__all__ = [
    "Account",
    "AccountState",
    "AccountView",
    "Adoption",
    "Batch",
    "Broken",
    "BudgetClosed",
    "Database",
    "Debit",
    "DurablePlan",
    "DurableRun",
    "DurableSession",
    "Export",
    "HistoryEntry",
    "Ledger",
    "LedgerCopied",
    "NoLedgerYet",
    "Placed",
    "Receipt",
    "RequestState",
    "RequestView",
    "RowNumber",
    "SessionView",
    "Slot",
    "SlotNotFree",
    "SlotState",
    "Stored",
    "Unit",
    "Verification",
    "VerifiedAccount",
    "Waiting",
    "WrongKey",
    "one_of",
    "snapshot_name",
    "usual_filter",
    "verify_export",
]
