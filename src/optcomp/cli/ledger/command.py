"""The commands `ledger open|show|lower|enter|verify|export|backup|adopt|rotate`: budgets that outlive the process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optcomp as oc
from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import OneLineGroup, PlainCommand
from optcomp.cli.ledger.budgets import Address, Delta, Epsilon, FilterName, Name, Rho, budget_of, opened
from optcomp.cli.ledger.enter import register as register_enter
from optcomp.cli.ledger.lower import register as register_lower
from optcomp.cli.progress import working
from optcomp.cli.reading.addresses import given_address
from optcomp.cli.reading.file_text import text_of
from optcomp.cli.writing.printing import print_json, say

if TYPE_CHECKING:
    pass

_HELP = """Keep privacy budgets of groups of people, across sessions, releases, processes and crashes.

A ledger is a file, such as survey.ledger, with a private folder survey.ledger.private beside it; or a database in
PostgreSQL, by its address, with --private FOLDER.

Exit code 0; 1 if `verify` found something wrong or a possible copy; 2 and one line on standard error for bad input.

optcomp ledger open survey.ledger "survey 2026" --epsilon 3 --delta 1e-6

optcomp ledger show survey.ledger

optcomp ledger verify survey.ledger
"""

WRONG = 1
"""The exit code of `ledger verify` if something is wrong."""
ledger_app = typer.Typer(name="ledger", cls=OneLineGroup, rich_markup_mode="rich", help=_HELP)


@ledger_app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


_Out = Annotated[Path, typer.Argument(metavar="OUT", help="The new file; nothing is overwritten.", show_default=False)]
_Disjoint = Annotated[
    bool | None,
    typer.Option(
        "--disjoint/--overlaps",
        help="Whether nobody of this account can be in another account of the ledger: you must know.",
        show_default=False,
    ),
]
_Account = Annotated[
    str | None, typer.Argument(metavar="[ACCOUNT]", help="Only this account, in full.", show_default=False)
]
_Receipts = Annotated[
    list[Path] | None,
    typer.Option(
        "--receipt",
        metavar="FILE",
        help="A receipt that must lie on the chain: JSON, an answer or a release that holds one. May be repeated.",
        show_default=False,
    ),
]
_Key = Annotated[
    str | None,
    typer.Option("--key", metavar="HEX", help="The public key that the owner published.", show_default=False),
]
_Head = Annotated[
    str,
    typer.Option(
        metavar="HEX", help="The newest head that anybody has, in a receipt or written down.", show_default=False
    ),
]
_Spent = Annotated[
    bool, typer.Option("--take-as-spent", help="Adopt it though debits may be missing: all budgets are closed.")
]


@ledger_app.command("open", cls=PlainCommand)
def open_account(
    address: Address,
    name: Name,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    filter: FilterName = None,
    disjoint: _Disjoint = None,
    private: options.Private = None,
    witness: options.Witness = None,
    as_json: options.PlainJson = False,
) -> None:
    """Open an account with a budget; the ledger is created if it is not there.

    The same account again, by its name alone or with the same budget, is found, and nothing changes. People who may be
    in two accounts must share one: of a second account you are asked.

    optcomp ledger open survey.ledger "survey 2026" --epsilon 3 --delta 1e-6

    optcomp ledger open survey.ledger "school 2026" --rho 0.1 --disjoint

    optcomp ledger open postgresql://owner@host/survey "survey 2026" --epsilon 1 --private /secure/survey
    """
    asked = any(each is not None for each in (epsilon, delta, rho, filter))
    budget = budget_of(epsilon, delta, rho, filter) if asked or not Path(address).exists() else None
    with opened(address, private, witness, create=True) as ledger:
        known = [account.name for account in ledger.accounts()]
        if budget is None and name not in known:
            budget = budget_of(epsilon, delta, rho, filter)
        if known and name not in known and disjoint is None and sys.stdin.isatty():
            shown = ", ".join(map(repr, known[:3]))
            disjoint = not typer.confirm(f"May anybody of {name!r} be in {shown} too?", err=True)
        account = ledger.open(name, budget, disjoint=disjoint)
        view = {"ledger": ledger.id, "address": ledger.address, "account": account.name, "budget": str(account.budget)}
        view["head"] = ledger.head.head
    if as_json:
        print_json(view)
        return
    say(f"{'Found' if name in known else 'Opened'} account {name!r} in {view['address']}: {view['budget']}")


@ledger_app.command(cls=PlainCommand)
def show(
    address: Address,
    account: _Account = None,
    private: options.Private = None,
    witness: options.Witness = None,
    as_json: options.PlainJson = False,
) -> None:
    """What each account promised, what is left, and what everything recorded comes to, by which theorem.

    optcomp ledger show survey.ledger

    optcomp ledger show survey.ledger "survey 2026"

    optcomp ledger show survey.ledger --json
    """
    from optcomp.cli.ledger.tables import show_ledger

    with opened(address, private, witness) as ledger:
        found, head = ledger.overview(), ledger.head
        if account is not None:
            found = tuple(each for each in found if each.name == account)
            if not found:
                raise Complaint(f"{account!r} is no account of {ledger.address}")
        about = {"ledger": ledger.id, "address": ledger.address, "sequence": head.sequence, "head": head.head}
        view = {**about, "doubt": ledger.doubt}
    if as_json:
        print_json({**view, "accounts": [each.document() for each in found]})
    else:
        show_ledger(view, found, in_full=account is not None)


@ledger_app.command(cls=PlainCommand)
def verify(
    address: Annotated[
        str,
        typer.Argument(
            metavar="LEDGER|EXPORT",
            help="A ledger, or a file that `ledger export` wrote.",
            show_default=False,
            callback=given_address,
        ),
    ],
    receipts: _Receipts = None,
    key: _Key = None,
    private: options.Private = None,
    witness: options.Witness = None,
    as_json: options.PlainJson = False,
) -> None:
    """Derive everything again from the chain alone: every price, every total, with the theorem that proves it.

    Of an export also the signature is verified. Receipts that you kept show that nothing was lost since.

    Exit code 0 if everything holds, 1 if something is wrong or the ledger may be a copy, 2 for bad input.

    optcomp ledger verify survey.ledger

    optcomp ledger verify survey.ledger --receipt answer.json

    optcomp ledger verify survey.export --key 85abcab1…
    """
    from optcomp.cli.ledger.tables import show_verification

    exported = _is_export(address)
    kept = [_receipt(path) for path in receipts or ()]
    if exported:
        from optcomp.ledger import verify_export

        with working("verifying"):
            found = verify_export(address, key, receipts=kept)
    else:
        if key is not None:
            raise Complaint("--key: is for exports, which are signed")
        with opened(address, private, witness) as ledger, working("verifying"):
            found = ledger.verify(receipts=kept)
    if as_json:
        print_json(found.document())
    else:
        show_verification(found)
        if exported and key is None:
            say("Who signed it was not checked: give --key, the key that the owner published")
    if not found.ok:
        raise typer.Exit(WRONG)


def _is_export(address: str) -> bool:
    """An export begins with a JSON object, and a ledger with the name of SQLite."""
    path = Path(address)
    if "://" in address or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _receipt(path: Path) -> Any:
    """A receipt in a file, by itself, in an answer or in a release."""
    from optcomp.ledger import Receipt

    try:
        found = json.loads(text_of(str(path), str(path)))
    except ValueError:
        raise Complaint(f"--receipt: {str(path)!r} is not JSON") from None
    inner = found
    if isinstance(found, dict):
        held = found["ledger"] if isinstance(found.get("ledger"), dict) else found  # a release has it in this entry
        inner = held.get("receipt", found)
    try:
        return Receipt.read(inner)
    except oc.InvalidInput as error:
        raise Complaint(f"--receipt: {str(path)!r} {error.problem}") from None


@ledger_app.command(cls=PlainCommand)
def export(address: Address, out: _Out, private: options.Private = None, as_json: options.PlainJson = False) -> None:
    """Write a signed file for auditors: everything that was entered and asked, and no answer.

    Publish the public key that is printed; an auditor gives it to `ledger verify`.

    optcomp ledger export survey.ledger survey.export

    optcomp ledger verify survey.export --key 85abcab1…
    """
    with opened(address, private) as ledger, working("writing"):
        found = ledger.export(out)
    if as_json:
        print_json(found.document())
        return
    say(f"Wrote {found.path}: {found.sequence:,} entries, up to head {found.head}")
    say(f"It is signed by the key {found.public_key}; it holds questions, and no answer")


@ledger_app.command(cls=PlainCommand)
def backup(address: Address, out: _Out, private: options.Private = None, as_json: options.PlainJson = False) -> None:
    """Copy a ledger into a new file, while others go on writing. Never copy the file by other means.

    The private folder is not in it: back up its keys.json apart, and keep it secret. A backup that is restored spends
    nothing until `ledger adopt`.

    optcomp ledger backup survey.ledger /backup/survey-2026-05-01.ledger
    """
    with opened(address, private) as ledger, working("copying"):
        found = ledger.backup(out)
    if as_json:
        print_json({"path": str(out), **found.document()})
        return
    say(f"Wrote {out}: {found.sequence:,} entries, up to head {found.head}")
    say("The keys in the private folder are not in it: back up keys.json apart")


@ledger_app.command(cls=PlainCommand)
def adopt(
    address: Address,
    head: _Head,
    take_as_spent: _Spent = False,
    private: options.Private = None,
    witness: options.Witness = None,
    as_json: options.PlainJson = False,
) -> None:
    """Go on with a copy, or with a backup that was restored. Adopt one copy only, and never while the original goes on.

    The head is the newest that anybody has, in a receipt or written down. If the copy does not end there, debits may be
    missing in it: it is refused, or with --take-as-spent all of its budgets count as spent. Stored answers are served
    in any case.

    optcomp ledger adopt survey.ledger --head 317f4ad46bae2585…

    optcomp ledger adopt survey.ledger --head 317f4ad46bae2585… --take-as-spent
    """
    with opened(address, private, witness) as ledger:
        found = ledger.adopt(head, take_as_spent=take_as_spent)
    if as_json:
        print_json(found.document())
        return
    say(f"Adopted: incarnation {found.incarnation}, entry {found.sequence:,}, head {found.head}")
    if found.spent:
        say("All of its budget counts as spent: open other accounts for other people")
    if found.new_key:
        say("The keys were lost: new ones were made, and mechanisms that went on are closed")


@ledger_app.command(cls=PlainCommand)
def rotate(
    address: Address,
    private: options.Private = None,
    witness: options.Witness = None,
    as_json: options.PlainJson = False,
) -> None:
    """Encrypt what mechanisms remember under a new key, and drop the old ones.

    optcomp ledger rotate survey.ledger
    """
    with opened(address, private, witness) as ledger:
        count = ledger.rotate_keys()
    if as_json:
        print_json({"mechanisms": count})
        return
    say(f"A new key is in use; {count:,} {'mechanism was' if count == 1 else 'mechanisms were'} encrypted under it")


register_lower(ledger_app)
register_enter(ledger_app)
