"""The privacy loss of mechanisms, and the curve of all together, as tables on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from optcomp.cli.show.mechanism_facts import ORDERS, WORST, MechanismFacts
from optcomp.cli.show.privacy_curve import PrivacyCurve
from optcomp.cli.writing.digits import mechanisms, shown_near
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import listed, print_table, say
from optcomp.composition import shown_down, shown_up
from optcomp.reading import number


def view_of(facts: Sequence[MechanismFacts], curve: PrivacyCurve) -> dict[str, object]:
    """A JSON-ready view."""
    return {
        "mechanisms": [each.as_dict() for each in facts],
        "count": curve.epsilon_at[0].count,
        "epsilon_at": [bound.as_dict() for bound in curve.epsilon_at],
        "delta_at": [bound.as_dict() for bound in curve.delta_at],
    }


def show_all(facts: Sequence[MechanismFacts], curve: PrivacyCurve, *, drawn: bool) -> None:
    """A table for each mechanism, the curve of all, and remarks; `drawn` is whether there is a plot too."""
    for each in facts:
        print_table(listed(_rows(each)))
    _show_curve(curve)
    for line in _remarks(facts, curve, drawn):
        say(line)


def _rows(each: MechanismFacts) -> Iterator[tuple[str, str]]:
    yield "mechanism", f"{each.text} × {each.count:,}" if each.count != 1 else each.text
    if each.worst:
        yield "loss of", WORST
    for direction, loss in each.directions:
        if direction:
            yield "direction", "a person removed" if direction == "remove" else "a person added"
        beyond, of = ("∞, finite part ", "variance, finite part") if loss.infinite else ("", "variance")
        yield "mean loss", beyond + shown_near(loss.mean)
        yield of, f"{shown_near(loss.variance)}  (standard deviation {shown_near(math.sqrt(loss.variance))})"
        yield "largest loss", beyond + ("unbounded" if math.isinf(loss.most) else shown_up(loss.most))
        yield "infinite loss", f"with probability {shown_near(loss.infinite)}" if loss.infinite else "never"
    if each.loss is None:
        yield "Rényi divergence", _renyi(each)
    yield "pure ε", "none" if each.pure is None else number(each.pure)


def _renyi(each: MechanismFacts) -> str:
    """The bound at a few orders, those of which nothing is known left out."""
    known = ((order, each.renyi(order)) for order in ORDERS)
    return ", ".join(f"D_{order:g} ≤ {shown_near(value)}" for order, value in known if math.isfinite(value)) or "none"


def _show_curve(curve: PrivacyCurve) -> None:
    say(f"The curve of {mechanisms(curve.epsilon_at[0].count)}:")
    table = Table(box=box.ROUNDED)
    for heading in ("given", "at most", "proved at least"):
        table.add_column(writable(heading), justify="right", no_wrap=True)
    table.add_column("theorem", no_wrap=True)
    for given, bound in curve.points:
        symbol = "ε" if bound.quantity == "epsilon" else "δ"
        sides = f"{symbol} ≤ {shown_up(bound.upper)}", f"{symbol} ≥ {shown_down(bound.lower)}"
        last = bound is curve.epsilon_at[-1]
        table.add_row(*map(writable, (given, *sides, bound.theorem)), end_section=last)
    print_table(table)


def _remarks(facts: Sequence[MechanismFacts], curve: PrivacyCurve, drawn: bool) -> Iterator[str]:
    for note, places in curve.notes.items():
        yield f"note on {', '.join(places)}: {note}"
    notions = [each.text for each in facts if each.loss is None]
    if notions:
        yield f"note: only a bound on Rényi divergences is known of {', '.join(notions)}: no loss, no trade-off curve"
    if drawn and len(facts) > 1:
        yield f"note: the panels of one mechanism show {facts[0].text}"
