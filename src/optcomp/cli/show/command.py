"""The command `show`: mechanisms as they are, by their privacy loss, and the privacy curve of all together."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from optcomp.cli import options
from optcomp.cli.compose import growth_plot
from optcomp.cli.options import gathered
from optcomp.cli.progress import working
from optcomp.cli.reading.mechanism_syntax import number
from optcomp.cli.show import panels, privacy_curve
from optcomp.cli.show.mechanism_facts import ORDERS, WORST, Portrait
from optcomp.cli.show.privacy_curve import DELTAS, EPSILONS, Curve
from optcomp.cli.writing.digits import mechanisms, shown_down, shown_near, shown_up
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import console, listed, print_json, print_table, say

_Items = Annotated[list[str] | None, typer.Argument(metavar="ITEM", help=options.ITEM, show_default=False)]
_Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Draw the loss of the first mechanism, the hockey-stick curve of one and of all, and the trade-off "
        "curve: .png, .svg or .pdf.",
    ),
]


def show(items: _Items = None, plot: _Plot = None, as_json: options.Json = False) -> None:
    """The privacy loss of mechanisms: mean, spread, largest value, and the certified curve δ(ε) of all together.

    optcomp show 'gaussian(sigma=4)x100'

    optcomp show 'laplace(scale=10)x20' 0.1x5 --plot loss.png

    optcomp show 'subsampled(gaussian(sigma=1), rate=0.01)x1000' --json
    """
    counts = gathered(items, None, None)
    if plot is not None:
        growth_plot.check_target(plot)
    portraits = [Portrait(item, count) for item, count in counts.items()]
    started = time.monotonic()
    with working("the curve", follow=False) as tell:
        curve = privacy_curve.table(counts, tell)
        if plot is not None:
            seconds = (time.monotonic() - started) / (len(DELTAS) + len(EPSILONS))
            panels.draw(portraits, counts, curve, panels.affordable_points(seconds), plot, tell)
    if as_json:
        print_json(_view(portraits, curve))
        return
    for portrait in portraits:
        print_table(listed(_rows(portrait)))
    _show_curve(curve)
    for line in _remarks(portraits, curve, plot):
        say(line)
    if plot is not None:
        console().print(f"The plot is in {plot}", markup=False, soft_wrap=True)


def _view(portraits: Sequence[Portrait], curve: Curve) -> dict[str, object]:
    return {
        "mechanisms": [portrait.as_dict() for portrait in portraits],
        "count": curve.epsilon_at[0].count,
        "epsilon_at": [bound.as_dict() for bound in curve.epsilon_at],
        "delta_at": [bound.as_dict() for bound in curve.delta_at],
    }


def _rows(portrait: Portrait) -> Iterator[tuple[str, str]]:
    yield "mechanism", f"{portrait.text} × {portrait.count:,}" if portrait.count != 1 else portrait.text
    if portrait.worst:
        yield "loss of", WORST
    for direction, loss in portrait.directions:
        if direction:
            yield "direction", "a person removed" if direction == "remove" else "a person added"
        yield "mean loss", shown_near(loss.mean)
        yield "variance", f"{shown_near(loss.variance)}  (standard deviation {shown_near(math.sqrt(loss.variance))})"
        yield "largest loss", "unbounded" if math.isinf(loss.most) else shown_up(loss.most)
        yield "infinite loss", f"with probability {shown_near(loss.infinite)}" if loss.infinite else "never"
    if portrait.loss is None:
        yield "Rényi divergence", _renyi(portrait)
    yield "pure ε", "none" if portrait.pure is None else number(portrait.pure)


def _renyi(portrait: Portrait) -> str:
    """The bound at a few orders, those of which nothing is known left out."""
    known = ((order, portrait.renyi(order)) for order in ORDERS)
    return ", ".join(f"D_{order:g} ≤ {shown_near(value)}" for order, value in known if math.isfinite(value)) or "none"


def _show_curve(curve: Curve) -> None:
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


def _remarks(portraits: Sequence[Portrait], curve: Curve, plot: Path | None) -> Iterator[str]:
    for note, places in curve.notes.items():
        yield f"note on {', '.join(places)}: {note}"
    notions = [portrait.text for portrait in portraits if portrait.loss is None]
    if notions:
        yield f"note: only a bound on Rényi divergences is known of {', '.join(notions)}: no loss, no trade-off curve"
    if plot is not None and len(portraits) > 1:
        yield f"note: the panels of one mechanism show {portraits[0].text}"
