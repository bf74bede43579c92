"""A figure as files: its numbers as CSV, its picture as PNG and SVG."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from optcomp.cli.drawing import new_figure
from optcomp.cli.failures import Complaint
from optcomp.cli.progress import Tell
from optcomp.extras import needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = TypeVar("Row")


@dataclass(frozen=True)
class Picture(Generic[Row]):
    """A figure by its name: how its rows are computed, how many there are, how one is written and all are drawn."""

    name: str
    rows: Callable[[], Iterator[Row]]
    size: int
    draw: Callable[[Figure, Sequence[Row]], None]
    shape: tuple[float, float] = (8, 5)
    """Inches."""
    cells: Callable[[Any], Mapping[str, object]] = dataclasses.asdict
    """A row by the names of its columns."""

    def computed(self, tell: Tell) -> list[Row]:
        """All rows, and word of each."""
        rows = []
        tell(self.name, 0.0)
        for done, row in enumerate(self.rows(), start=1):
            rows.append(row)
            tell(self.name, done / self.size)
        return rows

    def write(self, rows: Sequence[Row], directory: Path) -> list[Path]:
        """Write the three files into a directory and return their paths."""
        paths = [directory / f"{self.name}.{suffix}" for suffix in ("csv", "png", "svg")]
        _write_csv([self.cells(row) for row in rows], paths[0])
        self._paint(rows, paths[1:])
        return paths

    def view(self, rows: Sequence[Row]) -> list[dict[str, object]]:
        """The rows for JSON; a fraction is text."""
        return [{name: _plain(cell) for name, cell in self.cells(row).items()} for row in rows]

    def _paint(self, rows: Sequence[Row], paths: Sequence[Path]) -> None:
        figure = new_figure(self.shape)
        rc_context = needed("matplotlib", "plots").rc_context
        self.draw(figure, rows)
        for path in paths:
            dated = {"Date": None} if path.suffix == ".svg" else None  # the same numbers give the same file
            try:
                with rc_context({"svg.hashsalt": self.name}):
                    figure.savefig(path, metadata=dated)
            except OSError as error:
                raise Complaint(f"{path}: {error.strerror or error}") from None


def _write_csv(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    """Floats in full and fractions as they are, under a line of names."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise Complaint(f"{path}: {error.strerror or error}") from None


def _plain(cell: object) -> object:
    return str(cell) if isinstance(cell, Fraction) else cell
