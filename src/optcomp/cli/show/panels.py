"""`show --plot`: the loss of one mechanism, the hockey-stick curve of one and of all, the trade-off curve."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import optcomp as oc
from optcomp.cli.drawing import BLACK, BLUE, FEWEST_POINTS, VERMILION, new_figure, save_plot
from optcomp.cli.progress import Tell
from optcomp.cli.show import privacy_curve
from optcomp.cli.show.loss_histogram import LossHistogram, loss_histogram
from optcomp.cli.show.mechanism_facts import MechanismFacts
from optcomp.cli.show.privacy_curve import PrivacyCurve, height
from optcomp.cli.writing.digits import mechanisms
from optcomp.reading import MechanismCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 25
"""Of the curve of all: enough for a smooth line, and each is a composition."""

_SECONDS = 10.0
"""About how long each curve of one mechanism may take."""

_COLOURS, _LINES = (BLUE, VERMILION), ("-", "--")
"""Of the two directions."""

_TITLE = 48
"""Letters in a line of a title."""

_ORDERS = tuple(1.05 * 1.1**step for step in range(45))
"""Rényi orders from just above 1 to 70, evenly spaced on a logarithmic axis."""

_FLOOR = 1e-3 * privacy_curve.LEAST_DELTA
"""A curve that falls to zero leaves the panel downwards."""

Values = list[float]


def draw(
    facts: Sequence[MechanismFacts], counts: MechanismCounts, curve: PrivacyCurve, points: int, path: Path, tell: Tell
) -> None:
    """Compute the curves and write the figure; panels about one mechanism show the first."""
    first = facts[0]
    alone = sum(counts.values()) == 1 and first.loss is not None
    bounds = [] if alone else privacy_curve.points(counts, curve.end, points, tell)
    width = 3 if first.loss is not None else 2
    figure = new_figure((4.5 * width, 4.5))
    axes = [figure.add_subplot(1, width, place) for place in range(1, width + 1)]
    if first.loss is not None:
        _draw_loss(axes[0], first, tell)
        _draw_tradeoff(axes[2], first, tell)
    else:
        _draw_renyi(axes[0], first)
    _draw_hockey_stick(axes[1], first, bounds, curve.end, tell)
    save_plot(figure, path)


def _draw_loss(axes: Axes, shown: MechanismFacts, tell: Tell) -> None:
    tell("the loss", 0.0)
    spreads = {name: loss_histogram(loss) for name, loss in shown.directions}
    bars = any(mass for found in spreads.values() for mass in found.masses)
    stems = axes.twinx() if bars and any(found.atoms for found in spreads.values()) else axes
    for (name, found), colour, line in zip(spreads.items(), _COLOURS, _LINES, strict=False):
        _draw_spread(axes, stems, found, name, colour, line)
    axes.set_title(_named("Privacy loss", shown), fontsize="medium")
    axes.set_xlabel("loss" + (f" (infinite with probability {_leak(shown):.3g})" if _leak(shown) else ""))
    if bars:
        axes.set_ylabel("density, exact in every bin")
        axes.set_ylim(bottom=0)
    if stems is not axes or not bars:
        stems.set_ylabel("probability of an atom")
        stems.set_ylim(bottom=0)
    if len(spreads) > 1:
        axes.legend(fontsize="small")


def _draw_spread(axes: Axes, stems: Axes, found: LossHistogram, name: str, colour: str, line: str) -> None:
    label = f"a person {name}{'d' if name.endswith('e') else 'ed'}" if name else None
    if any(found.masses):
        axes.stairs(found.densities, found.edges, fill=True, color=colour, alpha=0.2)
        axes.stairs(found.densities, found.edges, color=colour, linestyle=line, label=label)
    if found.atoms:
        places, weights = zip(*found.atoms, strict=True)
        stems.vlines(places, 0, weights, color=colour, linestyle=line, linewidth=2)
        stems.plot(places, weights, "o", color=colour, markersize=5, label=None if any(found.masses) else label)


def _leak(shown: MechanismFacts) -> float:
    return shown.loss.infinite if shown.loss is not None else 0.0


def _named(what: str, shown: MechanismFacts) -> str:
    worst = "worst case of " if shown.worst else ""
    return "\n".join([what, *textwrap.wrap(worst + shown.text, _TITLE)])


def _draw_renyi(axes: Axes, shown: MechanismFacts) -> None:
    values = [shown.renyi(order) for order in _ORDERS]
    axes.plot(_ORDERS, [value if math.isfinite(value) else math.nan for value in values], color=_COLOURS[0])
    axes.set_title(_named("Rényi divergence, at most", shown), fontsize="medium")
    axes.set_xlabel("order α")
    axes.set_ylabel("D_α ≤")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.grid(color="0.9")


def _draw_hockey_stick(axes: Axes, shown: MechanismFacts, bounds: Sequence[oc.Bound], end: float, tell: Tell) -> None:
    for (name, loss), colour, line in zip(shown.directions, _COLOURS, _LINES, strict=False):
        places = _affordable(loss.delta, 0.0, end, 200)
        values = _asked(loss.delta, places, "the curve of one", tell)
        label = f"one, {'removing' if name == 'remove' else 'adding'} a person" if name else "one"
        axes.plot(places, [max(value, _FLOOR) for value in values], color=colour, linestyle=line, label=label)
    if bounds:
        places = [bound.epsilon for bound in bounds]
        lower, upper = [max(bound.lower, _FLOOR) for bound in bounds], [height(bound.upper) for bound in bounds]
        marker = "o" if len(bounds) == FEWEST_POINTS else ""
        axes.plot(places, upper, color=BLACK, marker=marker, label=f"{mechanisms(bounds[0].count)}, proved from above")
        axes.fill_between(places, lower, upper, color="0.8", label="and from below")
    axes.set_title("Hockey-stick curve", fontsize="medium")
    axes.set_xlabel("ε")
    axes.set_ylabel("δ(ε)")
    axes.set_yscale("log")
    axes.set_ylim(bottom=privacy_curve.LEAST_DELTA)
    axes.grid(color="0.9")
    axes.legend(fontsize="small")


def _draw_tradeoff(axes: Axes, shown: MechanismFacts, tell: Tell) -> None:
    for (name, loss), colour, line in zip(shown.directions, _COLOURS, _LINES, strict=False):
        places = _affordable(loss.tradeoff, 0.0, 1.0, 101)
        values = _asked(loss.tradeoff, places, "the trade-off", tell)
        label = f"{'removing' if name == 'remove' else 'adding'} a person" if name else "one mechanism"
        axes.plot(places, values, color=colour, linestyle=line, label=label)
    axes.plot([0, 1], [1, 0], color="0.5", linestyle=":", label="1 - α: nothing is told")
    axes.set_title(_named("Trade-off curve", shown), fontsize="medium")
    axes.set_xlabel("type I error α")
    axes.set_ylabel("least type II error f(α)")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.grid(color="0.9")
    axes.legend(fontsize="small")


def _affordable(ask: Callable[[float], float], low: float, high: float, most: int) -> Values:
    """Equally spaced places, fewer where an answer takes long."""
    started = time.monotonic()
    ask(0.5 * (low + high))
    seconds = time.monotonic() - started
    number = max(9, min(most, int(_SECONDS / max(seconds, 1e-9))))
    return [low + (high - low) * place / (number - 1) for place in range(number)]


def _asked(ask: Callable[[float], float], places: Values, what: str, tell: Tell) -> Values:
    values = []
    for number, place in enumerate(places):
        tell(what, number / len(places))
        values.append(ask(place))
    return values
