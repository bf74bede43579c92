"""Types of columns of Arrow, pandas, DuckDB, PostgreSQL and Spark: their cells, and what an oracle reads in them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from tests.campaign import odd_cells
from tests.oracles.cells import STRANGE, Cell

PLAIN_INTEGERS, PLAIN_FLOATS = (0, 1, 2, 3, 7, -5, 12), (0.0, 1.0, 2.5, -5.0, 3.75, math.nan, -math.inf, 0.1)


@dataclass(frozen=True)
class Kind:
    """A type: cells of an honest person, cells that are odd, whose row it is, and what an oracle reads."""

    name: Any
    plain: Callable[[Random, bool], Any]
    """Cells that can be read; if true, as numbers."""
    odd: Callable[[Random], Any]
    read: Callable[[Any], Cell]
    owner: Callable[[int], Any]
    numbers: bool = True
    """Whether numbers may be declared of it."""


def same(cell: Any) -> Any:
    """As it is."""
    return cell


def sometimes_none(draw: Callable[[Random], Any]) -> Callable[[Random], Any]:
    """Nothing is there in a tenth of the cells."""
    return lambda rng: None if rng.random() < 0.1 else draw(rng)


def words(name: Any, odd: Callable[[Random], Any], encode: bool = False) -> Kind:
    """Text, or bytes."""

    def plain(rng: Random, number: bool) -> Any:
        cell = rng.choice(odd_cells.PLAIN_NUMBERS if number else odd_cells.PLAIN_TEXT)
        return cell.encode() if encode else cell

    return Kind(name, plain, sometimes_none(odd), same, lambda i: f"p{i}".encode() if encode else f"p{i}")


def integers(name: Any, low: int, high: int) -> Kind:
    """Integers of so many bits."""
    plain = [cell for cell in PLAIN_INTEGERS if low <= cell]
    odd = sometimes_none(lambda rng: odd_cells.integer(rng, low, high))
    return Kind(name, lambda rng, number: rng.choice(plain), odd, same, lambda i: 10 + i)


def floats(name: Any, width: type[np.floating[Any]]) -> Kind:
    """Floats of so many bits."""

    def rounded(value: float) -> float:
        with np.errstate(over="ignore"):
            return float(width(value))

    odd = sometimes_none(lambda rng: rounded(odd_cells.number(rng)))
    read = lambda cell: None if cell is None else rounded(cell)  # noqa: E731
    return Kind(name, lambda rng, number: rounded(rng.choice(PLAIN_FLOATS)), odd, read, lambda i: 100.5 + i)


def decimals(name: Any, digits: int, scale: int) -> Kind:
    """Decimals with so many digits, of which some come after the point."""
    odd = sometimes_none(lambda rng: odd_cells.decimal(rng, digits, scale))

    def read(cell: Decimal | None) -> Cell:
        """With all digits after the point, and without the sign of a zero."""
        if cell is None:
            return None
        sign, found, _ = cell.as_tuple()
        return Decimal((sign if any(found) else 0, found, -scale))

    def plain(value: int) -> Decimal:
        return Decimal((0, tuple(map(int, str(value * 10**scale))), -scale))

    return Kind(name, lambda rng, number: plain(rng.choice((0, 1, 2, 7))), odd, read, lambda i: plain(10 + i))


def truths(name: Any) -> Kind:
    """Truth values; two people at most."""
    draw = lambda rng: rng.choice((True, False, None))  # noqa: E731
    return Kind(name, lambda rng, number: draw(rng), draw, same, lambda i: i % 2 == 0)


FAR = 2**62
"""Days, seconds or milliseconds that no calendar has."""


def moment(unit: int, cell: int | None) -> Cell:
    """So many parts of a second after 1970, as text."""
    if cell is None:
        return None
    seconds, rest = divmod(cell, unit)
    try:
        told = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return STRANGE
    fraction = str(rest + unit)[1:].rstrip("0")
    return f"{told:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + (f".{fraction}" if fraction else "")


def day(cell: int | None) -> Cell:
    """So many days after 1970, as text."""
    if cell is None:
        return None
    try:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=cell)).isoformat()
    except OverflowError:
        return STRANGE


def moments(name: Any, unit: int) -> Kind:
    """Times of a calendar, counted in parts of a second."""
    late = (FAR, -FAR, 2**63 - 1, -(2**63) + 1) if unit < 10**9 else (FAR, -FAR)
    odd = lambda rng: rng.choice([*late, 0, unit // 2, rng.randint(0, 10**9) * unit, None])  # noqa: E731
    plain = lambda rng, number: rng.choice((0, 86400)) * unit  # noqa: E731
    return Kind(name, plain, odd, lambda cell: moment(unit, cell), lambda i: i * unit, numbers=False)


DATES = Kind(
    pa.date32(),
    lambda rng, number: rng.choice((0, 1)),
    lambda rng: rng.choice([2**31 - 1, -(2**31), 0, -1, rng.randint(-10000, 10000), None]),
    day,
    lambda i: i,
    numbers=False,
)
ARROW = [
    *(
        words(kind, odd_cells.raw, encode=True)
        for kind in ("string", "large_string", "string_view", "binary", "dictionary")
    ),
    *(words(kind, odd_cells.raw, encode=True) for kind in ("string", "large_binary", "binary_view")),
    *(integers(getattr(pa, f"int{bits}")(), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)),
    *(integers(getattr(pa, f"uint{bits}")(), 0, 2**bits - 1) for bits in (8, 32, 64)),
    floats(pa.float16(), np.float16),
    floats(pa.float32(), np.float32),
    floats(pa.float64(), np.float64),
    floats(pa.float64(), np.float64),
    decimals(pa.decimal128(38, 0), 38, 0),
    decimals(pa.decimal128(38, 9), 38, 9),
    decimals(pa.decimal256(76, 30), 76, 30),
    truths(pa.bool_()),
    *(moments(pa.timestamp(unit), size) for unit, size in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))),
    DATES,
]


def read_object(cell: Any) -> Cell:
    """What a Python object says."""
    import pandas as pd

    if type(cell) in (odd_cells.Nasty, odd_cells.NastyText, odd_cells.NoHash):
        return STRANGE
    if cell is None or cell is pd.NA or cell is pd.NaT or isinstance(cell, np.datetime64 | np.ndarray):
        return None if not isinstance(cell, np.ndarray) and (cell is None or pd.isna(cell)) else STRANGE
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, int | np.integer):
        return int(cell) if abs(int(cell)) < 10**4096 else "9" * 4097
    if isinstance(cell, float | np.floating):
        return float(cell)
    if isinstance(cell, Decimal) and cell.is_nan():
        return None if cell.is_qnan() else STRANGE
    known = (complex, Decimal, datetime.date, datetime.time, datetime.timedelta)
    return str(cell) if isinstance(cell, known) or type(cell).__name__ in ("Fraction", "UUID") else STRANGE


def _object(rng: Random) -> Any:
    kinds: list[Callable[[], Any]] = [
        lambda: rng.choice(odd_cells.OBJECTS),
        lambda: odd_cells.text(rng),
        lambda: rng.choice((*odd_cells.NULS, *odd_cells.BREAKS)),
        lambda: odd_cells.number(rng),
        lambda: odd_cells.integer(rng, -(2**66), 2**66),
        lambda: odd_cells.decimal(rng, 40, 5),
    ]
    return rng.choice(kinds)()


def _plain_object(rng: Random, number: bool) -> Any:
    return rng.choice((*PLAIN_INTEGERS, *PLAIN_FLOATS, *odd_cells.PLAIN_NUMBERS, None, True, Decimal("2.5")))


PANDAS = [Kind(object, _plain_object, _object, read_object, lambda i: f"p{i}")]


def _text_with_breaks(rng: Random) -> str:
    return rng.choice(odd_cells.BREAKS) if rng.random() < 0.1 else odd_cells.text(rng)


def _text_with_nuls(rng: Random) -> str:
    return rng.choice(odd_cells.NULS) if rng.random() < 0.1 else _text_with_breaks(rng)


def _far_numeric(rng: Random) -> str:
    """Any number of any size, as PostgreSQL may hold it."""
    known = (
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e400",
        "1e-400",
        "1e-16000",
        "1e5000",
        "0.1",
        "2.50",
        "9" * 309,
    )
    return rng.choice(known) if rng.random() < 0.6 else format(odd_cells.decimal(rng, 60, 20), "f")


def _numeric_text(cell: str | None) -> Cell:
    """As PostgreSQL writes it: all digits, and no power of ten."""
    if cell is None or cell in ("NaN", "Infinity", "-Infinity"):
        return cell
    value = Decimal(cell)
    return format(value if value else abs(value), "f")


def dates_as_text(name: str, odd: tuple[str, ...]) -> Kind:
    """Dates that SQL writes; the odd ones are those that other calendars do not have."""
    known = dict.fromkeys(odd, STRANGE) if name in ("DATE", "TIMESTAMP") else {cell: cell for cell in odd}
    suffix = " 00:00:00" if name.lower() == "timestamp" else ""

    def read(cell: str | None) -> Cell:
        return None if cell is None else known.get(cell, cell + suffix)

    draw = sometimes_none(lambda rng: rng.choice((*odd, "1970-01-01", "2020-02-29")))
    plain = lambda rng, number: rng.choice(("1970-01-01", "1970-01-02"))  # noqa: E731
    return Kind(name, plain, draw, read, lambda i: f"1970-01-{i + 1:02}", numbers=False)


DUCKDB = [
    words("VARCHAR", _text_with_nuls),
    words("VARCHAR", _text_with_nuls),
    words("BLOB", odd_cells.raw, encode=True),
    floats("DOUBLE", np.float64),
    floats("FLOAT", np.float32),
    integers("BIGINT", -(2**63), 2**63 - 1),
    integers("UBIGINT", 0, 2**64 - 1),
    integers("HUGEINT", -(2**127), 2**127 - 1),
    integers("UHUGEINT", 0, 2**128 - 1),
    decimals("DECIMAL(38, 9)", 38, 9),
    truths("BOOLEAN"),
    dates_as_text("DATE", ("infinity", "-infinity", "5000000-01-01")),
    dates_as_text("TIMESTAMP", ("infinity", "-infinity", "290000-01-01")),
]
POSTGRES = [
    words("text", _text_with_breaks),
    words("varchar", _text_with_breaks),
    Kind(
        "numeric",
        lambda rng, number: rng.choice(("0", "1", "2.5", "7")),
        sometimes_none(_far_numeric),
        _numeric_text,
        str,
    ),
    floats("double precision", np.float64),
    floats("real", np.float32),
    integers("bigint", -(2**63), 2**63 - 1),
    integers("smallint", -(2**15), 2**15 - 1),
    truths("boolean"),
    dates_as_text("date", ("infinity", "-infinity", "5000000-01-01")),
    dates_as_text("timestamp", ("infinity", "-infinity")),
]
SPARK = [
    words("string", _text_with_nuls),
    words("string", _text_with_nuls),
    words("binary", odd_cells.raw, encode=True),
    floats("double", np.float64),
    floats("float", np.float32),
    integers("long", -(2**63), 2**63 - 1),
    integers("smallint", -(2**15), 2**15 - 1),
    decimals("decimal(38, 9)", 38, 9),
    truths("boolean"),
]
