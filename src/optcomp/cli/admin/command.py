"""The commands `admin …`: a new home, its people, data sets and slots, and backups of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from optcomp.cli import options
from optcomp.cli.admin.budgets import register as register_budgets
from optcomp.cli.admin.homes import Home
from optcomp.cli.admin.log import register as register_log
from optcomp.cli.admin.people import register as register_people
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import OneLineGroup, PlainCommand
from optcomp.cli.progress import working
from optcomp.cli.reading.addresses import given_address
from optcomp.cli.writing.printing import print_json, say

_HELP = """Run a data centre: its people, its data sets, and the slots of their budgets.

A home is a folder with everything that belongs to a centre. Whoever may read it may change everything: these commands
ask for no token.

Exit code 0; 2 and one line on standard error for bad input.

optcomp admin init home --folder /data

optcomp admin people home ada --role analyst

optcomp admin register home people people.csv --declaration people.yaml --epsilon 3 --delta 1e-6

optcomp admin cut home people spring --slot ada=0.5 --delta 1e-7
"""

admin_app = typer.Typer(name="admin", cls=OneLineGroup, rich_markup_mode="rich", help=_HELP)


@admin_app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@admin_app.command(cls=PlainCommand)
def init(
    home: Home,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the centre is called.", show_default=False)
    ] = None,
    owner: Annotated[str, typer.Option(metavar="NAME", help="The first owner.")] = "owner",
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The ledger; by default a file in HOME. @FILE reads the address from a file.",
            show_default=False,
            callback=given_address,
        ),
    ] = None,
    private: options.Private = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The database of the centre; by default a file in HOME. @FILE reads the address from a file.",
            show_default=False,
            callback=given_address,
        ),
    ] = None,
    folders: Annotated[
        list[Path] | None,
        typer.Option(
            "--folder", metavar="FOLDER", help="Owners register files below it. May be repeated.", show_default=False
        ),
    ] = None,
    databases: Annotated[
        list[str] | None,
        typer.Option(
            "--listed",
            metavar="ADDRESS",
            help="A database whose tables owners may register. @FILE reads the address from a file. May be repeated.",
            show_default=False,
            callback=given_address,
        ),
    ] = None,
    public: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="URL", help="Where browsers find it: https://center.example.org.", show_default=False
        ),
    ] = None,
    two_persons: Annotated[
        bool, typer.Option("--two-persons", help="Another owner must confirm what changes a budget.")
    ] = False,
    as_json: options.PlainJson = False,
) -> None:
    """Make the home of a new centre, and its first owner; the owner's token is printed once.

    optcomp admin init home --folder /data

    optcomp admin init home --ledger postgresql://me@host/ledger --database @center.address
    """
    from optcomp.center import People, Settings, Store
    from optcomp.ledger import Ledger

    given: dict[str, Any] = {"name": name, "ledger": ledger, "private": private and private.resolve()}
    given |= {"database": database, "databases": databases or None, "two_persons": two_persons or None}
    given |= {"address": public}
    given["folders"] = [folder.resolve() for folder in folders or ()] or None
    settings = Settings.write(home, **{key: value for key, value in given.items() if value is not None})
    try:
        with Store(settings) as store, Ledger(settings.ledger, **settings.beside_ledger):
            people = People(store)
            if people.all():
                raise Complaint("--database: is that of a centre that is there already")
            people.add(owner, "owner", by=None)
            token = people.token(owner, by=owner)
    except BaseException:
        shutil.rmtree(settings.home)
        raise
    if as_json:
        print_json({"home": str(settings.home), "owner": owner, "token": token})
        return
    say(f"Made {settings.home}. The token of {owner!r} is shown here and never again:")
    print(token)


@admin_app.command(cls=PlainCommand)
def backup(
    home: Home,
    to: Annotated[Path, typer.Argument(metavar="TO", help="The new folder of the backup.", show_default=False)],
    snapshots: Annotated[
        bool, typer.Option("--snapshots/--no-snapshots", help="Whether the snapshots are in it: they hold the data.")
    ] = True,
    as_json: options.PlainJson = False,
) -> None:
    """Copy a home into a new folder, while the centre goes on. Never copy its databases by other means.

    The ledger's keys are not in it: back up the private folder apart. What is in PostgreSQL is backed up by pg_dump.

    optcomp admin backup home /backup/home-2026-05-01
    """
    from optcomp.center import back_up

    with working("copying"):
        found = back_up(home, to, snapshots=snapshots)
    if as_json:
        print_json(found)
        return
    say(f"Wrote {found['path']}; its ledger has {found['sequence']:,} entries, up to head {found['head']}")
    for each in found["not_copied"]:
        say(f"! The {each} is in PostgreSQL, and not in this backup: use pg_dump")
    say("The keys in the private folder are not in it: back up keys.json apart")


@admin_app.command(cls=PlainCommand)
def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="The folder of a backup.", show_default=False)],
    home: Home,
    as_json: options.PlainJson = False,
) -> None:
    """A new home from a backup. Its ledger debits nothing until `ledger adopt`, with the newest head that anybody has.

    optcomp admin restore /backup/home-2026-05-01 home

    optcomp ledger adopt home/center.ledger --head 317f4ad46bae2585…
    """
    from optcomp.center import restore as restored

    with working("copying"):
        found = restored(backup, home)
    if as_json:
        print_json(found)
        return
    say(f"Made {found['home']}. Put keys.json back into {found['private']}, then adopt the ledger:")
    say(f"optcomp ledger adopt {found['ledger']} --head HEX")


for _register in (register_people, register_budgets, register_log):
    _register(admin_app)
