"""What counts about a file mean for a plan: one line of advice for each thing that is probably wrong.

Some clamping and some rows outside the categories are what a plan reckons with, so a share of up to 1 % is no reason
for advice; what cannot be read always is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from optcomp.release.file_counts import ColumnCounts, ConditionCounts, FileCounts, PersonCounts
from optcomp.statistics import OTHER_ENCODING

FEW = Fraction(1, 100)
"""The share of values that may be clamped, or lie in no category, without advice; and how far, of the range of a column
or of all rows, the lot may move a mean or a share."""
NEAR = Fraction(1, 10)
"""How far a declared number of rows may be from the true one, and the share of people whom a condition may lose."""
HALF = Fraction(1, 2)
"""A column with more missing than this is probably not read as it was meant."""
_LONG_RECORD = 100
"""Lines that no honest record has."""
_LONGEST = 40
"""Characters of a name or cell that a line of advice has room for."""


def advice(
    file: FileCounts,
    person: PersonCounts | None,
    columns: Sequence[ColumnCounts],
    conditions: Sequence[ConditionCounts],
) -> list[str]:
    """In the order file, people, columns, conditions."""
    lines = [*_file(file, person), *(_person(person, file) if person is not None else [])]
    if file.rows:
        lines += [line for column in columns for line in (*_column(column, file), *_lot(column))]
        lines += [line for each in conditions for line in _condition(each)]
    return lines


def _file(file: FileCounts, person: PersonCounts | None) -> Iterator[str]:
    if file.unread:
        lines = _lines(sum(file.unread.values()))
        yield (
            f"{lines} of the file cannot be read, first {file.first_unread} ({_causes(file.unread)}); "
            f"{_outcome(file, 'they will count as rows without a value')}"
        )
    if file.longest_record >= _LONG_RECORD:
        yield f"one record goes on over {file.longest_record:,} lines: is a quotation mark not closed?"
    if not file.rows:
        yield "the file has no rows"
    elif file.exact_rows and file.declared_rows != file.rows:
        yield f"data.rows: {file.declared_rows:,} are declared and {file.rows:,} were read; the release will refuse"
    elif file.declared_rows is not None and all(_far(file.declared_rows, each) for each in _counts(file, person)):
        yield f"data.rows: {file.declared_rows:,} are declared and {file.rows:,} were read; is it the right file?"


def _counts(file: FileCounts, person: PersonCounts | None) -> tuple[int, int]:
    """Rows that were read, and rows that will count: a declaration may mean either."""
    return file.rows, file.rows if person is None else person.rows - person.dropped


def _outcome(file: FileCounts, counted: str) -> str:
    """What preparation does with what it cannot read."""
    return counted if file.bad_cells == "missing" else "preparation will refuse, unless bad_cells: missing"


def _unread(found: ColumnCounts | PersonCounts, name: str, counted: str, file: FileCounts, such: str = "") -> str:
    cells = "1 cell" if found.unreadable == 1 else f"{found.unreadable:,} cells"
    mended = "; name the encoding, e.g. dialect: {encoding: latin-1}, or let `optcomp plan init` propose it"
    return (
        f"{name}: {cells} cannot be read, first {found.first_unread} ({_causes(found.reasons)}{such}); "
        f"{_outcome(file, counted)}{mended if OTHER_ENCODING in found.reasons else ''}"
    )


def _person(person: PersonCounts, file: FileCounts) -> Iterator[str]:
    if person.unreadable:
        yield _unread(person, person.column, "their rows will belong to nobody", file)
    if person.nobody:
        belong = "1 row belongs" if person.nobody == 1 else f"{person.nobody:,} rows belong"
        yield f"{person.column}: {belong} to nobody, and will be left out"
    if person.over:
        people = "1 person has" if person.over == 1 else f"{person.over:,} people have"
        yield (
            f"{person.column}: {people} more than {_rows(person.allowed)}, up to {person.most:,}; "
            f"{person.dropped:,} of {_rows(person.rows)} will be dropped"
        )
        kept = person.rows - person.dropped
        if file.declared_rows is not None and _far(file.declared_rows, kept):
            yield f"data.rows: errors are stated for {file.declared_rows:,} rows, and {kept:,} will count"


def _column(column: ColumnCounts, file: FileCounts) -> Iterator[str]:
    name = shortened(column.name)
    if column.unreadable:
        such = f"; such as {_quoted(column.examples)}" if column.examples and column.kind != "categories" else ""
        yield _unread(column, name, "they will count as missing", file, such)
    if column.rounded:
        yield f"{name}: {column.rounded:,} of {column.values:,} values are not whole, and will be rounded"
    if column.kind != "categories":
        for count, side, bound in ((column.below, "below", column.low), (column.above, "above", column.high)):
            if count > FEW * column.values:
                yield (
                    f"{name}: {count:,} of {column.values:,} values lie {side} {plain(bound)} and will be clamped; "
                    "are the bounds right?"
                )
    elif column.unknown > FEW * column.rows:
        unseen = f"; never seen: {_quoted(column.unseen[:3])}" if column.unseen else ""
        share = f"{percent(column.unknown, column.rows)} of rows are in no declared category"
        yield f"{name}: {share}{_such(column)}{unseen}"
    if column.missing == column.rows:
        yield f"{name}: all cells are empty"
    elif column.reckoned is not None and abs(column.reckoned * column.rows - column.values) > NEAR * column.values:
        there, said = percent(column.values, column.rows), f"{100 * column.reckoned:.3g} %"
        yield f"{name}: {there} of rows have a value, and errors are stated for {said}; is `present` right?"
    elif column.reckoned is None and column.missing > HALF * column.rows:
        yield f"{name}: {percent(column.missing, column.rows)} of cells are empty"


def _lot(column: ColumnCounts) -> Iterator[str]:
    """What the lot does to a column."""
    name, moved = shortened(column.name), column.moved
    if column.counted is not None and column.left is not None and column.left > column.counted:
        lost = _rows(column.left - column.counted)
        yield f"{name}: {lost} of {column.left:,} are beyond the bounds on groups, and count in no histogram of it"
    if moved is not None and abs(moved.kept - moved.everything) > FEW:
        shares = f"{_share(moved.everything)} of all rows, and {_share(moved.kept)} of those that the lot leaves"
        yield f"{name}: {shortened(moved.category)!r} is {shares}"
    if column.mean is None or column.mean_kept is None or column.low is None or column.high is None:
        return  # of dates there is none
    if abs(column.mean_kept - column.mean) > FEW * (Fraction(column.high) - Fraction(column.low)):
        means = f"{column.mean:.6g} over all rows, and {column.mean_kept:.6g} over those that the lot leaves"
        yield f"{name}: the mean is {means}"


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"


def _condition(found: ConditionCounts) -> Iterator[str]:
    name = shortened(found.statistic)
    before = found.rows_before
    satisfy = f"{before:,} row{'s satisfy' if before != 1 else ' satisfies'} {found.where}"
    left = f", and the lot leaves {found.rows:,} of them" if found.rows < before else ""
    if not found.rows:
        yield f"{name}: {satisfy if before else f'no row satisfies {found.where}'}{left}"
    elif found.declared is not None and (found.own or found.matters) and _far(found.declared, found.rows):
        reckoned = "its entry `rows` says" if found.own else "it has no entry `rows`, so its error is stated for"
        yield f"{name}: {satisfy}{left}; {reckoned} {found.declared:,}"
    elif found.values is not None and found.reckoned is not None and _far(found.reckoned, found.values):
        yield f"{name}: {found.values:,} of these rows have a value, and its error is stated for {found.reckoned:,}"
    if found.people_before - found.people > NEAR * found.people_before:
        lost = f"{found.people_before - found.people:,} of {found.people_before:,} people"
        yield f"{name}: {lost} who satisfy {found.where} do so in no row that is left"


def _far(declared: int, rows: int) -> bool:
    return abs(declared - rows) > NEAR * rows


def _such(column: ColumnCounts) -> str:
    return f" (such as {_quoted(column.examples)})" if column.examples else ""


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(repr(shortened(word)) for word in words)


def _causes(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{why}: {count:,}" for why, count in counts.items())


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def shortened(text: str) -> str:
    """Not endlessly long."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def plain(number: float | str | None) -> str:
    """A number as people write it, a date as it is; nothing for none."""
    if number is None or isinstance(number, str):
        return number or ""
    return f"{number:,}" if isinstance(number, int) or abs(number) >= 2**53 else f"{number:,.12g}"


def percent(part: int, whole: int) -> str:
    """A share, never rounded to nothing or to all."""
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    return f"{share:.3g} %"
