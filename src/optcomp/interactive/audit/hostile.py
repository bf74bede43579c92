r"""Neighbouring tables that differ in a person whose cells are hard to read, from every kind of source.

An error is an answer too.  If a question fails on the table with such a person and not on its neighbour, whoever asks
knows for certain who is in the table.  So every audit also asks these tables, and whether it fails must not differ.

They are prepared with `bad_cells="missing"`, under which preparation is a total function of cells.  A column that is
not declared holds the worst cells of all: nobody may even look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from optcomp.extras import needed
from optcomp.interactive.audit.auditable import Probe, Side
from optcomp.interactive.audit.tables import (
    BOUNDS,
    COLUMNS,
    DECLARED,
    DIFFERS,
    FIRST,
    LOT,
    PEOPLE,
    Remembered,
    neighbouring,
)
from optcomp.statistics import Neighbourhood

Cells = tuple[Any, Any, Any, Any, Any]
"""Age, income, region, score and word of a row."""
_LETTERS = 10_000
"""More than any cell may have."""
_UNDECLARED = "seen"
"""A column that is there, and not declared."""
_NO_TIME = 2**63 - 1
"""Microseconds; no calendar goes so far."""


@dataclass(frozen=True, eq=False)
class HostileSource:
    """A kind of source: the cells that are hard to read there, and how rows become what a table is made of."""

    name: str
    cells: tuple[Cells, ...]
    made: Callable[[Sequence[tuple[Any, ...]], Path], object]
    """From rows, those of people first, and a folder that is gone when the table has been prepared."""
    connection: Any = None
    """If given, the snapshot is kept there, and questions are asked there."""


@dataclass(frozen=True)
class HostilePair:
    """Two neighbouring tables, prepared when they are first asked for; preparing may fail as well."""

    name: str
    how: Neighbourhood
    source: HostileSource
    places: tuple[int, ...]
    """Which of the source's hostile rows the person has."""

    def table(self, side: int) -> Remembered:
        """The first, where the person is missing or ordinary, or the second, where they are hostile."""
        return _prepared(self.how, self.source, self.places if side else None)


@cache
def _prepared(how: Neighbourhood, source: HostileSource, places: tuple[int, ...] | None) -> Remembered:
    """Read from a source that is deleted afterwards."""
    differing = FIRST[how] if places is None else [(DIFFERS, *source.cells[place]) for place in places]
    with TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True) as folder:
        made = source.made([*PEOPLE, *differing], Path(folder))
        table = Remembered(made, DECLARED, name="people", bad_cells="missing", lot_key=LOT, **BOUNDS[how])
        if source.connection is None:
            table.like = neighbouring(how)[0]
            return table
        kept = table.save(Path(folder) / "kept.snapshot", connection=source.connection)
        return Remembered.open(kept, connection=source.connection)


def hostile_pairs(how: Neighbourhood, sources: Sequence[HostileSource] | None = None) -> Iterator[HostilePair]:
    """Of each source, one pair for each hostile row; or one for all of them, where a person may have several."""
    for source in SOURCES if sources is None else sources:
        places = tuple(range(len(source.cells)))
        if "person" in BOUNDS[how]:
            yield HostilePair(f"hostile cells from {source.name}", how, source, places)
        else:
            for place in places:
                yield HostilePair(f"hostile cells from {source.name}, row {place + 1}", how, source, (place,))


def probes(
    how: Neighbourhood, talk: Callable[[Remembered], object], sources: Sequence[HostileSource] | None = None
) -> Iterator[Probe]:
    """A mechanism on all of these pairs; preparing them is part of the run."""
    for pair in hostile_pairs(how, sources):
        yield Probe(pair.name, partial(_talked, pair, talk))


def _talked(pair: HostilePair, talk: Callable[[Remembered], object], side: Side) -> object:
    return talk(pair.table(side))


def _csv(rows: Sequence[tuple[Any, ...]], folder: Path) -> Path:
    """Cells are bytes, written as they are."""
    cells = [[*(_bytes(cell) for cell in row), b"\xff\x00"] for row in rows]
    lines = [",".join([*COLUMNS, _UNDECLARED]).encode(), *(b",".join(row) for row in cells)]
    path = folder / "people.csv"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def _bytes(cell: Any) -> bytes:
    return cell if isinstance(cell, bytes) else b"" if cell is None else str(cell).encode()


def _arrow(rows: Sequence[tuple[Any, ...]], text: str = "large_string") -> Any:
    """Columns of bytes that are called text, floats, and decimals; nothing checks them."""
    arrow: Any = needed("pyarrow", "data")
    person, age, income, region, score, word = zip(*rows, strict=True)
    kinds = {"large_string": (arrow.large_binary(), arrow.large_string()), "string": (arrow.binary(), arrow.string())}
    raw, named = kinds[text]
    return arrow.table(
        {
            "person": arrow.array(person, arrow.int64()),
            "age": arrow.array([_bytes(cell) for cell in age], raw).view(named),
            "income": arrow.array(income, arrow.float64()),
            "region": arrow.array([_bytes(cell) for cell in region], raw).view(named),
            "score": arrow.array(
                [None if cell is None else Decimal(cell) for cell in score], arrow.decimal256(_DIGITS, 0)
            ),
            "word": arrow.array([_bytes(cell) for cell in word], raw).view(named),
            _UNDECLARED: arrow.array([_NO_TIME] * len(rows), arrow.timestamp("us")),
        }
    )


_DIGITS = 70
"""Of a decimal; no float tells so many apart."""


def _parquet(rows: Sequence[tuple[Any, ...]], folder: Path) -> Path:
    parquet: Any = needed("pyarrow.parquet", "data")
    path = folder / "people.parquet"
    parquet.write_table(_arrow(rows, "string"), path)
    return path


def _pandas(rows: Sequence[tuple[Any, ...]], folder: Path) -> Any:
    """Columns of Python objects, but for that of people."""
    pandas: Any = needed("pandas", "data")
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)) | {_UNDECLARED: [_Unspeakable()] * len(rows)}
    series = {name: pandas.Series(list(cells), dtype=object) for name, cells in columns.items()}
    return pandas.DataFrame(series | {"person": series["person"].astype("int64")})


class _Unspeakable:
    """An object that fails when it is written, compared or counted."""

    def _fails(self, *_: object) -> Any:
        raise ValueError("a cell that was looked at")

    __str__ = __repr__ = __float__ = __int__ = __len__ = __iter__ = _fails
    __bool__ = __eq__ = _fails
    __hash__ = object.__hash__


_LONG = b"7" * _LETTERS
"""Digits, so many that it is no cell."""
_CONTROLS = b"\x00\x01\x1b[2J\x7f"
"""Characters that move cursors and end texts."""
_CSV_CELLS: tuple[Cells, ...] = (
    (b"inf", b"NaN", b"\xff\xfe", b"1e999", b"\xff\xfe"),
    (_LONG, b"1e999", _CONTROLS, b"-inf", _LONG),
    (b"0x1f", b"-1e-999999999", _LONG, b"1_000", _CONTROLS),
    (b"\xed\xa0\x80", b'"1', b"{'a': [1]}", b"1\r2", b"\xed\xa0\x80"),  # half a letter, a quotation mark left open
)
_TYPED_CELLS: tuple[Cells, ...] = (
    (b"inf", float("inf"), b"\xff\xfe", 10 ** (_DIGITS - 1), b"\xff\xfe"),
    (_LONG, float("nan"), _CONTROLS, None, _LONG),
    (b"1e999", float("-inf"), _LONG, -(10 ** (_DIGITS - 1)), _CONTROLS),
    (b"\xed\xa0\x80", 5e-324, b"\x80", 2**63, b"\xed\xa0\x80"),
)
_OBJECTS: tuple[Cells, ...] = (
    (float("inf"), float("nan"), b"\xff\xfe", 10**400, [1, [2]]),
    ([1, [2]], {"a": 1}, "\ud800", "1e999", "\ud800"),
    ("7" * _LETTERS, Decimal("sNaN"), _Unspeakable(), -(10**400), _Unspeakable()),
    (_CONTROLS.decode(), 1j, "7" * _LETTERS, Decimal("Infinity"), _CONTROLS.decode()),
)
"""Infinite, not numbers, not UTF-8, too long, beyond floats, nested, with control characters: each column in turn."""

SOURCES: tuple[HostileSource, ...] = (
    HostileSource("CSV", _CSV_CELLS, _csv),
    HostileSource("Parquet", _TYPED_CELLS, _parquet),
    HostileSource("Arrow", _TYPED_CELLS, lambda rows, folder: _arrow(rows)),
    HostileSource("pandas", _OBJECTS, _pandas),
)
"""Those that need no server."""
