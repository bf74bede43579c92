"""The arguments and options that commands share, with what help says about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import optcomp as oc
from optcomp.cli.failures import Refused
from optcomp.cli.reading.entries import Counts, tally
from optcomp.cli.reading.files import entries_from
from optcomp.cli.reading.formats import Format
from optcomp.cli.reading.items import entry_of
from optcomp.cli.reading.mechanism_syntax import KINDS
from optcomp.cli.reading.numbers import plain, real_number, whole_number
from optcomp.cli.target import Question
from optcomp.composition.entry import MOST_BITS


def _starting(names: list[str], start: str) -> list[str]:
    return [name for name in names if name.startswith(start)]


def complete_method(incomplete: str) -> list[str]:
    """Methods for shell completion."""
    return _starting(list(oc.METHODS), incomplete)


def complete_format(incomplete: str) -> list[str]:
    """File formats for shell completion."""
    return _starting(list(Format), incomplete)


def complete_theorem(incomplete: str) -> list[str]:
    """Theorem ids for shell completion."""
    return _starting([record.id for record in oc.known_theorems()], incomplete)


ITEM = (
    "Mechanisms: ε or ε,δ, then xN for N of them. 0.1x50 is fifty with ε = 0.1; 0.2,1e-9x50 fifty with ε = 0.2 and "
    "δ = 1e-9; 1/3 is one. Or a mechanism, in quotes: 'gaussian(sigma=4)x100', 'subsampled(laplace(10), rate=0.01)'; "
    f"also {', '.join(kind.name for kind in KINDS if kind.name not in ('gaussian', 'laplace', 'subsampled'))}. "
    "Numbers are taken exactly as written."
)

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
    typer.Option(metavar="METHOD", help=f"One of {', '.join(oc.METHODS)}.", autocompletion=complete_method),
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


@dataclass(frozen=True)
class Wish:
    """How the answer is to be computed, read from the options."""

    method: str = "auto"
    eta: str | None = None
    rtol: float | None = None
    bits: int | None = None


def wished(method: str, eta: str | None, rtol: str | None, bits: str | None) -> Wish:
    """The options of `compose`, as numbers."""
    return Wish(
        method,
        None if eta is None else plain(eta, "--eta"),
        None if rtol is None else real_number(rtol, "--rtol"),
        None if bits is None else whole_number(bits, "--bits", 1, MOST_BITS),
    )


def _format(text: str | None) -> Format | None:
    if text is not None and text.lower() not in list(Format):
        raise Refused(f"--format: must be one of {', '.join(Format)}, got {text!r}")
    return None if text is None else Format(text.lower())


def gathered(items: list[str] | None, files: list[str] | None, format: str | None) -> Counts:
    """Every mechanism from the command line and from files."""
    if not items and not files:
        raise Refused("nothing to compose: give items such as 0.1x50, or --from FILE")
    if files and files.count("-") > 1:
        raise Refused("--from: standard input can be read only once")
    chosen = _format(format)
    entries = [entry_of(item) for item in items or ()]
    return tally([*entries, *(entry for file in files or () for entry in entries_from(file, chosen))])


def asked(delta: str | None, epsilon: str | None, adaptive: bool) -> Question:
    """The question behind the options."""
    return Question(delta, epsilon, "adaptive" if adaptive else "fixed")
