"""The command `ledger enter`: a release that was made without the ledger, recorded afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import PlainCommand
from optcomp.cli.progress import working
from optcomp.cli.reading.addresses import given_address
from optcomp.cli.reading.plan_file import options_named
from optcomp.cli.writing.printing import print_json, say, warn

_Ledger = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER",
        help="A file, or a postgresql:// address; @FILE reads it from a file.",
        show_default=False,
        callback=given_address,
    ),
]
_Release = Annotated[
    Path, typer.Argument(metavar="RELEASE.json", help="The release, as it was published.", show_default=False)
]
_Account = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The account of these people; the only one, if there is one.", show_default=False
    ),
]


def enter(
    ledger: _Ledger,
    release: _Release,
    account: _Account = None,
    private: options.Private = None,
    witness: options.Witness = None,
    as_json: options.PlainJson = False,
) -> None:
    """Record a release that has happened without this ledger: always, past the cap too.

    If it does not fit, the account is overdrawn: it admits nothing any more, and claims its odometer's total only.

    optcomp ledger enter survey.ledger old.release.json --account survey
    """
    from optcomp.ledger import AccountState, Ledger
    from optcomp.release import enter_release, near, up

    own = options_named({"account": "account", "private": "private", "witness": "witness"})
    with own, Ledger(ledger, private=private, witness=witness, create=False) as books:
        names = [each.name for each in books.accounts()]
        if account is None and len(names) != 1:
            raise Complaint(f"--account: must be one of {', '.join(names) or 'none: open an account first'}")
        found = books.account(names[0] if account is None else account)
        with working("proving"):
            receipt = enter_release(release, found)
        state, totals, releases = found.state, found.totals(), len(found.releases())
    view = [{"epsilon": each.epsilon, "delta": float(each.delta), "theorem": each.theorem} for each in totals]
    if state != AccountState.OPEN:
        warn(f"account {found.name!r} is {state}: it admits nothing any more, and its cap is no longer claimed")
    if as_json:
        told = {"receipt": receipt.document(), "state": str(state), "releases": releases, "totals": view}
        print_json(told)
        return
    many = f"{releases} release{'' if releases == 1 else 's'} so far"
    say(f"Entered in account {found.name!r}, entry {receipt.sequence}; these people: {many}")
    for total in totals:
        say(f"  together at most (ε, δ) = ({up(total.epsilon)}, {near(float(total.delta))}) by {total.theorem}")


def register(app: typer.Typer) -> None:
    """Add the command to the commands about ledgers."""
    app.command(cls=PlainCommand)(enter)
