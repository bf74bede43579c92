"""The commands `admin people`, `admin token` and `admin suspend`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from optcomp.cli import options
from optcomp.cli.admin.homes import By, Home, carried, moment, opened, print_rows
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import PlainCommand
from optcomp.cli.writing.printing import print_json

_Somebody = Annotated[str, typer.Argument(metavar="NAME", help="The name of the person.", show_default=False)]


def people(
    home: Home,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Somebody who is added.", show_default=False)
    ] = None,
    role: Annotated[
        str | None, typer.Option(metavar="owner|analyst|auditor", help="Of whoever is added.", show_default=False)
    ] = None,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Everybody who is known to the centre; with a NAME and a --role, add somebody.

    optcomp admin people home

    optcomp admin people home ada --role analyst
    """
    with opened(home) as centre:
        if name is None:
            found = [
                {"name": each.name, "role": each.role, "suspended": each.suspended} for each in centre.people.all()
            ]
            if as_json:
                print_json({"people": found})
            else:
                print_rows(["name", "role", "suspended"], [_person(each) for each in found])
            return
        if role is None:
            raise Complaint("--role: must be owner, analyst or auditor")

        def added() -> dict[str, Any]:
            centre.people.add(name, role, by=centre.acting(by))
            return {"name": name, "role": role}

        carried(as_json, added, lambda _: f"Added {role} {name!r}; `admin token` makes a token", home)


def _person(about: dict[str, Any]) -> list[str]:
    return [about["name"], about["role"], "yes" if about["suspended"] else ""]


def token(
    home: Home,
    name: _Somebody,
    days: Annotated[float, typer.Option(metavar="DAYS", help="How long the token is good for.")] = 90,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--account",
            "--dataset",
            metavar="ACCOUNT",
            help="An account of the ledger that the token is for; by default all. May be repeated.",
            show_default=False,
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show the tokens that there are; make none.")] = False,
    revoke: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="End a token, by its number; make none.", show_default=False)
    ] = None,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Make a token, by which somebody is known. It is printed once: only its hash is kept.

    optcomp admin token home ada

    optcomp admin token home ada --days 7 --account people

    optcomp admin token home ada --list
    """
    with opened(home) as centre:
        if listed:
            found = centre.people.tokens(name)
            if as_json:
                print_json({"tokens": [each.document() for each in found]})
                return
            rows = [
                [each.id, _for(each), moment(each.made), _by(each), moment(each.expires), _state(each)]
                for each in found
            ]
            print_rows(["number", "for", "made (UTC)", "by", "expires (UTC)", "state"], rows)
            return
        if revoke is not None:
            if revoke not in {each.id for each in centre.people.tokens(name)}:
                raise Complaint(f"--revoke: {revoke} is no token of {name!r}")
            centre.people.revoke(revoke, by=centre.acting(by))
            carried(as_json, lambda: {"revoked": revoke}, lambda _: f"Token {revoke} is ended", home)
            return
        made = centre.people.token(name, days=days, scope=scope, by=centre.acting(by))
        if as_json:
            print_json({"name": name, "token": made})
        else:
            print(made)


def _for(view: Any) -> str:
    return "all" if view.scope is None else ", ".join(view.scope)


def _by(view: Any) -> str:
    return ", ".join(filter(None, (view.by, view.second)))


def _state(view: Any) -> str:
    return "revoked" if view.revoked else "expired" if view.expired else "good"


def suspend(
    home: Home,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Who is suspended.", show_default=False)] = None,
    seat: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="A seat, in the place of a person.", show_default=False)
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="DATASET", help="A data set, with all its seats.", show_default=False)
    ] = None,
    lift: Annotated[bool, typer.Option("--lift", help="End the suspension.")] = False,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Suspend somebody, one seat or a data set, at once; or let them go on. Nothing is refunded.

    Where two persons are wanted, an owner is suspended over HTTP by two owners, and this command lifts it alone.

    optcomp admin suspend home ada

    optcomp admin suspend home --seat 3 --lift
    """
    if sum(each is not None for each in (name, seat, dataset)) != 1:
        raise Complaint("give one of NAME, --seat NUMBER and --dataset DATASET")
    with opened(home) as centre:

        def done() -> dict[str, Any]:
            acts = centre.acting(by)
            if name is not None:
                centre.people.suspend(name, not lift, by=acts)
            elif seat is not None:
                centre.catalogue.suspend_seat(seat, not lift, by=acts)
            elif dataset is not None:
                centre.catalogue.close(dataset, not lift, by=acts)
            return {"name": name, "seat": seat, "dataset": dataset, "suspended": not lift}

        who = f"Seat {seat}" if seat is not None else repr(name or dataset)
        carried(as_json, done, lambda _: f"{who} {'goes on' if lift else 'is suspended'}", home)


def register(app: typer.Typer) -> None:
    """Add the commands to those for whoever runs a centre."""
    for command in (people, token, suspend):
        app.command(cls=PlainCommand)(command)
