"""The command `show`: mechanisms as they are, by their privacy loss, and the privacy curve of all together."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from optcomp.cli import options
from optcomp.cli.progress import working
from optcomp.cli.writing.printing import console, print_json

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
    from optcomp.cli.drawing import affordable_points, check_target
    from optcomp.cli.given import gathered
    from optcomp.cli.show import panels, privacy_curve
    from optcomp.cli.show.mechanism_facts import MechanismFacts
    from optcomp.cli.show.tables import show_all, view_of

    counts = gathered(items, None, None, "nothing to show: give items such as 0.1x50 or 'gaussian(sigma=4)'")
    if plot is not None:
        check_target(plot)
    facts = [MechanismFacts(item, count) for item, count in counts.items()]
    started = time.monotonic()
    with working("the curve", follow=False) as tell:
        curve = privacy_curve.table(counts, tell)
        if plot is not None:
            seconds = (time.monotonic() - started) / len(list(curve.points))
            panels.draw(facts, counts, curve, affordable_points(seconds, panels.MOST_POINTS), plot, tell)
    if as_json:
        print_json(view_of(facts, curve))
        return
    show_all(facts, curve, drawn=plot is not None)
    if plot is not None:
        console().print(f"The plot is in {plot}", markup=False, soft_wrap=True)
