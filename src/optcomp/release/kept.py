"""Releases about a snapshot that are kept by the ledger alone: no file, and so nothing that a second server could lack.

The record is a function of what the ledger stores: whoever makes it, and whenever, it has the same bytes.  Its digest
of the data is the name that the account has for them, which is under a secret key of the ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcomp.errors import InvalidInput
from optcomp.planner import Document, make_plan
from optcomp.release.paying import Paying, release_key, told_by
from optcomp.release.proved_plan import Tell, prepare
from optcomp.release.store import FORMAT, Identity, Unpaid, View, plan_digest
from optcomp.statistics import Table, difference

if TYPE_CHECKING:
    from optcomp.ledger import Account, RequestView, Stored


def release_snapshot(account: Account, document: Document, table: Table, tell: Tell = lambda what, share: None) -> View:
    """Release a plan about a snapshot, debited from an account; the same again is what the ledger stores.

    An error before the debit says why; after it there is `ReleaseInterrupted` alone, and the same call goes on.
    """
    paying = _paying(account, document, table)
    stored = account.answered(paying.key(account))
    if stored is None:
        prepared = prepare(make_plan(document), table)
        refused: Exception | None = None
        try:
            stored = paying.paid(account, prepared, tell)
        except Unpaid as unpaid:
            refused = unpaid.error
        if refused is not None:
            raise refused
        assert stored is not None
    return _record(stored, plan_digest(document.source), account.named(_digest(table)))


def paid_release(account: Account, document: Document, table: Table) -> RequestView | None:
    """The request of a release in the ledger, if it was debited: answered, or on its way."""
    return account.request(_paying(account, document, table).key(account))


def stored_release(account: Account, plan: str, data: str) -> View | None:
    """The record of a release that is finished, by the digest of its plan and the account's name for its data."""
    stored = account.answered(release_key(plan, data))
    return None if stored is None else _record(stored, plan, data)


def check_fits(document: Document, table: Table) -> None:
    """Refuses a plan that declares something else than the table does."""
    other = difference(document.table, table, ("in the plan", "of the table"))
    if other is not None:
        raise InvalidInput("plan", document.table.name, f"declares something else than the table: {other}")


def _paying(account: Account, document: Document, table: Table) -> Paying:
    check_fits(document, table)
    table.check_bound(account.ledger_id, account.name)
    return Paying(document, Identity(plan_digest(document.source), _digest(table)))


def _digest(table: Table) -> str:
    if table.digest is None:
        raise InvalidInput("table", table.name, "must be a snapshot: a release is bound to the digest of its data")
    return table.digest


def _record(stored: Stored, plan: str, data: str) -> View:
    view = told_by(stored)
    known = {"plan_sha256": plan, "data_hmac_sha256": data} | view["record"]
    return {"format": FORMAT, "version": 1, "status": "done"} | view | {"record": known}
