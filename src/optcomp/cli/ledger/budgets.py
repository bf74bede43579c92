"""A ledger by its address, and a budget by its options: what the commands about ledgers share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import optcomp as oc
from optcomp.cli.failures import Complaint
from optcomp.cli.reading.addresses import given_address

if TYPE_CHECKING:
    from optcomp.interactive import Filter
    from optcomp.ledger import Ledger

_FILTERS = ("best", "sum", "adaptive")
"""What --filter takes."""

Address = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER",
        help="The file of the ledger, or a postgresql:// address; @FILE reads it from a file.",
        show_default=False,
        callback=given_address,
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the account.", show_default=False)]
Epsilon = Annotated[
    str | None, typer.Option(metavar="EPS", help="ε of everything that is ever told.", show_default=False)
]
Delta = Annotated[
    str | None, typer.Option(metavar="DELTA", help="δ of everything that is ever told.", show_default=False)
]
Rho = Annotated[str | None, typer.Option(metavar="RHO", help="ρ of zCDP, in the place of ε and δ.", show_default=False)]
FilterName = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="best|sum|adaptive",
        help="By which theorem requests are added up; by default best, or sum without a δ.",
        show_default=False,
    ),
]


@contextmanager
def opened(address: str, private: Path | None, witness: str | None = None, *, create: bool = False) -> Iterator[Ledger]:
    """A ledger; what is wrong with it names it and not an argument of the library."""
    from optcomp.ledger import Ledger

    names = {"private": "--private", "witness": "--witness", "head": "--head", "path": "OUT"}
    try:
        with Ledger(address, private=private, witness=witness, create=create) as ledger:
            yield ledger
    except oc.InvalidInput as error:
        if error.argument == "disjoint":
            problem = error.problem.replace("if not, True", "if not, --disjoint")
            raise Complaint(f"--disjoint or --overlaps: {problem}") from None
        if error.argument == "to":
            raise Complaint(f"the new budget {error.problem}") from None
        if error.argument in names:
            text = str(error).replace(error.argument, names[error.argument], 1)
            raise Complaint(text.replace("with take_as_spent it", "with --take-as-spent it")) from None
        raise


def budget_of(epsilon: str | None, delta: str | None, rho: str | None, filter: str | None) -> Filter:
    """The filter that these options ask for."""
    from optcomp.interactive import AdaptiveFilter, BestFilter, SumFilter, ZCDPFilter
    from optcomp.ledger import usual_filter

    if filter not in (None, *_FILTERS):
        raise Complaint(f"--filter: must be one of {', '.join(_FILTERS)}, got {filter!r}")
    if rho is not None:
        if epsilon is not None or delta is not None or filter is not None:
            raise Complaint("--rho: stands in the place of --epsilon, --delta and --filter")
        return ZCDPFilter(rho)
    if epsilon is None:
        raise Complaint("--epsilon: an account has a budget; give --epsilon, with --delta if there is one, or --rho")
    if filter is None:
        return usual_filter(epsilon, delta)
    pair = oc.ApproxDP(epsilon, 0 if delta is None else delta)
    if filter == "sum":
        return SumFilter(pair.epsilon, pair.delta)
    if not pair.delta:
        raise Complaint(f"--filter: {filter} needs a --delta above 0")
    made: type[AdaptiveFilter] | type[BestFilter] = AdaptiveFilter if filter == "adaptive" else BestFilter
    return made(pair.epsilon, pair.delta, Fraction(pair.delta) / 2)
