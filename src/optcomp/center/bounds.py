"""Bounds on what one request may have computed: they follow from the request and from what is declared alone.

What is beyond them is refused before anything is computed or paid, with the bound and what would fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from optcomp.errors import InvalidInput
from optcomp.interactive import Mechanism
from optcomp.statistics import Declared, Statistic

MOST_NUMBERS = 20_000_000
"""Cells, or scores of candidates, of one question: more take most of a minute."""
MOST_FREE_NUMBERS = 250_000
"""The same of a test on synthetic rows: more take seconds."""
MOST_KEPT = 5_000_000
"""Weights that a mechanism keeps and reads again at every question."""
MOST_LINES = 500
"""Statistics of a plan."""
MOST_TOGETHER = 2_000_000
"""Cells of all statistics of a plan, or of all questions that are fixed together: more take seconds."""
_MOST_CHOICES = 1_000
"""Probabilities of one question about quantiles."""


def check_statistic(statistic: Statistic, declared: Declared, most: int = MOST_NUMBERS) -> None:
    """Refuse a question that takes too long."""
    choices = len(getattr(statistic, "probabilities", ()))
    if choices > _MOST_CHOICES:
        raise InvalidInput("probabilities", f"{choices:,} of them", f"must be at most {_MOST_CHOICES:,} here")
    statistic.check_size(declared, most)


def check_mechanism(mechanism: Mechanism, declared: Declared) -> None:
    """Refuse a mechanism whose questions would take too long."""
    mechanism.check_size(declared, MOST_KEPT)


def check_lines(plan: object) -> None:
    """Refuse a plan of too many statistics before it is read."""
    lines = plan.get("statistics") if isinstance(plan, Mapping) else None
    if isinstance(lines, Mapping) and len(lines) > MOST_LINES:
        raise InvalidInput("plan.statistics", f"{len(lines):,} of them", f"must be at most {MOST_LINES:,} here")


def check_together(statistics: Iterable[Statistic], declared: Declared, argument: str) -> None:
    """Refuse a batch of questions, or a plan, that takes too long to work out."""
    cells = 0
    for statistic in statistics:
        check_statistic(statistic, declared)
        cells += sum(len(part.cells) for part in statistic.parts(declared))
        if cells > MOST_TOGETHER:
            raise InvalidInput(
                argument, f"{cells:,} cells and more", f"must have at most {MOST_TOGETHER:,} in all here"
            )
