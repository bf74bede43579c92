"""Sums of laws on a grid by fast Fourier transforms, every error bounded; `docs/grids.md` has the proof."""

from optcomp.numerics.grids.answers import Found, Way
from optcomp.numerics.grids.kept_grid import KeptGrid
from optcomp.numerics.grids.search import way_for

__all__ = ["Found", "KeptGrid", "Way", "way_for"]
