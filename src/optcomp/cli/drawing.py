"""What all pictures share: colours, resolution, and matplotlib, which comes with an extra."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from optcomp.cli.failures import Complaint
from optcomp.extras import needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers tell apart
BLACK = "#000000"
ORANGE = "#E69F00"
GREEN = "#009E73"
BLUE = "#0072B2"
SKY = "#56B4E9"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"

SUFFIXES = (".png", ".svg", ".pdf")
"""Pictures that can be written without a display and read everywhere."""

FEWEST_POINTS = 8
"""A curve with fewer points would hide its bends."""

_SECONDS = 10.0
"""About how long all points of a curve may take together."""

_DPI = 150
"""Sharp on a page, and a file of some hundred kilobytes."""


def check_target(path: Path) -> None:
    """Refuse a picture that could not be drawn or written, before the work and not after it."""
    if path.suffix.lower() not in SUFFIXES:
        raise Complaint(f"--plot: the file must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise Complaint(f"--plot: {str(path.parent)!r} is not a directory")
    check_plots()


def check_plots() -> None:
    """Refuse to go on where nothing can be drawn."""
    needed("matplotlib", "plots")


def new_figure(inches: tuple[float, float]) -> Figure:
    """An empty figure."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # no word about building its cache
    figure: Figure = needed("matplotlib.figure", "plots").Figure(figsize=inches, dpi=_DPI, layout="constrained")
    return figure


def save_plot(figure: Figure, path: Path) -> None:
    """Write the file of `--plot`."""
    try:
        figure.savefig(path)
    except OSError as error:
        raise Complaint(f"--plot: {path}: {error.strerror or error}") from None


def affordable_points(seconds: float, most: int) -> int:
    """As many points of a curve as may be computed when each takes this long."""
    return max(FEWEST_POINTS, min(most, int(_SECONDS / max(seconds, 1e-9))))
