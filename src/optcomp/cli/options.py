"""The arguments and options that commands share, with what help says about them."""

from __future__ import annotations

from typing import Annotated

import typer

import optcomp as oc
from optcomp.cli.failures import Refused
from optcomp.cli.files import entries_from
from optcomp.cli.formats import Format
from optcomp.cli.items import entry_of
from optcomp.cli.mechanisms import Counts, tally
from optcomp.cli.question import Question


def _starting(names: list[str], start: str) -> list[str]:
    return [name for name in names if name.startswith(start)]


def complete_method(incomplete: str) -> list[str]:
    """Methods for shell completion."""
    return _starting(list(oc.METHODS), incomplete)


def complete_theorem(incomplete: str) -> list[str]:
    """Theorem ids for shell completion."""
    return _starting([record.id for record in oc.known_theorems()], incomplete)


Items = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ITEM",
        help="Mechanisms: ε or ε,δ, then xN for N of them. 0.1x50 is fifty with ε = 0.1; 0.2,1e-9x50 fifty with "
        "ε = 0.2 and δ = 1e-9; 1/3 is one. Numbers are taken exactly as written.",
        show_default=False,
    ),
]
From = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Read mechanisms from a file with columns (or keys) epsilon, delta, count: CSV, JSON or YAML; "
        "- is standard input. May be repeated, and combined with items.",
        show_default=False,
    ),
]
FileFormat = Annotated[
    Format | None,
    typer.Option("--format", help="How the file is written; otherwise told by its name or content."),
]
Delta = Annotated[
    str | None,
    typer.Option("--delta", metavar="δ", help="Total δ, a probability in [0, 1), e.g. 1e-6: asks for the least ε."),
]
Epsilon = Annotated[
    str | None,
    typer.Option("--epsilon", metavar="ε", help="Total ε, in nats (natural logarithm), e.g. 3: asks for the least δ."),
]
Adaptive = Annotated[
    bool,
    typer.Option("--adaptive", help="The ε, δ were chosen after seeing answers; only some theorems cover that."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object; an infinite value is null.")]


def gathered(items: list[str] | None, files: list[str] | None, format: Format | None) -> Counts:
    """Every mechanism from the command line and from files."""
    if not items and not files:
        raise Refused("nothing to compose: give items such as 0.1x50, or --from FILE")
    if files and files.count("-") > 1:
        raise Refused("--from: standard input can be read only once")
    entries = [entry_of(item) for item in items or ()]
    return tally([*entries, *(entry for file in files or () for entry in entries_from(file, format))])


def asked(delta: str | None, epsilon: str | None, adaptive: bool) -> Question:
    """The question behind the options."""
    return Question(delta, epsilon, "adaptive" if adaptive else "fixed")
