"""The arguments and options that commands share, with what help says about them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

import optcomp as oc
from optcomp.cli import help_texts
from optcomp.cli.reading.addresses import given_address
from optcomp.reading import Format


def starting(names: Iterable[str], start: str) -> list[str]:
    """Names for shell completion."""
    return [name for name in names if name.startswith(start)]


def complete_method(incomplete: str) -> list[str]:
    """Methods for shell completion."""
    return starting(oc.METHODS, incomplete)


def complete_format(incomplete: str) -> list[str]:
    """File formats for shell completion."""
    return starting(Format, incomplete)


ITEM = (
    "Mechanisms: ε or ε,δ, then xN for N of them. 0.1x50 is fifty with ε = 0.1; 0.2,1e-9x50 fifty with ε = 0.2 and "
    "δ = 1e-9; 1/3 is one. Or a mechanism, in quotes: 'gaussian(sigma=4)x100', 'subsampled(laplace(10), rate=0.01)'; "
    f"also {help_texts.MECHANISMS}. Numbers are taken exactly as written."
)
"""What help says about mechanisms on the command line."""

Items = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ITEM",
        help=ITEM,
        show_default=False,
    ),
]
From = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Read mechanisms from a file with columns (or keys) epsilon, delta, count, or mechanism, count: CSV, "
        "JSON or YAML; - is standard input. Other columns may hold text. May be repeated, and combined with items.",
        show_default=False,
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="|".join(Format),
        help="The format of the file; by default told from its name or content.",
        autocompletion=complete_format,
    ),
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
PlainJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Method = Annotated[
    str,
    typer.Option(metavar="METHOD", help=f"One of {help_texts.METHODS}.", autocompletion=complete_method),
]
Eta = Annotated[
    str | None,
    typer.Option(metavar="η", help="Accuracy of murtagh-vadhan in ε, between 0 and 1; default 0.01."),
]
Rtol = Annotated[
    str | None,
    typer.Option(metavar="RTOL", help="Refuse an answer whose bracket is relatively wider than this, e.g. 1e-9."),
]
Bits = Annotated[
    str | None,
    typer.Option(metavar="BITS", help="Print the exact answer between decimals at most 2^-BITS apart."),
]
Certificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the claim to a file that `optcomp verify` proves again, another way."),
]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw every quick theorem against the number of mechanisms: .png, .svg or .pdf."),
]
Private = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The private folder with the keys and the anchor; by default LEDGER.private beside a file.",
        show_default=False,
    ),
]
Witness = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER|POSTGRESQL",
        envvar="OPTCOMP_WITNESS",
        callback=given_address,
        help="A folder on other storage, or a second database, that records every debit; debits need it. Or @FILE.",
        show_default=False,
        show_envvar=True,
    ),
]
