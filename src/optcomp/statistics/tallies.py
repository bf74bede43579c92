"""Exact counts of what preparation found, clamped and could not read: for whoever holds the data, and not private."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optcomp.statistics.cells import MISSING, WHY, Codes, Floats
from optcomp.statistics.domains import Categories, Domain, Integers, Numbers

_EXAMPLES = 3
"""Cells that are shown of those that are unknown or no numbers: enough to recognise what is wrong."""
_REMEMBERED = 1000
"""Different cells among which the most frequent ones are looked for."""
_SHOWN = 80
"""Letters of an example."""


@dataclass
class ColumnTally:
    """One column; `domain` is None for the column of people."""

    name: str
    domain: Domain | None
    rows: int = 0
    missing: int = 0
    unknown: int = 0
    rounded: int = 0
    below: int = 0
    above: int = 0
    least: float | None = None
    greatest: float | None = None
    bad: Counter[int] = field(default_factory=Counter)
    """By reason."""
    first: tuple[int, int] | None = None
    """The first row that cannot be read, and why."""
    seen: set[int] = field(default_factory=set)
    """Codes of categories that occur."""
    examples: Counter[str] = field(default_factory=Counter)

    def add(self, column: Any, codes: Codes, values: Floats | None) -> None:
        """A batch."""
        unreadable = np.flatnonzero(codes < MISSING)
        if len(unreadable):
            found, counts = np.unique(codes[unreadable], return_counts=True)
            self.bad.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
            if self.first is None:
                self.first = self.rows + int(unreadable[0]), int(codes[unreadable[0]])
        strange = codes < MISSING
        self.missing += int((codes == MISSING).sum())
        if isinstance(self.domain, Categories):
            strange = codes == self.domain.top
            self.unknown += int(strange.sum())
            self.seen.update(np.unique(codes[codes >= 0]).tolist())
        elif isinstance(self.domain, Numbers) and values is not None:
            self._numbers(self.domain, codes, values)
        if strange.any():
            self._remember(column, strange)
        self.rows += len(codes)

    def _numbers(self, domain: Numbers, codes: Codes, values: Floats) -> None:
        there = values[codes >= 0]
        low, high = domain.ends
        self.below += int((there < low).sum())
        self.above += int((there > high).sum())
        finite = there[np.isfinite(there)]
        if len(finite):
            least, greatest = float(finite.min()), float(finite.max())
            self.least = least if self.least is None else min(self.least, least)
            self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)
            if isinstance(domain, Integers):
                self.rounded += int((np.floor(finite) != finite).sum())

    def _remember(self, column: Any, which: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = pc.value_counts(column.filter(pa.array(which)).cast(pa.large_string()))
        for cell in cells[: 2 * _REMEMBERED].to_pylist():
            word = cell["values"]
            if word is not None and "\x00" not in word and (word in self.examples or len(self.examples) < _REMEMBERED):
                self.examples[word[:_SHOWN]] += cell["counts"]

    @property
    def unreadable(self) -> int:
        """Cells that are there and cannot be read."""
        return sum(self.bad.values())

    @property
    def shown(self) -> tuple[str, ...]:
        """The most frequent cells that are unknown, or no numbers."""
        ranked = sorted(self.examples.items(), key=lambda found: (-found[1], found[0]))
        return tuple(word for word, _ in ranked[:_EXAMPLES])

    @property
    def reasons(self) -> dict[str, int]:
        """Why cells cannot be read, and how many for that."""
        return {WHY[why]: count for why, count in sorted(self.bad.items(), reverse=True)}
