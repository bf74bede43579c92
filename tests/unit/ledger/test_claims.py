"""What is claimed of an account whose cap was changed: only what was fixed before its first request."""

from __future__ import annotations

from pathlib import Path

from optcomp import PureDP
from optcomp.interactive import SumFilter
from optcomp.ledger import Account, Ledger
from optcomp.ledger.claims import promised, with_cap
from tests.unit.ledger.people import people


def claimed(ledger: Ledger) -> str | None:
    """The same by two ways: from the rows, and derived again from the chain."""
    (shown,), (verified,) = ledger.overview(), ledger.verify().accounts
    assert (shown.cap is None) == (verified.total is None)
    assert shown.cap is None or (verified.total or "").startswith(shown.cap)
    assert ledger.verify().findings == ()
    return shown.cap


def spend(account: Account) -> None:
    account.enter(key="elsewhere", what="a count", offers=[(PureDP("0.25"),)], declared=people())


def test_before_the_first_request_any_cap_is_a_promise(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", SumFilter(3))
        account.lower(SumFilter(4))
        assert claimed(ledger) == "ε = 4"


def test_a_cap_that_is_set_after_answers_limits_and_promises_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", SumFilter(3))
        spend(account)
        for limit in ("1", "0.5"):
            account.lower(SumFilter(limit))
            assert claimed(ledger) == "ε = 3"
        assert account.remaining().amounts["epsilon"] == (SumFilter("0.25").epsilon, SumFilter("0.5").epsilon)


def test_an_account_without_a_cap_never_promised_one() -> None:
    small, large = SumFilter(1).document(), SumFilter(9).document()
    limited = with_cap({"capped": False}, large, used=True)
    assert promised(limited, small) is None
    assert promised(with_cap(limited, small, used=True), small) is None
    fresh = promised(with_cap({"capped": False}, large, used=False), small)
    assert fresh is not None
    assert fresh.total == SumFilter(1).total
