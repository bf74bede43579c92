"""Accounts and verifications of ledgers on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcomp import ApproxDP
from optcomp.cli.writing.printing import listed, print_table, say

if TYPE_CHECKING:
    from optcomp.interactive import RecordedTotal
    from optcomp.ledger import AccountView, Verification

_MOST = 20
"""Sessions and slots that are shown one by one, unless the account was asked for by its name."""
_CLOSED = {
    "overdrawn": "a release that had happened elsewhere did not fit: no cap is claimed, and nothing is admitted",
    "spent": "a copy was adopted that may lack debits: all of the budget counts as spent, and nothing is admitted",
}
"""What closed an account."""


def show_ledger(view: Mapping[str, Any], accounts: Sequence[AccountView], *, in_full: bool) -> None:
    """Where it is, then a table for each account."""
    say(f"Ledger {view['ledger']} in {view['address']}: {view['sequence']:,} entries, head {view['head']}")
    if view["doubt"] is not None:
        say_doubt(view["doubt"])
    for account in accounts:
        print_table(listed(_rows(account, in_full)))
    if not accounts:
        say("It has no account yet; `ledger open` opens one")


def say_doubt(doubt: str) -> None:
    """Why a ledger debits nothing."""
    say(f"! It may be a copy: {doubt}. It serves stored answers, and debits nothing until `ledger adopt`.")


def _rows(account: AccountView, in_full: bool) -> Iterator[tuple[str, str]]:
    yield "account", account.name
    yield "state", account.state + (f": {_CLOSED[account.state]}" if account.state in _CLOSED else "")
    yield "protects", account.unit or "what its first use says"
    if account.cap is not None:
        yield "cap", f"{account.cap} ({account.theorem})"
    elif account.state == "open":
        yield "cap", "none was set"
    if account.left is not None:
        yield "left", account.left
    yield from (("recorded", total_words(each)) for each in account.recorded)
    yield from _several("session", [f"{each.name}: {each.left}" for each in account.sessions], in_full)
    slots = [f"{name}: {_pair(eps, delta)}, {state}" for name, eps, delta, state in account.slots]
    yield from _several("slot", slots, in_full)
    yield "releases", f"{account.releases:,}"
    if account.waiting:
        yield "waiting", f"{account.waiting:,} paid for and not answered: the same question again runs them"


def _several(name: str, lines: Sequence[str], in_full: bool) -> Iterator[tuple[str, str]]:
    shown = lines if in_full else lines[:_MOST]
    yield from ((name, line) for line in shown)
    if len(lines) > len(shown):
        yield f"{name}s", f"and {len(lines) - len(shown):,} more; name the account to see all"


def _pair(epsilon: Fraction | str, delta: Fraction | str) -> str:
    """Exact numbers, rounded up to a few digits."""
    from optcomp.interactive import in_words

    return in_words(ApproxDP(Fraction(epsilon), Fraction(delta)))


def total_words(total: RecordedTotal) -> str:
    """A total with its theorem."""
    return f"{_pair(total.exactly, total.delta)} by {total.theorem}: {total.words}"


def show_verification(found: Verification) -> None:
    """What is proved of each account, and what is wrong."""
    for account in found.accounts:
        rows = [("account", account.name), ("state", str(account.state))]
        rows.append(("total", account.total or "no cap is claimed"))
        rows += [("recorded", total_words(each)) for each in account.recorded]
        rows.append(("theorems", ", ".join(account.theorems)))
        print_table(listed(rows))
    for line in found.findings:
        say(f"! {line}")
    if found.doubt is not None:
        say_doubt(found.doubt)
    several = "receipt" if found.receipts == 1 else "receipts"
    kept = f", {found.receipts:,} {several} looked for" if found.receipts else ""
    say(f"{found.entries:,} entries in {found.seconds:.1f} s{kept}; head {found.head}")
    say("Everything holds." if found.ok else "Something is wrong: see above.")
