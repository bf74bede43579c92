"""A look at the data before a plan about them spends anything: exact counts, for whoever holds the data.

A release lets no value cause an error: values that do not fit what is declared are clamped, rounded or left out without
a word, and wrong data spend the whole budget.  So the data are prepared here as a release would prepare them, and what
that drops, changes and cannot read is counted.  The counts are exact and *not private*: nothing of them may be
published.  The lot is drawn for this look; that of a release is another one, in which the same rows count by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from optcomp.planner import Document, Wish
from optcomp.release.advice import advice
from optcomp.release.file_counts import ColumnCounts, ConditionCounts, FileCounts, MovedShare, PersonCounts
from optcomp.release.found_counts import column_counts, file_counts, person_counts, prepared, source_counts
from optcomp.statistics import BadCells, Categories, Dates, Declared, ExactCounts, Preparation, Reading, Text

NOTICE = "Exact numbers, without noise: for whoever holds the data; do not publish"
"""Stands above and below whatever the owner of the data is shown."""
BOUNDS = (
    "Bounds, categories and numbers of rows should come from what is known beforehand, not from here",
    "Choosing them by looking at the data is not covered by the guarantee, and a release shows its plan",
)
"""What whoever looks at data should know before they change a plan."""


@dataclass(frozen=True)
class Preflight:
    """Exact counts about a file and a plan; not private."""

    file: FileCounts
    person: PersonCounts | None
    columns: tuple[ColumnCounts, ...]
    conditions: tuple[ConditionCounts, ...]

    @property
    def advice(self) -> list[str]:
        """One line for each thing that is probably wrong."""
        return advice(self.file, self.person, self.columns, self.conditions)

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {"notice": NOTICE, **asdict(self), "advice": self.advice, "bounds": ". ".join(BOUNDS)}


def preflight(document: Document, data: object) -> Preflight:
    """Count what a release of this plan would find, and what it would change or leave out.

    `data` is whatever a table is made from: a file, several, the address of a database, or a data frame.
    """
    found = prepared(document, data, bad_cells="missing", reading=document.reading, memory=None, keep_everything=True)
    look = _Look(document, found)
    return Preflight(
        file_counts(document, found, document.bad_cells),
        look.person(),
        tuple(look.column(each) for each in column_counts(found)),
        tuple(look.conditions()),
    )


def look_at(
    source: object,
    declared: Declared,
    *,
    bad_cells: BadCells = "missing",
    reading: Reading | None = None,
    memory: str | None = None,
) -> Preflight:
    """Count what preparation of a table would find, change and leave out, before there is any plan.

    `memory` bounds what the engine takes, such as "512MB"; what is larger goes to disk.
    Counts alone: no cell is quoted, and no end of what was read is told, for bounds must not be chosen by it.
    """
    how: dict[str, Any] = {"bad_cells": "missing", "keep_everything": True, "memory": memory}
    found = Preparation(source, declared, **how, **(reading or Reading()).arguments)
    person = person_counts(found)
    if person is not None:
        each = ExactCounts(found, before_the_lot=True).rows_each()
        person = replace(person, most=each.most, over=each.over)
    columns = [replace(each, examples=(), unseen=(), least=None, greatest=None) for each in column_counts(found)]
    return Preflight(source_counts(found, declared, bad_cells), person, tuple(columns), ())


class _Look:
    """What is counted in the rows before and after the lot."""

    def __init__(self, document: Document, found: Preparation) -> None:
        self._document, self._found = document, found
        self._kept, self._everything = ExactCounts(found), ExactCounts(found, before_the_lot=True)

    @property
    def _declared(self) -> Declared:
        return self._document.table

    def person(self) -> PersonCounts | None:
        """With the rows that people have before the lot."""
        found = person_counts(self._found)
        if found is None:
            return None
        each = self._everything.rows_each()
        return replace(found, most=each.most, over=each.over)

    def column(self, counts: ColumnCounts) -> ColumnCounts:
        """With what the lot does to it."""
        name, moved = counts.name, None
        counts = replace(counts, reckoned=_reckoned(self._document, name))
        if name in self._declared.grouped_by:
            counts = replace(counts, counted=self._kept.rows(grouped=name), left=self._kept.rows())
        if isinstance(self._declared.columns[name], Categories):
            moved = _moved(self._everything.cells(name), self._kept.cells(name))
            return replace(counts, moved=moved)
        if isinstance(self._declared.columns[name], Dates | Text):
            return counts
        means = [each.mean(name) for each in (self._everything, self._kept)]
        before, after = (None if mean is None else float(mean) for mean in means)
        return replace(counts, mean=before, mean_kept=after)

    def conditions(self) -> Iterator[ConditionCounts]:
        """Of all statistics that have one."""
        for wish in self._document.wishes:
            if wish.statistic.where is not None:
                yield self._condition(wish, wish.statistic.where)

    def _condition(self, wish: Wish, where: str) -> ConditionCounts:
        own, matters = wish.rows is not None, wish.statistic.needs_rows
        values, reckoned = None, None
        if matters and wish.statistic.values_of is not None:
            values = self._kept.rows(where, value_of=wish.statistic.values_of)
            reckoned = self._document.rows_of(wish)
        return ConditionCounts(
            statistic=wish.name,
            where=where,
            rows=self._kept.rows(where),
            people=self._kept.people(where),
            rows_before=self._everything.rows(where),
            people_before=self._everything.people(where),
            declared=wish.rows if own else self._document.rows,
            own=own,
            matters=matters,
            values=values,
            reckoned=reckoned,
        )


def _reckoned(document: Document, name: str) -> float | None:
    """What the plan says of the column, or all rows; None if no error without a condition depends on it."""
    statistics = [wish.statistic for wish in document.wishes if wish.statistic.where is None]
    if not any(each.needs_rows and each.values_of == name for each in statistics):
        return None
    present = document.known[name].present
    return 1.0 if present is None else float(present)


def _moved(everything: dict[Any, int], kept: dict[Any, int]) -> MovedShare | None:
    """The category whose share moves most, the first of several; None if there are no rows."""
    all_rows, left = sum(everything.values()), sum(kept.values())
    if not left:
        return None
    most = max(everything, key=lambda each: abs(everything[each] * left - kept[each] * all_rows))
    return MovedShare(str(most), everything[most] / all_rows, kept[most] / left)
