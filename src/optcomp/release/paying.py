"""How a release is debited from an account, run, and kept by the ledger: once for its plan and its data.

The key of a release is its plan and its data.  It is reserved, which is the debit; run; and its answers are stored,
before anybody sees them.  Whoever asks again gets what is stored, or goes on, and pays nothing more.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from optcomp.errors import MechanismFailed, OptcompError
from optcomp.planner import Document
from optcomp.release.ledger_entry import ledger_entry, reserve_name
from optcomp.release.plan_facts import facts, growth
from optcomp.release.proved_plan import Prepared, Tell
from optcomp.release.store import Identity, Unpaid, View, now, text_of
from optcomp.release.told import guarantee_told, versions_told

if TYPE_CHECKING:
    from optcomp.ledger import Account, Stored


class ReleaseInterrupted(MechanismFailed):
    """A release was paid for and not finished; whoever asks for it again pays nothing more."""

    def __str__(self) -> str:
        return f"{super().__str__()}; run the same command again: the release is finished without being paid again"


class Paying:
    """One release, as the ledger knows it."""

    def __init__(self, document: Document, identity: Identity) -> None:
        self._document, self._identity = document, identity
        self.ran = False
        """Whether it was run here, and not found."""

    def key(self, account: Account) -> str:
        """By which the ledger knows it."""
        form = self._form(account)
        return release_key(form["plan"], form["data"])

    def _form(self, account: Account) -> dict[str, str]:
        """What is released, for the ledger and whoever audits it."""
        return {"plan": self._identity.plan, "data": account.named(self._identity.data)}

    def paid(self, account: Account, prepared: Prepared, tell: Tell) -> Stored:
        """The answers, from whoever was first to store them; `Unpaid` if nothing was debited."""
        plan, key, later = prepared.plan, self.key(account), None
        if plan.reserve is not None:
            later = reserve_name(self._document, hashlib.sha256(key.encode()).hexdigest()), plan.reserve
        told = {
            "plan": self._document.source,
            "guarantee": guarantee_told(self._document, prepared.cost, plan.reserve),
            "facts": facts(plan),
            "growth": growth(plan),
        }

        def run() -> str:
            self.ran, started = True, now()
            released = prepared.run(tell)
            own = {
                "statistics": released.results(),
                "certificate": released.certificate(),
                "record": versions_told(),
            }
            entry = ledger_entry(account, account.place(key), None if later is None else later[0])
            return text_of({"started": started, **told, **own, "ledger": entry, "finished": now()})

        try:
            return account.release(
                key=key,
                what=f"a plan of {len(plan.lines)} statistics about {self._document.table.name}",
                form=self._form(account),
                offers=prepared.offers,
                run=run,
                declared=self._document.table,
                plan=self._identity.plan,
                reserve=later,
            )
        except MechanismFailed as failure:
            if not self.ran:
                raise
            what, kind = failure.what, failure.kind
        except OptcompError as refused:
            raise Unpaid(refused) from None
        raise ReleaseInterrupted(what, kind)  # out here, so that no __context__ leads to the error


def release_key(plan: str, data: str) -> str:
    """The key of a release: the digest of its plan, and the name of its data in the account."""
    return f"release {plan} {data}"


def told_by(stored: Stored) -> View:
    """A release as the ledger keeps it, with the receipt."""
    view: View = json.loads(stored.answer)
    return view | {"ledger": {"receipt": stored.receipt.document()} | view["ledger"]}
