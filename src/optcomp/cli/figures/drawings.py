"""How the figures of the papers and of the proofs are drawn; their numbers come from `optcomp.proofs.figures`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcomp.cli.drawing import BLACK, BLUE, GREEN, PURPLE, SKY, VERMILION
from optcomp.cli.figures.files import Picture
from optcomp.proofs import figures as data

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_THEOREMS: dict[str, tuple[str, str, object]] = {
    "basic": ("Summing (DKMMN06)", PURPLE, ":"),
    "advanced": ("DRV (DRV10)", GREEN, "-."),
    "kov": ("KOV bound (KOV15-3.4)", BLUE, "--"),
    "optimal": ("Optimal (KOV15-3.3)", BLACK, "-"),
}
"""A label, a colour, and a line of its own for printing in grey."""

_SYMBOL_COLOURS = {0: VERMILION, 1: BLUE, 2: SKY, 3: PURPLE}
"""By symbol: the leaks stand out, what both sides say is in shades of one colour."""


def _draw_lecture(figure: Figure, rows: Sequence[data.LecturePoint]) -> None:
    axes = figure.add_subplot()
    sizes = [row.k for row in rows]
    axes.plot(sizes, [row.basic for row in rows], color=BLUE, label="basic composition kε (DKMMN06)")
    axes.plot(sizes, [row.strong for row in rows], color=VERMILION, ls="--", label="strong composition (Smith25-1.1)")
    axes.plot(sizes, [row.optimal for row in rows], color=BLACK, ls=":", label="the least there is (KOV15-3.3)")
    title = f"k mechanisms with ε = {data.LECTURE_EPSILON}, at δ = {data.LECTURE_DELTA}"
    _dress(axes, title, "number of mechanisms k", "total ε")
    axes.set_xlim(0, sizes[-1])
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small")


def _draw_panels(figure: Figure, rows: Sequence[data.PanelPoint]) -> None:
    (many, few), (deltas, relative) = figure.subplots(2, 2)
    usual = "$δ_g = 2^{-25}$"
    for axes, panel in ((many, "many"), (few, "few"), (deltas, "deltas"), (relative, "relative")):
        _curves(axes, [row for row in rows if row.panel == panel])
    epsilons = ", ".join(data.EPSILONS)
    _dress(many, f"ε = {epsilons} (from below), {usual}", "k", "$ε_g$")
    _dress(few, f"the same for k ≤ {data.FEW[-1]}", "k", "$ε_g$")
    _dress(deltas, f"ε = {data.USUAL_EPSILON}, $δ_g = 2^{{-10}}, 2^{{-25}}, 2^{{-40}}$ (from below)", "k", "$ε_g$")
    _dress(relative, f"relative to optimal, {usual}", "k", "$ε_g$ / optimal $ε_g$")
    many.set_yscale("log")
    few.set_yscale("log")
    deltas.set_ylim(0, 1.2 * max(row.advanced for row in rows if row.panel == "deltas"))
    relative.set_ylim(0.95, 2)
    handles, labels = many.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small")


def _curves(axes: Axes, rows: Sequence[data.PanelPoint]) -> None:
    """Four lines for each setting of the panel, the same four each time."""
    settings = list(dict.fromkeys((row.epsilon, row.delta) for row in rows))
    for place, setting in enumerate(settings):
        line = [row for row in rows if (row.epsilon, row.delta) == setting]
        for theorem, (label, colour, style) in _THEOREMS.items():
            heights = [getattr(row, theorem) for row in line]
            sizes = [row.k for row in line]
            shown = label if not place else None
            axes.plot(sizes, heights, color=colour, linestyle=style, linewidth=1 + 0.5 * place, label=shown)


def _draw_concurrent(figure: Figure, rows: Sequence[data.ConcurrentPoint]) -> None:
    axes = figure.add_subplot()
    low, high = (f"OptComp, each mechanism held to ε = ln {float(level):g}" for level in data.LEVELS)
    lines = (
        ("optcomp_high", high, GREEN, "-."),
        ("optcomp_low", low, BLUE, "--"),
        ("interleaved", "worst adversary, interleaved", BLACK, "-"),
        ("one_by_one", "worst adversary, one conversation after the other", VERMILION, ":"),
    )
    for name, label, colour, style in lines:
        heights = [float(getattr(row, name)) for row in rows]
        axes.plot([row.epsilon for row in rows], heights, color=colour, linestyle=style, linewidth=2, label=label)
    _dress(axes, "Two interactive mechanisms of two questions each", "ε", "δ")
    axes.set_xlim(0, rows[-1].epsilon)
    axes.legend(fontsize="small")


def _draw_simulation(figure: Figure, rows: Sequence[data.SimulationPart]) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    odds = data.SIMULATED_ODDS
    _stack(left, rows, "x_part", (0, 1, 2))
    _stack(right, rows, "y_part", (3, 2, 1))
    for axes, other, name in ((left, data.SIMULATED_Y, "Y"), (right, data.SIMULATED_X, "X")):
        edges = [outcome - 0.5 for outcome in other] + [len(other) - 0.5]
        heights = [float(odds * other[outcome]) for outcome in other]
        axes.stairs(heights, edges, color="0.3", linestyle="--", linewidth=1.3, label=f"$e^ε$ · {name}")
        axes.legend(fontsize="small", loc="upper right" if axes is left else "upper left")
    height = 1.25 * max(float(p) for law in (data.SIMULATED_X, data.SIMULATED_Y) for _, p in law.items())
    _dress(left, f"X by what leaky randomized response says, $e^ε$ = {odds}", "value", "probability")
    _dress(right, f"Y likewise, δ = {Fraction(data.simulated_delta())}", "value", "")
    left.set_ylim(0, height)


def _stack(axes: Axes, rows: Sequence[data.SimulationPart], part: str, symbols: Sequence[int]) -> None:
    """Bars of the parts on top of each other, the leak uppermost."""
    outcomes = list(dict.fromkeys(row.outcome for row in rows))
    base = [0.0] * len(outcomes)
    for symbol in reversed(symbols):
        heights = [float(getattr(row, part)) for row in rows if row.symbol == symbol]
        label = f"“{data.SYMBOLS[symbol]}”"
        axes.bar(outcomes, heights, bottom=base, width=1.0, color=_SYMBOL_COLOURS[symbol], edgecolor="w", label=label)
        base = [below + height for below, height in zip(base, heights, strict=True)]


def _dress(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)


PICTURES: dict[str, Picture[Any]] = {
    picture.name: picture
    for picture in (
        Picture("lecture-1", data.lecture_points, len(data.LECTURE_SIZES), _draw_lecture),
        Picture("murtagh-vadhan-2", data.panel_points, data.PANEL_POINTS, _draw_panels, (10, 8)),
        Picture("concurrent", data.concurrent_points, len(data.ODDS), _draw_concurrent),
        Picture(
            "simulation", data.simulation_parts, len(data.SYMBOLS) * len(data.SIMULATED_X), _draw_simulation, (9, 4.5)
        ),
    )
}
"""The figures that need no arguments, in the order in which they are drawn."""
