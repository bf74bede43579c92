"""Releases that were made without a ledger, entered afterwards: they have happened, so they are always recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcomp.checker import from_json
from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.interactive import Offer
from optcomp.planner import Choosing, Document, Spending, inside_of, item_of, read
from optcomp.release.ledger_entry import offers_of
from optcomp.release.store import text_of
from optcomp.release.verification import verify_release

if TYPE_CHECKING:
    from optcomp.ledger import Account, Receipt


def enter_release(path: str | Path, account: Account) -> Receipt:
    """Record the release in a file in an account, past its cap too; the same file again is recorded once.

    The release must be what it says (see `verify_release`), for its total is what is recorded.  What its plan kept for
    later is part of that.  It does not become a slot: nobody knows here whether it was used elsewhere.
    """
    place, view = Path(path), _view(Path(path))
    found = verify_release(view)
    if not found.proved:
        why = "; ".join(found.problems) or found.status
        raise InvalidInput("release", str(place), f"cannot be entered, for it is not proved ({why})")
    _check_elsewhere(view, account, place)
    document = read(view["plan"])
    spent, reserve = _spendings(document, view["statistics"]), Choosing(document, inside_of(document)).reserve
    return account.enter(
        key=f"entered {_digest(view)}",
        what=f"a release about {document.table.name}, made elsewhere",
        offers=_offers(document, spent, view, reserve),
        declared=document.table,
    )


def _view(path: Path) -> dict[str, Any]:
    try:
        view = from_json(path.read_text(encoding="utf8"))
    except OSError as error:
        raise InvalidInput("release", str(path), f"cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError):
        view = None
    if not isinstance(view, dict):
        raise InvalidInput("release", str(path), "is not a release")
    return view


def _check_elsewhere(view: Mapping[str, Any], account: Account, path: Path) -> None:
    """A release with a receipt of this very account is recorded already."""
    receipt = view.get("ledger", {}).get("receipt", {})
    if (receipt.get("ledger"), receipt.get("account")) == (account.ledger_id, account.name):
        raise InvalidInput("release", str(path), f"was debited from account {account.name!r} when it was made")


def _spendings(document: Document, statistics: list[dict[str, Any]]) -> list[Spending]:
    """What each statistic spent, as the file says and verification has confirmed."""
    found = []
    for wish, entry in zip(document.wishes, statistics, strict=True):
        noise = next(each for each in wish.statistic.noises() if each.name == entry["mechanism"])
        budget = Fraction(entry[noise.currency.name])
        found.append(Spending(item_of(document, wish, noise).model, budget))
    return found


def _offers(document: Document, spent: list[Spending], view: Mapping[str, Any], reserve: PureDP | None) -> list[Offer]:
    total, inside = view["guarantee"]["total"], inside_of(document)
    if isinstance(inside, ZCDP):
        return offers_of(document, spent, ZCDP(Fraction(total["rho"])), reserve)
    return offers_of(document, spent, ApproxDP(Fraction(total["epsilon"]), inside.delta), reserve)


def _digest(view: Mapping[str, Any]) -> str:
    """Of what was published, by which the same release is known again."""
    record = view["record"]
    parts = {"plan": record.get("plan_sha256"), "data": record.get("data_hmac_sha256"), "told": view["statistics"]}
    return hashlib.sha256(text_of(parts).encode()).hexdigest()
