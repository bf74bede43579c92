"""The commands `plan FILE`, `plan check`, `plan release`, `plan schema`: accuracy and a look, then one release."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optcomp as oc
from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import OneLineGroup, PlainCommand
from optcomp.cli.plan.outputs import (
    BESIDE,
    REPORTS,
    check_apart,
    check_outputs,
    placed,
    say_reports,
    write,
    write_reports,
)
from optcomp.cli.progress import working
from optcomp.cli.reading.file_text import text_of
from optcomp.cli.writing.printing import print_json, say

if TYPE_CHECKING:
    from optcomp.planner import Document

_HELP = """Choose statistics, see how accurate they will be, split a privacy budget optimally, and release.

`optcomp plan FILE` is short for `optcomp plan show FILE`.

optcomp plan plan.yaml

optcomp plan check plan.yaml --data table.parquet

optcomp plan release plan.yaml --data table.parquet
"""


class PlanGroup(OneLineGroup):
    """A group whose first word is a file unless it is a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the command in front of a file."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            _check_word(args[0], list(self.commands))
            args = ["show", *args]
        return super().parse_args(ctx, _with_files(args))


_PLANS = (".yaml", ".yml", ".json")
"""How the name of a plan ends, which therefore is no name of a report."""

ADVICE = 1
"""The exit code of `plan check` if something may be wrong."""


def _with_files(args: list[str]) -> list[str]:
    """An option for a report without a file of its own, put beside the plan."""
    found = list[str]()
    for word, following in zip_longest(args, args[1:], fillvalue="-"):
        found.append(word)
        if word in REPORTS and (following.startswith("-") or following.lower().endswith(_PLANS)):
            found.append(BESIDE)
    return found


def _check_word(word: str, commands: list[str]) -> None:
    """A misspelled command is not a file."""
    close = difflib.get_close_matches(word, commands)
    if close and not Path(word).exists():
        raise Complaint(f"No such command or file {word!r}. Did you mean {close[0]!r}?")


plan_app = typer.Typer(
    name="plan", cls=PlanGroup, rich_markup_mode="rich", help=_HELP, subcommand_metavar="FILE | COMMAND [ARGS]..."
)


@plan_app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


_File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="The plan: YAML, or JSON if it is named so; - is standard input.", show_default=False
    ),
]
_Committed = Annotated[
    Path, typer.Argument(metavar="FILE", help="The plan: YAML, or JSON if it is named so.", show_default=False)
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Change an entry: mean_age.error=0.5, mean_age.weight=3, budget.epsilon=2, confidence=0.99. "
        "May be repeated, as may the next four.",
        show_default=False,
    ),
]
_Hold = Annotated[
    list[str] | None,
    typer.Option(
        "--hold",
        metavar="NAME",
        help="A statistic keeps the error that the plan in the file gives it.",
        show_default=False,
    ),
]
_Free = Annotated[
    list[str] | None,
    typer.Option("--free", metavar="NAME", help="A statistic is no longer held.", show_default=False),
]
_Drop = Annotated[
    list[str] | None, typer.Option("--drop", metavar="NAME", help="Leave a statistic out.", show_default=False)
]
_Add = Annotated[
    list[str] | None,
    typer.Option(
        "--add", metavar="ENTRY", help="One more statistic, such as 'ages: {histogram: age}'.", show_default=False
    ),
]
_Save = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the plan with these changes, without comments: YAML, or JSON if it is named so.",
        show_default=False,
    ),
]
_Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="[FILE]",
        help="Write a report, one page with its pictures inside; by default beside the plan.",
        show_default=False,
    ),
]
_Paper = Annotated[
    Path | None,
    typer.Option(
        "--pdf-ready",
        metavar="[FILE]",
        help="The same laid out for A4: print it to PDF from a browser.",
        show_default=False,
    ),
]
_Data = Annotated[Path, typer.Option(metavar="FILE", help="The table: CSV, TSV or Parquet.", show_default=False)]
_Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where the release is kept; by default FILE.release.json next to the plan.",
        show_default=False,
    ),
]


@plan_app.command(cls=PlainCommand)
def show(
    file: _File,
    sets: _Set = None,
    holds: _Hold = None,
    frees: _Free = None,
    drops: _Drop = None,
    adds: _Add = None,
    save: _Save = None,
    html: _Html = None,
    paper: _Paper = None,
    as_json: options.PlainJson = False,
) -> None:
    """How accurate each statistic of a plan will be, and what all of them cost together; no data are touched.

    optcomp plan plan.yaml

    optcomp plan plan.yaml --set mean_age.error=0.5 --hold regions --save plan2.yaml

    optcomp plan plan.yaml --add 'ages: {histogram: age}' --drop rows --json

    optcomp plan plan.yaml --html report.html

    optcomp plan plan.yaml --html
    """
    name = "standard input" if file == "-" else file
    beside = Path("plan" if file == "-" else file)
    html, paper = placed(html, beside, "--html"), placed(paper, beside, "--pdf-ready")
    given = {"--save": save, "--html": html, "--pdf-ready": paper}
    check_outputs(given)
    check_apart({"FILE": None if file == "-" or save == beside else beside, **given})
    with about(name):
        source = _source(file, name)
        if save is not None or any((sets, holds, frees, drops, adds)):
            source = _edited(source, (sets, holds, frees, drops, adds))
        document = _read(source)
    from optcomp.planner import make_plan  # what follows takes longer to import than a mistake takes to be found
    from optcomp.release import facts, growth

    with about(name), working("planning"):
        plan = make_plan(document)
        shown = facts(plan)
        grown = growth(plan) if html is not None or paper is not None else []
    if save is not None:
        from optcomp.planner import dumped

        write(save, dumped(source, as_json=save.suffix.lower() == ".json"), "--save")
    write_reports(shown, grown, None, html, paper)
    if as_json:
        print_json(shown)
        return
    from optcomp.cli.plan.tables import show_plan

    show_plan(shown)
    if save is not None:
        say(f"The changed plan is in {save}, without comments")
    say_reports(html, paper)


@plan_app.command(cls=PlainCommand)
def check(file: _Committed, data: _Data, as_json: options.PlainJson = False) -> None:
    """Count what a release would find in the data, before anything is spent: for whoever holds the data.

    The numbers are exact and not private: do not publish them. Nothing is written, and no budget is spent.

    Exit code 0 if nothing looks wrong, 1 if there is advice.

    optcomp plan check plan.yaml --data table.csv

    optcomp plan check plan.yaml --data table.parquet --json
    """
    with about(str(file)):
        document = _read(_source(str(file), str(file)))
    from optcomp.cli.plan.check import show_check
    from optcomp.release import preflight

    with about(str(file)), options_named({"source": "data"}), working("counting"):
        found = preflight(document, data)
    if as_json:
        print_json(found.as_dict())
    else:
        show_check(found)
    if found.advice:
        raise typer.Exit(ADVICE)


@plan_app.command(cls=PlainCommand)
def release(
    file: _Committed,
    data: _Data,
    out: _Out = None,
    html: _Html = None,
    paper: _Paper = None,
    as_json: options.PlainJson = False,
) -> None:
    """Ask all questions of a plan at once, with noise, and write the results; the budget is spent.

    The same plan and data again give the stored release, and spend nothing.

    The release may be published. Keep FILE.release.private.json, next to it, private with the data.

    optcomp plan release plan.yaml --data table.parquet

    optcomp plan release plan.yaml --data table.csv --out published.json --html report.html

    optcomp verify plan.release.json
    """
    target = out if out is not None else file.with_name(f"{file.stem}.release.json")
    html, paper = placed(html, target, "--html"), placed(paper, target, "--pdf-ready")
    given = {"--out": target, "--html": html, "--pdf-ready": paper}
    check_outputs(given)
    with about(str(file)):
        document = _read(_source(str(file), str(file)))
    from optcomp.cli.plan.tables import show_release
    from optcomp.release import NotReleased, Store, release_plan

    check_apart({"FILE": file, "--data": data, **given, "the private file": Store(target).private})
    own = about(str(file), NotReleased)
    with own, options_named({"source": "data"}), working("releasing", follow=False) as tell:
        view, fresh = release_plan(document, data, target, tell)
    write_reports(view["facts"], view["growth"], view, html, paper)
    if as_json:
        print_json(view)
        return
    show_release(view, fresh)
    kept = Store(target).private.name
    say(f"The release is in {target} and may be published; keep {kept} private, with the data")
    say_reports(html, paper)


@plan_app.command(cls=PlainCommand)
def schema() -> None:
    """The JSON Schema of plans: every entry with its meaning, for editors that complete and check.

    optcomp plan schema > plan-schema.json
    """
    from optcomp.planner import schema as made

    print_json(made())


_EDITS = {name: name for name in ("set", "hold", "free", "drop", "add")}
"""Edits are called like the options that ask for them."""


def _edited(source: Any, given: Sequence[list[str] | None]) -> Any:
    """The plan with the changes that were asked for; holding an error means planning first."""
    from optcomp.planner import Edits, edited

    with options_named(_EDITS), working("planning"):
        return edited(source, Edits(*(tuple(each or ()) for each in given)))


def _read(source: Any) -> Document:
    from optcomp.planner import read

    return read(source)


@contextmanager
def options_named(names: Mapping[str, str]) -> Iterator[None]:
    """Errors about these arguments are about options of these names."""
    try:
        yield
    except oc.InvalidInput as error:
        if error.argument in names:
            raise Complaint(str(error).replace(error.argument, f"--{names[error.argument]}", 1)) from None
        raise


@contextmanager
def about(name: str, *others: type[oc.OptcompError]) -> Iterator[None]:
    """Errors about a plan name its file, and its entries are not taken for options.

    Those that are not about the plan, `others` among them, speak for themselves.
    """
    apart: tuple[type[oc.OptcompError], ...] = (oc.MechanismFailed, oc.MissingExtra, *others)
    try:
        yield
    except apart:
        raise
    except oc.InvalidInput as error:
        own = error.argument == name or error.argument.startswith(f"{name}, line ")
        raise Complaint(str(error) if own else f"{name}: {error}") from None
    except oc.OptcompError as error:
        raise Complaint(f"{name}: {error}") from None


def _source(file: str, name: str) -> Any:
    from optcomp.planner import MOST_BYTES, is_data, parsed

    if is_data(file):
        raise Complaint(f"{name}: must be a plan in YAML or JSON, and is named like a file of data; data go to --data")
    if file != "-" and Path(file).is_file() and Path(file).stat().st_size > MOST_BYTES:
        raise Complaint(f"{name}: must have at most {MOST_BYTES} bytes")
    return parsed(text_of(file, name), name, as_json=file.lower().endswith(".json"))
