"""The commands `admin changes|confirm|wishes`: what happened, what waits, and what analysts ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from optcomp.cli import options
from optcomp.cli.admin.homes import By, Home, carried, moment, opened, print_rows
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import PlainCommand
from optcomp.cli.writing.printing import print_json, say

_SHOWN = 60
"""Letters of a detail on a line; --json shows all."""


def changes(home: Home, as_json: options.PlainJson = False) -> None:
    """Every change, and who made it; and what waits for a second owner.

    optcomp admin changes home
    """
    with opened(home) as centre:
        found, waiting = centre.changes.all(), centre.changes.waiting()
    if as_json:
        print_json({"changes": [each.document() for each in found], "waiting": [each.document() for each in waiting]})
        return
    rows = [[each.id, moment(each.at), each.who, each.second or "", each.what, _short(each.detail)] for each in found]
    print_rows(["number", "at (UTC)", "who", "second", "what", "detail"], rows)
    for each in waiting:
        say(f"Number {each.id} waits for a second owner: {each.kind}, asked by {each.who!r}: {_short(each.detail)}")


def _short(detail: object) -> str:
    words = json.dumps(detail, ensure_ascii=False)
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"


def confirm(
    home: Home,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="What waits, by its number.", show_default=False)],
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """Confirm a change that another owner asked for; it is made now.

    optcomp admin confirm home 3 --by otto
    """
    with opened(home) as centre:
        acts = centre.acting(by)
        carried(
            as_json,
            lambda: centre.catalogue.confirm(number, by=acts),
            _confirmed,
            home,
        )


def _confirmed(view: Mapping[str, Any]) -> str:
    done = f"Done: {view['kind']}, asked by {view['who']!r} and confirmed by {view['second']!r}"
    if view["kind"] != "make token":
        return done
    return f"{done}. The token of {view['made']['person']!r} is shown here and never again:\n{view['made']['token']}"


def wishes(
    home: Home,
    number: Annotated[
        int | None, typer.Argument(metavar="[NUMBER]", help="A wish that is decided.", show_default=False)
    ] = None,
    grant: Annotated[
        bool | None, typer.Option("--grant/--decline", help="The decision about it.", show_default=False)
    ] = None,
    by: By = None,
    as_json: options.PlainJson = False,
) -> None:
    """What analysts ask for; with a NUMBER, the decision about one wish. More is given by `admin cut`.

    optcomp admin wishes home

    optcomp admin wishes home 3 --decline
    """
    if (number is None) != (grant is None):
        raise Complaint("--grant or --decline: is the decision about one wish; give its NUMBER with it")
    with opened(home) as centre:
        if number is not None:
            centre.catalogue.decide(number, bool(grant), by=centre.acting(by))
        found = centre.catalogue.wishes()
    if as_json:
        print_json({"wishes": [each.document() for each in found]})
    else:
        rows = [[each.id, moment(each.at), each.analyst, each.seat, each.state, each.words] for each in found]
        print_rows(["number", "at (UTC)", "analyst", "seat", "state", "words"], rows)


def register(app: typer.Typer) -> None:
    """Add the commands to those for whoever runs a centre."""
    for command in (changes, confirm, wishes):
        app.command(cls=PlainCommand)(command)
