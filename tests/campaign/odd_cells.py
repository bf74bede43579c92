"""Cells that are meant to break something: odd numbers, text of all sorts, objects that raise."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd

PLAIN_TEXT = ("1", "2", "a", "2.5", "true", "0", "-5", "it's", " 7 ", "", "1e1", "NA")
"""Cells that can be read whatever is declared, but for some that are no numbers."""
PLAIN_NUMBERS = ("1", "2", "2.5", "0", "-5", " 7 ", "", "1e1", "NA", "-inf", "3.75", "12")
"""Cells that can be read as numbers."""
NUMBERS = (
    *("1e400", "-1e400", "1e-400", "1e999999999", "1e-999999999", "1e9999999999", "0e999999999", "0x10", "1_000"),
    *("1,5", "--1", "+-1", "1d", "1f", "1L", "nan", "NaN", "-nan", "NA", "n/a", "NULL", "None", "inf", "-Infinity"),
    *(
        "+inf",
        "++inf",
        "İnf",
        "ınf",
        "٣",
        "１２",
        "²",
        "½",
        " 7 ",
        "\t7",
        "7\xa0",
        "7 8",
        "1e5",
        "1E+2",
        "1e+",
        "1e",
        "e5",
    ),
    *(".5", "5.", ".", "+", "-", "", " ", "-0", "5e-324", "2.5", "0.49999999999999994", "1.7976931348623157e308"),
    *("1.7976931348623159e308", "2.4703282292062327e-324", "9007199254740993", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "18446744073709551615", "1" + "0" * 39, "9" * 309, "9" * 400),
    *("0" * 400 + "3", "0." + "0" * 500 + "1", "1" * 4096, "1" * 4097, "1152921504606846978", "1/2", "1%", "$1"),
)
TEXT = (
    *("", " ", "a", "A", "a ", "it's", '"', '""', 'a"b', '"a', ",", ";", "\t", "|", "\\", "\\N", "\\.", "{}", "[1]"),
    *("\x01", "\x1a", "\x7f", "\x85", "\ufeff", "\u2028", "\u202e", "\uffff", "😀", "e\u0301", "ß", "a" * 4096),
    *("a" * 4097, "é" * 4096, "é" * 4097, "😀" * 4097, "x" * 70_000, "--'; DROP TABLE people", "%s", "{0}", "$1"),
    *("true", "TRUE", "T", "yes", "on", "0.0", "1.0", "off", "Y", " true ", "#", "=1+1", "1970-01-01"),
)
BREAKS = ("\n", "\r", "a\r\nb", "\n\n", "\n\\.\n")
NULS = ("\0", "\0u", "\0l", "\0s", "a\0b", "1\0", " \0u")
NOT_TEXT = (
    b"\xff",
    b"\xc3",
    b"\xc3(",
    b"\xed\xa0\x80",
    b"\xf5\x80\x80\x80",
    b"a\xffb",
    b"\xff" * 5000,
    b"1\xff",
    b"\xc0\x80",
)
FLOATS = (
    *(math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308),
    *(
        -1e308,
        1e300,
        0.1,
        0.49999999999999994,
        0.5,
        2.5,
        1e15,
        1e16,
        123456789.125,
        1e-5,
        1e-6,
        1e-7,
        2.0**53,
        2.0**53 + 2,
    ),
    *(2.0**60, 2.0**60 + 256, 2.0**62, -(2.0**63), 2.0**63, 2.0**64, 1.0, -5.0, 3e-91),
)
EDGES = tuple(
    sign * (2**bits + off)
    for bits in (7, 8, 15, 16, 31, 32, 53, 60, 62, 63, 64)
    for off in (-1, 0, 1, 2)
    for sign in (1, -1)
)


class Nasty:
    """A cell that cannot even be looked at."""

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("secret")

    __str__ = __repr__ = __eq__ = __bool__ = __float__ = __int__ = __len__ = __iter__ = __array__ = _raise
    __hash__ = object.__hash__


class NastyText(str):
    """Text that cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError("secret")

    def encode(self, *_: Any) -> bytes:  # type: ignore[override]
        raise RuntimeError("secret")


class NoHash:
    """A cell that cannot be looked up."""

    __hash__ = None  # type: ignore[assignment]


OBJECTS: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        np.bool_(True),
        pd.NA,
        pd.NaT,
        np.nan,
        np.float32(0.1),
        np.float16(2.5),
        np.int8(-5),
        np.uint64(2**64 - 1),
    ),
    *(
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1e400"),
        Decimal("1E+1000000"),
        Decimal("-0"),
        Decimal("2.50"),
    ),
    *(
        Fraction(1, 2),
        Fraction(2),
        1 + 2j,
        10**305,
        10**400,
        10**5000,
        -(10**5000),
        b"a",
        b"\xff",
        bytearray(b"a"),
        [1, 2],
        {},
        (),
        {1},
    ),
    *(
        np.array([1, 2]),
        np.array(1),
        datetime.date.max,
        datetime.date(1970, 1, 1),
        datetime.datetime.max,
        datetime.time(1, 2),
    ),
    *(
        datetime.timedelta.max,
        UUID(int=1),
        pd.Timestamp.max,
        pd.Timedelta(1),
        np.datetime64("NaT"),
        np.datetime64("2020-01-01"),
    ),
    *(
        Nasty(),
        NastyText("a"),
        NoHash(),
        object,
        len,
        range(3),
        "\ud800",
        "a\udfffb",
        float,
        np.str_("a"),
        np.longdouble("1.5"),
    ),
)
"""Anything that a column of Python objects may hold."""


def text(rng: Random) -> str:
    """Any text without line breaks and NULs."""
    if rng.random() < 0.75:
        return rng.choice(rng.choice((NUMBERS, TEXT)))
    if rng.random() < 0.5:
        return "".join(rng.choice("0123456789+-.eE ,_xinfa") for _ in range(rng.randint(1, 7)))
    return "".join(_letter(rng) for _ in range(rng.randint(0, 8)))


def _letter(rng: Random) -> str:
    code = rng.choice([rng.randint(14, 126), rng.randint(160, 0xD7FF), rng.randint(0xE000, 0x10FFFF)])
    return chr(code)


def raw(rng: Random) -> bytes:
    """Any bytes."""
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(NOT_TEXT)
    if kind < 0.4:
        return rng.randbytes(rng.randint(1, 6))
    return rng.choice([text(rng), text(rng), rng.choice(NULS), rng.choice(BREAKS)]).encode()


def integer(rng: Random, low: int, high: int) -> int:
    """An integer of a type, often next to an edge."""
    fitting = [edge for edge in (*EDGES, low, high, 0, 1, -5) if low <= edge <= high]
    return rng.choice(fitting) if rng.random() < 0.8 else rng.randint(low, high)


def number(rng: Random) -> float:
    """Any float."""
    if rng.random() < 0.7:
        return rng.choice(FLOATS)
    if rng.random() < 0.5:
        return float(np.frombuffer(rng.randbytes(8), np.float64)[0])
    return rng.uniform(-20, 20)


def decimal(rng: Random, digits: int, scale: int) -> Decimal:
    """A decimal of a type."""
    size = rng.choice([1, 2, rng.randint(1, digits), digits])
    found = tuple(int(digit) for digit in str(rng.randint(0, 10**size - 1)))
    return Decimal((rng.randint(0, 1), found, -scale))
