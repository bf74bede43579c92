"""The commands `admin register|renew|lower|propose|cut|seats|hand-on`: data sets, and slots of their budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from optcomp.cli import options
from optcomp.cli.admin.homes import By, Dataset, Home, carried, opened, print_rows
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import PlainCommand
from optcomp.cli.progress import working
from optcomp.cli.reading.addresses import given_address
from optcomp.cli.writing.printing import print_json, say

_Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file below a folder of the settings, or the address of a listed database, without a password.",
        show_default=False,
        callback=given_address,
    ),
]
_Declaration = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What is declared of the table: columns, person, rows_per_person, …, in YAML or JSON; or a plan.",
        show_default=False,
    ),
]
_Table = Annotated[str | None, typer.Option(metavar="NAME", help="The table in the database.", show_default=False)]
_Multiline = Annotated[bool, typer.Option("--multiline", help="Quoted cells of a CSV file may hold line breaks.")]
_Batch = Annotated[str, typer.Argument(metavar="BATCH", help="A name for the batch.", show_default=False)]
_Epsilon = Annotated[str, typer.Option(metavar="EPS", help="ε of all slots together.", show_default=False)]
_Delta = Annotated[str, typer.Option(metavar="DELTA", help="δ of all slots together.", show_default=False)]

_BadCells = Annotated[
    str | None,
    typer.Option(
        metavar="missing|refuse",
        help="What happens to cells that cannot be read: they count as missing, or nothing is registered. By "
        "default as a plan says; with a declaration they count as missing.",
        show_default=False,
    ),
]


def register_dataset(
    home: Home,
    name: Dataset,
    source: _Source,
    declaration: _Declaration = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="SOURCE is a snapshot, which has its declaration in it.")
    ] = False,
    table: _Table = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="For people.", show_default=False)] = "",
    account: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The account that pays; by default that of DATASET.", show_default=False),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="EPS", help="ε of everything that is ever told.", show_default=False)
    ] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="DELTA", help="δ of everything that is ever told.", show_default=False)
    ] = None,
    disjoint: Annotated[
        bool | None,
        typer.Option(
            "--disjoint/--overlaps",
            help="Whether nobody of this account can be in another account of the ledger: you must know.",
            show_default=False,
        ),
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Answers that analysts share cost others nothing.")] = False,
    bad_cells: _BadCells = None,
    multiline: _Multiline = False,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Prepare a snapshot of a table, make its declaration public, and open the account that pays for answers.

    People who may be in two data sets share an account: name it by --account, without a budget.

    optcomp admin register home people /data/people.csv --declaration people.yaml --epsilon 3 --delta 1e-6

    optcomp admin register home old /data/old.snapshot --snapshot --epsilon 1 --disjoint
    """
    if snapshot == (declaration is not None):
        raise Complaint("--declaration: give a declaration, or --snapshot for a SOURCE that has its own")
    with opened(home) as centre:

        def made() -> dict[str, Any]:
            given: dict[str, Any] = {"title": title, "account": account, "epsilon": epsilon, "delta": delta}
            given |= {"disjoint": disjoint, "free": free, "by": centre.acting(by)}
            with working("preparing"):
                if declaration is None:
                    found = centre.catalogue.register_snapshot(name, source, **given)
                else:
                    given |= {**_declaration(declaration), "table": table}
                    given |= {"bad_cells": bad_cells} if bad_cells is not None else {}
                    given |= {"multiline": True} if multiline else {}
                    found = centre.catalogue.register(name, source, **given)
            budget = str(centre.catalogue.account(found).budget)
            return {**found.document(), "account": found.account, "snapshot": str(found.snapshot), "budget": budget}

        carried(as_json, made, lambda view: f"Registered {name!r}, paid by {view['account']!r}: {view['budget']}", home)


def _declaration(path: Path) -> dict[str, Any]:
    """A declaration; or the table of a plan, with how the plan says that the source is read."""
    from optcomp.cli.reading.plan_file import plan_of, plan_text

    found = plan_text(str(path), str(path))
    if not isinstance(found, dict) or "statistics" not in found:
        return {"declaration": found}
    plan = plan_of(found)
    said = plan.reading.arguments
    how = {name: said[name] for name in ("dialect", "rename", "multiline")}
    return {"declaration": plan.table, "bad_cells": plan.bad_cells, **how}


def renew(
    home: Home,
    name: Dataset,
    source: _Source,
    table: _Table = None,
    multiline: _Multiline = False,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """A new version of a data set, under the same declaration and account. Sessions that were opened keep theirs.

    This is also how somebody is erased: register the table without them. Answers that were told stay told.

    optcomp admin renew home people /data/people-2027.csv
    """
    with opened(home) as centre:

        def made() -> dict[str, Any]:
            with working("preparing"):
                found = centre.catalogue.renew(name, source, table=table, multiline=multiline, by=centre.acting(by))
            return {**found.document(), "snapshot": str(found.snapshot)}

        carried(as_json, made, lambda view: f"{name!r} has version {view['version']} now", home)


def lower(
    home: Home,
    name: Dataset,
    epsilon: Annotated[str, typer.Option(metavar="EPS", help="The new ε.", show_default=False)],
    delta: Annotated[str | None, typer.Option(metavar="DELTA", help="The new δ.", show_default=False)] = None,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Lower the budget of the account of a data set; see `ledger lower`.

    optcomp admin lower home people --epsilon 2 --delta 1e-6
    """
    with opened(home) as centre:

        def made() -> dict[str, Any]:
            centre.catalogue.lower(name, epsilon=epsilon, delta=delta, by=centre.acting(by))
            account = centre.catalogue.account(centre.catalogue.dataset(name))
            return {"dataset": name, "account": account.name, "budget": str(account.budget)}

        carried(as_json, made, lambda view: f"Account {view['account']!r} has another budget: {view['budget']}", home)


def propose(
    home: Home,
    name: Dataset,
    epsilon: _Epsilon,
    delta: _Delta,
    analysts: Annotated[
        list[str] | None,
        typer.Option(
            "--analyst",
            metavar="NAME[=WEIGHT]",
            help="Who gets a slot; by default every analyst. May be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: options.PlainJson = False,
) -> None:
    """Slots as large as optimal composition allows, and what is gained over splitting; nothing is spent.

    For few slots splitting is the best there is, and the gain is none.

    optcomp admin propose home people --epsilon 1 --delta 1e-7

    optcomp admin propose home people --epsilon 1 --delta 1e-7 --analyst ada=2 --analyst ben
    """
    with opened(home) as centre:
        everybody = [each.name for each in centre.people.all() if each.role == "analyst"]
        weights = dict.fromkeys(everybody, "1") if not analysts else dict(map(_weight, analysts))
        found = centre.catalogue.propose(name, weights, epsilon=epsilon, delta=delta)
    if as_json:
        print_json(found.document())
        return
    rows = [[each, found.slots[each][0], found.split[each][0]] for each in found.slots]
    print_rows(["analyst", "ε of the slot", "ε by splitting"], rows)
    say(found.words)
    say(f"Together they come to ε = {found.composed:.10g} at δ = {found.delta} by {found.theorem}")
    if not found.fits:
        say("The account cannot pay for this batch now")


def _weight(words: str) -> tuple[str, str]:
    name, _, weight = words.rpartition("=") if "=" in words else (words, "", "1")
    return name, weight


def cut(
    home: Home,
    name: Dataset,
    batch: _Batch,
    slots: Annotated[
        list[str],
        typer.Option("--slot", metavar="NAME=EPS[,DELTA]", help="A slot. May be repeated.", show_default=False),
    ],
    delta: _Delta,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="EPS", help="ε of the batch; by default what the slots come to.", show_default=False),
    ] = None,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Cut a batch of slots from the account of a data set, certified, and give each to an analyst.

    The same batch again costs nothing. What is in a slot is never refunded.

    optcomp admin cut home people spring --slot ada=0.5 --slot ben=0.5 --delta 1e-7
    """
    shares = dict(map(_share, slots))
    if len(shares) < len(slots):
        raise Complaint("--slot: an analyst has one slot of a batch")
    with opened(home) as centre:

        def made() -> dict[str, Any]:
            by_whom = centre.acting(by)
            return centre.catalogue.cut(name, batch, shares, delta=delta, epsilon=epsilon, by=by_whom)

        def words(view: Any) -> str:
            total = f"ε = {view['composed']:.10g} at δ = {delta} by {view['theorem']}"
            many = len(view["slots"])
            cut_now = "Cut 1 slot; it comes to" if many == 1 else f"Cut {many} slots; together they come to"
            return f"{cut_now} {total}, however {'it is' if many == 1 else 'they are'} asked (Lyu22-1)"

        carried(as_json, made, words, home)


def _share(words: str) -> tuple[str, tuple[str, ...]]:
    name, sign, share = words.rpartition("=")
    pair = tuple(share.split(","))
    if not sign or len(pair) > 2:
        raise Complaint(f"--slot: must be NAME=EPS or NAME=EPS,DELTA, got {words!r}")
    return name, pair if len(pair) == 2 else (pair[0], "0")


def seats(home: Home, as_json: options.PlainJson = False) -> None:
    """Whose slots there are, and what is left in them.

    optcomp admin seats home
    """
    with opened(home) as centre:
        found = [{**seat.document(), **_slot(centre, seat)} for seat in centre.catalogue.seats()]
    if as_json:
        print_json({"seats": found})
        return
    names = ["number", "data set", "batch", "analyst", "slot", "state"]
    keys = ["id", "dataset", "batch", "analyst", "share", "state"]
    print_rows(names, [[each[key] for key in keys] for each in found])


def _slot(centre: Any, seat: Any) -> dict[str, Any]:
    from optcomp.interactive import in_words

    slot = centre.catalogue.account(seat.dataset).slot(seat.slot)
    state = "suspended" if seat.suspended else str(slot.state)
    return {"share": in_words(slot.guarantee), "epsilon": str(slot.epsilon), "delta": str(slot.delta), "state": state}


def hand_on(
    home: Home,
    seat: Annotated[int, typer.Argument(metavar="SEAT", help="Its number, by `admin seats`.", show_default=False)],
    analyst: Annotated[str, typer.Argument(metavar="ANALYST", help="Who has it from now on.", show_default=False)],
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Give a seat in which nothing was asked to somebody else; it costs nothing.

    optcomp admin hand-on home 3 ben
    """
    with opened(home) as centre:

        def made() -> dict[str, Any]:
            return centre.catalogue.hand_on(seat, analyst, by=centre.acting(by)).document()

        carried(as_json, made, lambda view: f"Seat {seat} is that of {view['analyst']!r} now", home)


def register(app: typer.Typer) -> None:
    """Add the commands to those for whoever runs a centre."""
    app.command("register", cls=PlainCommand)(register_dataset)
    for command in (renew, lower, propose, cut, seats):
        app.command(cls=PlainCommand)(command)
    app.command("hand-on", cls=PlainCommand)(hand_on)
