"""The commands `plan FILE`, `plan init`, `plan release`, `plan commit`, `plan schema`: accuracy, then one release."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import typer

from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import OneLineGroup, PlainCommand
from optcomp.cli.plan.beginning import begin
from optcomp.cli.plan.outputs import (
    BESIDE,
    BESIDES,
    check_apart,
    check_outputs,
    placed,
    say_reports,
    write,
    write_reports,
)
from optcomp.cli.progress import working
from optcomp.cli.reading.addresses import given_address
from optcomp.cli.reading.plan_file import about, options_named, plan_in, plan_of, plan_text
from optcomp.cli.writing.printing import print_json, say, warn

_HELP = """Choose statistics, see how accurate they will be, split a privacy budget optimally, and release.

`optcomp plan FILE` is short for `optcomp plan show FILE`.

optcomp plan plan.yaml

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


def _with_files(args: list[str]) -> list[str]:
    """An option for a report without a file of its own, put beside the plan."""
    found = list[str]()
    for word, following in zip_longest(args, args[1:], fillvalue="-"):
        found.append(word)
        if word in BESIDES and (following.startswith("-") or following.lower().endswith(_PLANS)):
            found.append(BESIDE)
    return found


def _check_word(word: str, commands: list[str]) -> None:
    """A misspelled command is not a file, and neither is one that has another name."""
    if word == "check" and not Path(word).exists():
        raise Complaint("`optcomp plan check` is `optcomp data check` now, with the same arguments")
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
_Csv = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="[FILE]",
        help="Write all released numbers as a table; by default beside the release.",
        show_default=False,
    ),
]
_Data = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="The table: a file such as CSV, Parquet or Excel, or a snapshot that `optcomp data prepare` wrote.",
        show_default=False,
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where the release is kept; by default FILE.release.json next to the plan.",
        show_default=False,
    ),
]
_Ledger = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The ledger that is debited: a file, or a postgresql:// address; by default DATA.ledger beside the data. "
        "@FILE reads it from a file.",
        show_default=False,
        callback=given_address,
    ),
]
_Account = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The account of the ledger: the same for all tables about the same people; by default as the plan says.",
        show_default=False,
    ),
]
_Plans = Annotated[
    list[Path], typer.Argument(metavar="PLAN...", help="Plans: YAML, or JSON if named so.", show_default=False)
]
_About = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The data, beside which the ledger lies.", show_default=False)
]
_Delta = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="δ of all plans together; by default twice the sum of theirs."),
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
        source = plan_text(file, name)
        if save is not None or any((sets, holds, frees, drops, adds)):
            source = _edited(source, (sets, holds, frees, drops, adds))
        document = plan_of(source)
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


plan_app.command(name="init", cls=PlainCommand)(begin)


@plan_app.command(cls=PlainCommand)
def release(
    file: _Committed,
    data: _Data,
    out: _Out = None,
    ledger: _Ledger = None,
    account: _Account = None,
    private: options.Private = None,
    witness: options.Witness = None,
    html: _Html = None,
    paper: _Paper = None,
    table: _Csv = None,
    as_json: options.PlainJson = False,
) -> None:
    """Ask all questions of a plan at once, with noise, and write the results; the budget is spent.

    The same plan and data again give the stored release, and spend nothing.

    After an interruption run the same command again: it is finished without being paid again.

    It is debited from an account of a ledger, by default DATA.ledger beside the data: keep it with them.

    What was released about the same people so far is told on standard error.

    Past the cap of the account nothing is released, written or spent.

    A table is prepared first; if something in it cannot be read, nothing is spent or written, and the exit code is 2.

    The release may be published. Keep FILE.release.private.json, next to it, private with the data.

    optcomp plan release plan.yaml --data table.parquet

    optcomp plan release plan.yaml --data table.csv --out published.json --html report.html

    optcomp plan release plan.yaml --data table.snapshot

    optcomp verify plan.release.json
    """
    target = out if out is not None else file.with_name(f"{file.stem}.release.json")
    html, paper = placed(html, target, "--html"), placed(paper, target, "--pdf-ready")
    table = placed(table, target, "--csv")
    given = {"--out": target, "--html": html, "--pdf-ready": paper, "--csv": table}
    check_outputs(given)
    document = plan_in(file)
    from optcomp.cli.plan.tables import show_release
    from optcomp.release import NotReleased, Store, csv_text, release_plan

    check_apart({"FILE": file, "--data": data, **given, "the private file": Store(target).private})
    own, notices = about(str(file), NotReleased), list[str]()
    named = options_named({"source": "data", **{name: name for name in ("ledger", "account", "private", "witness")}})
    with own, named, working("releasing", follow=False) as tell:
        paying: Any = {"ledger": ledger, "account": account, "private": private, "witness": witness}
        paying["notice"] = notices.append
        view, fresh = release_plan(document, data, target, tell, **paying)
    write_reports(view["facts"], view["growth"], view, html, paper)
    if table is not None:
        write(table, csv_text(view), "--csv")
    for sentence in notices:
        warn(sentence)
    if as_json:
        print_json(view | {"notices": notices})
        return
    show_release(view, fresh)
    kept = Store(target).private.name
    say(f"The release is in {target} and may be published; keep {kept} private, with the data")
    say_reports(html, paper)
    if table is not None:
        say(f"The numbers are in {table}")


@plan_app.command(cls=PlainCommand)
def commit(
    files: _Plans,
    data: _About = None,
    ledger: _Ledger = None,
    account: _Account = None,
    private: options.Private = None,
    witness: options.Witness = None,
    delta: _Delta = None,
    as_json: options.PlainJson = False,
) -> None:
    """Enter plans into the ledger before the first answer of any of them: together they cost less than one by one.

    Their totals are composed optimally and debited now.

    Each plan is then released from its slot, and not debited again.

    The plans can no longer be changed: another digest is another plan.

    optcomp plan commit first.yaml second.yaml --data table.parquet

    optcomp plan release first.yaml --data table.parquet
    """
    if data is None and ledger is None:
        raise Complaint("give --data, beside which the ledger lies, or --ledger")
    documents = {str(file): plan_in(file) for file in files}
    from optcomp.release import Payer, commit_plans, up

    first, notices = next(iter(documents.values())), list[str]()
    named = options_named({name: name for name in ("delta", "ledger", "account", "private", "witness")})
    with (
        about(str(files[0])),
        named,
        working("committing"),
        Payer(first, data, ledger, account, notices.append, private, witness) as payer,
    ):
        paying = payer.open(None)
        bound, slots = commit_plans(paying, list(documents.values()), delta=delta)
        name = paying.name
    for sentence in notices:
        warn(sentence)
    view = {"epsilon": bound.upper, "delta": bound.delta, "theorem": bound.theorem, "account": name}
    told = {slot.name: {"epsilon": float(slot.epsilon), "delta": float(slot.delta)} for slot in slots.values()}
    if as_json:
        print_json(view | {"slots": told, "notices": notices})
        return
    total = f"ε = {up(bound.upper, 10)} at δ = {bound.delta:g} by {bound.theorem}"
    say(f"Committed {len(told)} plans in account {name!r}, and debited {total}")
    for slot, share in told.items():
        say(f"  {slot}: ε = {up(share['epsilon'], 10)}, δ = {share['delta']:g}")


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
