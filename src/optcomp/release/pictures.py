"""The pictures of a report, as SVG to be put into a page: no fonts, no scripts, nothing to be fetched.

Text of a plan is never taken for markup or mathematics.  Colours are Okabe and Ito's, which colour-blind readers tell
apart; shapes differ too, for print in grey.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS, MOST_CELLS = 60, 32
"""What a picture of one page has room for."""
_BLUE, _ORANGE, _GREEN, _GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
_STYLE: Any = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
}
_LONGEST = 40
"""Characters of a label beside a bar."""
_NO_METADATA = ("Creator", "Date", "Format", "Type")
Entry = Mapping[str, Any]


def errors(statistics: Sequence[Entry]) -> str:
    """Relative errors, and what they would be by sums of ε and by sums of ρ."""
    shown = statistics[:MOST_BARS]

    def draw(axes: Axes) -> None:
        places = range(len(shown))
        others = {kind: _others(shown, kind) for kind in _OTHERS}
        for i, value in (each for found in others.values() for each in found):
            axes.plot([100 * shown[i]["relative"], 100 * value], [i, i], color="0.75", linewidth=1.2, zorder=1)
        for kind, found in others.items():
            name, marker, color = _OTHERS[kind]
            dots: Any = {"linestyle": "none", "marker": marker, "markerfacecolor": "white", "color": color}
            if found:
                axes.plot([100 * value for _, value in found], [i for i, _ in found], label=name, **dots)
        for held, marker, label in ((False, "D", "this plan"), (True, "s", "this plan, held")):
            own = [i for i in places if bool(shown[i]["held"]) is held]
            values = [100 * shown[i]["relative"] for i in own]
            if own:
                axes.plot(values, own, linestyle="none", marker=marker, color=_GREY if held else _BLUE, label=label)
        _name(axes, shown)
        compared = [value for found in others.values() for _, value in found]
        _scale(axes, [entry["relative"] for entry in shown] + compared)
        axes.set_xlabel("error at the plan's confidence, in per cent of rows or range")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.9 / _height(shown)), ncols=2, frameon=False)

    return _svg("errors", (7.2, _height(shown) + 0.7), draw)


def shares(statistics: Sequence[Entry]) -> str:
    """How much of the total each statistic is to blame for."""
    shown = statistics[:MOST_BARS]

    def draw(axes: Axes) -> None:
        values = [100 * entry["share"] for entry in shown]
        colours = [_GREY if entry["held"] else _BLUE for entry in shown]
        axes.barh(range(len(shown)), values, color=colours, height=0.62)
        for i, value in enumerate(values):
            axes.text(value, i, f" {value:.1f} %", va="center", fontsize=8)
        _name(axes, shown)
        axes.set_xlabel("share of the total, in per cent (held ones grey)")
        axes.set_xlim(0, 1.12 * max(values))

    return _svg("shares", (7.2, _height(shown)), draw)


_SUMS = {"sum": ("sums of ε", "o", _ORANGE), "rho": ("sums of ρ, as ε", "^", _GREEN)}


def growth(points: Sequence[Entry], symbol: str, limit: float) -> str:
    """How the total grows as statistics are added in the order of the plan."""
    from matplotlib.ticker import MaxNLocator

    def draw(axes: Axes) -> None:
        counts = [point["count"] for point in points]
        for kind, (name, marker, color) in _SUMS.items():
            sums = [point[kind] for point in points if point.get(kind) is not None]
            if len(sums) == len(points):
                axes.plot(counts, sums, color=color, linestyle="--", marker=marker, markersize=4, label=name)
        totals = [point["total"] for point in points]
        label = "optimal composition" if symbol == "ε" else "sum"
        axes.plot(counts, totals, color=_BLUE, marker="D", markersize=4, label=label)
        axes.axhline(limit, color=_GREY, linestyle=":", label="budget")
        axes.set_xlabel("number of statistics, in the order of the plan")
        axes.set_ylabel(f"{symbol} of the total")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(frameon=False)
        axes.grid(color="0.92")

    return _svg("growth", (7.2, 3.2), draw)


def cells(name: str, entries: Sequence[Entry], confidence: float) -> str:
    """The noisy values of many cells, with their intervals."""
    shown = entries[:MOST_CELLS]

    def draw(axes: Axes) -> None:
        values = [float(entry["value"]) for entry in shown]
        axes.barh(range(len(shown)), values, color="#56B4E9", height=0.62)
        for i, entry in enumerate(shown):
            if entry.get("interval") and None not in entry["interval"]:
                axes.plot(entry["interval"], [i, i], color="black", linewidth=1.1)
        _name(axes, [{"name": label(entry["cell"])} for entry in shown])
        axes.set_xlabel(f"value, and where the true one lies ({100 * confidence:g} %, all together)")

    return _svg(name, (7.2, _height(shown)), draw)


def label(cell: object) -> str:
    """The name of a cell, for people: true and false as in a plan, and no more digits of a number than matter."""
    if isinstance(cell, list | tuple):
        return ", ".join(map(label, cell))
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"{cell:.10g}" if isinstance(cell, float) else str(cell)


def printable(text: str, longest: int = _LONGEST) -> str:
    """Without control characters, and not endlessly long."""
    line = "".join(char if char.isprintable() else "�" for char in text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


_OTHERS = {
    "naive_error": ("Laplace noise, sums of ε", "o", _ORANGE),
    "rho_error": ("the same noise, sums of ρ", "^", _GREEN),
}


def _others(shown: Sequence[Entry], kind: str) -> list[tuple[int, float]]:
    """The relative errors of another split, where there are any, with their places."""
    found = [(i, entry) for i, entry in enumerate(shown) if entry.get(kind) is not None and not entry["held"]]
    return [(i, entry[kind] * entry["relative"] / entry["error"] if entry["error"] else 0.0) for i, entry in found]


def _height(shown: Sequence[Entry]) -> float:
    return 0.8 + 0.27 * len(shown)


def _name(axes: Axes, shown: Sequence[Entry]) -> None:
    axes.set_yticks(range(len(shown)), [printable(str(entry["name"])) for entry in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.grid(axis="x", color="0.92")
    axes.set_axisbelow(True)


def _scale(axes: Axes, values: Sequence[float]) -> None:
    """From zero, or logarithmic where values are far apart."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if not min(values) > 0 or max(values) < 20 * min(values):
        axes.set_xlim(left=0)
        return
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _svg(name: str, size: tuple[float, float], draw: Callable[[Axes], None]) -> str:
    """A picture as one element, whose names nobody else on the page has."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # no word about building its cache
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    target = io.StringIO()
    with rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(target, format="svg", metadata=dict.fromkeys(_NO_METADATA))
    text = target.getvalue()
    own = re.sub(r"[^a-z0-9]", "-", name.lower())
    text = re.sub(r'\bid="', f'id="{own}-', text[text.index("<svg") :])
    return re.sub(r'(url\(|href=")#', rf"\1#{own}-", text).strip()
