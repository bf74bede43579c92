"""A look at the data before a plan about them spends anything: exact counts, for whoever holds the data.

A release lets no value cause an error: cells that do not fit what is declared are clamped, rounded or left out without
a word, and wrong data spend the whole budget.  So the counts here say beforehand what the release would do with the
file.  They are exact, read by the same engine in the same way, and *not private*: nothing of them may be published.
"""

from __future__ import annotations

import codecs
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.planner import Document
from optcomp.release.advice import advice
from optcomp.release.file_counts import ColumnCounts, ConditionCounts, FileCounts, PersonCounts
from optcomp.statistics import Categories, Domain, Integers, Lines, Numbers, casts, columns_of, condition, inspected

if TYPE_CHECKING:
    import ibis.expr.types as ir

NOTICE = "Exact numbers, not private: for whoever holds the data; do not publish"
BOUNDS = (
    "Bounds, categories and numbers of rows should come from what is known beforehand, not from here",
    "Choosing them by looking at the data is not covered by the guarantee, and a release shows its plan",
)
_EXAMPLES = 3
"""Cells that are shown of those that cannot be read: enough to recognise what is wrong."""
_CHUNK = 2**20
"""Bytes read at a time."""


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


def preflight(document: Document, data: Path) -> Preflight:
    """Count what a release of this plan would find in the file, and what it would change or leave out."""
    declared = document.table
    used = dict.fromkeys((*declared.columns, *([] if declared.person is None else [declared.person])))
    try:
        relation, lines = inspected(data, list(used))
        for column, domain in declared.columns.items():
            domain.clean(relation[column])  # refuses types that do not fit
        return Preflight(
            _file(document, data, relation, lines, list(used)),
            None if declared.person is None else _person(relation, declared.person, declared.contribution.rows),
            tuple(
                replace(_column(relation, column, domain), reckoned=_reckoned(document, column))
                for column, domain in declared.columns.items()
            ),
            tuple(_conditions(document, relation)),
        )
    except InvalidInput as error:
        if error.argument == "source":
            raise
        raise InvalidInput("source", str(data), f"does not fit the plan ({error})") from None
    except OSError as error:
        raise InvalidInput("source", str(data), f"cannot be read ({error.strerror or error})") from None


def _asked(relation: ir.Table, **numbers: Any) -> dict[str, Any]:
    """Aggregates of a table; a sum over no rows is 0."""
    found = relation.get_backend().to_pyarrow(relation.aggregate(**numbers)).to_pylist()[0]
    return {name: found[name] if found[name] is not None or name in ("least", "greatest") else 0 for name in found}


def _file(document: Document, path: Path, relation: ir.Table, lines: Lines, used: list[str]) -> FileCounts:
    text = path.suffix.lower() in (".csv", ".tsv")
    breaks = {f"c{i}": _breaks(relation[name]).max() for i, name in enumerate(relation.columns) if text}
    found = _asked(relation, rows=relation.count(), **breaks)
    return FileCounts(
        path.name,
        path.stat().st_size,
        found.pop("rows"),
        document.rows,
        document.population is not None,
        lines.unread,
        lines.cut,
        max(found.values(), default=0),
        first_bad_line(path) if text else None,
        tuple(name for name in relation.columns if name not in used),
    )


def _breaks(column: Any) -> Any:
    return column.length() - column.replace("\n", "").length()


def first_bad_line(path: Path) -> int | None:
    """The number of the first line of a file that is not UTF-8."""
    decoder, line = codecs.getincrementaldecoder("utf8")(), 1
    with path.open("rb") as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            if not chunk:
                return None
            line += chunk.count(b"\n")


def _person(relation: ir.Table, person: str, allowed: int) -> PersonCounts:
    owned = relation.filter(relation[person].notnull())
    each = owned.group_by(owner=owned[person]).aggregate(rows=owned.count())
    over = each.rows > allowed
    found = _asked(
        each,
        people=each.count(),
        rows=each.rows.sum(),
        most=each.rows.max(),
        over=over.sum(),
        dropped=over.ifelse(each.rows - allowed, 0).sum(),
    )
    nobody = _asked(relation, nobody=relation[person].isnull().sum())["nobody"]
    return PersonCounts(column=person, nobody=nobody, allowed=allowed, **{name: int(found[name]) for name in found})


def _column(relation: ir.Table, name: str, domain: Domain) -> ColumnCounts:
    if isinstance(domain, Numbers):
        return _numbers(relation, name, domain)
    assert isinstance(domain, Categories)
    return _categories(relation, name, domain)


def _reckoned(document: Document, name: str) -> float | None:
    """What the plan says of the column, or all rows; None if no error without a condition depends on it."""
    statistics = [wish.statistic for wish in document.wishes if wish.statistic.where is None]
    if not any(each.needs_rows and each.values_of == name for each in statistics):
        return None
    present = document.known[name].present
    return 1.0 if present is None else float(present)


def _absent(column: Any) -> Any:
    """Null, empty, or not a number: what files write where there is nothing."""
    if column.type().is_string():
        return column.isnull() | (column.strip() == "")
    return column.isnull() | column.isnan() if column.type().is_floating() else column.isnull()


def _numbers(relation: ir.Table, name: str, domain: Numbers) -> ColumnCounts:
    import ibis

    column, whole = relation[name], isinstance(domain, Integers)
    number = casts.number(column)
    integral = number.type().is_integer()
    number = number if integral and whole else number.cast("float64")
    low, high = (int(domain.low), int(domain.high)) if integral and whole else domain.ends
    absent = _absent(column)
    missing = absent if integral else absent | number.isnan().fill_null(False)
    unreadable = ~missing & number.isnull()
    there = ~missing & number.notnull()
    finite = there if number.type().is_integer() else there & ~number.isinf()
    broken = finite & (ibis.literal(False) if integral or not whole else _fractional(number))
    found = _asked(
        relation,
        rows=relation.count(),
        missing=missing.sum(),
        unreadable=unreadable.sum(),
        rounded=broken.sum(),
        below=(there & (number < low)).sum(),
        above=(there & (number > high)).sum(),
        least=number.min(where=finite),
        greatest=number.max(where=finite),
    )
    return ColumnCounts(
        name,
        "integers" if whole else "reals",
        low=_plain(domain.low),
        high=_plain(domain.high),
        examples=_examples(relation, column, unreadable) if found["unreadable"] else (),
        **found,
    )


def _fractional(number: Any) -> Any:
    """Not whole; the engine rounds to integers of 64 bits, and larger floats are whole anyway."""
    import ibis

    near = number.between(-(2.0**53), 2.0**53).ifelse(number, ibis.null("float64"))
    return (near.floor() != near).fill_null(False)


def _plain(bound: Any) -> float:
    return int(bound) if bound.denominator == 1 else float(bound)


def _categories(relation: ir.Table, name: str, domain: Categories) -> ColumnCounts:
    column, value = relation[name], domain.typed(relation[name])
    inside = value.isin(domain.values).fill_null(False)
    missing = ~inside & _absent(column)
    unknown = ~inside & ~_absent(column)
    found = _asked(
        relation,
        rows=relation.count(),
        missing=missing.sum(),
        unknown=unknown.sum(),
        other=(~inside).sum(),
    )
    seen = relation.filter(inside).select(value=value).distinct()
    cells = {row["value"] for row in relation.get_backend().to_pyarrow(seen).to_pylist()}
    return ColumnCounts(
        name,
        "categories",
        examples=_examples(relation, column, unknown) if found["unknown"] else (),
        unseen=tuple(str(each) for each in domain.values if each not in cells),
        **found,
    )


def _examples(relation: ir.Table, column: Any, which: Any) -> tuple[str, ...]:
    """The cells that occur most often among these."""
    import ibis

    cells = relation.filter(which).select(cell=column.cast("string"))
    counted = cells.group_by("cell").aggregate(times=cells.count())
    first = counted.order_by([ibis.desc("times"), "cell"]).limit(_EXAMPLES)
    return tuple(row["cell"] for row in relation.get_backend().to_pyarrow(first).to_pylist())


def _conditions(document: Document, relation: ir.Table) -> list[ConditionCounts]:
    table, found = document.table, []
    if table.person is not None:
        relation = relation.filter(relation[table.person].notnull())
    for wish in document.wishes:
        where = wish.statistic.where
        if where is None:
            continue
        cleaned = {column: table.columns[column].clean(relation[column]) for column in columns_of(where)}
        kept, values, reckoned = condition(where, cleaned), None, None
        own, matters = wish.rows is not None, wish.statistic.needs_rows
        rows = _asked(relation, rows=kept.sum())["rows"]
        if matters and wish.statistic.values_of is not None:
            value = table.columns[wish.statistic.values_of].clean(relation[wish.statistic.values_of])
            values, reckoned = _asked(relation, values=(kept & value.notnull()).sum())["values"], document.rows_of(wish)
        declared = wish.rows if own else document.rows
        found.append(ConditionCounts(wish.name, where, rows, declared, own, matters, values, reckoned))
    return found
